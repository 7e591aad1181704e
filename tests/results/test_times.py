"""Which time of runs is told, that its phases add up, and what is said of a shared machine."""

from pathlib import Path
from typing import Any

import pytest

from evergraph.results.groups import DataSet, data_sets
from evergraph.results.load import read_results
from evergraph.results.times import by_phase, learning_time, seconds_text, times_note, told
from report.test_page import small, write


def timed(tmp_path: Path, *runs: dict[str, Any]) -> DataSet:
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    return data


def phases(train: float, evaluate: float, load: float = 9.0) -> dict[str, float]:
    return {"load": load, "train": train, "evaluate": evaluate}


def test_phases_are_those_of_the_seed_with_the_middle_total_and_add_up(tmp_path: Path) -> None:
    times = [phases(4.0, 3.0), phases(5.0, 1.0), phases(900.0, 2.0)]  # medians of phases: 5 and 2
    data = timed(tmp_path, *(small(seed=seed, seconds=one) for seed, one in enumerate(times)))
    (group,) = data.groups
    assert by_phase(group, "seconds") == {"train": 4.0, "evaluate": 3.0}
    assert group.total_seconds == 7.0
    name, seconds = learning_time(data)
    assert (name, seconds(group)) == ("learning, s", 4.0)
    assert by_phase(group, "processor_seconds") is None


def test_the_time_of_the_processor_is_told_where_all_runs_know_it(tmp_path: Path) -> None:
    known = small("ssm", seconds=phases(9.0, 1.0), processor_seconds=phases(3.0, 0.5))
    assert told(timed(tmp_path, known)) == "processor_seconds"
    name, seconds = learning_time(timed(tmp_path, known))
    assert (name, seconds(timed(tmp_path, known).groups[0])) == ("learning, processor s", 3.0)
    assert told(timed(tmp_path, known, small("joint"))) == "seconds"


def test_the_note_says_what_the_records_tell_of_a_shared_machine(tmp_path: Path) -> None:
    beside = small("ssm", seconds=phases(9.0, 1.0), processor_seconds=phases(3.0, 0.5))
    alone = small("ssm", seconds=phases(3.0, 0.5), processor_seconds=phases(3.0, 0.5))
    notes = [
        times_note(timed(tmp_path, *runs)) for runs in ((small(),), (alone,), (beside,), (beside, small("joint")))
    ]
    assert notes[0] == "Times are seconds of the clock; whether others used the machine is not recorded."
    assert notes[1] == "Times are seconds of the processor."
    assert notes[2].endswith("because the machine was shared: the clock ran 3.0 times as long.")
    assert notes[3] == (
        "Times are seconds of the clock on a shared machine, good for a rough comparison only: "
        "where both are known (1 of 2 rows), the clock ran 3.0 times as long as the processor worked."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0"), (0.0004, "<0.01"), (0.126, "0.13"), (4.14, "4.1"), (9.96, "10"), (1303.2, "1,303")],
)
def test_seconds_have_two_digits_that_count(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
