"""Rows in eight bits: how far they are from what was kept, and what they cost."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.torch import load, save
from scipy import sparse

from evergraph.data.stream import learner_view
from evergraph.replay.embeddings import EmbeddingBuffer, Precision, quantised
from evergraph.replay.selection import Chosen
from helpers import quick_config, stream_of, tiny_graph

ROWS = arrays(np.float32, (4, 6), elements=st.floats(-1e3, 1e3, width=32, allow_subnormal=False))
VIEW = learner_view(stream_of(tiny_graph(), quick_config("finetune"))[0])


@given(rows=ROWS)
def test_a_code_is_off_by_at_most_half_a_step_of_its_row(rows: np.ndarray) -> None:
    codes, scales = quantised(rows)
    assert codes.dtype == np.int8
    decoded = codes.astype(np.float64) * scales[:, None]
    steps = np.abs(rows).max(axis=1, keepdims=True) / 127
    assert (np.abs(decoded - rows) <= 0.501 * steps + 1e-30).all()
    assert (decoded[~rows.any(axis=1)] == 0).all()


@pytest.mark.parametrize("precision", list(Precision))
def test_bytes_counted_are_bytes_serialised(precision: Precision) -> None:
    buffer = EmbeddingBuffer(precision)
    assert buffer.memory().bytes == buffer.n_replayed == 0
    assert buffer.parts(VIEW, 1.0) == []
    rng = np.random.default_rng(0)
    for count in (3, 5):
        chosen = Chosen(np.arange(count), np.ones(count))
        buffer.store(VIEW, chosen, rng.standard_normal((count, 100), dtype=np.float32))
    raw = save(buffer.state())
    header = 8 + int.from_bytes(raw[:8], "little")
    each = 100 + 4 + 8 if precision is Precision.INT8 else 400 + 8
    assert buffer.memory().bytes == len(raw) - header == 8 * each
    copy = EmbeddingBuffer(precision)
    copy.load_state(load(raw))
    np.testing.assert_array_equal(copy.rows(), buffer.rows())
    assert copy.memory() == buffer.memory()


@pytest.mark.parametrize("precision", list(Precision))
def test_rows_are_replayed_as_nodes_without_neighbours(precision: Precision) -> None:
    buffer = EmbeddingBuffer(precision)
    rows = np.random.default_rng(1).standard_normal((5, 7), dtype=np.float32)
    buffer.store(VIEW, Chosen(np.arange(5), np.ones(5)), rows)
    (part,) = buffer.parts(VIEW, 0.3)
    assert part.graph.n_edges == 0
    assert part.labels.tolist() == VIEW.train_labels[:5].tolist()
    assert part.scale == 0.3
    exact = precision is Precision.FLOAT32
    assert isinstance(part.graph.features, np.ndarray)
    np.testing.assert_allclose(part.graph.features, rows, atol=0 if exact else np.abs(rows).max() / 250)


@pytest.mark.parametrize("words", [1, 6])
def test_rows_of_few_numbers_are_replayed_as_a_sparse_matrix_of_the_same_numbers(words: int) -> None:
    rng = np.random.default_rng(2)
    rows = np.zeros((5, 40), dtype=np.float32)
    for row in rows:
        row[rng.choice(40, words, replace=False)] = rng.uniform(0.5, 1, words)
    buffer = EmbeddingBuffer(Precision.INT8)
    buffer.store(VIEW, Chosen(np.arange(5), np.ones(5)), rows)
    (part,) = buffer.parts(VIEW, 1.0)
    features = part.graph.features
    assert features is not None
    assert sparse.issparse(features) == (words == 1)
    np.testing.assert_array_equal(sparse.csr_array(features).toarray(), buffer.rows())


@pytest.mark.parametrize("precision", list(Precision))
def test_a_class_that_comes_back_keeps_the_highest_keys(precision: Precision) -> None:
    view = replace(VIEW, classes_return=True)
    members = np.flatnonzero(view.train_labels == view.train_labels[0])[:4]
    rows = np.arange(12, dtype=np.float32).reshape(4, 3) + 1
    buffer, copy = EmbeddingBuffer(precision), EmbeddingBuffer(precision)
    buffer.store(view, Chosen(members[:2], np.array([3.0, 1.0])), rows[:2])
    copy.load_state(buffer.state())
    admitted = copy.admit(view, Chosen(members[2:], np.array([2.0, 0.5])), budget=2)
    assert admitted.at.tolist() == [members[2]]
    copy.store(view, admitted, rows[2:3])
    assert copy.held["keys"].tolist() == [3.0, 2.0]
    np.testing.assert_allclose(copy.rows(), rows[[0, 2]], rtol=0.01)
