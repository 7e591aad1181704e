"""evergraph score: one number for each node of a graph, useful on its own."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.options import AsJson, DataDir, Features, Plugins, SetOption, budgeted
from evergraph.errors import ConfigError
from evergraph.files import write_output

if TYPE_CHECKING:
    from evergraph.data.graph import Graph
    from evergraph.runs.config import RunConfig
    from evergraph.runs.data_config import DataConfig

EXAMPLE = "Example: evergraph score --dataset digits --score hps --out scores.csv"


def score_command(
    dataset: Annotated[
        str, typer.Option(help="Name of a data set, path of a graph file, or address of a graph folder.")
    ],
    out: Annotated[Path, typer.Option(help="File to write: .csv or .parquet.")],
    score: Annotated[str, typer.Option(help="Name of a score; see evergraph list scores.")] = "hps",
    orientation: Annotated[
        str | None, typer.Option(help="Sign of the Hodge potential: paper (the default) or opposite.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="How the Hodge potential is computed: memory, blocks or petsc; by size without it."),
    ] = None,
    ranks: Annotated[int | None, typer.Option(help="Processes of --method petsc: 2 if none are given.")] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory for the score of a graph folder, such as 500MB; 2GB for hps if none is given."),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="Backbone of the model, for scores that need one.", show_default="gcn")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of training, for scores that need a model.", show_default="200")
    ] = None,
    features: Features = None,
    settings: SetOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the model and of random scores.")] = 0,
    data_dir: DataDir = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Score every node of a graph, all nodes and classes at once as one task."""
    from evergraph.budget import current_budget, parse_memory
    from evergraph.config import parse_assignment
    from evergraph.data.datasets import open_dataset
    from evergraph.data.on_disk import is_on_disk
    from evergraph.hodge import DEFAULT_MEMORY, Orientation, Solving, named_method
    from evergraph.runs.scoring import score_graph
    from evergraph.scores import SCORES

    given = {"orientation": orientation, "method": method, "ranks": ranks}
    for name, value in given.items():
        if value is not None and SCORES.canonical(score) != "hps":
            raise ConfigError(f"--{name} goes with --score hps, got --score {score} instead")
    for name, trained in {"backbone": backbone, "epochs": epochs}.items():
        if trained is not None and not SCORES[score].needs_model:
            raise ConfigError(f"--{name} goes with a score that trains a model, got --score {score} instead")
    if orientation not in (None, *(entry.value for entry in Orientation)):
        raise ConfigError(f"--orientation must be paper or opposite, got {orientation!r} instead")
    solving = Solving(named_method(method), DEFAULT_MEMORY if memory is None else parse_memory(memory), ranks)
    if out.suffix not in WRITERS:
        raise ConfigError(f"--out must end in .csv or .parquet, got {out} instead")
    values = {"dataset": {"name": dataset, "features": features}, "seeds": {"init": seed}}
    model = {
        "backbone": {"name": "gcn" if backbone is None else backbone},
        "train": {"epochs": 200 if epochs is None else epochs},
    }
    config = _configured(values, model if SCORES[score].needs_model else {}, map(parse_assignment, settings or []))
    with budgeted(memory):
        graph = open_dataset(config.dataset, data_dir, progress=True)
        reading = SCORES[score].on_disk
        if reading and is_on_disk(graph) and not as_json:
            held = solving.memory if SCORES.canonical(score) == "hps" else current_budget().memory
            note(f"read from disk (memory {held / 1e9:.3g} GB): {score} takes {reading}")
        scores = score_graph(graph, score, config, Orientation(orientation or "paper"), solving)
    columns = {**_named(graph), "score": scores.value}
    write_output(out, lambda path: WRITERS[out.suffix](path, columns))
    _print(graph, score, out, dict(scores.certificate), as_json=as_json)


def _configured(
    values: dict[str, Any], model: dict[str, Any], sets: Iterable[tuple[list[str], Any]]
) -> "RunConfig | DataConfig":
    """The settings of a score; ConfigError for those without effect: it sees the whole graph as one task."""
    from evergraph.config import assigned
    from evergraph.runs.data_config import DataConfig

    sections, known = ["dataset", *model], list(sets)
    for path, _ in known:
        name = ".".join(path)
        if path[0] not in sections and name not in ("stream.preprocessing", "seeds.init"):
            raise ConfigError(
                f"settings of {', '.join(sections)}, stream.preprocessing and seeds.init are wanted, "
                f"got {name} instead; it has no effect on this score"
            )
    chosen = assigned({**values, **model}, known)
    if not model:
        return DataConfig.from_values(chosen)
    from evergraph.runs.config import RunConfig

    return RunConfig.from_values(chosen)


def _named(graph: "Graph") -> dict[str, Any]:
    """Node and class of each row: by the person's own names where the source has some."""
    import numpy as np

    classes = graph.labels if graph.class_names is None else np.array(graph.class_names)[graph.labels]
    if graph.node_names is not None:
        return {"original_id": graph.node_names, "class": classes}
    return {"node": np.arange(graph.n_nodes), "original_id": graph.original_ids, "class": classes}


def _write_csv(path: Path, columns: dict[str, Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))


def _write_parquet(path: Path, columns: dict[str, Any]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ConfigError("Parquet needs pyarrow, got none installed; pip install 'evergraph[parquet]'") from None
    parquet.write_table(pyarrow.table(columns), path)


WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}


def _print(graph: "Graph", score: str, out: Path, certificate: dict[str, Any], *, as_json: bool) -> None:
    facts = {"score": score, "dataset": graph.name, "nodes": graph.n_nodes, "out": str(out), **certificate}
    if as_json:
        print_json({**facts, "remarks": list(graph.remarks)})
        return
    for remark in graph.remarks:
        note(remark)
    proof = ", ".join(f"{key} {value:.3g}" for key, value in certificate.items())
    STDOUT.print(f"{score} of {graph.n_nodes:,} nodes of {graph.name}: {out}", highlight=False, soft_wrap=True)
    if proof:
        STDOUT.print(f"solver: {proof}", highlight=False)
