"""Small files in the layout of every published data set: one ring of 12 nodes with 3 classes."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

N, CLASSES, WIDTH = 12, 3, 5


def ring() -> sparse.csr_array:
    """Directed: every node points at the next one."""
    rows = np.arange(N)
    return sparse.csr_array((np.ones(N, dtype=np.float32), (rows, (rows + 1) % N)), shape=(N, N))


def labels() -> NDArray[np.int64]:
    return np.arange(N, dtype=np.int64) % CLASSES


def features() -> sparse.csr_array:
    return sparse.random_array((N, WIDTH), density=0.4, rng=np.random.default_rng(3), dtype=np.float32).tocsr()


def csr_parts(prefix: str, matrix: sparse.csr_array) -> dict[str, NDArray[Any]]:
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices,
        f"{prefix}_indptr": matrix.indptr,
        f"{prefix}_shape": np.array(matrix.shape),
    }


def shchur_arrays() -> dict[str, NDArray[Any]]:
    return {**csr_parts("adj", ring()), **csr_parts("attr", features()), "labels": labels()}


def shchur(file: str) -> Callable[[Path], None]:
    """A writer of the .npz layout, with class names pickled as they are upstream."""

    def write(folder: Path) -> None:
        names: Any = np.array(["a", "b", "c"], dtype=object)
        np.savez(folder / file, allow_pickle=True, class_names=names, **shchur_arrays())

    return write


def gzipped(path: Path, table: NDArray[Any], fmt: str = "%d") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as stream:
        np.savetxt(stream, table, fmt=fmt, delimiter=",")


def ogb(folder: Path) -> None:
    raw = folder / "ogbn_arxiv" / "raw"
    coo = ring().tocoo()
    gzipped(raw / "edge.csv.gz", np.stack([coo.row, coo.col], axis=1))
    gzipped(raw / "node-label.csv.gz", labels()[:, None])
    gzipped(raw / "node-feat.csv.gz", features().toarray(), "%.6f")
    gzipped(raw / "num-node-list.csv.gz", np.array([[N]]))
    gzipped(raw / "num-edge-list.csv.gz", np.array([[N]]))


def reddit(folder: Path) -> None:
    (folder / "reddit").mkdir()
    np.savez(
        folder / "reddit" / "reddit_data.npz",
        feature=features().toarray(),
        label=labels().astype(np.int32),
        node_ids=np.arange(N),
        node_types=np.ones(N, dtype=np.int32),
    )
    sparse.save_npz(folder / "reddit" / "reddit_graph.npz", sparse.coo_array(ring() + ring().T))


def patents(folder: Path) -> None:
    (folder / "patent_citations").mkdir()
    coo = ring().tocoo()
    edges = ["source,target,time", *(f"p{a},p{b},0.5" for a, b in zip(coo.row, coo.col, strict=True))]
    nodes = ["id,label,time", *(f"p{node},category-{label},{node / N}" for node, label in enumerate(labels()))]
    for name, lines in (("edges", edges), ("nodes", nodes)):
        with gzip.open(folder / "patent_citations" / f"{name}.csv.gz", "wt") as stream:
            stream.write("\n".join(lines) + "\n")


def nothing(folder: Path) -> None:
    """For data sets that need no file."""


WRITERS: dict[str, Callable[[Path], None]] = {
    "digits": nothing,
    "sbm": nothing,
    "amazon-computers": shchur("amazon_electronics_computers.npz"),
    "amazon-photo": shchur("amazon_electronics_photo.npz"),
    "coauthor-cs": shchur("ms_academic_cs.npz"),
    "coauthor-physics": shchur("ms_academic_phy.npz"),
    "corafull": shchur("cora_full.npz"),
    "cora-papers70": shchur("cora_papers70.npz"),
    "ogbn-arxiv": ogb,
    "reddit": reddit,
    "patents": patents,
}
SPARSE = frozenset(WRITERS) - {"digits", "sbm", "ogbn-arxiv", "reddit", "patents"}
