"""Help: every command has an example, and the example works."""

import re
import shlex
from pathlib import Path

import pytest

from evergraph import __version__
from evergraph.cli import run_main
from evergraph.runs.execute import RunResult

from .conftest import Call

REPO = Path(__file__).parents[2]


def commands_below(capsys: pytest.CaptureFixture[str], *group: str) -> list[str]:
    assert run_main([*group, "--help"]) == 0
    _, found, text = capsys.readouterr().out.partition("Commands:")
    assert found
    return re.findall(r"^  (\w+) ", text, flags=re.MULTILINE)


COMMANDS = [
    "",
    "run",
    "score",
    "bench",
    "reproduce",
    "list",
    "show",
    "report",
    "data",
    "data list",
    "data info",
    "data fetch",
    "data check",
]


def test_every_command_is_known_here(capsys: pytest.CaptureFixture[str]) -> None:
    top, data = commands_below(capsys), commands_below(capsys, "data")
    assert {"", *top, *(f"data {name}" for name in data)} == set(COMMANDS)


def example(call: Call, command: str) -> list[str]:
    answer = call(*command.split(), "--help")
    assert answer.code == 0
    text = " ".join(answer.out.split())
    found = re.findall(r"Example: (evergraph .*)$", text)
    assert len(found) == 1, text
    return shlex.split(found[0])


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_in_the_help_works(call: Call, command: str, finished: RunResult) -> None:
    words = example(call, command)
    assert words[0] == "evergraph"
    assert words[1 : 1 + len(command.split())] == command.split()
    arguments = [str(finished.folder) if "NAME-OF-THE-RUN" in word else word for word in words[1:]]
    arguments = [str(REPO / word) if word.endswith(".toml") else word for word in arguments]
    if arguments[0] == "run":
        if "--epochs" in arguments:
            position = arguments.index("--epochs")
            del arguments[position : position + 2]
        arguments += ["--epochs", "2"]  # the rest as it stands
    answer = call(*arguments)
    assert answer.code == 0, answer.err
    assert answer.out


def test_no_arguments_are_a_question_for_help(call: Call) -> None:
    answer = call()
    assert answer.code == 0
    assert answer.out.startswith("Usage: evergraph")
    assert answer.err == ""


def test_the_version(call: Call) -> None:
    assert call("--version").out == f"{__version__}\n"
