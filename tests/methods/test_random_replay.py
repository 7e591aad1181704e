"""Random replay is FTF-ER with random scores, and its choice is uniform."""

from itertools import combinations
from math import comb

import numpy as np

from evergraph.methods.random_replay import RandomReplay
from evergraph.runs.build import make_learner
from helpers import assert_same_bits, learned, run_config, stream_of, tiny_graph

SIZES = (14, 12, 13, 15)


def test_it_is_ftf_er_with_random_scores_to_the_last_bit() -> None:
    small = {"backbone": {"hidden": 8}, "seeds": {"init": 4}}
    random = {"feature_score": "random", "topology_score": "none"}
    by_name = run_config(method={"name": "random-replay", "budget": 3, "replay_weight": 0.5}, **small)
    by_scores = run_config(method={"name": "ftf-er-det", "budget": 3, "replay_weight": 0.5, **random}, **small)
    stream = stream_of(tiny_graph(SIZES), by_name)
    assert_same_bits(learned(by_name, stream).state(), learned(by_scores, stream).state())


def test_every_set_of_nodes_of_a_class_is_equally_likely() -> None:
    config = run_config(method={"name": "random-replay", "budget": 2}, backbone={"hidden": 8})
    stream = stream_of(tiny_graph(SIZES), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, RandomReplay)
    (view,) = stream.views(0, with_past=False)
    members = view.train[view.train_labels == 0]
    drawn = dict.fromkeys(combinations(members.tolist(), 2), 0)
    rounds = 200 * len(drawn)
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        chosen = view.train[learner.chosen(view, learner.mixed_scores(view, [], rng), rng).at]
        drawn[tuple(chosen[np.isin(chosen, members)].tolist())] += 1
    assert len(drawn) == comb(len(members), 2)
    expected = rounds / len(drawn)
    chi_square = sum((count - expected) ** 2 / expected for count in drawn.values())
    freedom = len(drawn) - 1
    assert chi_square < freedom + 4 * np.sqrt(2 * freedom)
