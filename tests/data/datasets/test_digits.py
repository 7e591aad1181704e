import numpy as np
import pytest
from sklearn.datasets import load_digits

from evergraph.data.datasets import load_dataset
from evergraph.data.standardise import Standardisation
from evergraph.errors import ConfigError


def test_every_image_keeps_its_k_nearest() -> None:
    graph = load_dataset(
        "digits", options={"neighbours": 4}, standardisation=Standardisation(largest_component=False)
    )
    pixels = load_digits().data
    for image in (0, 700, 1796):
        distance = ((pixels - pixels[image]) ** 2).sum(axis=1)
        nearest = [node for node in np.lexsort((np.arange(len(pixels)), distance)) if node != image][:4]
        assert set(nearest) <= set(graph.adjacency[[image]].indices.tolist())
    assert 4 * 1797 <= graph.n_edges <= 8 * 1797


def test_the_default_is_one_component_of_all_images() -> None:
    graph = load_dataset("digits")
    assert graph.n_nodes == 1797
    assert isinstance(graph.features, np.ndarray)
    assert (graph.features.min(), graph.features.max()) == (0, 1)
    assert np.diff(graph.adjacency.indptr).min() >= 10
    assert np.array_equal(graph.labels, load_digits().target)


def test_too_many_neighbours_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"digits.neighbours.*got 1797 instead"):
        load_dataset("digits", options={"neighbours": 1797})
