"""Converting tables of any size into a graph folder, within a budget of memory."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from evergraph.data.convert.edges import EdgeConversion
from evergraph.data.convert.nodes import NodeConversion
from evergraph.data.convert.plan import Plan
from evergraph.data.convert.work import remove_left_over, work_folder
from evergraph.data.datasets.files import FileOptions
from evergraph.data.graph_folder import MANIFEST, ArrayFile, GraphManifest
from evergraph.errors import ConfigError, StoreError
from evergraph.files import make_folder, write_atomically
from evergraph.tables.reading import column_names


def convert_tables(
    edges: Path,
    nodes: Path,
    out: Path,
    options: FileOptions,
    plan: Plan,
    *,
    float16: bool = False,
    tell: Callable[[str], object] = lambda message: None,
) -> GraphManifest:
    """The graph of two tables as a folder; it is there as a whole or not at all.

    Edges, ids, labels and features mean what they mean in `load_dataset` of the same tables. tell: is given the
    plan and each step.
    """
    if options.nodes is not None:
        raise ConfigError("the node table is given by itself, got the option nodes too; leave it out")
    if os.path.lexists(out) and (out.is_symlink() or not out.is_dir() or any(out.iterdir())):
        raise StoreError(f"{out} must be a new folder, got one that is there instead; choose another --out")
    make_folder(out.absolute().parent)
    try:
        remove_left_over(out.absolute())
        with work_folder(out.absolute()) as work:
            made, scratch = work / "graph", work / "scratch"
            made.mkdir()
            scratch.mkdir()
            manifest = _converted(edges, nodes, made, scratch, options, plan, float16=float16, tell=tell)
            with suppress(OSError):
                out.rmdir()  # an empty one
            made.rename(out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}") from None
    return manifest


def _converted(
    edges: Path,
    nodes: Path,
    made: Path,
    scratch: Path,
    options: FileOptions,
    plan: Plan,
    *,
    float16: bool,
    tell: Callable[[str], object],
) -> GraphManifest:
    tell(plan.described(len(column_names(nodes)), len(column_names(edges))))
    tell(f"reading {nodes.name}")
    table = NodeConversion(nodes, options, plan, scratch)
    table.scan()
    tell(f"writing {table.ids.count:,} nodes")
    about = table.write(made, float16=float16)
    for column in table.columns.values():
        column.remove()
    tell(f"reading {edges.name}")
    conversion = EdgeConversion(edges, table.ids, nodes.name, options, plan, scratch)
    entries = conversion.write(made)
    tell(f"{entries.entries:,} entries of the adjacency are written; taking checksums")
    manifest = GraphManifest(
        nodes=table.ids.count,
        edges=entries.entries,
        features=about.features,
        classes=about.classes,
        directed=entries.directed,
        remarks=(*about.remarks, *conversion.remarks),
        files={path.name: _described(path) for path in sorted(made.iterdir())},
    )
    write_atomically(made / MANIFEST, manifest.to_text())
    return manifest


def _described(path: Path) -> ArrayFile:
    with path.open("rb") as file:
        npy.read_magic(file)
        shape, _, dtype = npy.read_array_header_1_0(file)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kind = np.dtype(dtype).newbyteorder("<").str if np.dtype(dtype).kind == "U" else dtype.str
    return ArrayFile(kind, tuple(shape), path.stat().st_size, digest)
