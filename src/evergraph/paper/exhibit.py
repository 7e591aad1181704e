"""A table or figure in five formats: Markdown, LaTeX, CSV, PNG and PDF."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from evergraph.errors import StoreError
from evergraph.files import make_folder, write_output
from evergraph.report.markdown import escaped
from evergraph.report.plots import write_picture

TEX = str.maketrans(
    {
        **{sign: rf"\{sign}" for sign in "&%_#${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\n": " ",
        "±": r"$\pm$",
        "β": r"$\beta$",
        "−": "$-$",
        "–": "--",
    }
)


@dataclass(frozen=True)
class Exhibit:
    """A table of texts, the numbers behind it, a figure, and notes."""

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    numbers: Sequence[dict[str, Any]]
    figure: Figure

    def markdown(self) -> str:
        notes = "".join(f"\n- {escaped(note)}" for note in self.notes)
        header, *rows = [[escaped(cell) for cell in row] for row in (self.header, *self.rows)]
        return f"## {escaped(self.title)}\n\n{markdown_table(header, rows)}\n{notes}\n"

    def latex(self) -> str:
        """A LaTeX table; needs the package booktabs."""
        notes = " ".join(note if note.endswith(".") else f"{note}." for note in self.notes)
        lines = [
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{f'{self.title}. {notes}'.translate(TEX)}}}",
            f"\\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}",
            "\\toprule",
            _tex_line(self.header),
            "\\midrule",
            *(_tex_line(row) for row in self.rows),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """The numbers, not rounded; the columns are the keys of all lines."""
        text = io.StringIO()
        columns = list(dict.fromkeys(column for line in self.numbers for column in line))
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.numbers)
        return text.getvalue()

    def write(self, folder: Path) -> list[Path]:
        """Write all five formats; StoreError if the folder is not writable."""
        make_folder(folder, "--write")
        paths = [folder / f"{self.name}.{suffix}" for suffix in ("md", "tex", "csv", "png", "pdf")]
        try:
            for path, text in zip(paths, (self.markdown(), self.latex(), self.csv()), strict=False):
                write_output(path, text)
            for path in paths[3:]:
                write_picture(path, self.figure, metadata={"CreationDate": None} if path.suffix == ".pdf" else {})
        except StoreError as error:
            raise StoreError(f"{error}; choose another --write") from None
        return paths


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of cells that are Markdown; all columns but the first are right-aligned."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _tex_line(cells: Sequence[str]) -> str:
    return " & ".join(cell.translate(TEX) for cell in cells) + r" \\"
