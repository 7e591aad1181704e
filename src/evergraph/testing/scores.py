"""The contract tests of scores."""

import numpy as np
import pytest
import torch

from evergraph.runs.build import make_learner
from evergraph.scores import SCORES, ScoreContext, Space
from evergraph.testing.samples import quick_config, stream_of, tiny_graph
from evergraph.watch import Watch


def score_context(
    *, sparse_features: bool = False, space: Space = Space.FEATURES, directed: bool = False, seed: int = 0
) -> ScoreContext:
    """A small task, and a network trained on it."""
    graph = tiny_graph((12, 9), width=6, sparse_features=sparse_features, directed=directed)
    config = quick_config("finetune", train={"epochs": 5})
    learner = make_learner(config, graph.n_features)
    (view,) = stream_of(graph, config).views(0, with_past=False)
    learner.learn(view, (), Watch())
    return ScoreContext(view, learner.net, np.random.default_rng(seed), space=space)


class ScoreContract:
    """Parametrize a subclass with the `name` of one score or of several."""

    def test_the_entry_is_complete(self, name: str) -> None:
        assert SCORES[name].summary
        assert callable(SCORES[name].score)

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("sparse_features", [False, True])
    def test_one_finite_number_for_each_training_node(
        self, name: str, sparse_features: bool, directed: bool
    ) -> None:
        """Equal for the same seed, and without a change of the network."""
        one, two = (score_context(sparse_features=sparse_features, directed=directed) for _ in range(2))
        before = {key: value.clone() for key, value in one.trained.state().items()}
        values = SCORES[name].score(one).value
        assert values.dtype == np.float64
        assert values.shape == (len(one.task.train),)
        assert np.isfinite(values).all()
        np.testing.assert_array_equal(values, SCORES[name].score(two).value)
        assert all(torch.equal(value, before[key]) for key, value in one.trained.state().items())
