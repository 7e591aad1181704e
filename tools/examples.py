"""Run the notebooks of examples/ and write their pages, or write them as .ipynb files.

    python tools/examples.py [NAME ...]                 # run, and write docs/examples/NAME.md with its pictures
    python tools/examples.py NAME --set SEEDS=1 --out FOLDER    # with another value in its cell of parameters
    python tools/examples.py --notebooks FOLDER         # FOLDER/NAME.ipynb, without running anything
    python tools/examples.py --check                    # exit with 1 where a page has other text or code

An example is a Python script in the percent format, which Jupyter (with jupytext), VS Code and PyCharm open as a
notebook. Each runs in its own namespace, cell by cell; what a cell draws and prints stands above its code.
"""

import argparse
import ast
import io
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXAMPLES, PAGES = ROOT / "examples", ROOT / "docs" / "examples"
MARK = re.compile(r"^# %%( \[markdown\])?( tags=\[\"parameters\"\])?$")
DPI = 110


@dataclass(frozen=True)
class Cell:
    """A part of an example; line: where its text begins in the file, from 1."""

    text: str
    line: int
    is_text: bool = False
    is_parameters: bool = False


@dataclass(frozen=True)
class Output:
    """What a cell printed, and its pictures: names of files with what they show."""

    printed: str = ""
    pictures: Mapping[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """The examples, in the order in which they are best read."""
    order = ["growing_graph", "what_ftf_er_keeps", "hodge_potential", "your_own_method"]
    there = {path.stem for path in EXAMPLES.glob("*.py")}
    return [name for name in order if name in there] + sorted(there - set(order))


def read_cells(name: str) -> list[Cell]:
    """The cells of an example."""
    cells: list[Cell] = []
    lines: list[str] = []
    start, mark = 1, MARK.match("# %%")
    for number, line in enumerate([*(EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines(), "# %%"], 1):
        if line.startswith("# %%"):
            cells += _cell(lines, start, mark)
            lines, start, mark = [], number + 1, MARK.match(line)
            if mark is None:
                raise SystemExit(f"a cell begins with # %% or # %% [markdown], got {line!r} in {name}.py instead")
        else:
            lines.append(line)
    return cells


def _cell(lines: Sequence[str], start: int, mark: re.Match[str] | None) -> list[Cell]:
    """The cell that these lines make; none where they are empty."""
    is_text = mark is not None and mark[1] is not None
    is_parameters = mark is not None and mark[2] is not None
    if is_text:
        lines = [re.sub(r"^# ?", "", line) for line in lines]
    text = "\n".join(lines).rstrip()
    return [Cell(text, start, is_text, is_parameters)] if text.strip() else []


def executed(name: str, cells: Sequence[Cell], values: Mapping[str, Any], folder: Path) -> list[Output]:
    """Run the code cells in one namespace, in an empty folder of their own; pictures go to `folder`."""
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(EXAMPLES / f"{name}.py")}
    parameters = {key for cell in cells if cell.is_parameters for key in _assigned(cell)}
    if unknown := sorted(set(values) - parameters):
        raise SystemExit(f"{name} has the parameters {', '.join(sorted(parameters))}, got {unknown[0]} instead")
    outputs: list[Output] = []
    with tempfile.TemporaryDirectory() as place, chdir(place):
        for cell in cells:
            outputs.append(Output() if cell.is_text else _run(name, cell, space, folder, outputs))
            if cell.is_parameters:
                space |= values
    return outputs


def _assigned(cell: Cell) -> list[str]:
    """The names that a cell gives values to."""
    nodes = [node for node in ast.parse(cell.text).body if isinstance(node, ast.Assign)]
    return [target.id for node in nodes for target in node.targets if isinstance(target, ast.Name)]


def _run(name: str, cell: Cell, space: dict[str, Any], folder: Path, before: Sequence[Output]) -> Output:
    import matplotlib.pyplot as plt

    printed = io.StringIO()
    code = compile("\n" * (cell.line - 1) + cell.text, str(EXAMPLES / f"{name}.py"), "exec")
    with redirect_stdout(printed), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")  # plt.show() of a script
        exec(code, space)
    pictures: dict[str, str] = {}
    drawn = sum(len(output.pictures) for output in before)
    for number, figure in enumerate(map(plt.figure, plt.get_fignums()), 1 + drawn):
        file = f"{name}-{number}.png"
        title = figure.get_suptitle() or next((axes.get_title(loc="left") for axes in figure.axes), "")
        figure.savefig(folder / file, dpi=DPI, metadata={"Software": None})
        pictures[file] = title
    plt.close("all")
    return Output(printed.getvalue(), pictures)


def written_page(name: str, cells: Sequence[Cell], outputs: Sequence[Output]) -> str:
    """The page of an example that has run: what a cell draws and prints stands above its code, which is folded."""
    not_run = f"<!-- not run: run as examples/{name}.py -->"
    parts = [f"<!-- written by python tools/examples.py {name} from examples/{name}.py -->"]
    code: list[str] = []
    for cell, output in zip(cells, outputs, strict=True):
        if cell.is_text:
            parts += [*_folded(code), cell.text]
            code = []
            continue
        code.append(f"{not_run}\n```python\n{cell.text}\n```")
        shown = [f"![{title}]({file})" for file, title in output.pictures.items()]
        if output.printed.strip():
            shown.append(f"{not_run}\n```text\n{output.printed.rstrip()}\n```")
        if shown:
            parts += [*shown, *_folded(code)]
            code = []
    return "\n\n".join([*parts, *_folded(code)]) + "\n"


def _folded(code: Sequence[str]) -> list[str]:
    """Blocks of code that a reader opens; the attribute is for the site, code hosts need the empty lines."""
    return ['<details markdown="1"><summary>Code</summary>', *code, "</details>"] if code else []


def is_page_of(name: str, page: str) -> bool:
    """Whether a page has the text and the code of an example as they are now, in order."""
    place = 0
    for cell in read_cells(name):
        place = page.find(cell.text if cell.is_text else f"```python\n{cell.text}\n```\n", place)
        if place < 0:
            return False
    return page.count("```python") == sum(not cell.is_text for cell in read_cells(name))


def index() -> str:
    """The list of the examples: title and first paragraph of each."""
    lines = [
        "<!-- written by python tools/examples.py -->",
        "# Examples",
        "Four notebooks, as Python scripts: Jupyter (with jupytext), VS Code and PyCharm open them as notebooks, "
        "Python runs them as they are.",
    ]
    for name in names():
        heading, paragraph = read_cells(name)[0].text.split("\n\n")[:2]
        lines.append(
            f"- [{heading.removeprefix('# ')}]({name}.md), `examples/{name}.py`. {' '.join(paragraph.split())}"
        )
    lines.append(
        "`python tools/examples.py --notebooks FOLDER` writes them as .ipynb files; `python tools/examples.py` "
        "runs them and writes these pages."
    )
    return "\n\n".join(lines) + "\n"


def notebook(name: str) -> dict[str, Any]:
    """An example in version 4.5 of the notebook format, written by hand: it needs no more than this."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "cells": [_notebook_cell(number, cell) for number, cell in enumerate(read_cells(name), 1)],
    }


def _notebook_cell(number: int, cell: Cell) -> dict[str, Any]:
    common = {"id": f"cell-{number}", "source": cell.text.splitlines(keepends=True)}
    if cell.is_text:
        return {"cell_type": "markdown", "metadata": {}, **common}
    metadata = {"tags": ["parameters"]} if cell.is_parameters else {}
    return {"cell_type": "code", "metadata": metadata, "execution_count": None, "outputs": [], **common}


def write_page(name: str, values: Mapping[str, Any], folder: Path) -> None:
    """Run an example and write its page and its pictures."""
    import matplotlib

    matplotlib.use("Agg")
    cells = read_cells(name)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-*.png"):
        old.unlink()
    page = written_page(name, cells, executed(name, cells, values, folder.resolve()))
    (folder / f"{name}.md").write_text(page, encoding="utf-8")


def write_notebooks(chosen: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        text = json.dumps(notebook(name), indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")


def outdated() -> list[str]:
    """The examples whose page is not there or has other text or code, and `index` where the list is another."""
    pages = {name: PAGES / f"{name}.md" for name in [*names(), "index"]}
    texts = {name: page.read_text(encoding="utf-8") if page.exists() else "" for name, page in pages.items()}
    return [
        name for name, text in texts.items() if not (text == index() if name == "index" else is_page_of(name, text))
    ]


def parsed(assignment: str) -> tuple[str, Any]:
    """KEY=VALUE, the value as Python writes it."""
    key, _, value = assignment.partition("=")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise SystemExit(
            f"--set wants KEY=VALUE with a number, text in quotes or a list, got {assignment}"
        ) from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(names())}; all by default")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, default=PAGES)
    parser.add_argument("--notebooks", type=Path, metavar="FOLDER")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    chosen = arguments.names or names()
    if unknown := sorted(set(chosen) - set(names())):
        raise SystemExit(f"an example is one of {', '.join(names())}, got {unknown[0]} instead")
    if arguments.check:
        for name in outdated():
            print(f"{name}: run python tools/examples.py {'' if name == 'index' else name}")
        return int(bool(outdated()))
    if arguments.notebooks:
        write_notebooks(chosen, arguments.notebooks)
        return 0
    for name in chosen:
        write_page(name, dict(map(parsed, arguments.set)), arguments.out)
    if arguments.out == PAGES:
        (PAGES / "index.md").write_text(index(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
