"""evergraph recommend: which method for this data."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.cli.console import STDERR, STDOUT, NotesOnce, ProgressWatch, note, print_json
from evergraph.cli.options import AsJson, DataDir, Features, Memory, Plugins, ScratchFolder, SetOption, budgeted
from evergraph.errors import ConfigError, DataError

if TYPE_CHECKING:
    from evergraph.experiments.recommend import Candidate
    from evergraph.runs.config import RunConfig

EXAMPLE = "Example: evergraph recommend --dataset digits --method ncm,ssm --epochs 20"
AREA = "area of accuracy on all nodes so far"
"""What methods are judged by where classes come back."""


def recommend_command(
    dataset: Annotated[
        str, typer.Option(help="Name of a data set, path of a graph file, or address of a graph folder.")
    ],
    method: Annotated[str | None, typer.Option(help="Methods to compare, with commas; several by default.")] = None,
    minutes: Annotated[float, typer.Option(min=0, help="No method but the first is begun after this time.")] = 5.0,
    epochs: Annotated[int | None, typer.Option(help="Epochs for each task, where a method trains.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of split, class order and initialisation.")] = 0,
    features: Features = None,
    settings: SetOption = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs and of recommendation.png.")] = Path("runs"),
    data_dir: DataDir = None,
    memory: Memory = None,
    scratch: ScratchFolder = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods on validation nodes in the whole graph, and recommend one."""
    from evergraph.config import assigned, merged, parse_assignment
    from evergraph.data.stream_config import Arrival
    from evergraph.experiments.recommend import recommend_configs, recommended
    from evergraph.report.frontier import write_frontier
    from evergraph.runs.process import keep_freed_memory

    keep_freed_memory()
    flags = {
        "dataset.name": dataset,
        "dataset.features": features,
        "train.epochs": epochs,
        **{f"seeds.{kind}": seed for kind in ("split", "order", "init")},
    }
    values = assigned({}, [(key.split("."), value) for key, value in flags.items() if value is not None])
    sets = [parse_assignment(text) for text in settings or []]
    for path, _ in sets:
        if path[0] == "method" or path == ["stream", "inter_task_edges"]:
            raise ConfigError(
                f"settings that all methods share are wanted, got {'.'.join(path)} instead; "
                "methods are compared in the whole graph with their own defaults"
            )
    configs = recommend_configs(merged(values, assigned({}, sets)), _names(method))
    with budgeted(memory, scratch):
        candidates, left_out = _measured(configs, out, data_dir, minutes)
    choice = recommended(candidates)
    returning = configs[0].stream.arrival is not Arrival.CLASSES
    measure = AREA if returning else "AA"
    shown = [{**asdict(one), "aa": one.judged} for one in candidates]
    picture = write_frontier(shown, out / "recommendation.png", dataset, measure)
    answer: dict[str, Any] = {
        "recommended": None if choice is None else choice.method,
        "judged_by": measure,
        "methods": [asdict(one) for one in candidates],
        "left_out": left_out,
        "picture": str(picture),
    }
    if as_json:
        print_json(answer)
        return
    _print(candidates, choice, returning=returning)
    for remark in dict.fromkeys(remark for one in candidates for remark in one.remarks):
        note(remark)
    for name, reason in left_out.items():
        note(f"{name} left out: {reason}")
    STDERR.print(f"picture: {picture}", highlight=False, soft_wrap=True)


def _names(method: str | None) -> list[str] | None:
    from evergraph.methods import METHODS

    return None if method is None else [METHODS.canonical(name.strip()) for name in method.split(",")]


def _measured(
    configs: "list[RunConfig]", out: Path, data_dir: Path | None, minutes: float
) -> "tuple[list[Candidate], dict[str, str]]":
    """The methods that were measured, the first one always; the reasons why others were not."""
    from evergraph.experiments.local import reason
    from evergraph.experiments.recommend import candidate
    from evergraph.runs.execute import run

    start, told = time.monotonic(), NotesOnce()
    found: list[Candidate] = []
    left_out: dict[str, str] = {}
    for config in configs:
        name = config.method_name
        if found and time.monotonic() - start > 60 * minutes:
            left_out[name] = f"the {minutes:g} minutes were over (--minutes)"
            continue
        STDERR.print(f"{name} …", highlight=False)
        try:
            with ProgressWatch(config.train.epochs, on_plan=told) as watch:
                found.append(candidate(run(config, out, data_dir=data_dir, resume=True, watch=watch)))
        except Exception as error:
            if isinstance(error, ConfigError | DataError) and not found and not left_out:
                raise  # of the data or the settings, so of every method
            left_out[name] = reason(error)
    return found, left_out


def _print(candidates: "list[Candidate]", choice: "Candidate | None", *, returning: bool) -> None:
    from rich.table import Table

    from evergraph.experiments.recommend import MARGIN

    table = Table("method", title="validation nodes, whole graph, no task id", title_justify="left")
    judged = (f"{AREA}, %",) if returning else ()
    for heading in (*judged, "AA, %", "AF, %", "kept of the past, MB", "time, s"):
        table.add_column(heading, justify="right")
    for one in sorted(candidates, key=lambda one: -one.judged):
        first = (f"{one.judged:.1f}",) if returning else ()
        kept = "all data" if one.needs_all_data else f"{one.kept_bytes / 1e6:.2f}"
        cells = (*first, f"{one.aa:.1f}", f"{one.af:.1f}", kept, f"{one.seconds:.1f}")
        table.add_row(one.method, *cells, style="bold" if one is choice else None)
    STDOUT.print(table)
    if choice is not None:
        STDOUT.print(
            f"recommended: {choice.method} (keeps least within {MARGIN} points of the best)", highlight=False
        )
    else:
        note("for a recommendation a method that keeps less than all data is wanted, got none; name one, or none")
