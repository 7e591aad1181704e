"""Generated tables of any size, a chunk after the other: a graph whose classes can be learned, for scale.py.

Node i has class i mod C and features N(0.3 · centre of its class, 1). Four of five edges join nodes of one class.
One of ten labels names another class, which nothing else tells: 90 % right is the most there can be, and more would
be a leak.
"""

from pathlib import Path

import numpy as np
import pyarrow as arrow
from numpy.typing import NDArray
from pyarrow import parquet

from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions
from evergraph.tables import Duplicates

CHUNK = 1_000_000
ALIKE = 0.8
DISTANCE = 0.3
MISLABELLED = 0.1


def write_tables(folder: Path, nodes: int, edges: int, features: int, classes: int) -> tuple[Path, Path]:
    """nodes.parquet and edges.parquet; the number of nodes must be a multiple of the classes."""
    if nodes % classes:
        raise ValueError(f"a multiple of {classes} nodes is wanted, got {nodes} instead")
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((classes, features), dtype=np.float32) * np.float32(DISTANCE)
    node_path, edge_path = folder / "nodes.parquet", folder / "edges.parquet"
    fields = [arrow.field("id", arrow.int64()), arrow.field("label", arrow.int64())]
    fields += [arrow.field(f"x{at}", arrow.float32()) for at in range(features)]
    with parquet.ParquetWriter(node_path, arrow.schema(fields), compression="none", use_dictionary=False) as writer:
        for start in range(0, nodes, CHUNK // 4):
            ids = np.arange(start, min(start + CHUNK // 4, nodes))
            rows = rng.standard_normal((len(ids), features), dtype=np.float32) + centres[ids % classes]
            other = rng.integers(1, classes, len(ids)) * (rng.random(len(ids)) < MISLABELLED)
            columns = [ids, (ids + other) % classes, *np.ascontiguousarray(rows.T)]
            writer.write_table(
                arrow.table([arrow.array(column) for column in columns], schema=arrow.schema(fields))
            )
    ends = arrow.schema([arrow.field("source", arrow.int64()), arrow.field("target", arrow.int64())])
    with parquet.ParquetWriter(edge_path, ends, compression="none", use_dictionary=False) as writer:
        for start in range(0, edges, CHUNK):
            pair = _edges(rng, min(CHUNK, edges - start), nodes, classes)
            writer.write_table(arrow.table([arrow.array(end) for end in pair], schema=ends))
    return node_path, edge_path


def graph_folder(folder: Path, entries: int, degree: int, features: int, classes: int) -> Path:
    """The graph folder of such tables, of about so many entries; it stays for the next time."""
    graph = folder / f"graph-{entries:.0e}"
    if graph.exists():
        return graph
    folder.mkdir(parents=True, exist_ok=True)
    nodes = max(entries // degree // classes, 25) * classes
    tables = write_tables(folder, nodes, entries // 2, features, classes)
    options = FileOptions(directed=False, duplicates=Duplicates.MERGE)
    convert_tables(tables[1], tables[0], graph, options, Plan.of(10**9))
    for table in tables:
        table.unlink()
    return graph


def _edges(
    rng: np.random.Generator, count: int, nodes: int, classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    source = rng.integers(0, nodes, count)
    near = (source + classes * rng.integers(1, nodes // classes, count)) % nodes
    far = (source + rng.integers(1, nodes, count)) % nodes
    return source, np.where(rng.random(count) < ALIKE, near, far)
