"""evergraph probe: what a way of testing gives away."""

from typing import Annotated, Any

import typer

from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.options import AsJson, DataDir, Features, Plugins, StreamSetOption, budgeted
from evergraph.errors import ConfigError

app = typer.Typer(
    help="Probe a way of testing for what it gives away.",
    epilog="Example: evergraph probe leak --dataset digits",
    rich_markup_mode=None,
)
MEANINGS = {
    "raw": "features as they are",
    "local": "smoothed in two hops, in each task's own graph",
    "global": "smoothed in two hops, in the whole graph",
}


@app.callback()
def _group() -> None:
    """Probe a way of testing for what it gives away."""


@app.command("leak", epilog="Example: evergraph probe leak --dataset digits --seeds 3")
def leak_command(
    dataset: Annotated[
        str, typer.Option(help="Name of a data set, path of a graph file, or address of a graph folder.")
    ],
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of split and class order, from 0, to average over.")] = 3,
    features: Features = None,
    settings: StreamSetOption = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            help="Budget of memory besides the program's own, such as 8GB; a graph folder that does not fit is "
            "refused.",
        ),
    ] = None,
    data_dir: DataDir = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Guess the task of test nodes from mean features: of a whole test set, and node by node."""
    import numpy as np

    from evergraph.config import assigned, parse_assignment
    from evergraph.data.datasets import open_dataset
    from evergraph.data.leak import leak
    from evergraph.data.stream import make_stream
    from evergraph.runs.data_config import DataConfig

    values: dict[str, Any] = {"dataset": {"name": dataset, "features": features}}
    chosen = assigned(values, [parse_assignment(text) for text in settings or []])
    for section in set(chosen) - {"dataset", "stream"}:
        raise ConfigError(f"--set takes dataset.* and stream.* here, got {section}.* instead")
    config = DataConfig.from_values(chosen)
    with budgeted(memory):
        graph = open_dataset(config.dataset, data_dir, progress=True)
        streams = [make_stream(graph, config.stream, split_seed=seed, order_seed=seed) for seed in range(seeds)]
        found = [leak(stream) for stream in streams]
    shares = {
        name: {
            kind: 100 * float(np.mean([getattr(one[name], kind) for one in found])) for kind in ("sets", "nodes")
        }
        for name in MEANINGS
    }
    facts = {"dataset": graph.name, "tasks": len(streams[0]), "seeds": seeds, **shares}
    remarks = [*graph.remarks, *streams[0].messages]
    if as_json:
        print_json({**facts, "chance": 100 / len(streams[0]), "remarks": remarks})
        return
    _print(facts, shares, remarks)


def _print(facts: dict[str, Any], shares: dict[str, dict[str, float]], remarks: list[str]) -> None:
    from rich.table import Table

    heading = f"{facts['dataset']} · task guessed from mean features, % right"
    caption = f"{facts['tasks']} tasks, chance {100 / facts['tasks']:.1f}; mean of {facts['seeds']} seeds"
    table = Table(title=heading, title_justify="left", caption=caption, caption_justify="left")
    table.add_column("features")
    for name in ("whole test set", "single node"):
        table.add_column(name, justify="right")
    for name, meaning in MEANINGS.items():
        table.add_row(f"{name}: {meaning}", *(f"{share:.1f}" for share in shares[name].values()))
    STDOUT.print(table)
    for remark in remarks:
        note(remark)
