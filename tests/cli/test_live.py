"""The live page of bench: what it says while runs go on and at the end, and that its errors end nothing."""

from pathlib import Path

import pytest

from evergraph.cli.bench import with_page
from evergraph.cli.live import LivePage
from evergraph.errors import ConfigError, StoreError
from evergraph.experiments.local import Outcome
from evergraph.runs.execute import run
from evergraph.watch import LearnedTask
from helpers import quick_config

CONFIGS = [quick_config(method, train={"epochs": 1}) for method in ("finetune", "joint", "ssm", "lwf")]
FINETUNE, JOINT, SSM, LWF = CONFIGS


def content(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_it_says_where_every_run_is_and_shows_the_results_so_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished = run(FINETUNE, tmp_path / "runs")
    path = tmp_path / "new" / "page.html"
    with LivePage(path, "a grid", CONFIGS, {}) as live:
        assert "4</b> to do" in content(path)
        assert "<article" not in content(path)  # there is no result yet
        assert 'data-refresh="5"' in content(path)
        assert 'http-equiv="refresh"' in content(path)
        for config in (FINETUNE, JOINT, SSM):
            live.started(config)
        live.learned(SSM, LearnedTask(0, 5, {}, {}))
        live.ended(Outcome(FINETUNE, finished.folder))
        live.ended(Outcome(JOINT, error="DataError: <b>broken</b>"))
        live._write(ended=False)
        text = content(path)
        for words in ("1</b> done", "1</b> running", "1</b> failed", "1</b> to do", "task 2 of 5", "<article"):
            assert words in text
        assert "DataError: &lt;b&gt;broken" in text
    text = content(path)
    assert 'data-refresh="' not in text
    assert "http-equiv" not in text
    assert "a grid: ended" in text
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    assert not live.thread.is_alive()
    assert "the page is" in capsys.readouterr().err


def test_an_error_of_the_page_is_a_note_and_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LivePage(tmp_path / "page.html", "a grid", CONFIGS, {}) as live:
        (tmp_path / "page.html").unlink()
        (tmp_path / "page.html").mkdir()
        live._try(ended=False)
        live._try(ended=False)
    said = capsys.readouterr().err
    assert said.count("could not be written, the runs go on") == 1


def test_a_path_that_cannot_work_is_refused_before_anything_is_learned(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"must end in \.html"):
        LivePage(tmp_path / "page.txt", "a grid", CONFIGS, {})
    (tmp_path / "page.html").mkdir()
    with pytest.raises(StoreError, match="cannot be written"), LivePage(tmp_path / "page.html", "g", CONFIGS, {}):
        pytest.fail("it began")


def test_watch_needs_no_name() -> None:
    for given, wanted in (
        (["bench", "f.toml", "--watch"], ["bench", "f.toml", "--watch=."]),
        (["bench", "--watch", "f.toml"], ["bench", "--watch=.", "f.toml"]),
        (["bench", "f.toml", "--watch", "--json"], ["bench", "f.toml", "--watch=.", "--json"]),
        (["bench", "f.toml", "--watch", "p.html"], ["bench", "f.toml", "--watch", "p.html"]),
        ([], []),
    ):
        assert with_page(given) == wanted
