"""ogbn-arxiv in the raw layout of the Open Graph Benchmark: gzipped CSV files without headers."""

import gzip
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evergraph.budget import free_memory
from evergraph.data.datasets.arrays import about
from evergraph.data.datasets.entry import DatasetEntry, RemoteFile
from evergraph.data.datasets.npz import no_features
from evergraph.data.graph import Graph, adjacency_from_edges, make_graph
from evergraph.errors import DataError
from evergraph.limits import LimitedLines

TEXT_GROWTH = 8
"""How many times its characters a table of numbers takes in memory, with a copy: `0,` becomes eight bytes."""
ARXIV = RemoteFile(
    "ogbn_arxiv/raw", "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip", inside="arxiv/raw"
)


def read_ogb(folder: Path, name: str) -> Graph:
    """The graph in a raw folder; node-feat.csv.gz may be absent."""
    counts = (_table(folder / f"num-{what}-list.csv.gz", np.int64, (1, 1)) for what in ("node", "edge"))
    n_nodes, n_edges = (int(count.item()) for count in counts)
    edges = _table(folder / "edge.csv.gz", np.int64, (n_edges, 2))
    labels = _table(folder / "node-label.csv.gz", np.int64, (n_nodes, 1))[:, 0]
    feature_file = folder / "node-feat.csv.gz"
    features = _table(feature_file, np.float32, (n_nodes, None)) if feature_file.exists() else None
    remarks = () if features is not None else (no_features(name),)
    with about(folder / "edge.csv.gz"):
        adjacency = adjacency_from_edges(edges[:, 0], edges[:, 1], n_nodes)
    return make_graph(adjacency, features, labels, name=name, remarks=remarks)


def _table(path: Path, dtype: DTypeLike, shape: tuple[int, int | None]) -> NDArray[Any]:
    """The numbers of a gzipped CSV file, which must have the given rows and (where given) columns."""
    if not path.exists():
        raise DataError(f"{path.parent} must hold {path.name}, got no such file instead; see evergraph data info")
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            lines = LimitedLines(stream, most=free_memory() // TEXT_GROWTH)
            values = np.loadtxt(islice(lines, shape[0] + 1), dtype=dtype, delimiter=",", ndmin=2)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(
            f"{path.name} must be a complete gzip file of text, got a broken one instead ({error}); fetch it again"
        ) from None
    except ValueError as error:
        raise DataError(f"{path.name} must hold numbers only, got something else instead ({error})") from None
    if values.shape[0] != shape[0] or shape[1] not in (None, values.shape[1]):
        wanted = f"{shape[0]} rows" + ("" if shape[1] is None else f" of {shape[1]} numbers")
        raise DataError(f"{path.name} must hold {wanted}, got {values.shape[0]} of {values.shape[1]} instead")
    return values


ENTRY = DatasetEntry(
    name="ogbn-arxiv",
    summary="computer-science papers on arXiv, joined by citations; averaged word vectors; 40 subject areas",
    citation=(
        "Hu, Fey, Zitnik, Dong, Ren, Liu, Catasta and Leskovec, Open Graph Benchmark: Datasets for Machine "
        "Learning on Graphs, NeurIPS 2020."
    ),
    licence="ODC-BY",
    load=lambda _options, locate: read_ogb(locate(ARXIV), "ogbn-arxiv"),
    files=(ARXIV,),
    counts=(169343, 2315598),
    budget=400,
)
