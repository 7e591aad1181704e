"""evergraph probe leak: a table, JSON, and what bad input is answered with."""

from pathlib import Path

import numpy as np
import pytest

from evergraph.data.datasets import load_dataset
from evergraph.data.leak import leak
from evergraph.data.stream import StreamConfig, make_stream

from .conftest import Call, write_tiny


def test_json_is_the_mean_over_seeds(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    facts = call("probe", "leak", "--dataset", data, "--seeds", 2, "--json").json()
    graph = load_dataset(str(data))
    found = [leak(make_stream(graph, StreamConfig(), split_seed=seed, order_seed=seed)) for seed in range(2)]
    for name in ("raw", "local", "global"):
        assert facts[name]["sets"] == pytest.approx(100 * np.mean([one[name].sets for one in found]))
        assert facts[name]["nodes"] == pytest.approx(100 * np.mean([one[name].nodes for one in found]))
    assert (facts["tasks"], facts["seeds"], facts["dataset"]) == (3, 2, "tiny")
    assert facts["chance"] == pytest.approx(100 / 3)


def test_the_table_says_what_was_guessed(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    every = ("probe", "leak", "--dataset", data, "--seeds", 1)
    answer, facts = call(*every), call(*every, "--json").json()
    assert answer.code == 0
    for words in ("whole test set", "single node", f"{facts['raw']['nodes']:.1f}", "3 tasks, chance 33.3"):
        assert words in answer.out
    other = call(*every, "--set", "stream.classes_per_task=3", "--json").json()
    assert other["tasks"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dataset", "digist"), "did you mean 'digits'"),
        (("--seeds", "0"), "seeds"),
        (("--set", "train.epochs=3"), "--set takes dataset.* and stream.* here, got train.*"),
        (("--set", "stream.steps=3"), "steps goes with arrival=time"),
        (("--set", "stream.classes_per_task=6"), "at least two tasks are wanted, got one"),
        (("--set", "stream.arrival=time"), "has no times"),
        (("--features", "spectrum"), "spectral:D"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    answer = call("probe", "leak", "--dataset", write_tiny(tmp_path / "tiny.npz"), *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_a_graph_that_does_not_fit_is_refused(call: Call, on_disk: str) -> None:
    answer = call("probe", "leak", "--dataset", on_disk, "--memory", "50MB")
    assert answer.code == 2
    assert answer.err == (
        "error: a probe for leaks needs the whole graph in memory, got graph, which does not fit; raise --memory\n"
    )
    assert "does not fit is refused" in " ".join(call("probe", "leak", "--help").out.split())
