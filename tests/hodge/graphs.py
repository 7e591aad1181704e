"""Small random graphs for the properties of this folder."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy.sparse import csr_array

MAX_NODES = 11

quick = settings(max_examples=40, deadline=None)
"""Enough examples for graphs this small; no deadline, since one slow example says nothing about the code."""


def from_pairs(n_nodes: int, pairs: list[tuple[int, int]]) -> csr_array:
    """Return the unweighted undirected graph with these edges."""
    dense = np.zeros((n_nodes, n_nodes))
    for i, j in pairs:
        dense[i, j] = dense[j, i] = 1.0
    return csr_array(dense)


def grid(side: int) -> csr_array:
    """Return the unweighted square grid graph with side x side nodes."""
    node = np.arange(side * side).reshape(side, side)
    tail = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    head = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    upper = csr_array((np.ones(len(tail)), (tail, head)), shape=(side * side, side * side))
    return csr_array(upper + upper.T)


@st.composite
def directed_graphs(draw: st.DrawFn, *, weighted: bool = False) -> csr_array:
    """Draw a directed graph without self-loops; any density, so with isolated nodes and many components."""
    n = draw(st.integers(0, MAX_NODES))
    kept = draw(hnp.arrays(np.bool_, (n, n), elements=st.booleans()))
    thinned = kept & (draw(hnp.arrays(np.int64, (n, n), elements=st.integers(0, 2))) <= draw(st.integers(0, 2)))
    sizes = draw(hnp.arrays(np.float64, (n, n), elements=st.floats(0.25, 4.0))) if weighted else np.ones((n, n))
    dense = np.where(thinned, sizes, 0.0)
    np.fill_diagonal(dense, 0.0)
    return csr_array(dense)


@st.composite
def undirected_graphs(draw: st.DrawFn, *, weighted: bool = False) -> csr_array:
    """Draw an undirected graph without self-loops."""
    upper = np.triu(draw(directed_graphs(weighted=weighted)).toarray())
    return csr_array(upper + upper.T)


def vectors(length: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw a vector of moderate numbers."""
    return hnp.arrays(np.float64, (length,), elements=st.floats(-10.0, 10.0).map(lambda x: round(x, 3)))


def positive(length: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Draw a vector of weights."""
    return hnp.arrays(np.float64, (length,), elements=st.floats(0.25, 4.0))
