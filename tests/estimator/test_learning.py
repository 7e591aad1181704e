"""partial_fit on a growing graph: returning classes, held-out nodes, unknown answers, forgetting, merging."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from evergraph import ContinualClassifier, load_dataset
from evergraph.errors import ConfigError, DataError, GraphWarning
from evergraph.estimator.calibration import fitted_temperature, probabilities
from evergraph.estimator.held_out import Outcome
from evergraph.estimator.keys import checksums, node_keys, row_keys
from evergraph.methods.analytic import Analytic
from evergraph.tables import Batch, to_batch
from helpers import assert_same_bits, tiny_graph

FAST: dict[str, Any] = {"settings": {"method": {"width": 96}}}
GRAPH = load_dataset("digits")


def batch(rows: NDArray[np.int64], labelled: NDArray[np.bool_] | None = None) -> Batch:
    """Some digits with their own ids, named classes and, where `labelled` says so, labels."""
    part = GRAPH.subgraph(rows)
    shown = np.ones(len(rows), dtype=bool) if labelled is None else labelled
    names = [f"digit {label}" if here else None for label, here in zip(part.labels, shown, strict=True)]
    return to_batch((part.adjacency, part.features), names, ids=[f"n{row}" for row in rows])


def months(seed: int = 0) -> list[Batch]:
    """The graph so far, three times; classes come back, and only new nodes have a label."""
    rng = np.random.default_rng(seed)
    arrival = np.where(GRAPH.labels < 4, rng.integers(0, 2, GRAPH.n_nodes), rng.integers(1, 3, GRAPH.n_nodes))
    found = []
    for month in range(3):
        rows = np.flatnonzero(arrival <= month)
        found.append(batch(rows, arrival[rows] == month))
    return found


@pytest.fixture(scope="module")
def grown() -> ContinualClassifier:
    model = ContinualClassifier(**FAST)
    for part in months():
        model.partial_fit(part)
    return model


def state(model: ContinualClassifier, *prefixes: str) -> dict[str, Any]:
    """What is stored, or what of it begins so."""
    held = model.contents()[1]
    return {name: torch.as_tensor(held[name]) for name in held if name.startswith(prefixes or "")}


SUMS = ("learner.statistics", "ledger")


# learning


def test_classes_come_back_and_what_is_known_is_said_after_every_batch(grown: ContinualClassifier) -> None:
    first, second, third = grown.history_
    assert first.new_classes == tuple(f"digit {digit}" for digit in range(4))
    assert second.returning_classes == first.new_classes
    assert second.new_classes == tuple(f"digit {digit}" for digit in range(4, 10))
    assert third.new_classes == ()
    assert grown.classes_.tolist() == [f"digit {digit}" for digit in range(10)]
    for step in grown.history_:
        assert step.labelled == step.learned + step.held_out
        assert {entry.label for entry in step.classes} >= set(step.new_classes)
        assert step.accuracy is not None
        assert step.accuracy > 0.9
    assert all(entry.change is None for entry in first.classes)
    assert all((entry.change is None) == (entry.label not in first.new_classes) for entry in second.classes)


def test_months_are_as_good_as_everything_at_once(grown: ContinualClassifier) -> None:
    every = np.arange(GRAPH.n_nodes)
    shown = np.random.default_rng(3).random(len(every)) < 0.6
    at_once = ContinualClassifier(**FAST).partial_fit(batch(every, shown))
    assert grown.score(batch(every)) > at_once.score(batch(every, ~shown)) - 0.03


def test_nodes_that_were_learned_before_are_context(grown: ContinualClassifier) -> None:
    model, parts = deepcopy(grown), months()
    again = batch(np.arange(GRAPH.n_nodes))
    with pytest.raises(DataError, match=r"were not learned before are wanted, got 1,797 that were; nothing has"):
        model.partial_fit(again)
    assert_same_bits(state(model), state(grown))
    known = ContinualClassifier(**FAST).partial_fit(parts[0])
    learned = dict(zip(parts[0].ids, parts[0].labels, strict=True))
    labels = [learned.get(node, label) for node, label in zip(parts[1].ids, parts[1].labels, strict=True)]
    step = known.partial_fit(parts[1].with_labels(labels)).history_[-1]
    assert step.known == parts[0].labelled.sum()
    assert step.learned + step.held_out == parts[1].labelled.sum()


def test_another_label_for_a_learned_node_is_refused(grown: ContinualClassifier) -> None:
    part = months()[0]
    row = int(np.flatnonzero(part.labelled)[0])
    labels = part.labels.copy()
    labels[row] = "digit 9"
    with pytest.raises(DataError, match=rf"node {part.ids[row]} was learned as 'digit \d', got 'digit 9' instead"):
        deepcopy(grown).partial_fit(part.with_labels(labels.tolist()))


def test_graphs_without_ids_are_new_every_time() -> None:
    graph = tiny_graph((20, 20))
    model = ContinualClassifier(**FAST)
    for _ in range(2):
        model.partial_fit((graph.adjacency, graph.features), graph.labels)
    assert [step.known for step in model.history_] == [0, 0]
    assert len(model._learned.ledger) + len(model._learned.held_out) == 80


def test_the_order_of_batches_leaves_the_sums_as_they_are() -> None:
    rows = np.random.default_rng(0).permutation(np.flatnonzero(GRAPH.labels < 3))
    parts = [batch(rows[:200]), batch(rows[200:400]), batch(rows[400:])]
    one, other = (ContinualClassifier(**FAST, holdout=0) for _ in range(2))
    for part in parts:
        one.partial_fit(part)
    for part in (parts[0], parts[2], parts[1]):
        other.partial_fit(part)
    assert_same_bits(state(one, *SUMS), state(other, *SUMS))


@pytest.mark.parametrize("method", ["ftf-er-prob", "tem", "ewc"])
def test_methods_that_train_learn_returning_classes(method: str) -> None:
    model = ContinualClassifier(method, epochs=25)
    for part in months()[:2]:
        model.partial_fit(part)
    last = model.history_[-1]
    assert last.returning_classes
    assert last.accuracy is not None
    assert last.untested == 0


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


# answers


def test_probabilities_are_calibrated(grown: ContinualClassifier) -> None:
    found = grown.predict_proba(batch(np.arange(GRAPH.n_nodes)))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    right = found.argmax(axis=1) == GRAPH.labels
    assert abs(found.max(axis=1).mean() - right.mean()) < 0.08
    assert np.array_equal(grown.classes_[found.argmax(axis=1)], grown.predict(batch(np.arange(GRAPH.n_nodes))))


def test_a_temperature_that_made_the_logits_is_found_again() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, 5))
    labels = np.array([rng.choice(5, p=row) for row in probabilities(logits, 0.3)])
    found = fitted_temperature(Outcome(labels, logits))
    assert found == pytest.approx(0.3, rel=0.1)
    assert fitted_temperature(Outcome(labels[:5], logits[:5])) is None
    sure = fitted_temperature(Outcome(logits.argmax(axis=1)[:100], logits[:100]))
    assert sure is not None
    assert sure > 0.005


def test_nodes_of_a_class_that_was_never_learned_are_unknown() -> None:
    model = ContinualClassifier(reject=0.1, holdout=0.3, **FAST).partial_fit(
        batch(np.flatnonzero(GRAPH.labels < 8))
    )
    unlike = np.flatnonzero(GRAPH.labels >= 8)
    known = model.predict(batch(np.flatnonzero(GRAPH.labels < 8)))
    strange = model.predict(batch(unlike))
    assert (known == "unknown").mean() < 0.3
    assert (strange == "unknown").mean() > (known == "unknown").mean() + 0.2
    rejection = model.partial_fit(batch(unlike)).history_[-1].rejection
    assert rejection is not None
    assert rejection.novel_share is not None
    assert rejection.novel_share > 0.2
    assert 0 < rejection.share < 0.2
    assert rejection.accuracy > 0.9


def test_numbers_get_minus_one_for_unknown() -> None:
    graph = tiny_graph((20, 20))
    model = ContinualClassifier(reject_below=1.0, **FAST).partial_fit(
        (graph.adjacency, graph.features), graph.labels
    )
    assert set(model.predict((graph.adjacency, graph.features)).tolist()) == {-1}


def test_a_class_called_unknown_cannot_be_told_from_no_answer() -> None:
    graph = tiny_graph((20, 20))
    model = ContinualClassifier(reject_below=0.5, **FAST)
    with pytest.raises(DataError, match="rename the class"):
        model.partial_fit((graph.adjacency, graph.features), ["unknown", "known"] * 20)


def test_embeddings_have_a_row_for_each_node(grown: ContinualClassifier) -> None:
    assert grown.embed(batch(np.arange(50))).shape == (50, 96)
    model = ContinualClassifier("finetune", epochs=2, settings={"backbone": {"hidden": 8}})
    assert model.partial_fit(months()[0]).embed(batch(np.arange(50))).shape[0] == 50


# scikit-learn


def test_arguments_are_stored_copied_and_set(grown: ContinualClassifier) -> None:
    model = ContinualClassifier("ssm", budget=3)
    assert model.get_params()["budget"] == 3
    copied = clone(model.set_params(budget=4))
    assert copied.get_params() == model.get_params()
    assert "nothing learned" in repr(copied)
    assert "10 classes" in repr(grown)
    assert "nothing learned" in repr(clone(grown))


def test_fit_begins_anew(grown: ContinualClassifier) -> None:
    model = deepcopy(grown).fit(months()[0])
    assert len(model.history_) == 1
    assert len(model.classes_) == 4
    with pytest.raises(AttributeError):
        model.feature_names_in_  # noqa: B018
    assert model.n_features_in_ == 64


# forgetting and merging


def test_forgotten_nodes_were_never_seen() -> None:
    rows = np.flatnonzero(GRAPH.labels < 3)
    whole = batch(rows)
    gone = np.random.default_rng(0).permutation(len(rows))[:60]
    model = ContinualClassifier(**FAST, holdout=0.0).partial_fit(whole)
    labels = whole.labels.copy()
    labels[gone] = None
    never = ContinualClassifier(**FAST, holdout=0.0).partial_fit(whole.with_labels(labels.tolist()))
    found = model.forget(whole, whole.ids[gone])
    assert (found.nodes, found.exact) == (60, True)
    assert_same_bits(state(model, *SUMS), state(never, *SUMS))
    assert np.array_equal(model.predict(whole), never.predict(whole))


def test_a_graph_that_has_changed_is_refused_and_nothing_changes(grown: ContinualClassifier) -> None:
    model, part = deepcopy(grown), months()[0]
    learned = part.ids[np.flatnonzero(part.labelled)[:20]]
    with pytest.raises(
        DataError, match=r"nodes as they were when they were learned are wanted, got other features"
    ):
        model.forget(batch(np.arange(GRAPH.n_nodes)), learned)
    stranger = to_batch((part.adjacency, part.attributes), ids=[f"m{row}" for row in range(part.n_nodes)])
    with pytest.raises(DataError, match=r"nodes that were learned are wanted, got m3, which was not \(1 such"):
        model.forget(stranger, ["m3"])
    assert_same_bits(state(model), state(grown))
    assert model.forget(part, learned).exact


def test_held_out_nodes_are_forgotten_too(grown: ContinualClassifier) -> None:
    model, part = deepcopy(grown), months()[0]
    aside = np.isin(node_keys(part.ids), model._learned.held_out.keys)
    before = len(model._learned.held_out)
    assert model.forget(part, part.ids[aside]).nodes == aside.sum() > 0
    assert len(model._learned.held_out) == before - aside.sum()


def test_a_class_of_which_nothing_is_left_is_not_predicted() -> None:
    part = batch(np.flatnonzero(GRAPH.labels < 3))
    model = ContinualClassifier(**FAST, holdout=0).partial_fit(part)
    model.forget(part, part.ids[part.labels == "digit 1"])
    assert "digit 1" not in model.predict(part)


@pytest.mark.parametrize("method", ["ftf-er-det", "ssm", "tem", "gem", "cat", "ewc"])
def test_other_methods_take_nodes_out_of_what_they_replay_and_say_what_that_means(method: str) -> None:
    graph = tiny_graph((20, 20, 20))
    ids = np.arange(100, 160)
    model = ContinualClassifier(method, epochs=2, holdout=0, settings={"backbone": {"hidden": 8}})
    if method != "ewc":
        model.set_params(budget=5)
    model.partial_fit((graph.adjacency, graph.features), graph.labels, ids=ids)
    found = model.forget((graph.adjacency, graph.features), ids, ids=ids)
    assert not found.exact
    assert "what the weights learned from them stays" in found.statement
    assert model.memory_["learner"] == 0 or method == "ewc"
    model.partial_fit((graph.adjacency, graph.features), graph.labels, ids=ids)


def test_nodes_without_ids_are_forgotten_by_batch_and_row() -> None:
    graph = tiny_graph((20, 20))
    pair = (graph.adjacency, graph.features)
    model = ContinualClassifier(**FAST, holdout=0)
    for _ in range(2):
        model.partial_fit(pair, graph.labels)
    with pytest.raises(ConfigError, match="batch=0 for the first"):
        model.forget(pair, [1, 2])
    assert model.forget(pair, [1, 2], batch=0).exact
    with pytest.raises(DataError, match="got 1, which was not"):
        model.forget(pair, [1, 2], batch=0)
    assert model.forget(pair, [1, 2], batch=1).exact


def test_merging_is_learning_both() -> None:
    rows = np.random.default_rng(0).permutation(np.flatnonzero(GRAPH.labels < 6))
    first, second = batch(rows[:400]), batch(rows[400:])
    later = second.with_labels([None if label == "digit 0" else label for label in second.labels])
    one, other = (ContinualClassifier(**FAST).partial_fit(part) for part in (first, later))
    both = ContinualClassifier(**FAST).partial_fit(first).partial_fit(later)
    one.merge(other)
    assert_same_bits(state(one, *SUMS), state(both, *SUMS))
    assert set(one._learned.held_out.keys) == set(both._learned.held_out.keys)
    assert one.history_[-1].kind == "merge"
    with pytest.raises(DataError, match="nodes that both have learned"):
        one.merge(other)


def test_classes_in_another_order_merge_by_name() -> None:
    low, high = (
        batch(np.flatnonzero(GRAPH.labels < 2)),
        batch(np.flatnonzero((GRAPH.labels > 1) & (GRAPH.labels < 4))),
    )
    one = ContinualClassifier(**FAST).partial_fit(high)
    one.merge(ContinualClassifier(**FAST).partial_fit(low))
    assert one.classes_.tolist() == ["digit 2", "digit 3", "digit 0", "digit 1"]
    assert min(one.score(low), one.score(high)) > 0.95


def test_models_without_ids_merge_and_each_forgets_by_its_own_batches() -> None:
    one, other = tiny_graph((20, 20), seed=1), tiny_graph((20, 20), seed=2)
    pairs = [(graph.adjacency, graph.features) for graph in (one, other)]
    first, second = (
        ContinualClassifier(**FAST, holdout=0).partial_fit(pair, graph.labels)
        for pair, graph in zip(pairs, (one, other), strict=True)
    )
    first.merge(second)
    assert len(first._fitted.ledger) == 80
    for pair in pairs:
        assert first.forget(pair, [1, 2], batch=0).exact
    with pytest.raises(DataError, match=r"is this the graph of that batch\?"):
        first.forget(pairs[0], [5], batch=1)
    with pytest.raises(DataError, match="38 nodes that both have learned"):
        first.merge(second)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"random_state": 3}, "got other settings"),
        ({"method": "ssm", "epochs": 1, "settings": None}, "that keep sums"),
    ],
)
def test_classifiers_that_cannot_merge_say_so(arguments: dict[str, Any], says: str) -> None:
    low, high = batch(np.flatnonzero(GRAPH.labels < 2)), batch(np.flatnonzero(GRAPH.labels == 5))
    one = ContinualClassifier(**FAST).partial_fit(low)
    with pytest.raises(DataError, match=says):
        one.merge(ContinualClassifier(**{**FAST, **arguments}).partial_fit(high))
    with pytest.raises(ConfigError, match="another ContinualClassifier is wanted, got int instead"):
        one.merge(3)  # type: ignore[arg-type]


# keys


def test_an_id_has_one_key_whether_it_is_text_or_a_number() -> None:
    numbers = np.array([0, 7, -3, 2**62])
    text = np.array([str(number) for number in numbers], dtype=object)
    assert np.array_equal(node_keys(numbers), node_keys(text))
    assert len(set(node_keys(np.array(["7", "07", "7.0", " 7", "x"], dtype=object)))) == 5
    some, other = np.zeros((100, 2), dtype=np.float32), sparse.csr_array(np.eye(100, dtype=np.float32))
    assert len({*row_keys(0, some), *row_keys(1, some), *row_keys(0, other)}) == 300


def test_checksums_see_every_bit() -> None:
    rows = np.random.default_rng(0).integers(0, 128, (50, 3, 33), dtype=np.uint8)
    found = checksums(rows)
    assert len(set(found.tolist())) == 50
    changed = rows.copy()
    changed[7, 1, 4] ^= 1
    assert np.flatnonzero(checksums(changed) != found).tolist() == [7]
    assert np.array_equal(checksums(rows[::-1]), found[::-1])


# found by a person who tried


def test_more_of_an_old_month_does_not_change_the_choice(grown: ContinualClassifier) -> None:
    """A small old graph has too few nodes of the past to choose hops by, so the last choice stays."""
    model = deepcopy(grown)
    learner = model._learned.learner
    assert isinstance(learner, Analytic)
    before = learner.choice
    assert before.by == "anchors"
    old = np.flatnonzero(GRAPH.labels < 2)[:40]
    part = batch(old)
    fresh = to_batch((part.adjacency, part.attributes), part.labels.tolist(), ids=[f"new {row}" for row in old])
    model.partial_fit(fresh)
    assert (learner.choice.hops, learner.choice.strength) == (before.hops, before.strength)


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


def test_a_model_that_forgot_all_says_so() -> None:
    part = batch(np.flatnonzero(GRAPH.labels < 2))
    model = ContinualClassifier(**FAST).partial_fit(part)
    model.forget(part, part.ids)
    with pytest.raises(DataError, match="got one that forgot all; learn first"):
        model.predict(part)
    with pytest.raises(DataError, match="a list of ids is wanted to forget, got 'n3' instead"):
        model.forget(part, "n3")
    assert model.partial_fit(part).score(part) > 0.9


def test_what_is_allowed_and_seldom_meant_is_remarked_on() -> None:
    graph = tiny_graph((40, 40))
    pair = (graph.adjacency, graph.features)
    model = ContinualClassifier(**FAST).partial_fit(pair, np.arange(80) // 2)
    assert "is this the column of labels?" in model.history_[-1].remarks[-1]
    assert "taken as new ones" in model.partial_fit(pair, np.arange(80) // 2).history_[-1].remarks[-1]
    lonely = (sparse.csr_array((80, 80)), graph.features)
    assert "no edges were given" in model.answers(lonely).remarks[-1]
    assert not any("no edges" in remark for remark in model.answers(pair).remarks)


# what a new user mixed up


def noisy(n: int = 60) -> tuple[Any, NDArray[np.float32]]:
    graph = tiny_graph((n // 2, n // 2))
    assert isinstance(graph.features, np.ndarray)
    return graph.adjacency, graph.features


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (["3", "7"], [3, 7]),
        ([3, 7], ["3", "7"]),
        (["3", "7"], ["3.0", "7.0"]),
        (["True", "False"], [True, False]),
        ([True, False], ["True", "False"]),
    ],
)
def test_one_label_written_in_two_ways_is_one_class(first: list[Any], later: list[Any]) -> None:
    pair = noisy()
    model = ContinualClassifier(**FAST).partial_fit(pair, first * 30, ids=np.arange(60))
    right = model.score(pair, first * 30)
    assert model.score(pair, later * 30) == right
    model.partial_fit(pair, later * 30, ids=np.arange(100, 160))
    assert model.classes_.tolist() == sorted(first)


def test_new_classes_are_numbers_where_all_classes_are() -> None:
    pair = noisy()
    model = ContinualClassifier(**FAST).partial_fit(pair, [0, 1] * 30, ids=np.arange(60))
    model.partial_fit(pair, ["0", "2.0"] * 30, ids=np.arange(100, 160))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(pair).dtype.kind == "i"
    with pytest.raises(DataError, match="labels must be whole numbers as in the first batch, got '007' instead"):
        model.partial_fit(pair, ["0", "007"] * 30, ids=np.arange(200, 260))


def test_labels_may_be_a_tensor() -> None:
    pair, labels = noisy(), torch.tensor([0, 1] * 30)
    model = ContinualClassifier(**FAST).partial_fit(pair, labels)
    assert model.score(pair, labels) == model.score(pair, labels.tolist())
    assert model.spelled(labels).tolist() == labels.tolist()


def test_one_batch_with_two_ways_to_write_a_label_has_one_class() -> None:
    labels = ["1", "1.0", "other"] * 20
    model = ContinualClassifier(**FAST).partial_fit(noisy(), labels)
    assert model.classes_.tolist() == ["1", "other"]


@pytest.mark.parametrize(("first", "later"), [([0, 1], [True, False]), ([True, False], [0, 2]), ([0, True], None)])
def test_numbers_and_truth_values_are_not_mixed(first: list[Any], later: list[Any] | None) -> None:
    model = ContinualClassifier(**FAST)
    if later is not None:
        model.partial_fit(noisy(), first * 30, ids=np.arange(60))
    with pytest.raises(DataError, match="labels must be"):
        model.partial_fit(noisy(), (later or first) * 30, ids=np.arange(100, 160))


def test_python_is_warned_as_the_command_line_is() -> None:
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame({"id": np.arange(60) + 7, "age": noisy()[1][:, 0], "topic": ["a", "b"] * 30})
    model = ContinualClassifier(**FAST).partial_fit(frame, label_column="topic")
    with pytest.warns(GraphWarning, match="'age' is unlike the first batch's"):
        model.predict(frame.assign(age=frame.age * 1000), label_column="topic")
    with pytest.warns(GraphWarning, match="'age' is unlike the first batch's"):
        model.predict_proba(frame.assign(age=frame.age * 1000), label_column="topic")


def test_edges_unlike_those_learned_are_remarked_on() -> None:
    adjacency, features = noisy()
    weighted = sparse.csr_array(adjacency * 3.0)
    labels = ["a", "b"] * 30
    model = ContinualClassifier(**FAST).partial_fit((weighted, features), labels, weighted=True)
    assert model.answers((weighted, features), weighted=True).remarks == ()
    assert "these edges have no weights, though the model has learned with weights" in (
        model.answers((adjacency, features)).remarks
    )
    model = ContinualClassifier(**FAST).partial_fit((adjacency, features), labels, directed=True)
    assert "these edges have no directions, though the model has learned with them" in (
        model.answers((adjacency, features)).remarks
    )
    model = ContinualClassifier(**FAST).partial_fit((adjacency, features), labels)
    assert "these edges have directions, though the model has learned without them" in (
        model.answers((adjacency, features), directed=True).remarks
    )


def test_a_class_called_unknown_is_not_mixed_up_with_no_answer() -> None:
    model = ContinualClassifier(**FAST).partial_fit(noisy(), ["unknown", "b"] * 30)
    assert not model.answers(noisy()).unknown.any()
    with pytest.raises(ConfigError, match="cannot be told from no answer"):
        model.answers(noisy(), 0.9)


def test_labels_in_another_order_than_the_nodes_are_refused() -> None:
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame({"id": [f"n{row}" for row in range(60)], "age": noisy()[1][:, 0]})
    y = pandas.Series(["a", "b"] * 30, index=frame["id"])
    ContinualClassifier(**FAST).partial_fit(frame, y)
    with pytest.raises(DataError, match="labels must be in the order of the nodes"):
        ContinualClassifier(**FAST).partial_fit(frame, y.iloc[::-1])
