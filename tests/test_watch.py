"""Watch: seconds by phase."""

import time

import pytest

from evergraph.watch import Watch


def test_phases_add_up_until_they_are_taken() -> None:
    watch = Watch()
    for _ in range(2):
        with watch.phase("train"):
            time.sleep(0.01)
    with watch.phase("evaluate"):
        pass
    seconds = watch.take()
    assert list(seconds) == ["train", "evaluate"]
    assert 0.02 <= seconds["train"] < 1
    assert 0 <= seconds["evaluate"] < 0.02
    assert watch.take() == {}


def test_a_phase_that_fails_is_timed_too() -> None:
    watch = Watch()
    with pytest.raises(KeyError), watch.phase("train"):
        raise KeyError
    assert "train" in watch.take()
