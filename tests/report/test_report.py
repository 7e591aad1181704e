"""Summaries, tables and figures of a record, checked against the record."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from rich.console import Console

from evergraph.replay.usage import MemoryUsage
from evergraph.report.plots import curve_figure, matrix_figure, write_figures
from evergraph.report.terminal import matrix_table, verdict_lines
from evergraph.results.summary import Averages, data_title, percent, summarise, title
from evergraph.runs.record import Record


def record(tasks: int = 3, **changes: Any) -> dict[str, Any]:
    """What record.json says of a run: tasks of two classes with 4 and 6 test nodes, of which half are forgotten."""
    total = [4, 6] * tasks
    rows = [[total[k] if k // 2 == now else total[k] // 2 for k in range(2 * (now + 1))] for now in range(tasks)]
    content: dict[str, Any] = {
        "config": {
            "dataset": {"name": "x", "features": None},
            "method": {"name": "finetune"},
            "backbone": {"name": "gcn"},
        },
        "versions": {"python": "3"},
        "data": {
            "name": "things",
            "nodes": 50 * tasks,
            "edges": 9,
            "features": 7,
            "tasks": tasks,
            "class_order": list(range(2 * tasks)),
            "remarks": ["a remark"],
            "messages": ["a message"],
        },
        "first_class": list(range(0, 2 * tasks + 1, 2)),
        "total": {"val": total, "test": total},
        "correct": {"val": rows, "test": rows},
        "seconds": [{"load": 1.0, "train": 2.0}] + [{"train": 3.0, "evaluate": 0.5}] * (tasks - 1),
        "memory": [{"nodes": 0, "edges": 0, "floats": 0, "bytes": 0, "parameters": 0}] * tasks,
        "peak_bytes": 2**20 * 300,
    }
    return {**content, **changes}


def finished(tasks: int = 3, **changes: Any) -> Record:
    """The same as it is read."""
    return Record.model_validate(record(tasks, **changes))


def on(name: str = "x", features: str | None = None) -> Record:
    """The same, of another data set."""
    config = record()["config"]
    return finished(config={**config, "dataset": {"name": name, "features": features}})


def test_a_summary_is_in_percent_and_unrounded() -> None:
    found = summarise(finished())
    assert found.matrix == [[100, None, None], [50, 100, None], [50, 50, 100]]
    assert math.isclose(found.aa, 200 / 3)
    assert math.isclose(found.af, -50)
    assert found.aa_curve == [100, 75, pytest.approx(200 / 3)]
    assert found.learning_accuracy == 100
    assert found.backward_transfer == -50
    assert found.per_class == [50, 50, 50, 50, 100, 100]
    assert found.val == found.plain == Averages(aa=found.aa, af=found.af)
    assert found.seconds == {"load": 1.0, "train": 8.0, "evaluate": 1.0}
    assert found.memory == MemoryUsage()
    assert found.peak_bytes == 2**20 * 300
    assert found.remarks == ["a remark", "a message"]


def test_a_summary_is_plain_json() -> None:
    values = summarise(finished()).model_dump(mode="json")
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert set(values) == {
        "aa",
        "af",
        "protocol",
        *(f"{name}_{where}" for name in ("aa", "af", "matrix", "so_far") for where in ("local", "global")),
        "matrix",
        "aa_curve",
        "batches",
        "choices",
        "so_far",
        "learning_accuracy",
        "backward_transfer",
        "per_class",
        "plain",
        "val",
        "seconds",
        "processor_seconds",
        "memory",
        "peak_bytes",
        "remarks",
    }


def test_both_protocols_are_in_the_summary_and_the_other_only_where_it_was_tested() -> None:
    own = summarise(finished())
    assert (own.aa_local, own.af_local, own.matrix_local) == (own.aa, own.af, own.matrix)
    assert (own.aa_global, own.af_global, own.matrix_global) == (None, None, None)
    rows = [[4, 0]]
    both = finished(
        1, correct={"val": rows, "test": [[4, 6]]}, correct_in={"whole-graph": {"val": rows, "test": rows}}
    )
    assert (summarise(both).aa_local, summarise(both).aa_global) == (100.0, 50.0)


def test_percentages_are_none_where_nothing_was_measured() -> None:
    assert percent(np.array([0.5, np.nan])) == [50.0, None]


def test_balanced_and_plain_are_told_apart() -> None:
    uneven = finished(1, correct={"val": [[4, 3]], "test": [[4, 0]]})
    found = summarise(uneven)
    assert found.aa == 50
    assert found.plain.aa == 40
    assert found.val.aa == 75


def test_derived_features_stand_in_the_title() -> None:
    assert title(finished()) == "things · finetune · gcn"
    assert title(on(features="spectral:4")) == "things, derived features (spectral:4) · finetune · gcn"
    assert data_title({"name": "x", "features": "degree"}, "y") == "y, derived features (degree)"


def text_of(content: Record) -> str:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(matrix_table(content))
    return console.export_text()


def test_the_table_has_a_row_for_each_task_and_blanks_above_the_diagonal() -> None:
    lines = [line for line in text_of(finished()).splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert cells == [
        ["1", "100.0", "", "", "100.0"],
        ["2", "50.0", "100.0", "", "75.0"],
        ["3", "50.0", "50.0", "100.0", "66.7"],
    ]


def test_a_matrix_that_does_not_fit_is_shown_in_short_and_never_cut() -> None:
    wide, narrow = (matrix_table(finished(10), width) for width in (120, 80))
    assert len(wide.columns) == 12
    assert [str(column.header) for column in narrow.columns] == ["after task", "this task", "worst so far", "AA"]
    assert "matrix.png" in str(narrow.caption)


def coming_back() -> Record:
    """Two classes with 4 and 6 test nodes in the first task; the second has 2 more in the second task."""
    rows = [[4, 3], [1, 3, 2]]
    return finished(
        2,
        cells=[[0, 0], [0, 1], [1, 1]],
        first_class=[0, 2, 2],
        total={"val": [4, 6, 2], "test": [4, 6, 2]},
        correct={"val": rows, "test": rows},
    )


def test_where_classes_come_back_all_nodes_so_far_are_summarised() -> None:
    found = summarise(coming_back())
    assert found.matrix == [[75, None], [37.5, 100]]
    assert (found.aa, found.af) == (68.75, -37.5)
    assert found.per_class == [25, 62.5]
    assert found.so_far.plain == [70, 50]
    assert found.so_far.balanced == [75, 43.75]
    assert (found.so_far.area_plain, found.so_far.area_balanced) == (60, 59.375)
    assert found.so_far.class_forgetting == [-75, 0]
    assert found.so_far.forgetting == -37.5
    assert found.so_far_local == found.so_far
    assert found.so_far_global is None


def test_where_classes_come_back_the_table_has_all_nodes_so_far() -> None:
    lines = [line for line in text_of(coming_back()).splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert cells == [["1", "75.0", "", "75.0", "70.0", "75.0"], ["2", "37.5", "100.0", "68.8", "50.0", "43.8"]]
    assert "all test nodes so far: 50.00 % (by class 43.75 %)   area 60.00 % (59.38 %)" in "\n".join(
        verdict_lines(coming_back())
    )
    assert "so far" not in "\n".join(verdict_lines(finished()))


def test_where_classes_come_back_every_class_says_how_far_it_lies_below_its_best() -> None:
    said = "forgetting of each class from its best, %: "
    assert f"{said}0: -75.0; none of 1" in verdict_lines(coming_back())
    named = coming_back()
    data = named.data.model_copy(update={"class_order": [4, 2], "class_names": ["cats", "dogs"]})
    named = named.model_copy(update={"data": data})
    assert f"{said}cats: -75.0; none of dogs" in verdict_lines(named)
    assert not any("each class" in line for line in verdict_lines(finished()))


def test_the_verdict_names_measures_costs_and_remarks() -> None:
    text = "\n".join(verdict_lines(finished()))
    assert "AA 66.67 %   AF -50.00 %" in text
    assert "train 8.0 s" in text
    assert "315 MB" in text
    assert "note: a remark" in text
    assert "kept of the past" not in text
    kept = {"nodes": 1200, "edges": 8, "floats": 0, "bytes": 2**20, "parameters": 0}
    text = "\n".join(verdict_lines(finished(memory=[kept] * 3)))
    assert "kept of the past: 1,200 nodes, 8 edges, 1.05 MB" in text


@pytest.mark.parametrize("tasks", [1, 3, 30])
def test_figures_are_pictures(tmp_path: Path, tasks: int) -> None:
    paths = write_figures(finished(tasks), tmp_path)
    assert [path.name for path in paths] == ["matrix.png", "accuracy.png"]
    for path in paths:
        picture = imread(path)
        assert picture.shape[0] > 400
        assert len(np.unique(picture[::3, ::3, 0])) > 20


def test_the_heat_map_shows_every_value_of_the_matrix() -> None:
    axes = matrix_figure(finished()).axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["100.0"] * 3 + ["50.0"] * 3
    assert axes.get_title(loc="left") == "things · finetune · gcn"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("accuracy on task", "after learning task")


def test_the_curve_is_the_average_accuracy() -> None:
    axes = curve_figure(finished()).axes[0]
    drawn = axes.lines[0].get_xydata()
    assert np.allclose(drawn, np.array([[1, 100], [2, 75], [3, 200 / 3]]))


def test_a_stand_in_is_named_so_in_the_title() -> None:
    assert title(on("cora-papers70")).startswith("things (stand-in for CoraFull) · ")
    assert data_title({"name": "cora-papers70", "features": None}, "y") == "y (stand-in for CoraFull)"


def test_many_tasks_are_shown_in_a_narrow_table() -> None:
    lines = text_of(finished(20)).splitlines()
    rows = [line.strip("│ ").split("│") for line in lines if line.startswith("│")]
    assert max(len(line) for line in lines) < 80
    assert [[cell.strip() for cell in row][:3] for row in rows[:2]] == [
        ["1", "100.0", "100.0"],
        ["2", "100.0", "50.0"],
    ]
    assert len(rows) == 20
