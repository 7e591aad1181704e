"""How learn and inspect show a model: its classes, its steps, its accuracy on held-out nodes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evergraph.cli.console import STDERR, STDOUT, counted, note

if TYPE_CHECKING:
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.estimator.history import Step


def facts(classifier: "ContinualClassifier") -> dict[str, Any]:
    """What --json has of a model."""
    if not classifier.__sklearn_is_fitted__():
        return {"known_classes": [], "memory": {}, "columns": [], "choices": {}}
    return {
        "known_classes": classifier.classes_.tolist(),
        "memory": classifier.memory_,
        "columns": classifier.schema_.describe(),
        "choices": classifier.choices_,
    }


def told(step: "Step") -> str:
    """A sentence on what a batch brought."""
    new = f"; new classes: {', '.join(map(str, step.new_classes))}" if step.new_classes else ""
    back = f"; more of: {', '.join(map(str, step.returning_classes))}" if step.returning_classes else ""
    known = f"; {step.known:,} labelled nodes were learned before" if step.known else ""
    return (
        f"{counted(step.nodes, 'node')}, {step.labelled:,} with a label: {step.learned:,} learned, "
        f"{step.held_out:,} kept aside{known}{new}{back}"
    )


def print_classes(step: "Step", classes: Sequence[Any]) -> None:
    """The accuracy of every class on held-out nodes, and what is not known of it."""
    from rich.table import Table

    if not step.classes:
        told = "no held-out node can be tested" if step.untested else "no node is kept aside"
        STDERR.print(f"note: {told}: accuracy is not known", style="dim", highlight=False)
        return
    table = Table(title="accuracy on held-out nodes", title_justify="left")
    table.add_column("class")
    for name in ("nodes", "right, %", "change"):
        table.add_column(name, justify="right")
    for entry in step.classes:
        change = "new" if entry.change is None else f"{100 * entry.change:+.1f}"
        table.add_row(str(entry.label), f"{entry.nodes}", f"{100 * entry.accuracy:.1f}", change)
    STDOUT.print(table, markup=False)
    if step.accuracy is not None:
        tested = {entry.label for entry in step.classes}
        others = [str(label) for label in classes if label not in tested]
        over = "classes" if not others else f"{len(tested)} of {len(classes)} classes"
        STDOUT.print(f"mean over {over} {100 * step.accuracy:.1f} %", highlight=False)
        if others:
            note(f"not tested, as no held-out node of them is there: {', '.join(others[:12])}")
    if step.untested:
        note(f"{step.untested:,} held-out nodes are not in this graph and were not tested")
    if step.rejection is not None:
        found = step.rejection
        told = f"unknown below {found.below:.3f}: {found.share:.1%} of held-out nodes, "
        told += f"{found.accuracy:.1%} of the others are right"
        if found.novel_share is not None:
            told += f"; {found.novel_share:.1%} of {found.novel:,} nodes of new classes, before these were learned"
        STDOUT.print(told, highlight=False, soft_wrap=True)


def print_steps(steps: Sequence["Step"]) -> None:
    """One row for each step in the life of a model."""
    from rich.table import Table

    table = Table(title="steps", title_justify="left")
    for name in ("step", "nodes", "learned", "kept aside", "classes", "right, %", "MB", "seconds"):
        table.add_column(name, justify="left" if name in ("step", "classes") else "right")
    for index, step in enumerate(steps, start=1):
        classes = f"{len(step.new_classes)} new, {len(step.returning_classes)} again"
        table.add_row(
            f"{index} {step.kind}",
            f"{step.nodes:,}",
            f"{step.learned:,}",
            f"{step.held_out:,}",
            classes if step.kind != "forget" else "",
            "–" if step.accuracy is None else f"{100 * step.accuracy:.1f}",
            f"{step.bytes / 1e6:.1f}",
            f"{step.seconds:.1f}",
        )
    STDOUT.print(table, markup=False)
