"""The generic parts work where everything that knows the paper is deleted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "evergraph"


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without")
    shutil.copytree(SOURCE, folder / "evergraph", ignore=shutil.ignore_patterns("paper", "__pycache__"))
    assert not (folder / "evergraph" / "paper").exists()
    return folder


def evergraph(without: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(without), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "evergraph", *arguments]
    return subprocess.run(command, cwd=without, env=environment, capture_output=True, text=True, check=False)


def test_a_run_a_page_and_a_score(without: Path) -> None:
    quick = ["--epochs", "2", "--set", "train.threads=1", "--json"]
    done = evergraph(without, "run", "--method", "ftf-er-det,joint", *quick)
    assert done.returncode == 0, done.stderr
    assert [run["config"]["method"]["name"] for run in json.loads(done.stdout)["runs"]] == ["ftf-er-det", "joint"]
    page = evergraph(without, "report", "runs", "--out", "page.html", "--json")
    assert page.returncode == 0, page.stderr
    assert all(row["paper"] is None for row in json.loads(page.stdout)["results"])
    text = (without / "page.html").read_text(encoding="utf-8")
    assert "joint" in text
    assert "Pang" not in text
    score = evergraph(without, "score", "--dataset", "digits", "--out", "scores.csv")
    assert score.returncode == 0, score.stderr


def test_there_is_no_command_for_the_papers_tables(without: Path) -> None:
    shown = evergraph(without, "--help")
    assert shown.returncode == 0
    assert "bench" in shown.stdout
    assert "reproduce" not in shown.stdout
    refused = evergraph(without, "reproduce", "table2")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
