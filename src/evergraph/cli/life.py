"""evergraph learn, predict, inspect, forget, merge: a classifier of one's own growing graph, in a model folder."""

import csv
import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.cli.console import STDERR, STDOUT, counted, note, print_json
from evergraph.cli.options import AsJson, Plugins, SetOption
from evergraph.errors import ConfigError, DataError, GraphWarning

if TYPE_CHECKING:
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.estimator.history import Step
    from evergraph.tables import Batch

LEARN = "Example: evergraph learn --model model --edges edges.csv --nodes nodes.csv --label-column topic"
PREDICT = "Example: evergraph predict --model model --edges edges.csv --nodes nodes.csv --out predictions.csv"
INSPECT = "Example: evergraph inspect model"
FORGET = "Example: evergraph forget --model model --edges edges.csv --nodes nodes.csv --ids ids.txt"
MERGE = "Example: evergraph merge model-a model-b --model both"

ModelFolderOption = Annotated[Path, typer.Option("--model", help="Folder of the model.")]
Nodes = Annotated[Path, typer.Option(help="Table of nodes: CSV (also .gz), TSV or Parquet; a column `id`.")]
Edges = Annotated[
    Path | None, typer.Option(help="Table of edges with columns `source` and `target`; none: nodes alone.")
]
IdColumn = Annotated[str | None, typer.Option(help="Column of node ids.", show_default="id")]
LabelColumn = Annotated[str | None, typer.Option(help="Column of labels; empty: not known.", show_default="label")]
TimeColumn = Annotated[str | None, typer.Option(help="Column of times, which is no feature.", show_default="time")]
Ignore = Annotated[list[str] | None, typer.Option(help="Column that is no feature; may be given again.")]
SourceColumn = Annotated[str, typer.Option(help="Column of the edges' first ids.")]
TargetColumn = Annotated[str, typer.Option(help="Column of the edges' second ids.")]
WeightColumn = Annotated[str | None, typer.Option(help="Column of edge weights.", show_default="not used")]
Directed = Annotated[bool, typer.Option("--directed", help="Edges have a direction.")]
MergeDuplicates = Annotated[
    bool,
    typer.Option("--merge-duplicates", help="Edges that are listed more than once become one; weights are added."),
]


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
    batch = _read(files, label_optional=False)
    with locked_model(model) as place:
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
        print_json({"model": str(model), "new": fresh, **step.model_dump(mode="json"), **_facts(classifier)})
        return
    if fresh:
        note(f"columns: {classifier.schema_.summary()}")
    for remark in step.remarks:
        note(remark)
    STDOUT.print(_told(step), highlight=False, soft_wrap=True)
    _print_classes(step, classifier.classes_.tolist())
    STDOUT.print(f"{model}: {classifier}"[: 10**4], markup=False, highlight=False, soft_wrap=True)


def predict_command(
    model: ModelFolderOption,
    nodes: Nodes,
    edges: Edges = None,
    out: Annotated[Path | None, typer.Option(help="CSV file: id, label, probability, margin.")] = None,
    unknown: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Answer `unknown` below this probability.", show_default="the model's"),
    ] = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    time_column: TimeColumn = None,
    ignore: Ignore = None,
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    weight_column: WeightColumn = None,
    directed: Directed = False,
    merge_duplicates: MergeDuplicates = False,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Predict the class of every node; where nodes have labels, say how many are right."""
    import numpy as np

    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.files import write_atomically

    files = locals()
    _check_out(out, nodes, edges)
    classifier = ContinualClassifier.load(model)
    batch = _read(files, label_optional=True)
    answers = classifier.answers(batch, unknown)
    if out is not None:
        write_atomically(out, _csv(batch, answers))
    labelled = np.flatnonzero(batch.labelled)
    truth = classifier.spelled(batch.labels)
    right = sum(answers.labels[row] == truth[row] and not answers.unknown[row] for row in labelled)
    facts = {
        "nodes": batch.n_nodes,
        "unknown": int(np.sum(answers.unknown)),
        "labelled": len(labelled),
        "right": int(right),
        "remarks": list(answers.remarks),
        "out": None if out is None else str(out),
    }
    if as_json:
        shown = [dict(zip(FIELDS, row, strict=True)) for row in _rows(batch, answers)]
        print_json(facts if out else {**facts, "predictions": shown})
        return
    for remark in answers.remarks:
        note(remark)
    if out is None:
        STDOUT.file.write(_csv(batch, answers))
        return
    told = f"{out}: {counted(batch.n_nodes, 'node')}"
    told += f", {facts['unknown']:,} unknown" if facts["unknown"] else ""
    if len(labelled):
        told += f"; {right / len(labelled):.1%} of {len(labelled):,} labels in the file are as predicted"
    STDOUT.print(told, highlight=False, soft_wrap=True, markup=False)


FIELDS = ("id", "label", "probability", "margin")


def _rows(batch: "Batch", answers: Any) -> list[tuple[Any, ...]]:
    shown = zip(batch.ids.tolist(), answers.labels.tolist(), answers.top, answers.margin, strict=True)
    return [(node, label, round(float(top), 6), round(float(margin), 6)) for node, label, top, margin in shown]


def _csv(batch: "Batch", answers: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows(_rows(batch, answers))
    return text.getvalue()


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
        print_json({"model": str(model), **_facts(classifier), "history": history})
        return
    STDOUT.print(f"{model}: {classifier}", markup=False, highlight=False, soft_wrap=True)
    if not learned:
        return
    for line in classifier.schema_.describe():
        STDOUT.print(line, markup=False, highlight=False, soft_wrap=True)
    STDOUT.print(
        "bytes: " + ", ".join(f"{name} {size:,}" for name, size in classifier.memory_.items()), highlight=False
    )
    _print_steps(steps)
    _print_classes(steps[-1], classifier.classes_.tolist())
    if picture is not None:
        STDOUT.print(f"{picture}", markup=False, highlight=False, soft_wrap=True)


def forget_command(
    model: ModelFolderOption,
    nodes: Nodes,
    ids: Annotated[Path, typer.Option(help="Text file of the ids to forget, one a line.")],
    edges: Edges = None,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    time_column: TimeColumn = None,
    ignore: Ignore = None,
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    weight_column: WeightColumn = None,
    directed: Directed = False,
    merge_duplicates: MergeDuplicates = False,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Forget nodes that were learned; the files are those with which they were learned."""
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.models import locked_model

    files = locals()
    _forbid_new(model)
    wanted = _ids(ids)
    batch = _read(files, label_optional=True)
    with locked_model(model) as place:
        classifier = ContinualClassifier.load(model)
        found = classifier.forget(batch, wanted)
        classifier.save_in(place)
    if as_json:
        print_json({"model": str(model), "nodes": found.nodes, "exact": found.exact, "statement": found.statement})
        return
    STDOUT.print(found.statement, highlight=False, soft_wrap=True, markup=False)


