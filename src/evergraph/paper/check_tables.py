"""What was checked where figures are not the paper's: settings, the public benchmark's GCN, the published code."""

import statistics

from evergraph.config import flattened
from evergraph.paper.exhibit import markdown_table
from evergraph.paper.published import TOPOLOGY_SCORES, main_result
from evergraph.paper.record_cells import Records, cell
from evergraph.paper.tables import published_text, verdict
from evergraph.results.records import grouped
from evergraph.runs.config import RunConfig


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
