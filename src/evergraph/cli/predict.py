"""evergraph predict: the class of every node, as CSV or JSON."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from evergraph.cli.console import STDOUT, counted, note, print_json
from evergraph.cli.options import AsJson, Memory, Plugins, ScratchFolder, budgeted
from evergraph.errors import ConfigError

if TYPE_CHECKING:
    from typing import IO

    from evergraph.estimator.answer import Answer
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.tables import Batch

EXAMPLE = "Example: evergraph predict --model model --edges edges.csv --nodes nodes.csv --out predictions.csv"
AT_ONCE = 16_384
"""Rows that are made together."""
SHOWN = 12
"""Classes that are named."""
FIELDS = ("id", "label", "probability", "margin")


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
    memory: Memory = None,
    scratch: ScratchFolder = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Predict the class of every node; where nodes have labels, say how many are right."""
    import numpy as np

    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.files import write_output

    files = locals()
    _check_out(out, Path(nodes), edges)
    classifier = ContinualClassifier.load(model)
    with budgeted(memory, scratch):
        batch = read_files(files, label_optional=True)
        answers = classifier.answers(batch, unknown)
    if out is not None:
        write_output(out, lambda path: _write_csv(path, batch, answers))
    labelled, right, strange = _compared(classifier, batch, answers)
    summary = {
        "nodes": batch.n_nodes,
        "unknown": int(np.sum(answers.unknown)),
        "labelled": labelled,
        "right": right,
        "not_learned": strange.total(),
        "not_learned_classes": sorted(strange),
        "remarks": list(answers.remarks),
        "out": None if out is None else str(out),
    }
    if as_json:
        print_json(summary if out else {**summary, "predictions": _shown(batch, answers)})
        return
    for remark in answers.remarks:
        note(remark)
    if out is None:
        _write_rows(STDOUT.file, batch, answers)
        return
    told = f"{out}: {counted(batch.n_nodes, 'node')}"
    told += f", {summary['unknown']:,} unknown" if summary["unknown"] else ""
    if labelled:
        told += f"; {right / labelled:.1%} of {labelled:,} labels in the file are as predicted"
    if strange:
        names = "names a class" if strange.total() == 1 else "name classes"
        told += f"; {strange.total():,} of them {names} that the model has not learned: {_some(sorted(strange))}"
    STDOUT.print(told, highlight=False, soft_wrap=True, markup=False)


def _check_out(out: Path | None, *inputs: Path | None) -> None:
    if out is None:
        return
    if any(one is not None and one.exists() and out.exists() and out.samefile(one) for one in inputs):
        raise ConfigError(f"--out must be another file than those that are read, got {out} instead")
    if out.suffix.lower() in (".parquet", ".gz", ".tsv"):
        raise ConfigError(f"--out must be a CSV file, got {out} instead; end it in .csv")


def _blocks(batch: "Batch") -> Iterator[slice]:
    """Some nodes at a time: a Python object for each of all nodes takes more memory than the rest."""
    return (slice(start, start + AT_ONCE) for start in range(0, batch.n_nodes, AT_ONCE))


def _compared(
    classifier: "ContinualClassifier", batch: "Batch", answers: "Answer"
) -> tuple[int, int, Counter[str]]:
    """How many nodes have a label, of how many it is the predicted one, and labels that name no learned class."""
    labelled = right = 0
    strange: Counter[str] = Counter()
    known = {None, *classifier.classes_.tolist()}
    for here in _blocks(batch):
        truth = classifier.spelled(batch.labels[here])
        labelled += sum(label is not None for label in truth)
        found = answers.names[answers.places[here]].astype(object)
        right += int(((found == truth) & ~answers.unknown[here]).sum())
        strange.update(str(label) for label in truth if label not in known)
    return labelled, right, strange


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _shown(batch: "Batch", answers: "Answer") -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    return [dict(zip(FIELDS, row, strict=True)) for row in _rows(batch, answers)]


def _rows(batch: "Batch", answers: "Answer") -> Iterator[tuple[Any, ...]]:
    """A row for each node, made of some nodes at a time."""
    for here in _blocks(batch):
        labels = answers.names[answers.places[here]]
        columns = (batch.ids[here], labels, answers.top[here].round(6), answers.margin[here].round(6))
        yield from zip(*(column.tolist() for column in columns), strict=True)


def _write_rows(file: "IO[str]", batch: "Batch", answers: "Answer") -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows(_rows(batch, answers))


def _write_csv(path: Path, batch: "Batch", answers: "Answer") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        _write_rows(file, batch, answers)
