"""evergraph merge: one model of two."""

from pathlib import Path
from typing import Annotated

import typer

from evergraph.cli.batch_files import ModelFolderOption
from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.model_printing import facts
from evergraph.cli.options import AsJson, Plugins
from evergraph.errors import ConfigError

EXAMPLE = "Example: evergraph merge model-a model-b --model both"


def merge_command(
    first: Annotated[Path, typer.Argument(help="Folder of a model.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Folder of another model.", metavar="B")],
    model: ModelFolderOption,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Make one model of two that keep sums: the sums are those of one that learned both, hops and λ may differ."""
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.models import locked_model

    classifier = ContinualClassifier.load(first)
    classifier.merge(ContinualClassifier.load(second))
    with locked_model(model) as place:
        if place.exists:
            raise ConfigError(f"a folder without a model is wanted for --model, got {model}, which has one")
        classifier.save_in(place)
    if as_json:
        print_json({"model": str(model), **facts(classifier)})
        return
    if classifier.choices_:
        from evergraph.report.terminal import chosen_text

        note(
            f"chosen: {chosen_text(classifier.choices_)}; a model that learned both may have chosen otherwise, and "
            "the next batch may change it"
        )
    STDOUT.print(f"{model}: {classifier}", markup=False, highlight=False, soft_wrap=True)
