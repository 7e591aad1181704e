"""The paper's figures: curves, matrices, the sensitivity to β, and t-SNE projections."""

from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from evergraph.paper import published as paper
from evergraph.paper.exhibit import Exhibit
from evergraph.paper.plots import AA_AXIS, PALETTE, PAPER, finish, legend_beside
from evergraph.paper.tables import published_text
from evergraph.paper.target_runs import NOTHING, TargetRuns, measured, numbers_of, text
from evergraph.report.plots import INK, draw_matrix
from evergraph.report.projection_plot import projection_figure
from evergraph.results.groups import Group, Stat

Matrix: TypeAlias = NDArray[np.float64]


def curves(target_runs: TargetRuns) -> Exhibit:
    """AA after each task, a line for each method."""
    rows, numbers = [], []
    lines: dict[str, list[Stat]] = {}
    for row, backbone, label in target_runs.cases:
        choice = target_runs.choice(row, backbone)
        published = paper.main_result(row.label, target_runs.request.dataset)
        if choice is None:
            rows.append([label, NOTHING, NOTHING, published_text(published)])
            continue
        curve = lines[label] = choice.group.curve
        middle = str(curve[(len(curve) - 1) // 2])
        rows.append([label, middle, text(choice.group), published_text(published)])
        after = {f"aa_after_{at + 1}": value.mean for at, value in enumerate(curve)}
        numbers.append(numbers_of(row.label, backbone, choice, published) | after)
    header = ["method", "AA halfway", "AA / AF at the end", "paper, at the end"]
    how = [f"{line['row']}: {line['chosen']}" for line in numbers if line["beta"] is not None]
    return target_runs.exhibit(header, rows, how, numbers, _curve_figure(target_runs.heading, lines))


def _curve_figure(title: str, lines: dict[str, list[Stat]]) -> Figure:
    figure = Figure(figsize=(8.4, 4.4), layout="constrained")
    axes = figure.subplots()
    for at, (label, curve) in enumerate(lines.items()):
        tasks = np.arange(1, len(curve) + 1)
        means = np.array([value.mean for value in curve])
        spread = np.array([value.std or 0.0 for value in curve])
        colour = PALETTE[at % len(PALETTE)]
        axes.plot(tasks, means, color=colour, label=label, linewidth=1.8, marker="o", markersize=3.5)
        axes.fill_between(tasks, means - spread, means + spread, color=colour, alpha=0.14, linewidth=0)
    axes.set_ylim(0, 104)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    finish(axes, title, "tasks learned", AA_AXIS, grid="y")
    if lines:
        legend_beside(axes)
    return figure


def matrices(target_runs: TargetRuns) -> Exhibit:
    """Accuracy on each task after each task, mean over seeds."""
    rows, numbers, notes = [], [], []
    panels: dict[str, Matrix] = {}
    for row, backbone, _ in target_runs.cases:
        choice = target_runs.choice(row, backbone)
        published = paper.main_result(row.label, target_runs.request.dataset)
        rows.append([row.label, backbone, text(choice.group) if choice else NOTHING, published_text(published)])
        if choice is None:
            continue
        panels[f"{row.label}, {backbone}"] = matrix = choice.group.matrix
        notes.append(f"{row.label}, {backbone}: {choice.how}")
        for after, accuracies in enumerate(matrix, start=1):
            line = {"row": row.label, "backbone": backbone, "beta": choice.beta, "chosen": choice.how}
            shown = {f"task_{at}": value for at, value in enumerate(accuracies, start=1) if not np.isnan(value)}
            numbers.append({**line, "after_task": after, **shown})
    notes.append("matrices are means over seeds; their values are in the CSV file")
    columns = max(numbers, key=len, default={})
    aligned = [{column: line.get(column) for column in columns} for line in numbers]
    header = ["method", "backbone", "AA / AF", "paper, AA / AF"]
    return target_runs.exhibit(header, rows, notes, aligned, _matrix_figure(target_runs.heading, panels))


def _matrix_figure(title: str, panels: dict[str, Matrix]) -> Figure:
    figure = Figure(figsize=(1.0 + 4.6 * max(len(panels), 1), 5.2), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK)
    if panels:
        places = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (label, matrix) in zip(places, panels.items(), strict=True):
            image = draw_matrix(axes, matrix, label)
        bar = figure.colorbar(image, ax=figure.axes, shrink=0.8)
        bar.set_label("accuracy, %", color=INK)
        bar.outline.set_visible(False)
    return figure


def beta_lines(target_runs: TargetRuns) -> Exhibit:
    """AA against β for both selections, with random selection for comparison."""
    rows, numbers = [], []
    lines: dict[str, dict[float, Stat]] = {}
    level: Stat | None = None
    for row, backbone, label in target_runs.cases:
        for beta, runs in target_runs.runs(row, backbone).items():
            if not runs:
                continue
            group = Group(tuple(runs), {}, frozenset())
            rows.append([label, "–" if beta is None else f"{beta:g}", text(group), str(len(runs))])
            numbers.append({"row": row.label, "backbone": backbone, "beta": beta, **measured(group)})
            if beta is None:
                level = group.stat("aa")
            else:
                lines.setdefault(label, {})[beta] = group.stat("aa")
    notes = [f"{label}: {_swing(values)}" for label, values in lines.items()]
    swing = paper.BETA_SWING.get(target_runs.request.dataset)
    said = f"{swing:g} points on this data set" if swing else "different amounts on different data sets"
    notes.append(
        f"the paper has no numbers for this figure; its text says that β moves AA by {said}, with the peak in the "
        "middle"
    )
    header = ["selection", "β", "AA / AF", "seeds"]
    return target_runs.exhibit(header, rows, notes, numbers, _beta_figure(target_runs.heading, lines, level))


def _swing(values: dict[float, Stat]) -> str:
    means = {beta: value.mean for beta, value in values.items()}
    best = max(means, key=lambda beta: means[beta])
    return f"AA moves by {max(means.values()) - min(means.values()):.1f} points, its peak is at β = {best:g}"


def _beta_figure(title: str, lines: dict[str, dict[float, Stat]], level: Stat | None) -> Figure:
    figure = Figure(figsize=(7.6, 4.2), layout="constrained")
    axes = figure.subplots()
    for at, (label, values) in enumerate(lines.items()):
        axes.errorbar(
            list(values),
            [value.mean for value in values.values()],
            yerr=[value.std or 0.0 for value in values.values()],
            color=PALETTE[at],
            marker="o",
            markersize=5,
            linewidth=1.8,
            elinewidth=1.2,
            capsize=2.5,
            label=label,
        )
    if level is not None:
        axes.axhline(level.mean, color=PAPER, linestyle="--", linewidth=1.4, label="random selection")
    finish(axes, title, "β, the weight of the topology", AA_AXIS, grid="y")
    if lines:
        axes.legend(frameon=False, labelcolor=INK)
    return figure


def projections(target_runs: TargetRuns) -> Exhibit:
    """t-SNE of the test nodes in the hidden layer, and how well it separates the classes."""
    rows, numbers, shown = [], [], []
    for row, backbone, _ in target_runs.cases:
        choice = target_runs.choice(row, backbone)
        if choice is None or (seen := choice.group.first.record.projection) is None:
            rows.append([row.label, backbone, *[NOTHING] * 3])
            continue
        shown.append(seen)
        run, aa = choice.group.first, choice.group.first.measures["aa"]
        apart = "–" if seen.silhouette is None else f"{seen.silhouette:.3f}"
        rows.append([row.label, backbone, apart, f"{100 * seen.agreement:.1f}", f"{aa:.1f}"])
        line = {"row": row.label, "backbone": backbone, "seed": run.seeds["init"], "nodes": seen.nodes}
        numbers.append({**line, "silhouette": seen.silhouette, "agreement": seen.agreement, "aa": aa})
    header = ["method", "backbone", "silhouette", "neighbours of the same class, %", "AA, %"]
    notes = [
        "one seed; β of FTF-ER is 0.5, not chosen; silhouette and the share of a node's ten nearest neighbours "
        "that are of its class are measured in the hidden layer itself, not in the picture",
        "the paper shows pictures only, and says that FTF-ER separates the classes more clearly than the others",
    ]
    return target_runs.exhibit(header, rows, notes, numbers, projection_figure(shown) if shown else Figure())
