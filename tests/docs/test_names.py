"""Every command, option, setting and name of the package that a page mentions exists."""

import re
import shlex
from pathlib import Path

import pytest

from pages import PAGES, ROOT, blocks, command_lines, prose

from .naming import complaint, exists, is_setting, looks_like_setting, option_names

NAMES = {str(page.relative_to(ROOT)): page for page in PAGES}
OPTIONS = option_names()
NO_MODULES = ("evergraph.datasets", "evergraph.x.y")
"""A group of entry points, and what stands for any module."""

PROGRAMS = ("python", "pip", "ray", "mypy", "pytest", "mpiexec", "apt-get", "make", "mkdocs", "ruff", "curl", "git")


def code_in_prose(text: str) -> list[str]:
    return [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose(text))]


def commands_in_blocks(text: str) -> list[list[str]]:
    shell = [block for block in blocks(text) if block.language in ("sh", "") and block.remark != "fails"]
    lines = [line for block in shell for line in command_lines(block.text)]
    split = [shlex.split(line, comments=True) for line in lines if re.match(r"(\S+ && )*evergraph ", line)]
    return [words for words in split if words]


def after_evergraph(words: list[str]) -> list[str]:
    return words[words.index("evergraph") + 1 :]


def options_of_scripts(text: str) -> set[str]:
    """Options of the benchmarks and tools that a page names; a script that is not there is an error."""
    scripts = set(re.findall(r"\b(?:benchmarks|tools)/\w+\.py", text))
    return {option for script in scripts for option in re.findall(r'"(--[a-z-]+)"', (ROOT / script).read_text())}


def test_the_pages_have_what_is_looked_for() -> None:
    texts = [page.read_text(encoding="utf-8") for page in NAMES.values()]
    commands = [after_evergraph(words)[0] for text in texts for words in commands_in_blocks(text)]
    assert {"run", "learn", "predict"} <= set(commands)
    assert {"--method", "METHODS"} <= {code for text in texts for code in code_in_prose(text)}


@pytest.mark.parametrize("name", NAMES)
def test_commands_in_blocks_are_understood(name: str) -> None:
    for words in commands_in_blocks(NAMES[name].read_text(encoding="utf-8")):
        assert complaint(after_evergraph(words)) == "", words


@pytest.mark.parametrize("name", NAMES)
def test_commands_and_options_in_sentences_exist(name: str) -> None:
    text = NAMES[name].read_text(encoding="utf-8")
    known = OPTIONS | options_of_scripts(text)
    for code in code_in_prose(text):
        words = code.split()
        if words[0] == "evergraph" and len(words) > 1:
            wrong = complaint(words[1:])
            assert not wrong or wrong.endswith(("is missing", "requires an argument.")), f"{code}: {wrong}"
        elif words[0] not in PROGRAMS or (len(words) > 1 and words[1].endswith(".py")):
            options = [word.partition("=")[0].rstrip(",;") for word in words if re.match(r"--[a-z]", word)]
            assert [one for one in options if one not in known] == [], code


@pytest.mark.parametrize("name", NAMES)
def test_settings_exist(name: str) -> None:
    text = NAMES[name].read_text(encoding="utf-8")
    named = [code.removeprefix("--set ").partition("=")[0] for code in code_in_prose(text)]
    assert [one for one in named if looks_like_setting(one) and not is_setting(one)] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_named_of_the_package_exists(name: str) -> None:
    text = NAMES[name].read_text(encoding="utf-8")
    named = re.findall(r"(?<!`)`(evergraph(?:\.\w+)+)[`(\[]", prose(text))
    assert [one for one in named if one not in NO_MODULES and not exists(one)] == []


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("run --dataset digits --epochs 5", False),
        ("run --datset digits", True),
        ("rum", True),
        ("data info", True),
        ("data info digits", False),
        ("run --set train.epoch=5", True),
        ("run --set train.epochs=5", False),
        ("run --method no-such-method", True),
        ("show a b", True),
    ],
)
def test_a_wrong_command_is_noticed(words: str, wrong: bool) -> None:
    assert bool(complaint(words.split())) is wrong


def test_wrong_names_are_noticed() -> None:
    assert is_setting("dataset.standardise.undirected")
    assert not is_setting("dataset.standardise.directed")
    assert exists("evergraph.hodge.hodge_potential")
    assert not exists("evergraph.hodge.no_such_name")
    assert not exists("evergraph.no_such_module")


def test_every_page_is_looked_at() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/start.md", "docs/tutorials/clusters.md"} <= set(NAMES)
    assert Path(NAMES["README.md"]).is_file()
