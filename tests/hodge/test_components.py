import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evergraph.hodge.components import components_of

from .graphs import from_pairs, positive, quick, undirected_graphs, vectors


def test_isolated_nodes_are_components_of_their_own() -> None:
    label = components_of(from_pairs(5, [(0, 3), (3, 4)]), np.ones(5)).label
    assert label[0] == label[3] == label[4]
    assert len(set(label.tolist())) == 3


def test_norms_are_those_of_each_component() -> None:
    components = components_of(from_pairs(3, [(0, 1)]), np.ones(3))
    norms = components.norms(np.array([3.0, 4.0, -2.0]))
    assert norms[components.label].tolist() == [5.0, 5.0, 2.0]


@quick
@given(st.data())
def test_projection_is_orthogonal_to_the_null_vector_of_each_component(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs().filter(lambda drawn: drawn.shape[0] > 0))
    null, values = data.draw(positive(graph.shape[0])), data.draw(vectors(graph.shape[0]))
    components = components_of(graph, null)
    projected = components.project(values)
    assert np.allclose(components.sums(null * projected), 0.0, atol=1e-12)
    removed = (values - projected) / null
    for label in np.unique(components.label):
        assert np.ptp(removed[components.label == label]) < 1e-12
