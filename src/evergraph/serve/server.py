"""Running the application on a socket until somebody stops it."""

import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from evergraph.errors import ConfigError
from evergraph.serve.app import make_app
from evergraph.serve.connection import HastyProtocol
from evergraph.serve.limits import Limits
from evergraph.serve.served import Loaded, Served

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
LAST_SECONDS = 5
"""How long requests that are under way may go on after the server was stopped."""


def serve(
    folder: str | Path,
    host: str,
    port: int,
    limits: Limits,
    begun: Callable[[str, Loaded, bool], None],
) -> None:
    """Serve the model in a folder until an interruption; begun: called with the address once it listens.

    port 0: any that is free. A server that only this machine can reach answers to its own names alone, so that a
    page of somebody else cannot ask it by a name that leads here.
    """
    served = Served(folder)
    bound = _bound(host, port)
    local = _is_local(bound)
    app = make_app(served, limits, LOCAL | {host} if local else None)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=LAST_SECONDS,
        ws="none",
        http=HastyProtocol,
    )
    with bound:
        _Server(config, lambda: begun(_address(host, bound), served.current(), local)).run(sockets=[bound])


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None]):
        super().__init__(config)
        self.begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.begun()


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
        except BaseException:
            found.close()
            raise
    except (OSError, UnicodeError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"a host and a port that are free are wanted, got {host} and {port} instead ({why}); "
            "--port 0 takes any that is free"
        ) from None
    return found


def _is_local(bound: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def _address(host: str, bound: socket.socket) -> str:
    details: tuple[Any, ...] = bound.getsockname()
    return f"http://{f'[{host}]' if ':' in host else host}:{details[1]}/"
