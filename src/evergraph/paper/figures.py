"""The paper's figures: curves, matrices, the sensitivity to β, and projections of what a model sees."""

from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from evergraph.paper import published as paper
from evergraph.paper.exhibit import Exhibit
from evergraph.paper.plots import PALETTE, PAPER, finish
from evergraph.paper.tables import published_text
from evergraph.paper.target_runs import NOTHING, TargetRuns, numbers_of, text
from evergraph.report.plots import INK, draw_matrix
from evergraph.report.projection_plot import projection_figure
from evergraph.results.groups import Group, Stat

Matrix: TypeAlias = NDArray[np.float64]


def curves(target_runs: TargetRuns) -> Exhibit:
    """AA over the tasks so far after each task, a line for each method."""
    rows, numbers = [], []
    lines: dict[str, list[Stat]] = {}
    for backbone in target_runs.request.backbones:
        for row in target_runs.rows:
            choice = target_runs.choice(row, backbone)
            published = paper.main_result(row.label, target_runs.request.dataset)
            label = row.label if len(target_runs.request.backbones) == 1 else f"{row.label}, {backbone}"
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
    return Exhibit(
        target_runs.file_name,
        target_runs.heading,
        header,
        rows,
        [*target_runs.notes, *how],
        numbers,
        _curve_figure(target_runs.heading, lines),
    )


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
    axes.set_ylabel("average accuracy (AA), %", color=INK)
    finish(axes, title, "tasks learned", grid="y")
    if lines:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)
    return figure


def matrices(target_runs: TargetRuns) -> Exhibit:
    """Accuracy on each task after each task, mean over seeds."""
    rows, numbers = [], []
    panels: dict[str, Matrix] = {}
    how = []
    for backbone in target_runs.request.backbones:
        for row in target_runs.rows:
            choice = target_runs.choice(row, backbone)
            published = paper.main_result(row.label, target_runs.request.dataset)
            if choice is None:
                rows.append([row.label, backbone, NOTHING, published_text(published)])
                continue
            rows.append([row.label, backbone, text(choice.group), published_text(published)])
            panels[f"{row.label}, {backbone}"] = matrix = choice.group.matrix
            how.append(f"{row.label}, {backbone}: {choice.how}")
            for after, accuracies in enumerate(matrix):
                line = {"row": row.label, "backbone": backbone, "beta": choice.beta, "chosen": choice.how}
                shown = {f"task_{at + 1}": value for at, value in enumerate(accuracies) if not np.isnan(value)}
                numbers.append(line | {"after_task": after + 1} | shown)
    header = ["method", "backbone", "AA / AF", "paper, AA / AF"]
    notes = [*target_runs.notes, *how, "matrices are means over seeds; their values are in the CSV file"]
    figure = _matrix_figure(target_runs.heading, panels)
    return Exhibit(target_runs.file_name, target_runs.heading, header, rows, notes, _aligned(numbers), figure)


def _aligned(lines: list[dict[str, object]]) -> list[dict[str, object]]:
    """The longest line first decides the columns; they are the same for all, in one order."""
    columns = max(lines, key=len, default={})
    return [{column: line.get(column) for column in columns} for line in lines]


def _matrix_figure(title: str, panels: dict[str, Matrix]) -> Figure:
    figure = Figure(figsize=(1.0 + 4.6 * max(len(panels), 1), 5.2), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK)
    if panels:
        for axes, (label, matrix) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            image = draw_matrix(axes, matrix, label)
        bar = figure.colorbar(image, ax=figure.axes, shrink=0.8)
        bar.set_label("accuracy, %", color=INK)
        bar.outline.set_visible(False)
    return figure


def beta_lines(target_runs: TargetRuns) -> Exhibit:
    """AA against β for both selections, with plain random selection beside it; nothing is chosen here."""
    rows, numbers = [], []
    lines: dict[str, dict[float, Stat]] = {}
    level: Stat | None = None
    for backbone in target_runs.request.backbones:
        for row in target_runs.rows:
            label = row.label if len(target_runs.request.backbones) == 1 else f"{row.label}, {backbone}"
            for beta, runs in target_runs.runs(row, backbone).items():
                if not runs:
                    continue
                group = Group(tuple(runs), {}, frozenset())
                value = group.stat("aa")
                rows.append([label, "–" if beta is None else f"{beta:g}", text(group), str(len(runs))])
                numbers.append(
                    {"row": row.label, "backbone": backbone, "beta": beta, "seeds": len(runs)}
                    | {
                        f"{name}_{part}": getattr(group.stat(name), part)
                        for name in ("aa", "af", "val")
                        for part in ("mean", "std")
                    }
                )
                if beta is None:
                    level = value
                else:
                    lines.setdefault(label, {})[beta] = value
    notes = [*target_runs.notes, *(f"{label}: {_swing(values)}" for label, values in lines.items())]
    swing = paper.BETA_SWING.get(target_runs.request.dataset)
    said = f"{swing:g} points on this data set" if swing else "different amounts on different data sets"
    notes.append(
        f"the paper has no numbers for this figure; its text says that β moves AA by {said}, with the peak in the "
        "middle"
    )
    header = ["selection", "β", "AA / AF", "seeds"]
    figure = _beta_figure(target_runs.heading, lines, level)
    return Exhibit(target_runs.file_name, target_runs.heading, header, rows, notes, numbers, figure)


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
    axes.set_ylabel("average accuracy (AA), %", color=INK)
    finish(axes, title, "β, the weight of the topology", grid="y")
    if lines:
        axes.legend(frameon=False, labelcolor=INK)
    return figure


def projections(target_runs: TargetRuns) -> Exhibit:
    """What each model sees of the test nodes, in two dimensions, and how far its classes are apart."""
    rows, numbers, shown = [], [], []
    for backbone in target_runs.request.backbones:
        for row in target_runs.rows:
            choice = target_runs.choice(row, backbone)
            run = choice.group.first if choice else None
            if choice is None or run is None or run.record.projection is None:
                rows.append([row.label, backbone, *[NOTHING] * 3])
                continue
            seen = run.record.projection
            shown.append(seen)
            apart = "–" if seen.silhouette is None else f"{seen.silhouette:.3f}"
            rows.append([row.label, backbone, apart, f"{100 * seen.agreement:.1f}", f"{run.measures['aa']:.1f}"])
            line = {"row": row.label, "backbone": backbone, "seed": run.seeds["init"], "nodes": seen.nodes}
            numbers.append(
                line | {"silhouette": seen.silhouette, "agreement": seen.agreement, "aa": run.measures["aa"]}
            )
    header = ["method", "backbone", "silhouette", "neighbours of the same class, %", "AA, %"]
    notes = [
        *target_runs.notes,
        "one seed; β of FTF-ER is 0.5, not chosen; silhouette and the share of a node's ten nearest neighbours "
        "that are of its class are measured in the hidden layer itself, not in the picture",
        "the paper shows pictures only, and says that FTF-ER separates the classes more clearly than the others",
    ]
    figure = projection_figure(shown) if shown else Figure()
    return Exhibit(target_runs.file_name, target_runs.heading, header, rows, notes, numbers, figure)
