"""Balance between classes: weights, and the logit adjustment against its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evergraph.data.stream import learner_view
from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.runs.build import make_learner, make_net
from evergraph.testing.samples import outputs_are_sound, resumes_bit_by_bit, small_method
from evergraph.training.balance import BalanceConfig
from evergraph.training.loop import batch_loss
from evergraph.training.net import Part
from evergraph.watch import Watch
from helpers import assert_same_bits, learned, quick_config, run_config, stream_of, tiny_graph

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=30).map(np.array)
REPLAY = [name for name, entry in METHODS.items() if "balance" in entry.config.model_fields]


@given(labels=LABELS, scale=st.floats(0.1, 3), balance=st.sampled_from(["weight", "logit", "none"]))
def test_all_balances_give_a_batch_the_same_weight(labels: np.ndarray, scale: float, balance: str) -> None:
    weights = BalanceConfig(balance=balance).node_weights(labels, scale)
    assert weights.sum() == pytest.approx(scale * len(set(labels.tolist())))
    of_class = [weights[labels == label].sum() for label in set(labels.tolist())]
    equal = of_class if balance == "weight" else weights
    np.testing.assert_allclose(equal, equal[0])


@given(labels=LABELS, tau=st.floats(0, 3))
def test_the_offset_is_tau_times_the_logarithm_of_the_share(labels: np.ndarray, tau: float) -> None:
    offset = BalanceConfig(balance="logit", tau=tau).logit_offset(labels, 5)
    assert offset is not None
    counts = [max(1, labels.tolist().count(label)) for label in range(5)]
    np.testing.assert_allclose(offset, [tau * np.log(count / sum(counts)) for count in counts], atol=1e-12)
    assert BalanceConfig().logit_offset(labels, 5) is None


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
def test_the_adjusted_loss_is_the_formula(setting: str) -> None:
    """-log softmax(z + τ log π)_y of each node, averaged over the nodes of a part; π from both parts."""
    config = quick_config("finetune", stream={"setting": setting})
    stream, net = stream_of(tiny_graph((20, 9, 14, 6)), config), make_net(config, 5)
    views = [learner_view(task) for task in stream]
    for view in views:
        net.grow(view)
    old = Part(views[0].graph, views[0].train[:5], views[0].train_labels[:5], 0.7)
    parts = [Part.of(views[1]), old]
    batches = net.batches(parts, BalanceConfig(balance="logit", tau=1.5))
    found = sum(batch_loss(net.model, batch).item() for batch in batches)
    every = np.concatenate([part.labels for part in parts])
    share = np.array([np.mean(every == label) for label in range(4)])
    expected = 0.0
    for part, batch, own in zip(parts, batches, ([2, 3], [0, 1]), strict=True):
        shifted = net.logits(batch.input).double().numpy() + 1.5 * np.log(share)
        among = own if setting == "task-il" else [0, 1, 2, 3]
        total = np.log(np.exp(shifted[:, among]).sum(axis=1))
        losses = total - shifted[np.arange(len(part.labels)), part.labels]
        expected += part.scale * len(set(part.labels.tolist())) * losses.mean()
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("method", REPLAY)
@pytest.mark.parametrize("balance", ["logit", "none"])
def test_every_replay_method_learns_and_resumes_with_it(method: str, balance: str) -> None:
    config = run_config(method={**small_method(method), "balance": balance}, backbone={"hidden": 8})
    resumes_bit_by_bit(config)
    outputs_are_sound(config, tiny_graph((3, 12, 3, 6)))


def test_every_method_that_replays_has_a_balance() -> None:
    assert set(REPLAY) >= {
        "er-gnn-mf",
        "er-gnn-cm",
        "ssm",
        "ssm-random",
        "ftf-er-det",
        "ftf-er-prob",
        "random-replay",
    }


def test_the_default_is_weights_and_changes_no_identity() -> None:
    plain = run_config(method={"name": "ssm"})
    named = run_config(method={"name": "ssm", "balance": "weight"})
    assert plain.digest() == named.digest()
    stream = stream_of(tiny_graph(), plain)
    assert_same_bits(learned(plain, stream).state(), learned(named, stream).state())


def test_the_adjustment_gives_rare_classes_their_due() -> None:
    """On features that say nothing, an adjusted model prefers no class, an unbalanced one the large class."""
    graph = tiny_graph((60, 15), share=0)
    blank = type(graph)(graph.adjacency, np.ones((75, 5), dtype=np.float32), graph.labels, graph.original_ids)
    gaps = {}
    for balance in ("none", "logit"):
        config = run_config(
            method={"name": "random-replay", "balance": balance}, backbone={"hidden": 8}, train={"epochs": 200}
        )
        stream = stream_of(blank, config)
        learner = make_learner(config, 5)
        learner.learn(learner_view(stream[0]), (), Watch())
        logits = learner.logits(stream[0].graph)[0]
        gaps[balance] = float(logits[0] - logits[1])
    assert gaps["none"] == pytest.approx(float(np.log(4)), abs=0.1)
    assert gaps["logit"] == pytest.approx(0, abs=0.1)


def test_tau_without_logit_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"tau goes with balance=logit, got it with balance=weight instead"):
        run_config(method={"name": "ssm", "tau": 3.0})
