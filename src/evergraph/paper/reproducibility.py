"""The tables of REPRODUCIBILITY.md and docs/whole-graph.md, written from the records in results/ between marks.

    python -m evergraph.paper.reproducibility REPRODUCIBILITY.md results
    python -m evergraph.paper.reproducibility docs/whole-graph.md results

A block `<!-- begin NAME -->` … `<!-- end NAME -->` gets the table NAME; everything else in the file stays.
"""

import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergraph.config import flattened
from evergraph.methods import METHODS
from evergraph.paper.exhibit import markdown_table
from evergraph.paper.exhibits import make_exhibit
from evergraph.paper.published import TOPOLOGY_SCORES, main_result
from evergraph.paper.tables import published_text, verdict
from evergraph.paper.targets import ALL_BACKBONES, TARGETS, Request
from evergraph.results.groups import stat
from evergraph.results.load import read_results
from evergraph.results.records import SmallRecord, grouped, grouped_by, read_records, setting
from evergraph.runs.config import RunConfig, completed

Records = Sequence[SmallRecord]


def cell(records: Records) -> str:
    """AA / AF of some runs, mean ± deviation over their seeds."""
    return " / ".join(str(stat(values)) for values in zip(*((run.aa, run.af) for run in records), strict=True))


def fusion_table(records: Records) -> str:
    """Rows: selection and orientation; columns: β. Then the runs to compare with."""
    scores = ("method.feature_score", "method.topology_score")
    groups = grouped(records, ("method.name", *scores, "method.orientation", "method.beta"))
    fused = {(key[0], *key[3:]): runs for key, runs in groups.items() if key[1:3] == ("grand", "hps")}
    betas = sorted({key[2] for key in fused})
    rows = []
    for selection, orientation in sorted({key[:2] for key in fused}, key=lambda key: (key[0], key[1] != "paper")):
        found = [fused.get((selection, orientation if beta else "paper", beta), []) for beta in betas]
        rows.append([f"{selection}, {orientation}", *(cell(runs) if runs else "" for runs in found)])
    table = markdown_table(["AA / AF, %", *(f"β = {beta:g}" for beta in betas)], rows)
    seeds = max(len(runs) for runs in groups.values())
    lines = [
        f"- {name}: {cell(runs)}" + ("" if len(runs) == seeds else f" (seeds: {len(runs)})")
        for name, runs in _beside_fusion(groups)
    ]
    intro = f"Beside it, with the same data, budget and seeds ({seeds} seeds each):"
    return "\n".join([table, "", intro, "", *lines])


def _beside_fusion(groups: Mapping[tuple[Any, ...], Records]) -> list[tuple[str, Records]]:
    """Runs without the potential, with their names."""
    named = []
    for (method, feature, topology, _, beta), runs in groups.items():
        if feature == "random" and topology == "none":
            named.append(("random selection", runs))
        elif topology == "random":
            named.append((f"{method}, GraNd and noise in the place of the potential, β = {beta:g}", runs))
        elif feature is None:
            named.append((method, runs))
    return sorted(named, key=lambda entry: entry[0] in METHODS)


@dataclass(frozen=True)
class Block:
    """The content between two marks of a document: a table of the records in a file."""

    file: str
    table: Callable[[Path], str]
    document: str = "REPRODUCIBILITY.md"

    def text(self, results: Path) -> str:
        return self.table(results / f"{self.file}.json")


def of_records(table: Callable[[Records], str]) -> Callable[[Path], str]:
    """Turn a table of records into a table of a file of records."""
    return lambda path: table(read_records(path, completed))


def exhibit(target: str, request: Request) -> Callable[[Path], str]:
    """The table of `evergraph reproduce` from a file of records: rows that have runs, and notes."""

    def table(path: Path) -> str:
        shown = make_exhibit(TARGETS[target], request, read_results([path], completed)[0])
        there = {line["row"] for line in shown.numbers}
        rows = [row for row in shown.rows if row[0] in there]
        notes = "\n".join(f"- {note}" for note in shown.notes)
        return f"{markdown_table(shown.header, rows)}\n\n{notes}"

    return table


