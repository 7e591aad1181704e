"""The tables of REPRODUCIBILITY.md, written from the records in results/ between its marks.

    python -m evergraph.report.reproducibility REPRODUCIBILITY.md results

A block `<!-- begin NAME -->` … `<!-- end NAME -->` gets the table NAME; everything else in the file stays.
"""

import re
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evergraph.experiments.records import grouped, read_records
from evergraph.methods import METHODS
from evergraph.report.paper import main_result

Records = Sequence[dict[str, Any]]


def mean_and_deviation(values: Sequence[float]) -> str:
    """Mean ± sample standard deviation, to one decimal."""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.1f} ± {spread:.1f}"


def cell(records: Records) -> str:
    """AA / AF of some runs, mean ± deviation over their seeds."""
    return " / ".join(mean_and_deviation([record[key] for record in records]) for key in ("aa", "af"))


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fusion_table(records: Records) -> str:
    """Selection and orientation down, β across; then what they are to be compared with."""
    keys = ("method.name", "method.feature_score", "method.orientation", "method.beta")
    groups = grouped(records, keys)
    betas = sorted({key[3] for key in groups if key[1] == "grand"})
    rows = []
    for selection in ("ftf-er-det", "ftf-er-prob"):
        for orientation in ("paper", "opposite"):
            found = [groups.get((selection, "grand", orientation if beta else "paper", beta), []) for beta in betas]
            rows.append([f"{selection}, {orientation}", *(cell(runs) if runs else "" for runs in found)])
    table = markdown(["AA / AF, %", *(f"β = {beta:g}" for beta in betas)], rows)
    others: list[tuple[str, tuple[Any, ...]]] = [("random selection", ("ftf-er-det", "random", "paper", 0.0))]
    others += [(name, (name, None, None, None)) for name in ("finetune", "joint")]
    lines = [f"- {name}: {cell(groups[key])}" for name, key in others if key in groups]
    seeds = max(len(runs) for runs in groups.values())
    return f"{table}\n\nBeside it, with the same data, budget and seeds ({seeds} seeds each):\n\n" + "\n".join(
        lines
    )


def method_table(records: Records) -> str:
    """One row for each method: ours, the paper's, and a verdict."""
    rows = []
    groups = grouped(records, ["method.name"])
    for (method,), runs in sorted(groups.items(), key=lambda group: list(METHODS).index(group[0][0])):
        published = main_result(method, runs[0]["config"]["dataset"]["name"])
        theirs = " / ".join(f"{mean} ± {spread}" for mean, spread in published) if published else "–"
        seconds = statistics.mean(sum(run["seconds"].values()) - run["seconds"].get("load", 0) for run in runs)
        kept = statistics.mean(run["memory"]["bytes"] for run in runs) / 2**20
        rows.append([method, cell(runs), theirs, verdict(runs, published), f"{seconds:.1f}", f"{kept:.2f}"])
    return markdown(["method", "ours, AA / AF, %", "paper, AA / AF, %", "AA", "time, s", "kept, MiB"], rows)


def verdict(runs: Records, published: Any) -> str:
    """met: within the paper's mean ± 2 points or above it; close: within 5; else by how much it is off."""
    if published is None:
        return "–"
    difference = statistics.mean(run["aa"] for run in runs) - published[0][0]
    if difference >= -2:
        return "met" if difference <= 2 else f"{difference:+.1f} above"
    return "close" if difference >= -5 else f"not met ({difference:+.1f})"


def checks_table(records: Records) -> str:
    """One row for each method and the setting that was changed."""
    keys = ("backbone.name", "backbone.norm", "method.margin", "method.weight")
    rows = []
    for (method, *values), runs in sorted(grouped(records, ("method.name", *keys)).items(), key=str):
        changed = [
            f"{key} = {value}"
            for key, value in zip(keys, values, strict=True)
            if value is not None and value != DEFAULTS[key]
        ]
        rows.append([method, ", ".join(changed), cell(runs), str(len(runs))])
    return markdown(["method", "changed", "AA / AF, %", "seeds"], rows)


DEFAULTS = {"backbone.name": "gcn", "backbone.norm": "symmetric", "method.margin": 0.5, "method.weight": 10_000.0}
"""What the settings of `checks_table` are where they were not changed."""


TABLES: dict[str, Callable[[Records], str]] = {
    "fusion-amazon": fusion_table,
    "methods-digits": method_table,
    "methods-amazon": method_table,
    "checks-amazon": checks_table,
}


def rendered(text: str, results: Path) -> str:
    """The document with every marked block filled from its records."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- begin {name} -->\n{TABLES[name](read_records(results / f'{name}.json'))}\n<!-- end {name} -->"

    return re.sub(r"<!-- begin ([\w-]+) -->.*?<!-- end \1 -->", fill, text, flags=re.DOTALL)


def main() -> None:
    document, results = Path(sys.argv[1]), Path(sys.argv[2])
    document.write_text(rendered(document.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
