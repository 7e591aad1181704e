"""The HTML page: all results in one self-contained file."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

import evergraph
from evergraph.files import make_folder, write_output
from evergraph.report.page_lines import beta, curves
from evergraph.report.page_projections import projections
from evergraph.report.page_runs import class_tables, group_runs
from evergraph.report.page_tables import cost_table, overview_table, results_table
from evergraph.report.progress import Progress
from evergraph.results.by_test import classes_return, known_tests, own_test
from evergraph.results.groups import BOUNDS, DataSet, Group, how_chosen
from evergraph.results.load import FACTS
from evergraph.results.published import PublishedResults
from evergraph.results.times import times_note

SCRIPTS = (
    "core",
    "export",
    "tables",
    "chart",
    "names",
    "scatter",
    "lines",
    "compare",
    "projections",
    "views",
    "live",
)
"""The parts of the script, in this order; the last ones start it."""


class Section(NamedTuple):
    """A section of the page; the template has a view for each id."""

    id: str
    heading: str
    content: object


class Part(NamedTuple):
    """A data set on the page: its key in the address, its title, and whether it was learned in the whole graph.

    back: whether classes come back.
    """

    data: DataSet
    key: str
    title: str
    whole: bool
    back: bool
    test: str
    tests: list[str]
    facts: list[str]
    times: str
    sections: list[Section]


def page(
    data: Sequence[DataSet],
    notes: Sequence[str] = (),
    published: PublishedResults | None = None,
    progress: Progress | None = None,
) -> str:
    """The page, with published values beside ours if given, and the progress of a grid if there is one."""
    assets = files("evergraph.report")
    parts = [_part(entry, title, published) for entry, title in zip(data, titles(data), strict=True)]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            version=evergraph.__version__,
            names=", ".join(dict.fromkeys(entry.title for entry in data)),
            runs=sum(len(group.results) for part in data for group in part.groups),
            notes=notes,
            parts=parts,
            groups=[(name, [part for part in parts if part.whole == whole]) for name, whole in LEARNED_IN],
            views=_views(parts),
            methods=list(dict.fromkeys(group.method for entry in data for group in entry.groups)),
            backbones=list(dict.fromkeys(name for entry in data for name in entry.by_backbone if name != "none")),
            bounds=BOUNDS,
            progress=progress,
            style=assets.joinpath("page.css").read_text(encoding="utf-8"),
            script="\n".join(assets.joinpath(f"script/{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
        )
    )


LEARNED_IN = (("Learned in the whole graph", True), ("Learned in each task's own graph", False))


def titles(data: Sequence[DataSet]) -> list[str]:
    """The titles of data sets, with their sizes where they would be the same."""
    same = Counter(entry.title for entry in data)
    facts = [" · ".join(_facts(entry)) for entry in data]
    return [
        f"{one.title} ({size})" if same[one.title] > 1 else one.title for one, size in zip(data, facts, strict=True)
    ]


def _facts(data: DataSet) -> list[str]:
    return [f"{data.data[key]:,} {key}" for key in FACTS if data.data.get(key) is not None]


def _views(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """Id and heading of every section that some data set has, in the order of the page."""
    order = {name: at for at, name in enumerate(HEADINGS)}
    found = {section.id: section.heading for part in parts for section in part.sections}
    return sorted(found.items(), key=lambda view: order[view[0]])


HEADINGS = {
    "overview": "Overview",
    "tasks": "Over the tasks",
    "compare": "Compare two",
    "numbers": "All numbers",
    "classes": "Classes",
    "tsne": "t-SNE",
    "runs": "Settings",
}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evergraph.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["slug"] = slug
    return environment


def slug(text: str) -> str:
    """A text as a word of an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _part(data: DataSet, title: str, published: PublishedResults | None) -> Part:
    """A data set with its sections; those without content are left out."""
    contents: dict[str, object] = {
        "overview": overview_table(data),
        "tasks": [*curves(data), *beta(data)],
        "compare": [(at, data.name(group)) for at, group in enumerate(data.groups)],
        "numbers": (results_table(data, published), cost_table(data)),
        "classes": class_tables(data),
        "tsne": projections(data),
        "runs": [group_runs(data, at) for at in range(len(data.groups))],
    }
    sections = [Section(name, HEADINGS[name], content) for name, content in contents.items() if content]
    own = own_test(data)
    return Part(
        data,
        slug(title),
        title,
        own == "global",
        classes_return(data),
        own,
        list(known_tests(data)),
        _facts(data),
        times_note(data),
        sections,
    )


def write_page(path: Path, content: str) -> None:
    """Write the page; StoreError if that fails."""
    make_folder(path.parent)
    write_output(path, content)


def page_facts(data: Sequence[DataSet], published: PublishedResults | None = None) -> list[dict[str, Any]]:
    """The rows of the results tables as plain values."""
    return [_row(part, group, published) for part in data for group in part.groups]


def _row(data: DataSet, group: Group, published: PublishedResults | None) -> dict[str, Any]:
    theirs = published.of(group) if published else None
    return {
        "data": data.title,
        "method": group.method,
        "backbone": group.backbone,
        "settings": group.differing,
        "seeds": len(group.results),
        "chosen": how_chosen(group, data.groups),
        "aa": asdict(group.stat("aa")),
        "af": asdict(group.stat("af")),
        "paper": theirs and {"aa": theirs[0].mean, "af": theirs[1].mean},
        "remarks": group.remarks,
    }
