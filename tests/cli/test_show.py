"""evergraph show: the table and two figures of a finished run."""

from pathlib import Path

from evergraph.results.summary import summarise
from evergraph.runs.execute import RunResult

from .conftest import Call

PNG = b"\x89PNG\r\n\x1a\n"


def test_two_figures_are_written(call: Call, finished: RunResult, tmp_path: Path) -> None:
    answer = call("show", finished.folder, "--out", tmp_path / "a" / "b")
    assert answer.code == 0
    figures = sorted((tmp_path / "a" / "b").iterdir())
    assert [path.name for path in figures] == ["accuracy.png", "matrix.png"]
    assert all(path.read_bytes().startswith(PNG) and path.stat().st_size > 5000 for path in figures)
    assert "after task" in answer.out
    assert all(str(path) in answer.out for path in figures)


def test_figures_go_beside_the_run_unless_told_otherwise(call: Call, finished: RunResult) -> None:
    for name in ("accuracy.png", "matrix.png"):
        (finished.folder / name).unlink(missing_ok=True)
    assert call("show", finished.folder).code == 0
    assert all((finished.folder / name).exists() for name in ("accuracy.png", "matrix.png"))


def test_json_is_what_the_run_printed_and_the_figures(call: Call, finished: RunResult) -> None:
    found = call("show", finished.folder, "--json").json()
    assert found["run_dir"] == str(finished.folder)
    assert found["matrix"] == summarise(finished.record).matrix
    assert found["config"] == finished.record.config
    assert len(found["figures"]) == 2
