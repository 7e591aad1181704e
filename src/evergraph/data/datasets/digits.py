"""scikit-learn's bundled digits as a graph of nearest neighbours: the default data set, without file or network."""

import numpy as np
from pydantic import Field

from evergraph.config import Settings
from evergraph.data.datasets.entry import DatasetEntry, Locate
from evergraph.data.graph import Graph, adjacency_from_edges, make_graph


class DigitsOptions(Settings):
    """The options of the graph."""

    neighbours: int = Field(default=10, ge=1, le=1796)
    """Nearest images that every image is joined to."""


def load(options: DigitsOptions, _locate: Locate) -> Graph:
    """Join every image to its k nearest, both ways; pixels are whole numbers, so distances and ties are exact."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    n = len(pixels)
    square = (pixels**2).sum(axis=1)
    distance = (square[:, None] + square[None, :] - 2 * pixels @ pixels.T).astype(np.int64)
    np.fill_diagonal(distance, np.iinfo(np.int32).max)
    rank = distance * n + np.arange(n)  # of two images equally far the earlier one is nearer
    nearest = np.argpartition(rank, options.neighbours - 1, axis=1)[:, : options.neighbours].ravel()
    image = np.repeat(np.arange(n), options.neighbours)
    adjacency = adjacency_from_edges(
        np.concatenate([image, nearest]), np.concatenate([nearest, image]), n, merge_duplicates=True
    )
    return make_graph(
        adjacency,
        (pixels / 16).astype(np.float32),
        labels,
        directed=False,
        name="digits",
        class_names=tuple("0123456789"),
    )


ENTRY = DatasetEntry(
    name="digits",
    summary="1,797 images of handwritten digits, each joined to its nearest images; bundled with scikit-learn",
    citation="Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Repository, 1998.",
    licence="CC BY 4.0",
    load=load,
    options=DigitsOptions,
    budget=10,
)