def settings_table(records: Records) -> str:
    """Rows: normalisation, preprocessing and epochs; columns: selection of the replayed nodes."""
    selections = {
        "random": ("ftf-er-det", "random", "none"),
        "GraNd + HPS, det": ("ftf-er-det", "grand", "hps"),
        "GraNd + HPS, prob": ("ftf-er-prob", "grand", "hps"),
        "GraNd + noise, det": ("ftf-er-det", "grand", "random"),
    }
    scores = ("method.name", "method.feature_score", "method.topology_score")
    groups = grouped(records, ("backbone.norm", "stream.preprocessing", "train.epochs", *scores))
    rows = []
    for setup in sorted({key[:3] for key in groups}):
        found = [groups.get((*setup, *selection), []) for selection in selections.values()]
        rows.append([", ".join(map(str, setup)), *(cell(runs) if runs else "–" for runs in found)])
    fewest, most = (pick(len(runs) for runs in groups.values()) for pick in (min, max))
    seeds = f"{most} seeds each" if fewest == most else f"{fewest} to {most} seeds"
    table = markdown_table(["normalisation, preprocessing, epochs", *selections], rows)
    return f"{table}\n\nAA / AF in percent, {seeds}, β = 0.5."


CHECKED = (
    "backbone.name",
    "backbone.norm",
    "backbone.bias",
    "stream.preprocessing",
    "train.class_losses",
    "method.topology_score",
    "method.margin",
    "method.past_classes",
    "method.space",
    "method.moment",
    "method.weight",
)
"""The settings in `checks_table`."""


def checks_table(records: Records) -> str:
    """A row for each method and its settings that are not defaults."""
    rows = []
    for (method, *values), runs in sorted(grouped(records, ("method.name", *CHECKED)).items(), key=str):
        default = flattened(RunConfig.from_values({"method": {"name": method}}).to_values())
        pairs = zip(CHECKED, values, strict=True)
        changed = [f"{key} = {value}" for key, value in pairs if value not in (None, default.get(key))]
        rows.append([method, ", ".join(changed), cell(runs), str(len(runs))])
    return markdown_table(["method", "changed", "AA / AF, %", "seeds"], rows)


def benchmark_table(records: Records) -> str:
    """Methods and selections with the public benchmark's GCN, beside the paper's values."""
    keys = ("method.name", "method.feature_score", "method.topology_score")
    rows = []
    for (method, feature, topology), runs in sorted(grouped(records, keys).items(), key=str):
        scores = f", {feature} + {topology}" if feature else ""
        published = main_result(method, "amazon-computers")
        if topology == "random":
            published = TOPOLOGY_SCORES["random"]
        if feature == "random":
            published = None
        judged = verdict(statistics.mean(run.aa for run in runs), published)
        rows.append([f"{method}{scores}", cell(runs), str(len(runs)), published_text(published), judged])
    return markdown_table(["method, scores", "ours, AA / AF, %", "seeds", "paper, AA / AF, %", "AA"], rows)


POTENTIALS = {
    "misread": "read with other nodes' ids (`--preset as-published`)",
    "random": "random numbers in its place",
    "hps": "read with its own ids",
    None: "no scores: random nodes (`random-replay`)",
}


def published_table(records: Records) -> str:
    """FTF-ER with the settings of its public code: which potential the nodes are chosen by."""
    groups = grouped(records, ("method.topology_score",))  # random-replay has none
    published = published_text(main_result("ftf-er-det", "amazon-computers"))
    rows = []
    for score, name in POTENTIALS.items():
        runs = groups.get((score,), [])
        paper = published if score == "misread" else ""
        rows += [[name, cell(runs), str(len(runs)), paper]] if runs else []
    return markdown_table(["potential", "AA / AF, %", "seeds", "paper, AA / AF, %"], rows)


def learners_table(path: Path) -> str:
    """Rows: learners that the paper does not have, best on the first data set first; columns: data sets.

    random-replay is in the records of the main tables beside.
    """
    records = read_records(path, completed)
    for beside in sorted(path.parent.glob("methods-*.json")):
        records += [run for run in read_records(beside, completed) if _selection(run) == "`random-replay`"]
    groups = grouped(records, ("method.name", "dataset.name"))
    names = sorted({name for _, name in groups})
    first = {
        one: statistics.mean(run.aa for run in runs) for (one, name), runs in groups.items() if name == names[0]
    }
    methods = sorted({method for method, _ in groups}, key=lambda method: -first.get(method, 0.0))
    rows = [[f"`{one}`", *(seeded_cell(groups.get((one, name), [])) for name in names)] for one in methods]
    return markdown_table(["AA / AF, % (seeds)", *names], rows)


