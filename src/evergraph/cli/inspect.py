"""evergraph inspect: what a model knows."""

from pathlib import Path
from typing import Annotated

import typer

from evergraph.cli.console import STDOUT, print_json
from evergraph.cli.model_printing import facts, print_classes, print_steps
from evergraph.cli.options import AsJson, Plugins

EXAMPLE = "Example: evergraph inspect model"


def inspect_command(
    model: Annotated[Path, typer.Argument(help="Folder of the model.")],
    picture: Annotated[
        Path | None, typer.Option(help="PNG file of the accuracy of each class, step by step.")
    ] = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model knows: classes, steps, bytes, columns, and how accuracy on held-out nodes moved."""
    from evergraph.estimator.classifier import ContinualClassifier

    classifier = ContinualClassifier.load(model)
    learned = classifier.__sklearn_is_fitted__()
    steps = classifier.history_ if learned else []
    if picture is not None:
        from evergraph.estimator.picture import write_history

        write_history(steps, picture)
    if as_json:
        history = [step.model_dump(mode="json") for step in steps]
        print_json({"model": str(model), **facts(classifier), "history": history})
        return
    STDOUT.print(f"{model}: {classifier}", markup=False, highlight=False, soft_wrap=True)
    if not learned:
        return
    for line in classifier.schema_.describe():
        STDOUT.print(line, markup=False, highlight=False, soft_wrap=True)
    STDOUT.print(
        "bytes: " + ", ".join(f"{name} {size:,}" for name, size in classifier.memory_.items()), highlight=False
    )
    if classifier.choices_:
        from evergraph.report.terminal import chosen_text

        STDOUT.print(f"chosen from training data: {chosen_text(classifier.choices_)}", highlight=False)
    print_steps(steps)
    print_classes(steps[-1], classifier.classes_.tolist())
    if picture is not None:
        STDOUT.print(f"{picture}", markup=False, highlight=False, soft_wrap=True)
