"""evergraph learn: make a model of one's own growing graph, or go on with one."""

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from evergraph.cli.batch_files import (
    Directed,
    Edges,
    IdColumn,
    Ignore,
    LabelColumn,
    MergeDuplicates,
    ModelFolderOption,
    Nodes,
    SourceColumn,
    TargetColumn,
    TimeColumn,
    WeightColumn,
    read_files,
)
from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.model_printing import facts, print_classes, told
from evergraph.cli.options import (
    AsJson,
    ExecutorName,
    GraphExecutor,
    Memory,
    Plugins,
    RayAddress,
    Scratch,
    SetOption,
    budgeted,
    check_method,
    on_workers,
)
from evergraph.errors import ConfigError, GraphWarning

EXAMPLE = "Example: evergraph learn --model model --edges edges.csv --nodes nodes.csv --label-column topic"


def learn_command(
    model: ModelFolderOption,
    nodes: Nodes,
    edges: Edges = None,
    label_column: LabelColumn = None,
    id_column: IdColumn = None,
    time_column: TimeColumn = None,
    ignore: Ignore = None,
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    weight_column: WeightColumn = None,
    directed: Directed = False,
    merge_duplicates: MergeDuplicates = False,
    method: Annotated[str | None, typer.Option(help="Method of a new model.", show_default="analytic")] = None,
    backbone: Annotated[str | None, typer.Option(help="Backbone of a new model.", show_default="gcn")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of a new model.", show_default="0")] = None,
    holdout: Annotated[
        float | None, typer.Option(help="Share of labelled nodes kept aside, new model.", show_default="0.1")
    ] = None,
    unknown: Annotated[
        float | None,
        typer.Option(help="Share of known nodes that may be answered `unknown`, new model.", show_default="none"),
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="Column of categories, not of numbers, new model; may be given again.")
    ] = None,
    number: Annotated[
        list[str] | None,
        typer.Option(help="Column of numbers, not of flags or categories, new model."),
    ] = None,
    like: Annotated[
        Path | None, typer.Option(help="Folder of a model whose settings and columns a new model gets, to merge.")
    ] = None,
    settings: SetOption = None,
    memory: Memory = None,
    scratch: Scratch = None,
    executor: GraphExecutor = ExecutorName.LOCAL,
    ray_address: RayAddress = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Learn the labelled nodes of a batch: make a model, or go on with the one that is there."""
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.models import locked_model

    files = locals()
    given = {"method": method, "backbone": backbone, "random_state": seed, "holdout": holdout, "reject": unknown}
    arguments: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if category:
        arguments["categories"] = tuple(category)
    if number:
        arguments["numbers"] = tuple(number)
    if settings:
        arguments["settings"] = _sections(settings)
    if like is not None:
        if arguments:
            raise ConfigError(f"--like has all settings, got --{_option(next(iter(arguments)))} too; leave it out")
        arguments["like"] = like
    check_method(executor, method)
    with ExitStack() as stack:
        stack.enter_context(budgeted(memory, scratch, executor))
        stack.enter_context(on_workers(executor, ray_address, scratch, nodes))
        batch = read_files(files, label_optional=False)
        place = stack.enter_context(locked_model(model))
        if place.exists:
            classifier = ContinualClassifier.load(model)
            if arguments:
                raise ConfigError(
                    f"--{_option(next(iter(arguments)))} is for a new model, got it for {model}, which is there; "
                    "leave it out"
                )
        elif like is not None:
            classifier = ContinualClassifier.load(like).sibling()
        else:
            classifier = ContinualClassifier(**arguments)
        fresh = not place.exists
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)  # the remarks are printed below
            classifier.partial_fit(batch)
        classifier.save_in(place)
    step = classifier.history_[-1]
    if as_json:
        print_json({"model": str(model), "new": fresh, **step.model_dump(mode="json"), **facts(classifier)})
        return
    if fresh:
        note(f"columns: {classifier.schema_.summary()}")
    for remark in step.remarks:
        note(remark)
    STDOUT.print(told(step), highlight=False, soft_wrap=True)
    print_classes(step, classifier.classes_.tolist())
    STDOUT.print(f"{model}: {classifier}"[: 10**4], markup=False, highlight=False, soft_wrap=True)


def _sections(settings: Sequence[str]) -> dict[str, Any]:
    from evergraph.config import assigned, parse_assignment

    return dict(assigned({}, [parse_assignment(text) for text in settings]))


def _option(argument: str) -> str:
    return {
        "random_state": "seed",
        "reject": "unknown",
        "categories": "category",
        "numbers": "number",
        "settings": "set",
    }.get(argument, argument)
