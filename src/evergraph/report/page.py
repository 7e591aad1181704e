"""The HTML page: all results in one self-contained file."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

import evergraph
from evergraph.files import make_folder, write_output
from evergraph.report.page_charts import beta, curves, frontiers, matrices
from evergraph.report.page_projections import projections
from evergraph.report.page_tables import class_table, cost_table, group_runs, results_table
from evergraph.results.groups import DataSet, Group, how_chosen
from evergraph.results.load import FACTS
from evergraph.results.published import PublishedResults


class Section(NamedTuple):
    """A section of the page; the template has a view for each id."""

    id: str
    heading: str
    content: object


class Part(NamedTuple):
    """A data set on the page."""

    data: DataSet
    facts: list[str]
    sections: list[Section]


def page(data: Sequence[DataSet], notes: Sequence[str] = (), published: PublishedResults | None = None) -> str:
    """The page, with published values beside ours if given."""
    assets = files("evergraph.report")
    template = _environment().get_template("page.html.j2")
    return template.render(
        version=evergraph.__version__,
        names=", ".join(dict.fromkeys(part.title for part in data)),
        runs=sum(len(group.results) for part in data for group in part.groups),
        notes=notes,
        parts=[_part(entry, published) for entry in data],
        style=assets.joinpath("page.css").read_text(encoding="utf-8"),
        script=assets.joinpath("page.js").read_text(encoding="utf-8"),
    )


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
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def _part(data: DataSet, published: PublishedResults | None) -> Part:
    """A data set with its sections; those without content are left out."""
    sections = [
        Section("results", "Results", results_table(data, published)),
        Section("curves", "Accuracy over the tasks", curves(data)),
        Section("matrices", "Accuracy matrices", matrices(data)),
        Section("tsne", "What the models see (t-SNE)", projections(data)),
        Section("frontier", "Accuracy over cost", frontiers(data)),
        Section("beta", "Sensitivity to β", beta(data)),
        Section("cost", "Cost", cost_table(data)),
        Section("classes", "Classes", class_table(data)),
        Section("runs", "Settings and versions", [group_runs(group) for group in data.groups]),
    ]
    facts = [f"{data.data[key]:,} {key}" for key in FACTS if data.data.get(key) is not None]
    return Part(data, facts, [section for section in sections if section.content])


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
