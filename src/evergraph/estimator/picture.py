"""The accuracy of each class on held-out nodes, step by step, as a picture."""

from collections.abc import Sequence
from pathlib import Path

from evergraph.errors import DataError
from evergraph.estimator.history import Step
from evergraph.files import make_folder, write_output


def write_history(steps: Sequence[Step], path: Path) -> Path:
    """Draw a line for each class and a thick one for their mean, and return the path of the picture."""
    if path.suffix.lower() != ".png":
        raise DataError(f"a picture must end in .png, got {path} instead")
    if not any(step.classes for step in steps):
        raise DataError("accuracies on held-out nodes are wanted for a picture, got none; learn with a holdout")
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots()
    places = range(1, len(steps) + 1)
    names = list(dict.fromkeys(entry.label for step in steps for entry in step.classes))
    for name in names:
        known = [
            (place, 100 * entry.accuracy)
            for place, step in zip(places, steps, strict=True)
            for entry in step.classes
            if entry.label == name
        ]
        axes.plot(*zip(*known, strict=True), marker="o", markersize=3, linewidth=1, label=str(name), alpha=0.8)
    means = [(at, 100 * step.accuracy) for at, step in zip(places, steps, strict=True) if step.accuracy is not None]
    axes.plot(*zip(*means, strict=True), color="black", linewidth=2.5, label="mean")
    axes.set_xticks(list(places), [f"{place} {step.kind}" for place, step in zip(places, steps, strict=True)])
    axes.set_ylabel("accuracy on held-out nodes, %")
    axes.set_xlabel("step")
    axes.set_ylim(min(50.0, *axes.get_ylim()), 101)
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    columns = 1 + len(names) // 20
    figure.legend(loc="outside right upper", fontsize=8, frameon=False, ncols=columns)
    make_folder(path.parent)
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)  # a dollar in the name of a class is no formula
    write_output(path, lambda temporary: figure.savefig(temporary, dpi=150, format="png"))
    return path
