"""Nodes that are kept aside: which, and as what they are tested."""

import numpy as np

from evergraph import ContinualClassifier
from evergraph.estimator.keys import node_keys
from evergraph.tables import to_batch

from .growing import FAST, months


def test_nodes_that_are_kept_aside_depend_on_nothing_but_themselves(grown: ContinualClassifier) -> None:
    again = ContinualClassifier(**FAST)
    for part in months():
        order = np.random.default_rng(1).permutation(part.n_nodes)
        moved = to_batch(
            (part.adjacency[order][:, order], part.attributes[order]),  # type: ignore[index]
            part.labels[order].tolist(),
            ids=part.ids[order],
        )
        again.partial_fit(moved)
    assert set(again._learned.held_out.keys) == set(grown._learned.held_out.keys)


def test_held_out_nodes_are_tested_as_they_are_in_the_newest_graph(grown: ContinualClassifier) -> None:
    held, part = grown._learned.held_out, months()[2]
    prepared = grown._learned.prepare(part)
    rows = part.rows([node for node, key in zip(part.ids, node_keys(part.ids), strict=True) if key in held.keys])
    order = {key: place for place, key in enumerate(held.keys.tolist())}
    places = [order[key] for key in prepared.keys[rows].tolist()]
    assert held.inputs is not None
    assert len(rows) == len(held)
    wanted = grown._learned.learner.lasting_inputs(prepared.graph, rows)
    assert wanted is not None
    assert np.array_equal(held.inputs[places], wanted)
    before = held.inputs.copy()
    older = grown._learned.prepare(months()[0])
    held.refresh(grown._learned.learner, older.graph, older.keys)
    fewer = np.isin(held.keys, older.keys)
    assert fewer.any()
    assert (held.inputs[fewer] == before[fewer]).all(axis=(1, 2)).mean() > 0.5
