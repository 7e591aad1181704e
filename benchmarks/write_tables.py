"""Write the tables of what benchmarks have measured into the pages, from the files in benchmarks/measured.

    python benchmarks/write_tables.py

A block `<!-- measured NAME -->` … `<!-- end of NAME -->` gets the table of measured/NAME.json, which is what the
script beside its name in TABLES prints with --json; everything else on the page stays.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergraph.paper.exhibit import markdown_table
from evergraph.results.groups import stat

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "benchmarks" / "measured"


def leak(found: dict[str, Any]) -> str:
    """Rows: data sets; columns: how often the task of a whole test set and of a single test node is guessed."""
    header = ["% right: whole test set, single node", "tasks (chance, %)", "raw", "local", "global"]
    rows = []
    for name, facts in found.items():
        guessed = [f"{facts[kind]['sets']:.1f}, {facts[kind]['nodes']:.1f}" for kind in ("raw", "local", "global")]
        rows.append([_shown(name, facts["remarks"]), f"{facts['tasks']} ({facts['chance']:.1f})", *guessed])
    return markdown_table(header, rows)


def _shown(name: str, remarks: Sequence[str]) -> str:
    """A data set with what a reader must know of it."""
    derived = [
        words for remark in remarks for words in re.findall(r"features derived from the graph \((.*)\)", remark)
    ]
    said = [f"derived features, {one}" for one in derived]
    said += ["stand-in for CoraFull"] if any("stand-in" in remark for remark in remarks) else []
    return f"{name} ({', '.join(said)})" if said else name


def methods(found: dict[str, Any]) -> str:
    """Rows: methods; columns: processor seconds of a task and how many times those of others they are."""
    fused = found["ftf-er-det"]["seconds_per_task"]
    rows = [
        [
            f"`{name}`",
            f"{figures['seconds_per_task']:.2f}",
            f"{figures['times_finetune']:.2f}",
            f"{figures['seconds_per_task'] / fused:.2f}",
        ]
        for name, figures in found.items()
    ]
    return markdown_table(["method", "processor, s a task", "times `finetune`", "times `ftf-er-det`"], rows)


def staleness(found: list[dict[str, Any]]) -> str:
    """Rows: streams; columns: learned as tasks arrive, or with sums redone in the last graph."""
    rows = []
    for name in dict.fromkeys(one["stream"] for one in found):
        runs = [one for one in found if one["stream"] == name]
        cells = []
        for hops in ("chosen", "0", "2"):
            lines = [line for one in runs for line in one["rows"] if line["hops"] == hops]
            for way in ("arrival", "final"):
                classes, nodes = ([line[way][kind] for line in lines] for kind in ("classes", "nodes"))
                cells.append(f"{stat(classes)} ({stat(nodes)})")
        rows.append([f"{name} ({len(runs)})", *cells])
    columns = [
        f"{hops}, {way}" for hops in ("chosen hops", "hop 0", "hop 2") for way in ("as they arrive", "redone")
    ]
    return markdown_table(["classes (nodes) counting alike, %; seeds", *columns], rows)


def neighbourhoods(found: list[dict[str, Any]]) -> str:
    """Rows: methods; columns: the neighbourhood in which nodes are replayed."""
    ways = {"arrival": "whole neighbourhood of the day it came", "today": "whole neighbourhood of today"}
    rows = []
    for method in dict.fromkeys(one["method"] for one in found):
        cells = []
        for way in ways:
            runs = [one for one in found if (one["method"], one["way"]) == (method, way)]
            cells.append(f"{stat([one['global'] for one in runs])} ({stat([one['local'] for one in runs])})")
        rows.append([f"`{method}` ({len(runs)})", *cells])
    return markdown_table(["global (local) AA, %; seeds", *ways.values()], rows)


def sparse_features(found: list[dict[str, Any]]) -> str:
    """Rows: how many random features and how many of them a node has, by the bytes of their sums."""
    rows = []
    for width, active in dict.fromkeys((one["width"], one["active"]) for one in found):
        runs = [one for one in found if (one["width"], one["active"]) == (width, active)]
        megabytes = sum(one["bytes"] for one in runs) / len(runs) / 1e6
        accuracy = stat([one["aa_local"] for one in runs])
        rows.append(
            (megabytes, [f"{megabytes:.2f}", str(width), str(active or "all"), f"{accuracy} ({len(runs)})"])
        )
    header = ["sums, MB", "random features", "of them active", "local AA, % (seeds)"]
    return markdown_table(header, [cells for _, cells in sorted(rows)])


@dataclass(frozen=True)
class Table:
    """What is between two marks of a page."""

    page: str
    command: str
    """The script that measures, without --data-dir."""
    text: Callable[[Any], str]


TABLES = {
    "leak": Table("docs/explanation/leaks.md", "leak.py", leak),
    "methods": Table(
        "docs/whole-graph.md",
        "methods.py --methods finetune ftf-er-det analytic --epochs 200 --threads 1 --repeats 1 --cpu --json",
        methods,
    ),
    "neighbourhoods": Table("docs/whole-graph.md", "neighbourhoods.py --json", neighbourhoods),
    "sparse": Table("docs/whole-graph.md", "sparse_features.py --seeds 0 1 2 --json", sparse_features),
    "staleness": Table("docs/whole-graph.md", "staleness.py --seeds 0 1 --json", staleness),
}


def measured(name: str) -> Any:
    """What is in the file of a table."""
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def rendered(text: str) -> str:
    """A page with every marked block made anew."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        said = f"Measured by `python benchmarks/{TABLES[name].command}`:"
        return f"<!-- measured {name} -->\n{said}\n\n{TABLES[name].text(measured(name))}\n<!-- end of {name} -->"

    return re.sub(r"<!-- measured ([\w-]+) -->.*?<!-- end of \1 -->", fill, text, flags=re.DOTALL)


def main() -> None:
    for page in sorted({table.page for table in TABLES.values()}):
        path = ROOT / page
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
