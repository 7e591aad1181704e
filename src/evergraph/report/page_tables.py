"""The tables of the page: results, cost, classes; sortable ones carry a plain number beside what they show."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evergraph.report.markup import Child, Html, el, join
from evergraph.results.groups import DataSet, Group, Stat, how_chosen, stat, value_text
from evergraph.results.published import PublishedResults

WIDE = 24
"""With more classes than this the cells of the per-class view are narrow and without text."""

DEEP = 62
"""Above this percentage a cell is so dark that its text is light."""


@dataclass(frozen=True)
class Cell:
    """What a cell shows and what it is sorted by."""

    shown: Child
    key: float | str | None = None
    kind: str = "num"


def sortable(headings: Sequence[tuple[str, str]], rows: Iterable[Sequence[Cell]], *, name: str, by: int) -> Html:
    """A table with row headers; headings are (text, class); the rows come sorted by column `by`, falling."""
    head = []
    for at, (heading, kind) in enumerate(headings):
        button = el("button", heading, type="button")
        head.append(el("th", button, scope="col", class_=kind, aria_sort="descending" if at == by else None))
    body = [el("tr", [_cell(cell, header=at == 0) for at, cell in enumerate(row)]) for row in rows]
    return box(
        el("table", el("thead", el("tr", head)), el("tbody", body), class_="sortable", aria_label=name), name
    )


def box(table: Html, name: str) -> Html:
    """A wide table scrolls in its own box."""
    return el("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)


def below(data: DataSet, *caption: Child) -> Html:
    """What a table shows, and what has to be known of all its rows."""
    return el(
        "div", el("p", *caption), [el("p", remark, class_="remark") for remark in data.remarks], class_="below"
    )


def _cell(cell: Cell, *, header: bool) -> Html:
    key = None if cell.key is None else str(cell.key)
    return el("th" if header else "td", cell.shown, class_=cell.kind, data_v=key, scope="row" if header else None)


def number(value: Stat | None, digits: int = 1, kind: str = "num") -> Cell:
    """Mean ± deviation, the deviation in grey."""
    if value is None:
        return Cell("–", None, f"{kind} none")
    spread = "" if value.std is None else el("span", f" ± {value.std:.{digits}f}", class_="std")
    return Cell([f"{value.mean:.{digits}f}".replace("-", "−"), spread], value.mean, kind)


def name_cells(group: Group, data: DataSet) -> list[Cell]:
    """Method with settings and backbone, with the remarks that concern these runs but not all of this data."""
    own = [el("small", remark, class_="remark") for remark in group.remarks if remark not in data.remarks]
    settings = el("span", group.settings, class_="settings")
    method = join(el("span", group.method, class_="method"), " ", settings, own)
    return [Cell(method, group.label, "name"), Cell(group.backbone, group.backbone, "")]


NAMES = [("Method", "name"), ("Backbone", "")]
EXPLAINED = (
    "AA: average accuracy after the last task; AF: average forgetting, 0 is none. Class-balanced, on test nodes, "
    "mean ± standard deviation over seeds. Beside a method stand the settings in which its rows differ, but for "
    "those that most of them share. Settings are fixed beforehand; where rows differ in β alone, the one with the "
    "best mean AA on validation is chosen, among rows with equally many seeds. "
)


def summary_table(data: DataSet, published: PublishedResults | None) -> Html:
    """Ours, beside the published values where there are any."""
    theirs = [published.of(group) if published else None for group in data.groups]
    beside, note = any(theirs), ""
    if published:
        note = published.note if beside else f"The paper ({published.source}) has no results on this data set."
    headings, rows = list(NAMES), [name_cells(group, data) for group in data.groups]
    for at, (measure, name) in enumerate((("aa", "AA"), ("af", "AF"))):
        headings += [(f"{name}, %", "num"), (f"{name}, paper", "num")][: 1 + beside]
        for cells, group, values in zip(rows, data.groups, theirs, strict=True):
            ours = number(group.stat(measure), kind="num" if at else "num main")
            cells.extend([ours, number(values and values[at], kind="num paper")][: 1 + beside])
    headings += [("AA, val.", "num"), ("Seeds", "num"), ("Settings", "how")]
    for cells, group in zip(rows, data.groups, strict=True):
        how = how_chosen(group, data.groups)
        cells.extend([number(group.stat("val")), Cell(str(len(group.results)), len(group.results))])
        cells.append(Cell(how, how, "how"))
    table = sortable(headings, rows, name=f"Results on {data.title}", by=len(NAMES))
    return join(table, below(data, EXPLAINED, note))


PHASES = ("train", "score", "select", "evaluate")


def phases_of(data: DataSet) -> list[str]:
    """The timed phases but for loading, in the order of a task; others after these."""
    found = (phase for group in data.groups for result in group.results for phase in result.seconds)
    known = dict.fromkeys(phase for phase in found if phase != "load")
    return sorted(known, key=lambda phase: PHASES.index(phase) if phase in PHASES else len(PHASES))


def cost_table(data: DataSet) -> Html:
    """Time by phase, what is kept of the past, and the peak."""
    phases = phases_of(data)
    longest = max(group.total_seconds for group in data.groups) or 1.0
    headings = [*NAMES, ("Time, s", "num"), ("By phase", "bars")]
    headings += [(f"{phase}, s", "num") for phase in phases]
    headings += [("Kept nodes", "num"), ("Kept edges", "num"), ("Kept, MiB", "num"), ("Peak, MiB", "num")]
    rows = []
    for group in sorted(data.groups, key=lambda group: -group.total_seconds):
        bars = [_bar(phase, at, group.seconds(phase), longest) for at, phase in enumerate(phases)]
        cells = [*name_cells(group, data), number(Stat(group.total_seconds, None), kind="num main")]
        cells += [Cell(el("span", bars, class_="bar"), group.total_seconds, "bars")]
        cells += [number(Stat(group.seconds(phase), None), 2) for phase in phases]
        cells += [Cell(f"{group.stat(key).mean:,.0f}", group.stat(key).mean) for key in ("nodes", "edges")]
        cells += [number(Stat(group.stat("kept").mean, None), 2), number(Stat(group.stat("peak").mean, None), 0)]
        rows.append(cells)
    keys = [el("span", el("i", class_=f"c{at % 8}"), phase) for at, phase in enumerate(phases)]
    caption = (
        "Time of all tasks without loading the data, median over seeds (runs may have shared the machine); "
        "what is kept of the past at the end, mean over seeds. "
    )
    table = sortable(headings, rows, name=f"Cost on {data.title}", by=2)
    return join(table, below(data, caption, el("span", keys, class_="keys")))


def _bar(phase: str, at: int, seconds: float, longest: float) -> Html:
    width = f"width:{100 * seconds / longest:.2f}%"
    return el("i", class_=f"c{at % 8}", style=width, data_tip=f"{phase}: {seconds:.2f} s")


def class_table(data: DataSet) -> Html:
    """Final accuracy on each class, a row for each group."""
    by_label = all(result.classes is not None for group in data.groups for result in group.results)
    names = _class_names(data, by_label=by_label)
    several = len(data.by_backbone) > 1
    turned = "turned" if max(map(len, names.values())) > 3 else "num"
    narrow = "classes narrow" if len(names) > WIDE else "classes"
    head = el("tr", el("th", "Method", scope="col", class_="name"), [
        el("th", el("span", name), scope="col", class_=turned) for name in names.values()
    ])  # fmt: skip
    rows = []
    for group in data.groups:
        label = f"{group.label} · {group.backbone}" if several else group.label
        cells = [_class_cell(_of_class(group, key, by_label=by_label), name) for key, name in names.items()]
        rows.append(el("tr", el("th", label, scope="row", class_="name"), cells))
    what = (
        "Columns are classes in the order of their labels." if by_label else "Columns are classes as they arrive."
    )
    caption = f"Accuracy on the test nodes of each class after the last task, %, mean over seeds. {what}"
    name = f"Accuracy on each class of {data.title}"
    table = el("table", el("thead", head), el("tbody", rows), class_=narrow, aria_label=name)
    return join(box(table, name), below(data, caption))


def _class_names(data: DataSet, *, by_label: bool) -> dict[int, str]:
    """Label or place in the stream → what its column is called."""
    results = [result for group in data.groups for result in group.results]
    if not by_label:
        return {at: str(at + 1) for at in range(max(len(result.per_class) for result in results))}
    return dict(sorted({label: name for result in results for label, name in result.classes or ()}.items()))


def _of_class(group: Group, key: int, *, by_label: bool) -> list[float]:
    found = []
    for result in group.results:
        labels = [label for label, _ in result.classes or ()] if by_label else list(range(len(result.per_class)))
        value = result.per_class[labels.index(key)] if key in labels else None
        found += [] if value is None else [value]
    return found


def _class_cell(values: list[float], name: str) -> Html:
    if not values:
        return el("td", "–", class_="heat none")
    mean = statistics.mean(values)
    shade = "heat deep" if mean > DEEP else "heat"
    tip = f"class {name}: {stat(values)} %"
    return el("td", el("span", f"{mean:.0f}"), class_=shade, style=f"--p:{mean:.1f}%", data_tip=tip)


def run_details(data: DataSet) -> Html:
    """Settings, versions and measures of every run, a fold for each group."""
    return join(_fold(group) for group in data.groups)


def _fold(group: Group) -> Html:
    summary = el("summary", group.label, el("span", f" · {group.backbone} · {group.stat('aa')} %", class_="std"))
    pairs = [el("div", el("dt", key), el("dd", value_text(value))) for key, value in group.setup.items()]
    return el("details", summary, el("dl", pairs), _runs_table(group))


def _runs_table(group: Group) -> Html:
    names = list(dict.fromkeys(name for result in group.results for name in result.versions))
    seeds = list(dict.fromkeys(name for result in group.results for name in result.seeds))
    heads = ["Run", *(f"{name} seed" for name in seeds), "AA, %", "AF, %", "AA by node, %", "Finished", *names]
    rows = []
    for result in group.results:
        measures = [f"{result.measures[key]:.2f}" for key in ("aa", "af", "plain")]
        cells = [str(result.seeds.get(name, "")) for name in seeds] + measures + [result.finished or "–"]
        cells += [result.versions.get(name, "") for name in names]
        rows.append(el("tr", el("th", result.source, scope="row"), [el("td", cell) for cell in cells]))
    head = el("tr", [el("th", name, scope="col") for name in heads])
    name = f"Runs and versions of {group.label}"
    return box(el("table", el("thead", head), el("tbody", rows), aria_label=name), name)
