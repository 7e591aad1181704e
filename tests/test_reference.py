"""The reference pages say what the code says, and nothing public is without a word."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import evergraph
from evergraph.cli import run_main
from evergraph.data.datasets import DatasetConfig, FileOptions
from evergraph.data.standardise import Standardisation
from evergraph.data.stream_config import StreamConfig
from evergraph.estimator.history import Step
from evergraph.results.records import SmallRecord
from evergraph.results.summary import Summary
from evergraph.runs.data_config import SeedConfig
from evergraph.runs.record import Record, TaskRecord
from evergraph.training.loop import TrainConfig

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import reference  # noqa: E402
from reference_pages import api, commands, fields, outputs, record, settings  # noqa: E402


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_page_agrees_with_the_code(name: str) -> None:
    text = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert text == reference.PAGES[name](), "run python tools/reference.py"


@pytest.mark.parametrize("command", list(commands.commands()), ids=lambda command: command.name)
def test_a_command_has_the_options_of_its_help(
    command: commands.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main([*command.name.split()[1:], "--help"]) == 0
    options = set(re.findall(r"^  (--[\w-]+)", capsys.readouterr().out, flags=re.MULTILINE))
    shown = {word for one in command.parameters for word in re.findall(r"`(--[\w-]+)`", one.name)}
    assert options - {"--help"} == shown
    assert command.help
    assert all(one.help for one in command.parameters)


MODELS: list[type] = [
    *(entry.config for entry in settings.own(evergraph.METHODS).values()),
    *(entry.config for entry in settings.own(evergraph.BACKBONES).values()),
    *(entry.options for entry in settings.own(evergraph.DATASETS).values()),
    *(StreamConfig, TrainConfig, SeedConfig, DatasetConfig, Standardisation, FileOptions),
    *(Record, TaskRecord, SmallRecord, *record.INSIDE, *record.EXPORTED),
    *(Summary, Step, *outputs.PARTS),
]


@pytest.mark.parametrize("model", list(dict.fromkeys(MODELS)), ids=lambda model: model.__name__)
def test_every_field_says_what_it_is(model: type) -> None:
    silent = [row.name for row in fields.rows(model) if not row.meaning]
    assert silent == [], f"write a docstring below each of these fields of {model.__name__}"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (dict[str, float], "object of number"),
        (list[dict[str, float]], "list of (object of number)"),
        (dict[str, dict[str, list[int]]], "object of (object of (list of integer))"),
        (dict[str, int | None], "object of (integer or null)"),
        (tuple[int, str], "[integer, text]"),
    ],
)
def test_a_type_is_in_words(kind: object, words: str) -> None:
    assert fields.type_text(kind) == words


def test_every_public_name_is_on_the_page_once() -> None:
    shown = [f"{group.module}.{name}" for group in api.GROUPS for name in group.names]
    assert len(set(shown)) == len(shown)
    names = {path.rpartition(".")[2] for path in shown}
    for module in ("evergraph", "evergraph.hodge", "evergraph.scores", "evergraph.testing"):
        missing = set(importlib.import_module(module).__all__) - names - {"__version__"}
        assert missing == set(), module


@pytest.mark.parametrize("path", [f"{group.module}.{name}" for group in api.GROUPS for name in group.names])
def test_a_public_name_has_a_docstring_and_so_have_its_members(path: str) -> None:
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return  # a table or a number: its docstring is read below
    assert inspect.getdoc(value), path
    if path.startswith("evergraph.testing"):
        return  # the name of a contract test is its sentence
    for member, found in vars(value).items() if inspect.isclass(value) else ():
        function = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
        if not member.startswith("_") and inspect.isfunction(function):
            assert inspect.getdoc(getattr(value, member)), f"{path}.{member}"


@pytest.mark.parametrize("name", ["BACKBONES", "DATASETS", "METHODS", "SCORES"])
def test_a_table_has_a_docstring(name: str) -> None:
    home = importlib.import_module(evergraph._HOMES[name])
    assert re.search(rf'^{name}: .*?^\)\n"""\w', inspect.getsource(home), flags=re.MULTILINE | re.DOTALL)


def test_a_changed_code_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check"])
    assert reference.main() == 0
    monkeypatch.setitem(reference.PAGES, "api.md", lambda: "something else")
    assert reference.main() == 1


def test_links_between_pages_exist() -> None:
    pattern = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
    pages = (ROOT / "docs" / "reference").glob("*.md")
    links = [(page, target) for page in pages for target in pattern.findall(page.read_text(encoding="utf-8"))]
    assert links
    for page, target in links:
        assert (page.parent / target).exists(), f"{page.name}: {target}"