def merge_command(
    first: Annotated[Path, typer.Argument(help="Folder of a model.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Folder of another model.", metavar="B")],
    model: ModelFolderOption,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Make one model of two that keep sums: it is what one that learned both would be."""
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.models import locked_model

    classifier = ContinualClassifier.load(first)
    classifier.merge(ContinualClassifier.load(second))
    with locked_model(model) as place:
        if place.exists:
            raise ConfigError(f"a folder without a model is wanted for --model, got {model}, which has one")
        classifier.save_in(place)
    if as_json:
        print_json({"model": str(model), **_facts(classifier)})
        return
    STDOUT.print(f"{model}: {classifier}", markup=False, highlight=False, soft_wrap=True)


# reading


def _read(options: dict[str, Any], *, label_optional: bool) -> "Batch":
    """The batch that the options of a command name."""
    from evergraph.tables import Duplicates, read_batch

    names = (
        "id_column",
        "label_column",
        "time_column",
        "source_column",
        "target_column",
        "weight_column",
        "directed",
    )
    return read_batch(
        options["nodes"],
        options["edges"],
        ignore=options["ignore"] or (),
        duplicates=Duplicates.MERGE if options["merge_duplicates"] else Duplicates.ERROR,
        label_optional=label_optional,
        **{name: options[name] for name in names},
    )


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


def _ids(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise DataError(f"a text file of ids, one a line, is wanted, got {path}: {reason}") from None
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise DataError(f"at least one id is wanted, got an empty file {path} instead")
    return found


def _check_out(out: Path | None, *inputs: Path | None) -> None:
    if out is None:
        return
    if any(one is not None and one.exists() and out.exists() and out.samefile(one) for one in inputs):
        raise ConfigError(f"--out must be another file than those that are read, got {out} instead")
    if out.suffix.lower() in (".parquet", ".gz", ".tsv"):
        raise ConfigError(f"--out must be a CSV file, got {out} instead; end it in .csv")


def _forbid_new(model: Path) -> None:
    if not model.is_dir():
        raise ConfigError(f"the folder of a model is wanted, got {model}, which is not there; learn first")


# showing


def _facts(classifier: "ContinualClassifier") -> dict[str, Any]:
    if not classifier.__sklearn_is_fitted__():
        return {"known_classes": [], "memory": {}, "columns": []}
    return {
        "known_classes": classifier.classes_.tolist(),
        "memory": classifier.memory_,
        "columns": classifier.schema_.describe(),
    }


def _told(step: "Step") -> str:
    new = f"; new classes: {', '.join(map(str, step.new_classes))}" if step.new_classes else ""
    back = f"; more of: {', '.join(map(str, step.returning_classes))}" if step.returning_classes else ""
    known = f"; {step.known:,} labelled nodes were learned before" if step.known else ""
    return (
        f"{counted(step.nodes, 'node')}, {step.labelled:,} with a label: {step.learned:,} learned, "
        f"{step.held_out:,} kept aside{known}{new}{back}"
    )


def _print_classes(step: "Step", classes: Sequence[Any]) -> None:
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


def _print_steps(steps: Sequence["Step"]) -> None:
    from rich.table import Table

    table = Table(title="steps", title_justify="left")
    for name in ("step", "nodes", "learned", "kept aside", "classes", "right, %", "MiB", "seconds"):
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
            f"{step.bytes / 2**20:.1f}",
            f"{step.seconds:.1f}",
        )
    STDOUT.print(table, markup=False)
