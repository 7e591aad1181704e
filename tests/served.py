"""A small graph folder, and a real server on this host that offers a folder."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions


class Server(ThreadingHTTPServer):
    """Counts what it is asked for; `cut` ends every answer after so many bytes, as a connection that breaks."""

    cut: int | None = None
    ranges = False

    def __init__(self, folder: Path):
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    """Files, where `ranges` is set also parts of them."""

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
        if body:
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


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """A server of the files below a folder."""
    with Server(folder) as made:
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()
