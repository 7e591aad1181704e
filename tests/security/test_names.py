"""Names that are markup, formulas or commands: on the page, in Markdown, LaTeX, figures, CSV and the terminal."""

import csv
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from evergraph.cli.console import PlainConsole
from evergraph.cli.predict import _write_rows
from evergraph.data.datasets import DatasetConfig
from evergraph.estimator.answer import Answer
from evergraph.paper.exhibit import Exhibit
from evergraph.report.markdown import code, escaped, markdown
from evergraph.report.page import page
from evergraph.report.plots import label_axes, write_picture
from evergraph.results.groups import data_sets
from evergraph.results.load import read_results
from helpers import run_config
from report.test_page import Reader, small, write

EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "--><b>",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
    "javascript:alert(1)",
]


def poisoned(evil: str) -> dict[str, Any]:
    """A record with this text wherever text may be."""
    run = small(evil, settings={"storage": evil, evil: evil}, backbone=evil)
    run["config"]["dataset"] = {"name": evil, "features": evil}
    run["data"] |= {"name": evil, "remarks": [evil], "messages": [evil], "class_order": list(range(6))}
    run["data"]["class_names"] = [f"{evil}{at}" for at in range(6)]
    run |= {"versions": {evil: evil}, "seconds": {"load": 1.0, evil: 2.0}, "batches": evil}
    return run


def shape(text: str) -> list[tuple[str, list[str]]]:
    """The elements of a page and the names of their attributes, which no text may change."""
    return [(tag, list(attributes)) for tag, attributes in Reader(text).tags]


def made(path: Path, evil: str) -> str:
    results, notes = read_results([write(path / "records.json", poisoned(evil))])
    return page(data_sets(results), [*notes, evil])


@pytest.mark.parametrize("evil", EVIL)
def test_the_page_has_the_same_elements_whatever_the_names_are(tmp_path: Path, evil: str) -> None:
    text = made(tmp_path, evil)
    assert shape(text) == shape(made(tmp_path, "x" * len(evil)))
    for content in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL):
        assert "<" not in content
        assert evil in json.dumps(json.loads(content), ensure_ascii=False).replace('\\"', '"')


@pytest.mark.parametrize("evil", [*EVIL, "a|b", "a\n| b |\n# c", "[x](javascript:alert(1))", "![x](y)", "`a` <b>"])
def test_markdown_has_the_same_table_whatever_the_names_are(tmp_path: Path, evil: str) -> None:
    results, _ = read_results([write(tmp_path / "records.json", poisoned(evil))])
    lines = markdown(data_sets(results)).splitlines()
    plain, _ = read_results([write(tmp_path / "records.json", poisoned("x"))])
    assert len(lines) == len(markdown(data_sets(plain)).splitlines())
    for line in lines:
        outside = re.sub(r"`[^`]*`", "", line)  # what is between backticks is shown as it is
        assert not re.search(r"(?<!\\)[<\[]", outside), line
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")}
    assert len(widths) == 1


def test_what_means_nothing_in_markdown_stays() -> None:
    assert escaped("digits, β=0.5 · gcn (local)") == "digits, β=0.5 · gcn (local)"
    assert code("ftf-er-det") == "`ftf-er-det`"
    assert code("a`b|c\nd") == r"`a'b\|c d`"


@pytest.mark.parametrize(
    "evil", [r"\input{/etc/passwd}", r"\immediate\write18{id}", "$x$", "a}{b", "~^&%_#", "a\n\nb"]
)
def test_latex_has_no_command_of_a_name(evil: str) -> None:
    text = Exhibit("t", evil, ["method", evil], [[evil, evil]], [evil], [], Figure()).latex()
    ours = "begin|end|centering|caption|toprule|midrule|bottomrule|text[a-z]+|pm|beta|[&%_#${}]"
    assert re.findall(rf"\\(?!{ours}).{{0,10}}", text.replace(r" \\", "")) == []
    bare = re.sub(r"\\[{}$]", "", text)
    assert bare.count("{") == bare.count("}")
    assert "$" not in bare
    assert "\n\n" not in text


@pytest.mark.parametrize("evil", ["$\\frac$", "$", "$$", "$\\input{x}$", "\x1b[31m", "a\x00b"])
@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_dollar_in_a_figure_is_no_formula(tmp_path: Path, evil: str) -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], label=evil)
    axes.legend()
    label_axes(axes, evil, evil, evil)
    write_picture(tmp_path / "a.png", figure)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("evil", ["[red]x[/red]", "[/]", "[/bold]", "[link=file:///etc]x[/link]", ":boom:"])
def test_markup_of_the_terminal_is_text(evil: str) -> None:
    assert printed(evil).strip() == evil


@pytest.mark.parametrize(
    "evil", ["\x1b[31mred", "\x1b]0;title\x07", "\x9b31m", "a\rb", "a\x08b", "\u202eabc", "\x7f"]
)
def test_nothing_in_a_name_steers_the_terminal(evil: str) -> None:
    from rich.table import Table

    table = Table(title=evil)
    table.add_column(evil)
    table.add_row(evil)
    for shown in (printed(evil), printed(table)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown), repr(shown)


def printed(what: Any) -> str:
    console = PlainConsole()
    console.file = io.StringIO()
    console.print(what, highlight=False)
    return console.file.getvalue()


def test_colours_of_our_own_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = PlainConsole()
    console.file = io.StringIO()
    console.print("x", style="red")
    assert "\x1b[31mx" in console.file.getvalue()


@pytest.mark.parametrize("name", ["../../x.npz", "/etc/x.npz", "a/../../x.npz", "..", "../...npz", "x\\..\\y.npz"])
def test_no_data_set_names_a_folder_outside(name: str, tmp_path: Path) -> None:
    if name == "..":
        name = "./.."
    config = run_config(dataset={"name": name})
    assert DatasetConfig(name=name)
    assert (tmp_path / config.label()).parent == tmp_path
    assert "/" not in config.label()


def test_ids_are_written_to_csv_as_they_are() -> None:
    """A formula stays one, because programs read the file by its ids; docs/security.md says so."""
    ids = np.array(["=1+1", "@SUM(A1)", "+1", "-1", 'a"b', "a\nb", "=cmd|' /C calc'!A0"], dtype=object)
    one = np.ones(len(ids))
    file = io.StringIO()
    batch: Any = SimpleNamespace(ids=ids, n_nodes=len(ids))
    answers = Answer(ids, np.arange(len(ids), dtype=np.int32), one, one, np.zeros(len(ids), dtype=bool), ())
    _write_rows(file, batch, answers)
    assert [row["id"] for row in csv.DictReader(io.StringIO(file.getvalue(), newline=""))] == ids.tolist()
