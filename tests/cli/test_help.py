"""Help: every command has an example, and the example works."""

import re
import shlex
import subprocess
import sys
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
    "recommend",
    "reproduce",
    "list",
    "show",
    "report",
    "serve",
    "data",
    "data list",
    "data info",
    "data cache",
    "data fetch",
    "data check",
    "data convert",
    "probe",
    "probe leak",
    "learn",
    "predict",
    "inspect",
    "forget",
    "merge",
]


def test_every_command_is_known_here(capsys: pytest.CaptureFixture[str]) -> None:
    top = commands_below(capsys)
    below = [f"{group} {name}" for group in ("data", "probe") for name in commands_below(capsys, group)]
    assert {"", *top, *below} == set(COMMANDS)


def example(call: Call, command: str) -> list[str]:
    answer = call(*command.split(), "--help")
    assert answer.code == 0
    text = " ".join(answer.out.split())
    found = re.findall(r"Example: (evergraph .*)$", text)
    assert len(found) == 1, text
    return shlex.split(found[0])


NEED_FILES = {"serve", "learn", "predict", "inspect", "forget", "merge", "data convert"}
"""See test_serve.py, test_life.py and test_convert.py."""


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in NEED_FILES])
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


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["run", "--help"], ["reproduce", "--help"], ["serve", "--help"]],
    ids=str,
)
def test_help_and_version_import_neither_torch_nor_matplotlib(arguments: list[str]) -> None:
    look = (
        "import sys; from evergraph.cli import run_main; assert run_main(sys.argv[1:]) == 0; "
        "print(sorted({'torch', 'matplotlib', 'numpy', 'scipy', 'sklearn', 'ray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", look, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_records_are_read_and_shown_without_torch(finished: RunResult) -> None:
    look = (
        "import sys; from pathlib import Path; from evergraph.report.terminal import matrix_table, verdict_lines; "
        "from evergraph.runs.store import RunStore; record = RunStore(Path(sys.argv[1])).record(); "
        "matrix_table(record); print(verdict_lines(record)[0]); print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", look, str(finished.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("AA ")
    assert done.stdout.splitlines()[-1] == "False"


def test_no_arguments_are_a_question_for_help(call: Call) -> None:
    answer = call()
    assert answer.code == 0
    assert answer.out.startswith("Usage: evergraph")
    assert answer.err == ""


def test_the_version(call: Call) -> None:
    assert call("--version").out == f"{__version__}\n"


@pytest.mark.parametrize("command", ["learn", "predict", "forget"])
def test_merging_edges_is_said_to_add_their_weights(call: Call, command: str) -> None:
    said = " ".join(call(command, "--help").out.split())
    assert "listed more than once become one; weights are added" in said
