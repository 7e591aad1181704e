"""Scores of a whole graph: which settings they need, and that a model is only made for scores that look at one."""

import numpy as np
import pytest

from evergraph.errors import ConfigError
from evergraph.runs.data_config import DataConfig
from evergraph.runs.scoring import score_graph
from evergraph.scores import SCORES, NodeScores, ScoreContext, ScoreEntry
from helpers import run_config, tiny_graph


def test_a_score_without_a_model_is_the_same_for_both_kinds_of_settings() -> None:
    graph = tiny_graph()
    for score in ("hps", "random", "mf"):
        ours = score_graph(graph, score, DataConfig.from_values({})).value
        np.testing.assert_array_equal(ours, score_graph(graph, score, run_config()).value)


def test_a_score_with_a_model_needs_settings_of_one() -> None:
    with pytest.raises(
        ConfigError, match="the score grand looks at a model: a RunConfig is wanted, got a DataConfig"
    ):
        score_graph(tiny_graph(), "grand", DataConfig.from_values({}))


def test_only_a_score_that_says_so_gets_a_model() -> None:
    def looks(context: ScoreContext) -> NodeScores:
        assert context.trained is context.net
        return NodeScores(np.zeros(len(context.task.train)))

    graph, config = tiny_graph(), run_config(train={"epochs": 1})
    try:
        SCORES.add("looks", ScoreEntry("", "", looks, needs_model=True))
        SCORES.add("forgot", ScoreEntry("", "", looks))
        assert not score_graph(graph, "looks", config).value.any()
        with pytest.raises(ConfigError, match=r"a model is wanted, got none; .* has needs_model=True"):
            score_graph(graph, "forgot", config)
    finally:
        SCORES.remove("looks")
        SCORES.remove("forgot")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": {"name": "joint"}}, "method is not a section; the sections are: dataset, seeds, stream"),
        ({"dataset": "digits"}, "dataset must be a section of settings, got 'digits' instead"),
        ({"dataset": {"name": "digist"}}, "digits"),
        ({"seeds": {"init": -1}}, "seeds.init"),
    ],
)
def test_bad_settings_get_one_sentence(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DataConfig.from_values(values)