def seeded_cell(records: Records) -> str:
    """AA / AF and the number of seeds; a dash where there is no run."""
    return f"{cell(records)} ({len(records)})" if records else "–"


STORAGES = {
    "nodes": "features alone",
    "subgraph": "and the edges between them (as the paper)",
    "neighbours": "and sampled neighbours",
    "embedding": "the propagated row of that time",
    "ids": "read again in the graph known now",
}


def storage_table(records: Records) -> str:
    """Rows: what is kept of a replayed node; columns: how nodes are chosen; AA tested both ways, and the bytes."""
    groups = grouped_by(records, lambda run: (_storage(run), _selection(run)))
    selections = sorted({selection for _, selection in groups}, key=lambda name: (name == BY_DEGREE, name))

    def row(storage: str) -> Iterator[str]:
        for selection in selections:
            runs = groups.get((storage, selection), [])
            kept = statistics.mean(run.memory.bytes for run in runs) / 1e6 if runs else 0.0
            yield f"{both_tests(runs)}; {kept:.2f} MB" if runs else "–"

    rows = [[f"`{storage}`: {meaning}", *row(storage)] for storage, meaning in STORAGES.items()]
    seeds = sorted({len(runs) for runs in groups.values()})
    heading = f"global (local) AA, %; kept; seeds: {' or '.join(map(str, seeds))}"
    return markdown_table([heading, *selections], rows)


def both_tests(records: Records) -> str:
    """AA of runs tested in the whole graph, in brackets in the graphs of the tasks."""
    found = [(run.aa_global, run.aa_local) for run in records if None not in (run.aa_global, run.aa_local)]
    if len(found) < len(records) or not found:
        return "–"
    whole, local = (str(stat([float(value or 0.0) for value in values])) for values in zip(*found, strict=True))
    return f"{whole} ({local})"


def _storage(record: SmallRecord) -> str | None:
    """What a run keeps of a replayed node: in records from before there was a choice, the method's default."""
    found = setting(record, "method.storage")
    default = getattr(METHODS[record.config["method"]["name"]].config(), "storage", None)
    return found if found is not None or default is None else str(default.value)


BY_DEGREE = "by degree"


def _selection(record: SmallRecord) -> str:
    """How a run chooses the nodes that it replays."""
    by_degree = setting(record, "method.topology_score") == "degree"
    return BY_DEGREE if by_degree else f"`{setting(record, 'method.name')}`"


def inductive_table(records: Records) -> str:
    """Methods whose learners never saw the nodes that they are tested on; AA and AF in the whole graph."""
    groups = grouped(records, ("method.name",))
    order = sorted(groups.items(), key=lambda pair: -statistics.mean(run.aa for run in pair[1]))
    rows = [[f"`{name}`", seeded_cell(runs)] for (name,), runs in order]
    return markdown_table(["method", "AA / AF, % (seeds)"], rows)


def frontier_table(records: Records) -> str:
    """Methods and settings by the bytes that they keep; local AA in task graphs, global AA in the whole graph."""
    groups = grouped_by(records, _named_settings)
    rows = []
    for name, runs in groups.items():
        megabytes = statistics.mean(run.memory.bytes for run in runs) / 1e6
        cells = []
        for whole in (False, True):
            some = [run for run in runs if bool(setting(run, "stream.inter_task_edges")) is whole]
            cells.append(f"{stat([run.aa for run in some])} ({len(some)})" if some else "–")
        rows.append((megabytes, [f"{megabytes:.2f}", name, *cells]))
    return markdown_table(
        ["kept of the past, MB", "method", "local AA, % (seeds)", "global AA, % (seeds)"],
        [row for _, row in sorted(rows)],
    )


