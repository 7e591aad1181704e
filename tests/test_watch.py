"""Watch: times by phase."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from evergraph.watch import Watch

Wait = Callable[[float], None]


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Wait:
    """A clock that stands still but for what a test waits."""
    now = 100.0

    def waits(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(
        "evergraph.watch.time", SimpleNamespace(perf_counter=lambda: now, process_time=lambda: now / 4)
    )
    return waits


def test_phases_add_up_until_they_are_taken(wait: Wait) -> None:
    watch = Watch()
    for seconds in (0.25, 1.5):
        with watch.phase("train"):
            wait(seconds)
        wait(8.0)
    with watch.phase("evaluate"):
        wait(0.5)
    assert watch.take() == ({"train": 1.75, "evaluate": 0.5}, {"train": 0.4375, "evaluate": 0.125})
    assert watch.take() == ({}, {})
    with watch.phase("train"):
        wait(2.0)
    assert watch.take().seconds == {"train": 2.0}


def test_a_phase_that_fails_is_timed_too(wait: Wait) -> None:
    watch = Watch()

    def fail() -> None:
        wait(3.0)
        raise KeyError

    with pytest.raises(KeyError), watch.phase("train"):
        fail()
    assert watch.take() == ({"train": 3.0}, {"train": 0.75})
