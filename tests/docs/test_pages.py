"""Every code block of every page is run, in order, as a reader does; or a comment says why not."""

import re
from pathlib import Path

import pytest

from follow_pages import PageError, differences, follow, written
from pages import PAGES, ROOT, Block, at_the_top, blocks

NAMES = {str(page.relative_to(ROOT)): page for page in PAGES}


def own_blocks(text: str) -> list[Block]:
    """Those that are run here."""
    everywhere = at_the_top(text, "run by") or at_the_top(text, "written by python")
    return [] if everywhere else [one for one in blocks(text) if not one.why_not_run() and not one.run_by()]


FOLLOWED = [name for name, page in NAMES.items() if own_blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_reader_can_follow(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for block, printed in follow(NAMES[name], tmp_path):
        if not block.remark.startswith("not compared:"):
            assert differences(block.text, printed) == [], (
                f"{name}:{block.line}: python tools/follow_pages.py {name}"
            )


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_run_here_has_a_reason_or_a_test(name: str) -> None:
    text = NAMES[name].read_text(encoding="utf-8")
    assert all((ROOT / script).is_file() for script in at_the_top(text, "written by python").split()[:1])
    tests = {at_the_top(text, "run by"), *(block.run_by() for block in blocks(text))} - {""}
    for test in tests:
        assert NAMES[name].name in (ROOT / test).read_text(encoding="utf-8"), f"{test} does not name {name}"
    for block in blocks(text):
        known = ("", "fails") if not block.is_output() else ("",)
        said = block.remark.partition(":")
        assert (
            block.remark in known or block.run_by() or (said[0] in ("not run", "not compared") and said[2].strip())
        ), f"{name}:{block.line}: {block.remark}"


def page(folder: Path, text: str) -> Path:
    (folder / "here").mkdir()
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def outcome(folder: Path, text: str) -> list[list[str]]:
    found = follow(page(folder, text), folder / "here")
    return [differences(block.text, printed) for block, printed in found]


SAVED = '```csv title="a/nodes.csv"\nid\n```\n\n```sh\ncat a/nodes.csv\n```\n\n```text\nid\n```\n'


def test_files_are_saved_and_output_is_compared(tmp_path: Path) -> None:
    assert outcome(tmp_path, SAVED) == [[]]


def test_another_output_is_noticed(tmp_path: Path) -> None:
    (found,) = outcome(tmp_path, SAVED.replace("```text\nid", "```text\nname"))
    assert found


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```\n",
        "<!-- fails -->\n\n```sh\ntrue\n```\n",
        "```sh\nevergraph run --no-such-option\n```\n",
        "```text\nof nothing\n```\n",
        "```yaml\na: 1\n```\n",
        "```python\n>>> 1 + 1\n3\n\n```\n",
    ],
)
def test_a_page_that_does_not_work_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PageError):
        outcome(tmp_path, text)


def test_names_live_on_in_later_blocks(tmp_path: Path) -> None:
    text = "```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n2\n```\n"
    assert outcome(tmp_path, text) == [[]]


def test_what_is_printed_now_is_written_into_the_page(tmp_path: Path) -> None:
    text = "```sh\necho 1; echo 2\n```\n\n```text\nold\n```\n\n```sh\necho 3\n```\n\n```text\n...\n```\n"
    assert written(page(tmp_path, text), tmp_path / "here") == text.replace("old", "1\n2")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("AA 97.4 %", "AA 96.5 %", True),
        ("AA 97.4 %", "AA 96.3 %", False),
        ("3 runs", "4 runs", False),
        ("load 1.2 s, peak 5 MiB", "load 100.0 s, peak 700 MiB", True),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nb\nc", False),
        ("a", "a\nb", False),
        ("┃ a ┃ time, s ┃ b ┃\n│ 1 │ 7.0 │ 2 │", "┃ a ┃ time, s ┃ b ┃\n│ 1 │ 70.0 │ 2 │", True),
        ("┃ a ┃ time, s ┃ b ┃\n│ 1 │ 7.0 │ 2 │", "┃ a ┃ time, s ┃ b ┃\n│ 1 │ 7.0 │ 3 │", False),
    ],
)
def test_words_and_whole_numbers_count_and_seconds_do_not(shown: str, printed: str, same: bool) -> None:
    assert (differences(shown, printed) == []) is same


def test_values_of_the_tutorial_stand_in_the_tables() -> None:
    tables = NAMES["REPRODUCIBILITY.md"].read_text(encoding="utf-8")
    section = NAMES["docs/tutorials/reproduce-paper.md"].read_text(encoding="utf-8").partition("## What is met")[2]
    values = re.findall(r"\d+\.\d ± \d+\.\d", section)
    assert len(values) > 5
    assert [value for value in values if not re.search(rf"(?<!\d){value}(?!\d)", tables)] == []