def fall_table(path: Path) -> str:
    """Rows: methods; columns: learned in task graphs or in the whole graph, each tested both ways.

    path: the runs in task graphs; those in the whole graph are in whole-amazon.json beside it.
    """
    alone = read_records(path, completed)
    seeds = {setting(run, "seeds.init") for run in alone}
    other = path.with_name("whole-amazon.json")
    beside = read_records(other, completed) if other.exists() else []
    whole = grouped_by([run for run in beside if setting(run, "seeds.init") in seeds], _selection)
    rows = [(method, runs, whole.get(method, [])) for method, runs in grouped_by(alone, _selection).items()]
    rows.sort(key=lambda row: -statistics.mean(run.aa_global or 0.0 for run in row[1]))
    cells = [[name, both_tests(runs), both_tests(other) if other else "–"] for name, runs, other in rows]
    heading = f"global (local) AA, %; seeds: {len(seeds)}"
    return markdown_table([heading, "learned in task graphs", "learned in the whole graph"], cells)


def _named_settings(record: SmallRecord) -> str:
    """A method and its settings that are not defaults."""
    changed = [key for key in record.changed or () if key.startswith("method.") and key != "method.name"]
    values = [f"{key.removeprefix('method.')}={setting(record, key)}" for key in changed]
    return ", ".join([f"`{setting(record, 'method.name')}`", *values])


ARXIV = Request("ogbn-arxiv", features="spectral:128", seeds=(0,))
CORA = Request("cora-papers70", seeds=(0, 1, 2))
AMAZON = Request("amazon-computers", seeds=(0, 1, 2))
WHOLE_GRAPH = "docs/whole-graph.md"
ALL_AMAZON = Request("amazon-computers", backbones=ALL_BACKBONES)

TABLES: dict[str, Block] = {
    "fusion-amazon": Block("fusion-amazon", of_records(fusion_table)),
    "fusion-gat-amazon": Block("fusion-gat-amazon", of_records(fusion_table)),
    "methods-digits": Block("methods-digits", exhibit("table2", Request("digits", seeds=(0, 1, 2)))),
    "methods-amazon": Block("methods-amazon", exhibit("table2", ALL_AMAZON)),
    "methods-coauthor": Block("methods-coauthor", exhibit("table2", Request("coauthor-cs", seeds=(0, 1, 2)))),
    "methods-cora": Block("methods-cora", exhibit("table2", CORA)),
    "cost-cora": Block("methods-cora", exhibit("table6", CORA)),
    "methods-arxiv": Block("arxiv", exhibit("table2", ARXIV)),
    "components-arxiv": Block("arxiv", exhibit("table3", ARXIV)),
    "components-amazon": Block("fusion-amazon", exhibit("table3", Request("amazon-computers"))),
    "feature-scores-amazon": Block("scores-amazon", exhibit("table4", AMAZON)),
    "topology-scores-amazon": Block("scores-amazon", exhibit("table5", AMAZON)),
    "tsne-amazon": Block("methods-amazon", exhibit("fig-tsne", Request("amazon-computers", seeds=(0,)))),
    "beta-amazon": Block("beta-amazon", exhibit("fig-beta", AMAZON)),
    "benchmark-gcn-amazon": Block("benchmark-gcn-amazon", of_records(benchmark_table)),
    "as-published-amazon": Block("as-published-amazon", of_records(published_table)),
    "checks-amazon": Block("checks-amazon", of_records(checks_table)),
    "settings-amazon": Block("settings-amazon", of_records(settings_table)),
    "learners": Block("learners", learners_table),
    "storage-amazon": Block("storage-amazon", of_records(storage_table), WHOLE_GRAPH),
    "frontier-amazon": Block("frontier-amazon", of_records(frontier_table), WHOLE_GRAPH),
    "frontier-cora": Block("frontier-cora", of_records(frontier_table), WHOLE_GRAPH),
    "fall-amazon": Block("fall-amazon", fall_table, WHOLE_GRAPH),
    "inductive-amazon": Block("inductive-amazon", of_records(inductive_table), WHOLE_GRAPH),
}


def rendered(text: str, results: Path) -> str:
    """The document with every marked block filled from its records."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- begin {match[1]} -->\n{TABLES[match[1]].text(results)}\n<!-- end {match[1]} -->"

    return re.sub(r"<!-- begin ([\w-]+) -->.*?<!-- end \1 -->", fill, text, flags=re.DOTALL)


def main() -> None:
    document, results = Path(sys.argv[1]), Path(sys.argv[2])
    document.write_text(rendered(document.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
