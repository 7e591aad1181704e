"""Prepared: a batch as learners see it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features, Graph
from evergraph.estimator.keys import fingerprint, node_keys, row_keys
from evergraph.tables import Batch, FeatureSchema


@dataclass(frozen=True)
class Prepared:
    """A batch as learners see it: all labels hidden; came_in: which batch nodes without ids came in."""

    batch: Batch
    graph: Graph
    came_in: int
    remarks: tuple[str, ...]

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """A key for each node; a prediction does without."""
        if self.batch.named:
            return node_keys(self.batch.ids)
        assert self.fingerprint is not None
        return row_keys(self.came_in, self.fingerprint, self.batch.n_nodes)

    @cached_property
    def fingerprint(self) -> str | None:
        """Of the features of nodes without ids; None where ids name them."""
        if self.batch.named:
            return None
        assert self.graph.features is not None
        return fingerprint(self.graph.features)


def n_inputs(schema: FeatureSchema) -> int:
    """The columns that learners see."""
    return schema.n_features + (schema.width is None)


def with_constant(features: Features) -> Features:
    """One more column of ones: methods that look at directions only then see lengths, too."""
    ones = np.ones((features.shape[0], 1), dtype=np.float32)
    if isinstance(features, np.ndarray):
        return np.hstack([features, ones])
    return sparse.csr_array(sparse.hstack([features, sparse.csr_array(ones)]))
