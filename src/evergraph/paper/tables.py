"""The paper's tables: each row ours and the paper's."""

from collections.abc import Mapping

from evergraph.paper import published as paper
from evergraph.paper.choice import Choice
from evergraph.paper.exhibit import Exhibit
from evergraph.paper.plots import bars, dots
from evergraph.paper.target_runs import NOTHING, TargetRuns, numbers_of, text
from evergraph.paper.targets import Row
from evergraph.results.groups import MB, Stat
from evergraph.results.validation import best_on_validation


def main_table(target_runs: TargetRuns) -> Exhibit:
    """Each method with each backbone, the best backbone on validation, and the paper's best of three."""
    backbones = target_runs.request.backbones
    rows, numbers, how = [], [], []
    series = {backbone: dict[str, Stat]() for backbone in backbones}
    theirs: dict[str, Stat] = {}
    for row in target_runs.rows:
        choices = {name: choice for name in backbones if (choice := target_runs.choice(row, name)) is not None}
        published = paper.main_result(row.label, target_runs.request.dataset)
        cells = [text(choices[name].group) if name in choices else NOTHING for name in backbones]
        validation = {name: choice.group.validation for name, choice in choices.items()}
        best = best_on_validation(validation)[0] if choices else None
        if len(backbones) > 1:
            cells.append(f"{best}: {text(choices[best].group)}" if best else NOTHING)
        judged = _judged(choices[best] if best else None, published, target_runs)
        rows.append([row.label, *cells, published_text(published), judged])
        for name, choice in choices.items():
            series[name][row.label] = choice.group.stat("aa")
            line = numbers_of(row.label, name, choice, published)
            numbers.append({**line, "best_backbone": name == best})
            if choice.beta is not None:
                how.append(f"{row.label}, {name}: {choice.how}")
        if published:
            theirs[row.label] = published[0]
    header = ["method", *backbones, *(["best on validation"] if len(backbones) > 1 else []), "paper", "AA"]
    labels = [row.label for row in target_runs.rows]
    figure = dots(target_runs.heading, labels, {**series, "paper": theirs})
    return target_runs.exhibit(header, rows, [*how, *_explained(target_runs)], numbers, figure)


def _explained(target_runs: TargetRuns) -> list[str]:
    if target_runs.request.dataset not in paper.DATASETS:
        return ["the paper has no results on this data set"]
    return [
        "the paper's values are the best of three backbones; ER-GNN and SSM are one row each there",
        "AA: met is within 2 points of the paper's mean, close within 5 below it",
    ]


def _judged(choice: Choice | None, published: paper.Published | None, target_runs: TargetRuns) -> str:
    """The verdict on a row; none on derived features, because the paper used the original ones."""
    if choice is None:
        return "–"
    if published and target_runs.request.features:
        return "other features"
    return verdict(choice.group.stat("aa").mean, published)


def verdict(mean: float, published: paper.Published | None) -> str:
    """met: within 2 points of the paper's mean; close: at most 5 below; else the difference."""
    if published is None:
        return "–"
    difference = mean - published[0].mean
    if difference >= -2:
        return "met" if difference <= 2 else f"{difference:+.1f} above"
    return "close" if difference >= -5 else f"not met ({difference:+.1f})"


def published_text(published: paper.Published | None) -> str:
    """The paper's AA / AF."""
    return " / ".join(map(str, published)) if published else "–"


def component_table(target_runs: TargetRuns) -> Exhibit:
    """GraNd and HPS, each alone, both, and neither."""
    return _variants(target_runs, paper.COMPONENTS, "ogbn-arxiv", "selects by")


def feature_table(target_runs: TargetRuns) -> Exhibit:
    """Other feature scores in the place of GraNd."""
    return _variants(target_runs, paper.FEATURE_SCORES, "amazon-computers", "feature score")


def topology_table(target_runs: TargetRuns) -> Exhibit:
    """Random scores or stored neighbours in the place of HPS."""
    return _variants(target_runs, paper.TOPOLOGY_SCORES, "amazon-computers", "topology")


def _variants(
    target_runs: TargetRuns, published: Mapping[str, paper.Published], dataset: str, what: str
) -> Exhibit:
    """Variants of deterministic FTF-ER; `dataset` is the one of the published values."""
    rows, numbers = [], []
    series: dict[str, dict[str, Stat]] = {}
    comparable = target_runs.request.dataset == dataset
    for row, backbone, label in target_runs.cases:
        theirs = published.get(row.label) if comparable else None
        choice = target_runs.choice(row, backbone)
        ours = [NOTHING, "", "0"]
        if choice:
            beta = "–" if choice.beta is None else f"{choice.beta:g}"
            ours = [text(choice.group), beta, str(len(choice.group.results))]
            numbers.append(numbers_of(row.label, backbone, choice, theirs))
            series.setdefault(backbone, {})[row.label] = choice.group.stat("aa")
        rows.append([label, *ours, published_text(theirs), _judged(choice, theirs, target_runs)])
    notes = [f"{line['row']}, {line['backbone']}: {line['chosen']}" for line in numbers]
    if comparable:
        series["paper"] = {label: aa for label, (aa, _) in published.items()}
    else:
        notes.append(f"the paper has this table for {dataset} only")
    header = [what, "ours, AA / AF", "β", "seeds", "paper, AA / AF", "AA"]
    figure = dots(target_runs.heading, [row.label for row in target_runs.rows], series)
    return target_runs.exhibit(header, rows, notes, numbers, figure)


def cost_table(target_runs: TargetRuns) -> Exhibit:
    """Memory and time of replay methods."""
    rows, numbers = [], []
    series: dict[str, dict[str, float]] = {"AA, %": {}, "kept, MB": {}, "time, s": {}}
    for row, backbone, label in target_runs.cases:
        choice = target_runs.choice(row, backbone)
        if choice is None:
            rows.append([label, *[NOTHING] * 3, *_paper_cost(row, target_runs)])
            continue
        aa, kept, nodes, peak = (choice.group.stat(name) for name in ("aa", "kept", "nodes", "peak"))
        time = choice.group.total_seconds
        shown = Stat(kept.mean * MB, None if kept.std is None else kept.std * MB)
        rows.append([label, str(aa), shown.text(2), f"{time:.1f}", *_paper_cost(row, target_runs)])
        costs = {"kept_mib": kept.mean, "kept_nodes": nodes.mean, "seconds": time, "peak_mib": peak.mean}
        numbers.append(numbers_of(row.label, backbone, choice) | costs)
        for name, value in zip(series, (aa.mean, shown.mean, time), strict=True):
            series[name][label] = value
    header = ["method", "AA, %", "kept, MB", "time, s", "paper: AA, %", "buffer, MB", "time, s"]
    notes = [
        "time: all tasks without loading the data, one thread, median over seeds (runs may have shared the "
        "machine with others); the paper's machine is another, so times compare within a column only",
        "kept: the bytes of everything that is stored of the past; β of FTF-ER is 0.5, not chosen",
    ]
    if target_runs.request.dataset != "corafull":
        notes.append("the paper has this table for CoraFull only")
    return target_runs.exhibit(header, rows, notes, numbers, bars(target_runs.heading, series))


def _paper_cost(row: Row, target_runs: TargetRuns) -> list[str]:
    known = next((values for name, values in paper.COST.items() if row.label.startswith(name)), None)
    if known is None or target_runs.request.dataset != "corafull":
        return ["–"] * 3
    return [f"{known[0]:.1f}", f"{known[1]:.2f}", f"{known[2]:.0f}"]
