"""evergraph forget: take learned nodes out of a model."""

from pathlib import Path
from typing import Annotated

import typer

from evergraph.budget import free_memory
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
from evergraph.cli.options import AsJson, Memory, Plugins, ScratchFolder, budgeted
from evergraph.errors import ConfigError, DataError
from evergraph.limits import Refused, read_limited

EXAMPLE = "Example: evergraph forget --model model --edges edges.csv --nodes nodes.csv --ids ids.txt"


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
    memory: Memory = None,
    scratch: ScratchFolder = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Forget nodes that were learned; the files are those with which they were learned."""
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.models import locked_model

    files = locals()
    _forbid_new(model)
    wanted = _ids(ids)
    with budgeted(memory, scratch):
        batch = read_files(files, label_optional=True)
    with budgeted(memory, scratch), locked_model(model) as place:
        classifier = ContinualClassifier.load(model)
        found = classifier.forget(batch, wanted)
        classifier.save_in(place)
    if as_json:
        print_json({"model": str(model), "nodes": found.nodes, "exact": found.exact, "statement": found.statement})
        return
    for remark in batch.remarks:
        note(remark)
    STDOUT.print(found.statement, highlight=False, soft_wrap=True, markup=False)


def _ids(path: Path) -> list[str]:
    try:
        lines = read_limited(path, free_memory() // 8).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or (str(error) if isinstance(error, Refused) else "it is no text")
        raise DataError(f"a text file of ids, one a line, is wanted, got {path}: {reason}") from None
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise DataError(f"at least one id is wanted, got an empty file {path} instead")
    return found


def _forbid_new(model: Path) -> None:
    if not model.is_dir():
        raise ConfigError(f"the folder of a model is wanted, got {model}, which is not there; learn first")
