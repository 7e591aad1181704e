"""evergraph serve: predictions of a stored model over HTTP, and a page for a browser."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergraph.cli.console import STDOUT, counted, note
from evergraph.cli.options import Plugins
from evergraph.errors import ConfigError

if TYPE_CHECKING:
    from evergraph.serve.served import Loaded

EXAMPLE = "Example: evergraph serve --model model --port 8000"
NEEDED = ("fastapi", "uvicorn")


def serve_command(
    model: Annotated[Path, typer.Option(help="Folder of the model.")],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets others ask, too.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")] = 8000,
    max_mb: Annotated[float, typer.Option(min=0.001, max=1024, help="Largest request in MB.")] = 16.0,
    max_nodes: Annotated[int, typer.Option(min=1, help="Most nodes of a request.")] = 100_000,
    max_edges: Annotated[int, typer.Option(min=1, help="Most edges of a request.")] = 1_000_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds to wait for a request, and for its answer.")
    ] = 30.0,
    plugin: Plugins = None,
) -> None:
    """Answer questions about nodes over HTTP, and on a page for a browser; Ctrl-C stops it. It never writes."""
    missing = [name for name in NEEDED if not _is_there(name)]
    if missing:
        raise ConfigError(
            f"evergraph serve needs {' and '.join(NEEDED)}, got an environment without {' and '.join(missing)}; "
            "run pip install 'evergraph[serve]'"
        )
    from evergraph.serve.limits import Limits
    from evergraph.serve.server import serve

    limits = Limits(bytes=int(max_mb * 2**20), nodes=max_nodes, edges=max_edges, seconds=timeout)
    try:
        serve(model, host, port, limits, _say)
    except KeyboardInterrupt:  # the way to stop a server
        note("stopped")


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # somebody has blocked it
        return False


def _say(address: str, loaded: "Loaded", local: bool) -> None:
    classes = len(loaded.classifier.classes_)
    known = f"{classes:,} class" + ("" if classes == 1 else "es")
    learned = counted(loaded.classifier.n_batches_, "batch").replace("batchs", "batches")
    STDOUT.print(
        f"{address} serves {loaded.name}: {known}, {learned}; Ctrl-C stops it",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    STDOUT.file.flush()
    if not local:
        note("whoever reaches this address can ask the model; 127.0.0.1 is for this machine alone")
