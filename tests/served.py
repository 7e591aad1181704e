"""A small graph folder, and a real server on this host that offers a folder."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from evergraph.cli import run_main
from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions
from helpers import PRELOADED


class Server(ThreadingHTTPServer):
    """Notes what it is asked for.

    cut: bytes after which every answer ends, as a connection that breaks; held: a file of which it sends half, and
    nothing more until it is `released`; ranges: whether it sends parts of files.
    """

    cut: int | None = None
    held: str | None = None
    ranges = False

    def __init__(self, folder: Path):
        self.asked: list[str] = []
        self.half_sent, self.released = threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    """Answers with files."""

    server: Server

    def log_message(self, *_args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.path} {self.headers.get('Range', '')}".strip())
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content, start, end = path.read_bytes(), 0, path.stat().st_size
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")) if self.server.ranges else None
        if wanted:
            start, end = int(wanted[1]), min(int(wanted[2] or end) + 1, end)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(end - start))
        if self.server.ranges:
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        self.end_headers()
        if not body:
            return
        if path.name == self.server.held and not self.server.half_sent.is_set():
            self.wfile.write(content[start : end // 2])
            self.wfile.flush()
            self.server.half_sent.set()
            self.server.released.wait(60)
            return
        self.wfile.write(content[start:end][: self.server.cut])


def make_graph_folder(where: Path, n: int = 48) -> Path:
    """A small graph folder below a folder."""
    where.mkdir(exist_ok=True)
    rows = [f"n{row},{row % 4},{row % 4 + row % 7 / 9:.3f},{row * row % 11}" for row in range(n)]
    (where / "nodes.csv").write_text("id,label,size,age\n" + "\n".join(rows) + "\n")
    edges = [f"n{row},n{(row + step) % n}" for row in range(n) for step in (1, 4)]
    (where / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    options = FileOptions(directed=False)
    convert_tables(where / "edges.csv", where / "nodes.csv", where / "graph", options, Plan.of(10**8))
    return where / "graph"


def fetching_process(address: str, cache: Path) -> ForkServerProcess:
    """A process of its own that brings a graph to a cache."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_fetch, args=(address, str(cache)))
    process.start()
    return process


def _fetch(address: str, cache: str) -> None:
    os.environ["EVERGRAPH_CACHE"] = cache
    os._exit(run_main(["data", "fetch", address]))


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """A server of the files below a folder."""
    with Server(folder) as made:
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()
