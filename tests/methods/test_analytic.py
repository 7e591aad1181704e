"""Analytic: order, batches, returning classes, forgetting and merging change nothing; the choice finds its hops."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph.config import validated
from evergraph.data.datasets import load_dataset
from evergraph.data.graph import LocalIds
from evergraph.data.stream import StreamConfig, TaskStream, TaskView, learner_view, make_stream
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.methods.analytic import AUTO, AUTO_BEFORE, EXPLAINED, Analytic, AnalyticConfig
from evergraph.methods.hop_features import HopFeatures, HopSet
from evergraph.methods.ridge import Moments, Spectrum
from evergraph.methods.statistics import ClassStatistics
from evergraph.models.tensors import tensor_bytes
from evergraph.runs.build import make_learner, make_net
from evergraph.runs.metrics import average_accuracy
from evergraph.watch import Watch
from helpers import assert_same_bits, run_config, stream_of, tiny_graph

from .measured import measured


def learner(width: int = 32, seed: int = 0, features: int = 40, **settings: Any) -> Analytic:
    config = run_config(method={"name": "analytic"}, seeds={"init": seed})
    return Analytic(make_net(config, features), AnalyticConfig(width=width, **settings))


def learned(views: list[TaskView], **settings: Any) -> Analytic:
    one = learner(features=views[0].graph.n_features, **settings)
    for view in views:
        one.learn(view, (), Watch())
    return one


def views_of(stream: TaskStream) -> list[TaskView]:
    return [learner_view(task) for task in stream]


def split(view: TaskView, pieces: int) -> list[TaskView]:
    """The same view with a part of the training nodes at a time: every class comes back."""
    return [replace(view, train=LocalIds(part)) for part in np.array_split(np.asarray(view.train), pieces)]


@pytest.fixture
def views() -> list[TaskView]:
    return views_of(stream_of(tiny_graph((9, 5, 9, 7), width=40), run_config(method={"name": "analytic"})))


def same_outputs(one: Analytic, other: Analytic, view: TaskView) -> None:
    np.testing.assert_allclose(one.logits(view.graph), other.logits(view.graph), rtol=0, atol=1e-6)
    assert one.choice == other.choice


def test_any_order_any_batching_and_classes_that_come_back_give_the_same_bits(views: list[TaskView]) -> None:
    whole = learned(views)
    pieces = [piece for view in views for piece in split(view, 3)]
    assert_same_bits(whole.state(), learned(views[::-1]).state())
    shuffled = learned([pieces[k] for k in (3, 0, 5, 1, 4, 2)], anchors=0)
    assert_same_bits(learned(views, anchors=0).state(), shuffled.state())
    same_outputs(learned(views, anchors=0), shuffled, views[0])


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("rank", [0, 4])
def test_rows_in_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, rank: int, late: bool) -> None:
    monkeypatch.setattr(HopFeatures, "_cheaper_late", lambda *_: late)
    config = run_config(method={"name": "analytic"}, stream={"inter_task_edges": True})
    views = views_of(stream_of(tiny_graph((9, 5, 9, 7), width=40), config))
    whole = learned(views, rank=rank)
    assert whole.choice.by == "anchors"
    monkeypatch.setattr("evergraph.methods.hop_features._Late.at_once", 4)
    monkeypatch.setattr("evergraph.methods.hop_features._Early.at_once", 4)
    monkeypatch.setattr("evergraph.methods.low_rank.ROWS", 4)
    small = learned(views, rank=rank)
    assert small.choice.by == "anchors"
    if not rank:
        assert_same_bits(whole.state(), small.state())
    monkeypatch.setattr("evergraph.methods.hop_features._Late.at_once", 8)
    monkeypatch.setattr("evergraph.methods.hop_features._Early.at_once", 8)
    assert_same_bits(learned(views, rank=rank).state(), small.state())
    assert torch.equal(whole.logits(views[0].graph)[:0], small.logits(views[0].graph, np.zeros(0, dtype=np.int64)))


def test_the_weights_are_those_of_all_rows_at_once(views: list[TaskView]) -> None:
    one = learned(views)
    features = HopFeatures(AUTO, 32, 0)
    statistics = ClassStatistics(len(AUTO), 32)
    codes = np.concatenate([features(view.graph, view.train) for view in views], axis=1)
    statistics.add([(codes, np.concatenate([view.train_labels for view in views]))])
    joint = Moments.of(statistics, AUTO.index(one.choice.hops)).fit(one.choice.strength)
    wanted = features(views[1].graph, views[1].train)[AUTO.index(one.choice.hops)] @ joint.weights
    np.testing.assert_allclose(one.logits(views[1].graph, views[1].train), wanted, rtol=1e-5, atol=1e-6)


def test_forgotten_nodes_were_never_seen(views: list[TaskView]) -> None:
    kept, gone = split(views[1], 2)
    one = learned([views[0], kept, gone])
    one.forget(gone)
    other = learned([views[0], kept])
    names = [name for name in other.state() if name.startswith("statistics.")]
    assert_same_bits({name: one.state()[name] for name in names}, {name: other.state()[name] for name in names})
    hashes = one.anchors.hashes
    assert set(hashes.tolist()) <= set(other.anchors.hashes.tolist())
    with pytest.raises(DataError, match="rows to forget must have been learned"):
        learned([views[0]]).forget(views[1])


def test_after_forgetting_in_the_whole_graph_it_predicts_as_if_the_nodes_had_never_been_learned() -> None:
    views = views_of(block_stream(0.6, whole=True))
    kept, gone = split(views[-1], 2)
    one, other = (learned([*views[:-1], *last], width=64, anchors=1000) for last in ([kept, gone], [kept]))
    assert one.choice.by == "anchors"
    one.forget(gone)
    assert one.choice == other.choice
    assert_same_bits({"": one.logits(kept.graph)}, {"": other.logits(kept.graph)})


def test_two_learners_that_merge_saw_both(views: list[TaskView]) -> None:
    one, other = learned(views[:1]), learned(views[1:])
    one.merge(other)
    assert_same_bits(one.state(), learned(views).state())
    same_outputs(one, learned(views), views[0])
    with pytest.raises(DataError, match="a learner with the random map"):
        one.merge(learned(views, width=16))


def test_the_state_grows_with_classes_only_and_its_bytes_are_counted(views: list[TaskView]) -> None:
    one = learned(views)
    before = one.memory()
    for view in views:
        one.learn(view, (), Watch())
    assert one.memory() == before
    assert before.bytes == sum(value.numel() * value.element_size() for value in one.state().values())
    assert before.bytes <= len(tensor_bytes(one.state())) < before.bytes + 1000
    assert before.nodes == before.edges == 0


def test_no_row_of_any_input_is_in_the_state(views: list[TaskView]) -> None:
    """Neither a row of features nor of φ, while there is more than one node in every class."""
    one = learned(views)
    numbers = [value.numpy().reshape(-1, value.shape[-1]) for value in one.state().values() if value.dim() > 1]
    assert numbers
    for view in views:
        inputs = [sparse.csr_array(view.graph.features).toarray(), *one.features(view.graph, view.train)]
        for rows in inputs:
            for held in numbers:
                width = min(rows.shape[1], held.shape[1])
                equal = (held[:, None, :width] == rows[None, :, :width]).all(axis=2)
                assert not (equal & rows[None, :, :width].any(axis=2)).any()


@pytest.mark.parametrize("sets", AUTO_BEFORE.values())
@pytest.mark.parametrize("rank", [0, 8])
def test_a_state_of_earlier_versions_goes_on_with_their_sets_of_hops(
    views: list[TaskView], rank: int, sets: tuple[HopSet, ...]
) -> None:
    before = learned(views[:1], hops=sets, rank=rank)
    now = learner(rank=rank)
    now.load_state(before.state())
    same_outputs(now, before, views[0])
    for one in (now, before):
        one.learn(views[1], (), Watch())
    same_outputs(now, before, views[1])
    assert_same_bits(now.state(), before.state())


def test_another_seed_of_the_map_is_refused(views: list[TaskView]) -> None:
    with pytest.raises(StoreError, match=r"seeds\.init=1 is wanted, got one of 0"):
        learner(seed=1).load_state(learned(views).state())


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"hops": [[]]}, "hops must be different whole numbers from 0 on, got .. instead"),
        ({"hops": [[0, 0]]}, "hops must be different"),
        ({"hops": [[2], [2]]}, "different sets of hops are wanted"),
        ({"hops": []}, "different sets of hops are wanted"),
        ({"hops": [[[0], [0]]]}, "sums that stand side by side must be different"),
        ({"hops": [[0, 1], [[1, 0]]]}, "different sets of hops are wanted"),
        ({"strengths": []}, "at least one number above 0"),
        ({"strengths": [0.0]}, "at least one number above 0"),
        ({"strengths": [0.1, 0.1]}, "all different"),
        ({"rank": 33, "width": 32}, "a rank of at most width=32 is wanted, got 33"),
    ],
)
def test_settings_that_cannot_work_are_refused(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        validated(AnalyticConfig, values, "method")


BESIDE = ((0,), (1,), (2,))


def block_stream(homophily: float, *, whole: bool) -> TaskStream:
    options = {"nodes": 1200, "homophily": homophily, "features": 16, "classes": 6, "mean_degree": 8}
    config = StreamConfig(inter_task_edges=whole)
    return make_stream(load_dataset("sbm", options=options), config, split_seed=0, order_seed=0)


@pytest.mark.parametrize(
    ("homophily", "whole", "wanted"),
    [
        (0.8, False, [(2,), BESIDE]),
        (0.05, False, [BESIDE]),
        (0.0, True, [(0,), (0, 1)]),
        (0.05, True, [(0,), (0, 1)]),
    ],
)
def test_the_choice_finds_the_hops(
    caplog: pytest.LogCaptureFixture, homophily: float, whole: bool, wanted: list[HopSet]
) -> None:
    with caplog.at_level(logging.INFO, logger="evergraph"):
        one = learned(views_of(block_stream(homophily, whole=whole)), width=128)
        assert one.choice.hops in wanted
    assert one.choice.by == ("anchors" if whole else "generalised cross-validation")
    assert str(one.choice.hops) in caplog.messages[-1]


def test_unlike_neighbours_are_used_better_side_by_side_than_added_up_or_by_a_network() -> None:
    stream = block_stream(0.05, whole=False)

    def accuracy(method: str, **settings: Any) -> float:
        return 100 * average_accuracy(measured(method, stream, epochs=100, **settings))

    chosen = accuracy("analytic", width=512)
    assert chosen > accuracy("analytic", width=512, hops=AUTO_BEFORE[5]) + 3
    assert chosen > accuracy("joint") + 3


def test_the_largest_strength_that_explains_nearly_all_is_taken(digits_stream: TaskStream) -> None:
    strengths = (1e-4, 1e-3, 1e-2, 1e-1, 3e-1)
    one = learned(views_of(digits_stream), width=256, hops=((2,),), strengths=strengths)
    scout = Spectrum(Moments.of(one.statistics, 0))
    errors = np.array([scout.generalised_error(strength) for strength in strengths])
    explained = (10 - errors) / (10 - errors.min())
    wanted = int(np.flatnonzero(explained >= EXPLAINED)[-1])
    assert one.choice.strength == strengths[wanted]
    assert wanted > errors.argmin()


def test_of_strengths_with_as_few_mistakes_the_largest_is_taken(digits_stream: TaskStream) -> None:
    one = learned(views_of(digits_stream), width=64)
    least = [[0.5, 0.2, 0.2, 0.3, 0.9], [0.4, 0.2, 0.3, 0.3, 0.3]] + (len(AUTO) - 2) * [[0.9] * 5]

    def error(index: int, _: Spectrum) -> Callable[[float], float]:
        return lambda strength: least[index][one.config.strengths.index(strength)]

    assert one._best(error, lambda lowest: lowest) == (0, 2, 0.2)


def test_the_choice_is_told(digits_stream: TaskStream) -> None:
    one = learned(views_of(digits_stream), width=64)
    told = one.choices()
    assert json.loads(json.dumps(told)) == told
    assert (tuple(told["hops"]), told["strength"], told["by"]) == (
        one.choice.hops,
        one.choice.strength,
        one.choice.by,
    )
    beside = learned(views_of(digits_stream), width=64, hops=(BESIDE,))
    assert beside.choices()["hops"] == [[0], [1], [2]]


def test_digits_are_known_to_the_end(digits_stream: TaskStream) -> None:
    assert 100 * average_accuracy(measured("analytic", digits_stream, epochs=1)) > 97


def test_fewer_bits_predict_alike(digits_stream: TaskStream) -> None:
    views = views_of(digits_stream)
    exact, rough = (
        learned(views, width=128, hops=((2,),), strengths=(0.01,), precision=kind) for kind in ("exact", "int16")
    )
    agree = exact.logits(views[0].graph).argmax(dim=1) == rough.logits(views[0].graph).argmax(dim=1)
    assert agree.to(torch.float64).mean() > 0.99
    assert rough.memory().bytes < 0.7 * exact.memory().bytes


@pytest.mark.parametrize("precision", ["exact", "int16"])
def test_rounded_sums_and_tiny_strengths_give_finite_outputs(digits_stream: TaskStream, precision: str) -> None:
    for strengths in ([1e-4, 1e-1], [1e-300]):
        method = {"name": "analytic", "precision": precision, "strengths": strengths, "width": 600}
        learner = make_learner(run_config(method=method), digits_stream.graph.n_features)
        (task,) = digits_stream.views(0, with_past=False)
        learner.learn(task, (), Watch())
        assert learner.logits(task.graph, task.train).isfinite().all()


@pytest.mark.parametrize("hops", [[5], 5, [], "far", [[0], 1], None, [[[0], 1]], [[0, [1]]], [[[[0]]]]])
def test_hops_that_are_no_sets_are_told_what_is_wanted(hops: object) -> None:
    with pytest.raises(ConfigError, match=r"sets of hops are wanted, such as \[\[2\], \[0, 1, 2\]") as caught:
        run_config(method={"name": "analytic", "hops": hops})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("whole", "anchors"), [(False, 0), (True, 64)])
def test_the_weights_of_many_pieces_are_a_dense_least_squares_solution(whole: bool, anchors: int) -> None:
    """Rows around the means of their classes to be 0, means to be their classes, and √λ W to be 0."""
    config = run_config(method={"name": "analytic"}, stream={"inter_task_edges": whole})
    views = views_of(stream_of(tiny_graph((9, 5, 9, 17), width=40), config))
    pieces = [piece for view in views for piece in split(view, 3)]
    one = learned([pieces[k] for k in (3, 0, 5, 1, 4, 2)], anchors=anchors)
    features = HopFeatures([one.choice.hops], 32, 0)
    rows = np.concatenate([features(view.graph, view.train)[0] for view in views]).astype(np.float64)
    labels = np.concatenate([view.train_labels for view in views])
    means = np.stack([rows[labels == label].mean(axis=0) for label in range(4)])
    around = np.sqrt(4 / len(rows)) * (rows - means[labels])
    penalty = one.choice.strength * (np.square(around).sum() + np.square(means).sum()) / 32
    stacked = np.concatenate([around, means, np.sqrt(penalty) * np.eye(32)])
    answers = np.concatenate([np.zeros((len(rows), 4)), np.eye(4), np.zeros((32, 4))])
    wanted = np.linalg.lstsq(stacked, answers, rcond=None)[0]
    found = one._fit()[2].weights
    assert np.linalg.norm(found - wanted) < 1e-8 * np.linalg.norm(wanted)
