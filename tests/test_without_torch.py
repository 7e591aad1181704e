"""Where torch is not installed, every command works or says in one sentence what is missing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from evergraph.cli import app

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import without_torch  # noqa: E402

NEEDS_NONE = {"hodge_potential", "load_dataset", "make_graph", "summarise", "score_graph", "read_batch", "SCORES"}
NEEDS_TORCH = {"METHODS", "BACKBONES", "ContinualClassifier", "RunConfig", "run", "Net"}


@pytest.fixture(scope="module")
def answered() -> dict[str, dict[str, Any]]:
    command = [sys.executable, str(ROOT / "tools" / "without_torch.py"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("command", [*without_torch.WORKS, *without_torch.REFUSED])
def test_a_command_works_or_names_what_is_missing(answered: dict[str, dict[str, Any]], command: str) -> None:
    answer = answered["commands"][command]
    assert without_torch.as_expected(command, answer), answer
    assert "Traceback" not in answer["err"]


def leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_is_among_them() -> None:
    tried = [*without_torch.WORKS, *without_torch.REFUSED]
    names = list(leaves(typer.main.get_command(app)))
    assert {"run", "data check"} <= set(names)
    for name in names:
        assert any(command.startswith(name) for command in tried), name


def test_public_names_come_or_say_what_is_missing(answered: dict[str, dict[str, Any]]) -> None:
    api = answered["api"]
    assert {name for name in NEEDS_NONE if api[name]} == set()
    for name in NEEDS_TORCH:
        assert api[name] == f"evergraph.{name} needs torch, got none installed; pip install torch"
    assert set(api.values()) - {""} == {
        text for name, text in api.items() if f"evergraph.{name} needs torch" in text
    }
