"""Four rings of thirty nodes: a data set without files."""

import numpy as np
from pydantic import Field

from evergraph import DatasetEntry, Graph, Settings, make_graph
from evergraph.data.datasets import Locate
from evergraph.data.graph import adjacency_from_edges


class RingOptions(Settings):
    """size: nodes of a ring."""

    size: int = Field(30, ge=3)


def load(options: RingOptions, _locate: Locate) -> Graph:
    labels = np.repeat(np.arange(4), options.size)
    node = np.arange(len(labels))
    following = np.where((node + 1) % options.size == 0, node - options.size + 1, node + 1)
    bridge = np.arange(3) * options.size  # the rings hang together
    source = np.concatenate([node, bridge])
    target = np.concatenate([following, bridge + options.size])
    both = np.concatenate([source, target]), np.concatenate([target, source])
    features = np.eye(4, dtype=np.float32)[labels]
    return make_graph(adjacency_from_edges(*both, len(labels)), features, labels, directed=False, name="rings")


RINGS = DatasetEntry(
    name="rings", summary="four rings", citation="Nobody, Rings, 2026.", load=load, options=RingOptions
)
