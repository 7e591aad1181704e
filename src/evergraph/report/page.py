"""The HTML page: all results in one file that opens from disk, with nothing fetched from anywhere."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import evergraph
from evergraph.errors import StoreError
from evergraph.files import make_folder
from evergraph.report.markup import Html, el, join
from evergraph.report.page_charts import beta, curves, matrices, stat_json
from evergraph.report.page_projections import projections
from evergraph.report.page_tables import class_table, cost_table, run_details, summary_table
from evergraph.results.groups import DataSet, Group, how_chosen
from evergraph.results.load import FACTS
from evergraph.results.published import PublishedResults

SECTIONS = (
    ("curves", "Accuracy over the tasks", curves),
    ("matrices", "Accuracy matrices", matrices),
    ("tsne", "What the models see (t-SNE)", projections),
    ("beta", "Sensitivity to β", beta),
    ("cost", "Cost", cost_table),
    ("classes", "Classes", class_table),
    ("runs", "Settings and versions", run_details),
)
"""Id, heading and content; a section without content is left out."""


def page(data: Sequence[DataSet], notes: Sequence[str] = (), published: PublishedResults | None = None) -> str:
    """The whole page, with published values beside ours where they are given."""
    runs = sum(len(group.results) for part in data for group in part.groups)
    names = ", ".join(dict.fromkeys(part.title for part in data))
    parts = [_part(entry, at, published) for at, entry in enumerate(data)]
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="generator", content=f"evergraph {evergraph.__version__}"),
        el("title", f"evergraph: {names}"),
        el("style", _asset("page.css")),
    )
    intro = el(
        "header",
        el("p", "evergraph", class_="brand"),
        el("h1", "Continual graph learning, results"),
        el("p", f"{runs} finished {'run' if runs == 1 else 'runs'} on {names}.", class_="lead"),
        [el("p", note, class_="remark") for note in notes],
    )
    nav = el("nav", [links for links, _ in parts], aria_label="sections")
    main = el("main", [content for _, content in parts])
    tip = el("div", id="tip", role="status", hidden=True)
    body = el("body", intro, nav, main, tip, el("script", _asset("page.js")))
    return "<!doctype html>\n" + el("html", head, body, lang="en") + "\n"


def _asset(name: str) -> Html:
    """A file of this package, as it stands."""
    return Html(files("evergraph.report").joinpath(name).read_text(encoding="utf-8"))


def _part(data: DataSet, at: int, published: PublishedResults | None) -> tuple[Html, Html]:
    """The links to the sections of a data set, and the sections."""
    links, sections = [], []
    made = [
        ("results", "Results", summary_table(data, published)),
        *((*names, make(data)) for *names, make in SECTIONS),
    ]
    for name, heading, content in made:
        if content:
            anchor = f"d{at}-{name}"
            links.append(el("a", heading, href=f"#{anchor}"))
            sections.append(el("section", el("h3", heading), content, id=anchor, class_=name))
    facts = [f"{data.data[key]:,} {key}" for key in FACTS if key in data.data]
    heading = el("h2", data.title)
    remarks = [el("p", remark, class_="remark") for remark in data.remarks]
    intro = join(heading, el("p", " · ".join(facts), class_="facts"), remarks)
    return el("div", el("b", data.title), links), el("article", intro, sections, id=f"d{at}")


def write_page(path: Path, content: str) -> None:
    """Write the page; StoreError in one sentence where that cannot be done."""
    make_folder(path.parent)
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"the page {path} cannot be written: {error.strerror}; choose another --out") from None


def page_facts(data: Sequence[DataSet], published: PublishedResults | None = None) -> list[dict[str, Any]]:
    """The rows of the summary tables as plain values."""
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
        "aa": stat_json(group.stat("aa")),
        "af": stat_json(group.stat("af")),
        "paper": theirs and {"aa": theirs[0].mean, "af": theirs[1].mean},
        "remarks": group.remarks,
    }
