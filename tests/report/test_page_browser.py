"""The page in a real browser: views, address, filters, comparison, exports, keyboard, contrast, phones, silence."""

import csv
import io
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode
from xml.etree import ElementTree

import pytest

from evergraph.report.page import page, slug, titles, write_page
from evergraph.report.progress import Progress, RunProgress, State
from evergraph.results.groups import data_sets
from evergraph.results.load import read_results

from .test_page import small, write
from .test_projection_plot import values

playwright: Any = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOUND = next((path for path in map(shutil.which, BROWSERS) if path), None)
pytestmark = pytest.mark.skipif(FOUND is None, reason=f"the browser tests need one of {', '.join(BROWSERS)}")

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EVIL = "<script>document.title='taken'</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=FOUND, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with data sets of several methods, of both tests, of many tasks, and of many settings."""
    folder: Path = tmp_path_factory.mktemp("page")
    runs = [small(name, aa + seed, seed) for name, aa in (("ssm", 90.0), ("joint", 96.0)) for seed in (0, 1)]
    for run in runs[::2]:
        run["projection"] = values(method=run["config"]["method"]["name"])
    runs += [small("ftf-er-det", 70 + 20 * beta, settings={"beta": beta}) for beta in (0.0, 0.5, 1.0)]
    runs += [small("ewc", 20.0), small("lwf", 20.0, memory={"nodes": 0, "edges": 0, "bytes": 0})]
    for seed in (0, 1):
        run = small(EVIL, 50.0, seed, tasks=35)
        run["data"] |= {"name": EVIL, "remarks": [f"a stand-in {EVIL}"]}
        runs.append(run)
    runs += [small("many", settings={"size": size}, backbone="gcn" if size % 2 else "gat") for size in range(9)]
    for run in runs[-9:]:
        run["data"]["name"] = "many settings"
    runs += [
        in_both(*facts) for facts in (("ssm", 80.0, 95.0, 4), ("analytic", 93.0, 96.0, 30), ("ncm", 85.0, 88.0, 1))
    ]
    results, notes = read_results([write(folder / "r.json", *runs)])
    write_page(folder / "page.html", page(data_sets(results), notes))
    return (folder / "page.html").as_uri()


def in_both(method: str, aa: float, local: float, kept: int) -> dict[str, Any]:
    """A record of a run in the whole graph, tested in both ways."""
    matrix = small(method, local)["matrix"]
    run = small(method, aa, aa_local=local, af_local=-1.0, matrix_local=matrix, aa_global=aa, af_global=-2.0)
    run["memory"] = {"nodes": 0, "edges": 0, "bytes": kept * 10**6}
    run["config"]["stream"] = {"inter_task_edges": True}
    return run


PLAIN, LONG, MANY, WHOLE = (
    "amazon-computers",
    "script-document-title-taken-script",
    "many-settings",
    "amazon-computers-whole-graph",
)


GO = """(words) => new Promise((done) => {
    if (location.hash === `#${words}`) { done(); return; }
    addEventListener("hashchange", function ready(event) {
        if (!event.newURL.endsWith(`#${words}`)) return;
        removeEventListener("hashchange", ready);
        requestAnimationFrame(done);
    });
    location.hash = words;
})"""
"""Goes to an address and waits until the page, which heard of it first, has drawn it."""


class Visit:
    """The page opened once, with everything it said and asked for."""

    def __init__(self, browser: Any, address: str, width: int = 1280, scheme: str = "light"):
        size = {"width": width, "height": 800}
        self.context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def at(self, **words: str) -> Any:
        """The view of an address, in the data set that is shown."""
        self.page.evaluate(GO, urlencode(words))
        return self.page.locator("article:visible")

    def words(self) -> dict[str, list[str]]:
        """What the address says."""
        return parse_qs(self.page.evaluate("location.hash").lstrip("#"))

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()


def test_it_opens_with_what_is_best_and_says_and_asks_nothing(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        assert visit.page.title() == "amazon-computers, whole graph · evergraph"
        assert visit.page.locator("article:visible h2").all_inner_texts() == ["amazon-computers, whole graph"]
        cards = visit.page.locator(".answer:visible > div").all_inner_texts()
        assert [card.split("\n\n")[1] for card in cards] == ["analytic", "analytic", "analytic"]
        assert "93.0 % · 30 MB" in cards[0]
        rows = visit.page.locator(".methods:visible tbody tr:visible").all_inner_texts()
        assert [row.split()[0] for row in rows] == ["analytic", "ncm", "ssm"]
        assert (
            visit.page.locator(".front:visible").all_inner_texts() == rows[:2]
        )  # ssm keeps more than ncm for less
        for view in ("tasks", "compare", "numbers", "classes", "runs"):
            assert visit.at(data=WHOLE, view=view).locator("section:visible").count() == 1
        assert visit.page.evaluate("document.documentElement.scrollHeight") < 1600
        assert visit.messages == []
        assert visit.requests == [address]


def test_of_equally_accurate_methods_the_one_with_fewer_bytes_wins_then_the_faster_one(
    browser: Any, tmp_path: Path
) -> None:
    facts = (("tem", 9, 1.0), ("analytic", 9, 2.0), ("slow", 1, 3.0), ("small", 1, 2.0), ("ncm", 1, 0.5))
    runs = [in_both(name, 80.0 if name == "ncm" else 90.0, 95.0, kept) for name, kept, _ in facts]
    for run, (*_, seconds) in zip(runs, facts, strict=True):
        run["seconds"] = {"train": seconds}
    write_page(tmp_path / "page.html", page(data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])))
    with Visit(browser, (tmp_path / "page.html").as_uri()) as visit:
        winners = visit.page.locator(".answer:visible .winner")
        assert winners.all_inner_texts() == ["small", "small", "tem"]
        front = visit.page.locator(".front:visible .method")
        assert sorted(front.all_inner_texts()) == ["ncm", "small", "tem"]


def test_prices_do_not_break_inside_a_value_on_a_phone(browser: Any, address: str) -> None:
    with Visit(browser, address, width=360) as visit:
        values = visit.page.locator(".answer:visible .price > *")
        assert values.count() == 9
        assert values.evaluate_all("(all) => all.every((one) => one.getClientRects().length === 1)")


def test_every_data_set_and_view_is_silent(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        for data in (PLAIN, LONG, MANY, WHOLE):
            for view in ("overview", "tasks", "compare", "numbers", "classes", "tsne", "runs"):
                visit.at(data=data, view=view, rows="all")
        assert visit.messages == []


def test_the_address_keeps_what_is_shown_and_the_back_button_works(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        page = visit.page
        page.locator("#data").select_option(PLAIN)
        page.get_by_role("tab", name="All numbers").click()
        assert visit.words() == {"data": [PLAIN], "view": ["numbers"]}
        playwright.expect(page.locator("article:visible h2")).to_have_text(PLAIN)
        with Visit(browser, page.url) as other:
            assert other.page.get_by_role("tab", name="All numbers").get_attribute("aria-selected") == "true"
            assert other.page.locator("article:visible h2").inner_text() == PLAIN
        page.go_back()
        playwright.expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
        page.go_back()
        playwright.expect(page.locator("article:visible h2")).to_have_text("amazon-computers, whole graph")
        page.goto(f"{address}#{MANY}")  # a plain link, as the page has without its script
        page.reload()
        assert page.locator("article:visible h2").inner_text() == "many settings"


def test_the_best_row_of_each_method_comes_first_and_the_others_on_demand(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        article = visit.at(data=PLAIN)
        names = article.locator(".methods tbody tr:visible .method")
        assert names.all_inner_texts() == ["joint", "ssm", "ftf-er-det", "ewc", "lwf"]
        article.locator(".more button").click()
        playwright.expect(names).to_have_count(7)
        assert visit.words()["rows"] == ["all"]
        article.locator(".more button").click()
        playwright.expect(names).to_have_count(5)


def test_filters_by_method_backbone_and_test(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        article = visit.at(data=MANY)
        assert article.locator(".methods tbody tr:visible").count() == 1
        visit.page.locator("#filter-backbone summary").click()
        visit.page.locator("#filter-backbone").get_by_label("gcn").uncheck()
        playwright.expect(visit.page.locator("#filter-backbone .chosen")).to_have_text("gat")
        assert visit.words()["backbone"] == ["gat"]
        article = visit.at(data=MANY, backbone="gat", rows="all")
        backbones = article.locator(".methods tbody tr:visible td:nth-child(2)").all_inner_texts()
        assert backbones == ["gat"] * 5
        article = visit.at(data=PLAIN, method="ewc")
        assert article.locator(".methods tbody tr:visible .method").all_inner_texts() == ["ewc"]
        article = visit.at(data=PLAIN, method="ncm")
        article.get_by_role("button", name="Clear the filters").click()
        playwright.expect(article.locator(".methods tbody tr:visible")).to_have_count(5)
        article = visit.at(data=WHOLE)
        visit.page.locator("#tests label", has_text="local").click()
        assert visit.words()["test"] == ["local"]
        rows = article.locator(".methods tbody tr:visible .method")
        playwright.expect(rows).to_have_text(["analytic", "ssm", "ncm"])
        svg = article.locator("[data-plot=kept] svg")
        playwright.expect(svg).to_have_attribute("aria-label", re.compile("local test"))


def test_a_heading_sorts_by_click_and_by_key(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        table = visit.at(data=PLAIN, view="numbers", rows="all").locator("section:visible table").first
        values = [96.5, 90.5, 90.0, 80.0, 70.0, 20.0, 20.0]

        def shown() -> list[float]:
            return [float(text.split()[0]) for text in table.locator("tbody tr td:nth-child(3)").all_inner_texts()]

        heading = table.locator("thead th").nth(2)
        assert (shown(), heading.get_attribute("aria-sort")) == (values, "descending")
        heading.locator("button").click()
        playwright.expect(heading).to_have_attribute("aria-sort", "ascending")
        assert shown() == values[::-1]
        table.locator("thead th button").first.focus()
        visit.page.keyboard.press("Enter")
        playwright.expect(heading).not_to_have_attribute("aria-sort", "ascending")
        assert shown() == [20.0, 70.0, 80.0, 90.0, 96.5, 20.0, 90.5]
        assert heading.get_attribute("aria-sort") is None
        assert table.locator("thead th").first.get_attribute("aria-sort") == "ascending"


def test_two_methods_are_compared_task_by_task(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        article = visit.at(data=PLAIN, view="compare", a="joint", b="ssm")
        rows = [text.split() for text in article.locator(".pairs tbody tr").all_inner_texts()]
        assert rows == [[str(task), "96.5", "90.5", "+6.0", "96.5", "90.5"] for task in (1, 2, 3)]
        assert "joint is 6.0 points above ssm" in article.locator(".verdict").inner_text()
        assert article.locator("[data-plot=matrix] svg").count() == 3
        values = [
            article.locator(f"figure[data-side={side}] .value").first.inner_html()
            for side in ("a", "b", "difference")
        ]
        assert values == ["96.5", "90.5", "6.0"]
        article.locator("select[data-side=b]").select_option("ssm, seed 1")
        assert visit.words()["b"] == ["ssm, seed 1"]
        playwright.expect(article.locator(".pairs tbody td").nth(1)).to_have_text("91.0")
        article.get_by_role("button", name="Swap").click()
        playwright.expect(article.locator("select[data-side=a]")).to_have_value("ssm, seed 1")
        whole = visit.at(data=WHOLE, view="compare", test="local", a="ssm", b="ncm")
        assert whole.locator(".pairs tbody td").first.inner_text() == "95.0"


def saved(visit: Visit, button: Any, *, by_key: bool = False) -> tuple[str, str]:
    """The name and the text of the file that a button saves."""
    with visit.page.expect_download() as download:
        if by_key:
            button.focus()
            visit.page.keyboard.press("Enter")
        else:
            button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_text(encoding="utf-8")


def test_every_table_is_saved_unrounded_and_quoted(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        article = visit.at(data=PLAIN)
        name, text = saved(visit, article.get_by_role("button", name="CSV of Methods on"), by_key=True)
        assert name == "methods-on-amazon-computers.csv"
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[0] == ["Method", "AA local, %", "AA local, % (std)", "kept of the past, bytes", "learning, s"]
        assert rows[2] == ["ssm", "90.5", "0.7071067811865476", "3145728.0", "5.0"]
        assert len(rows) == 6
        article = visit.at(data=LONG, view="numbers")
        name, text = saved(visit, article.get_by_role("button", name="CSV of Results on"))
        assert list(csv.reader(io.StringIO(text)))[1][0] == EVIL
        for view in ("overview", "tasks", "compare", "numbers", "classes", "runs"):
            article = visit.at(data=PLAIN, view=view)
            tables, buttons = (
                article.locator("section:visible table"),
                article.locator("section:visible button[data-csv]"),
            )
            assert tables.count() == buttons.count() > 0


@pytest.mark.parametrize(
    ("data", "view", "count"),
    [(WHOLE, "overview", 3), (PLAIN, "tasks", 2), (PLAIN, "compare", 4), (PLAIN, "tsne", 2)],
)
def test_every_picture_is_saved_as_it_looks(browser: Any, address: str, data: str, view: str, count: int) -> None:
    """A page for each view: of one page Chromium saved ten files and no eleventh."""
    with Visit(browser, address) as visit:
        buttons = visit.at(data=data, view=view).locator("button[data-svg]:visible")
        assert buttons.count() == count
        for at in range(count):
            name, text = saved(visit, buttons.nth(at), by_key=at == 0)
            assert name.endswith(".svg")
            root = ElementTree.fromstring(text)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(" not in text
            assert "oklab" not in text
            assert not any(node.get("hidden") for node in root.iter())
            drawn = {node.get("fill") for node in root.iter()} | {node.get("stroke") for node in root.iter()}
            assert len(drawn) > 3


def test_lines_that_coincide_take_turns_and_the_legend_raises_one(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        article = visit.at(data=PLAIN, view="tasks")
        chart = article.locator(".lines").first
        twins = [chart.locator(f'.series[data-name="{name}"] .line') for name in ("ewc", "lwf")]
        turns = [
            (line.get_attribute("stroke-dasharray"), line.get_attribute("stroke-dashoffset")) for line in twins
        ]
        assert turns == [("9 9", "0"), ("9 9", "-9")]
        assert "ewc, lwf" in chart.locator(".legend p").inner_text()
        button = chart.locator(".legend button", has_text="ewc")
        button.focus()
        assert chart.locator(".series.raised").get_attribute("data-name") == "ewc"
        assert chart.locator(".series").last.get_attribute("data-name") == "ewc"
        assert chart.locator(".series.faded").count() == 4
        visit.page.keyboard.press("Enter")
        playwright.expect(chart.locator(".series[hidden]")).to_have_attribute("data-name", "ewc")
        assert button.get_attribute("aria-pressed") == "false"
        assert "lwf" not in chart.locator(".legend p").inner_text()


def test_values_show_under_the_pointer(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        tip = visit.page.locator("#tip")
        assert not tip.is_visible()
        for view, place, words in (
            ("compare", "[data-side=a] .cell", "task 1 after learning task 1: 90.5 %"),
            ("classes", ".classes td", "class 1: 96.5 ± 0.7 %"),
            ("numbers", ".stack i", "train: 4.00 s"),
        ):
            visit.at(data=PLAIN, view=view).locator(place).first.hover()
            playwright.expect(tip).to_have_text(words)
        visit.page.locator("h1").hover()
        playwright.expect(tip).to_be_hidden()


def test_values_show_by_the_arrow_keys(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        visit.at(data=PLAIN, view="tasks").locator(".lines").last.locator(".canvas svg").focus()
        for words in ("β 0ftf-er-det70.0", "β 0.5ftf-er-det80.0", "β 1ftf-er-det90.0", "β 1ftf-er-det90.0"):
            visit.page.keyboard.press("ArrowRight")
            playwright.expect(visit.page.locator("#tip")).to_have_text(words)
        visit.page.keyboard.press("Escape")
        playwright.expect(visit.page.locator("#tip")).to_be_hidden()
        visit.at(data=WHOLE).locator("[data-plot=kept] svg").focus()
        visit.page.keyboard.press("ArrowRight")
        playwright.expect(visit.page.locator("#tip")).to_have_text("ncmaccuracy, global85.0 %kept1 MBlearning5 s")


RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of committed records: of both tests and of one, of many settings, by time."""
    files = [RESULTS / f"{name}.json" for name in ("whole-amazon", "methods-amazon", "learners", "patents")]
    path: Path = tmp_path_factory.mktemp("measured") / "page.html"
    results, notes = read_results(files)
    write_page(path, page(data_sets(results), notes))
    return path.as_uri()


NAMES = "(svg) => [...svg.querySelectorAll('text.name')].map((one) => [one.textContent, one.className.baseVal])"
BOXES = """(svg) => [...svg.querySelectorAll('text.name')].map((one) => {
    const {x, y, width, height} = one.getBBox();
    return [x, y + 2, x + width, y + height - 2];
})"""
LEADS = """(svg) => [...svg.querySelectorAll('.lead')].map((one) =>
    ['x1', 'y1', 'x2', 'y2'].map((name) => Number(one.getAttribute(name))))"""
METHODS = """(article) => [...article.querySelectorAll('.methods tbody tr:not([hidden])')]
    .filter((row) => row.querySelector('.test.' + article.dataset.shown).dataset.v)
    .filter((row) => !row.textContent.includes('all data')).map((row) => row.dataset.method)"""


def overlap(a: list[float], b: list[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def passes(lead: list[float], name: list[float]) -> bool:
    """Whether a line runs through a name; where it ends it may touch its own."""
    x, y, to_x, to_y = lead
    steps = (at / 100 for at in range(97))
    places = ((x + at * (to_x - x), y + at * (to_y - y)) for at in steps)
    return any(name[0] + 1 < x < name[2] - 1 and name[1] + 1 < y < name[3] - 1 for x, y in places)


@pytest.mark.parametrize("width", [1280, 390])
def test_points_are_named_and_names_and_lines_do_not_overlap(browser: Any, measured: str, width: int) -> None:
    most = 22 if width > 640 else 12
    with Visit(browser, measured, width=width) as visit:
        keys = visit.page.eval_on_selector_all("article", "(all) => all.map((one) => one.id)")
        for data, rows in [(key, rows) for key in keys for rows in ("best", "all")]:
            article = visit.at(data=data, rows=rows)
            methods = set(article.evaluate(METHODS))
            for svg in article.locator("[data-plot=kept]:visible svg, [data-plot=seconds]:visible svg").all():
                names, boxes, leads = (svg.evaluate(read) for read in (NAMES, BOXES, LEADS))
                points = svg.locator("circle.point").count()
                if points <= most:
                    assert len(names) == points, data
                    assert sum("strong" in kind for _, kind in names) == svg.locator(".point.best").count()
                assert {name.partition(" · ")[0] for name, _ in names} == methods
                assert not any("…" in name for name, _ in names)
                pairs = [(a, b) for at, a in enumerate(boxes) for b in boxes[:at]]
                assert not any(overlap(a, b) for a, b in pairs), data
                assert not any(passes(lead, name) for lead in leads for name in boxes), data


def test_a_chart_with_many_points_names_the_line_and_the_best_of_each_method_and_says_so(
    browser: Any, address: str, tmp_path: Path
) -> None:
    """Of 24 points of two methods three are named: two on the line, and the best one of the other method."""
    runs = [small("many", 50.0 + at, settings={"size": at}) for at in range(22)]
    for at, run in enumerate(runs):
        run["memory"]["bytes"] = (1 if at == 10 else 3 if at == 21 else 5) * 10**6
    other = [small("other", 40.0 + at, settings={"size": at}) for at in range(2)]
    path = tmp_path / "page.html"
    write_page(path, page(data_sets(read_results([write(tmp_path / "r.json", *runs, *other)])[0])))
    with Visit(browser, path.as_uri()) as visit:
        article = visit.at(data=PLAIN, rows="all")
        names = article.locator("[data-plot=kept] svg").evaluate(NAMES)
        assert {name for name, _ in names} == {"many · size 10", "many · size 21", "other · size 1"}
        assert article.locator("[data-unnamed]").is_visible()
        article = visit.at(data=PLAIN, rows="best")
        assert not article.locator("[data-unnamed]").is_visible()


def test_long_names_stand_in_lines_and_are_not_cut(browser: Any, tmp_path: Path) -> None:
    runs = [in_both("ftf-er-prob", 80.0 + at, 90.0, 1 + at) for at in range(2)]
    for run, name in zip(runs, ("mean-feature", "coverage"), strict=True):
        run["config"]["method"] |= {"score": name, "storage": "embeddings of the last layer", "beta": 0.25}
    runs += [in_both("er-gnn-with-a-very-long-name", 60.0, 70.0, 2)]
    write_page(tmp_path / "page.html", page(data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])))
    with Visit(browser, (tmp_path / "page.html").as_uri(), width=390) as visit:
        article = visit.at(data=WHOLE, rows="all")
        for plot in ("kept", "seconds", "tests"):
            assert "…" not in article.locator(f"[data-plot={plot}] svg").text_content(), plot
        assert article.locator("[data-plot=kept] tspan").count() > 3


def test_it_says_how_many_methods_had_the_test_where_not_all_had(browser: Any, measured: str) -> None:
    with Visit(browser, measured) as visit:
        article = visit.at(data=PLAIN, test="global")
        short, both = article.locator("[data-tested=one]"), article.locator("[data-tested=both]")
        said = re.match(r"(\d+) of (\d+) methods were tested ", short.inner_text())
        assert said is not None
        assert 0 < int(said[1]) < int(said[2])
        rest = "globally. The bound, joint, was not. The others are not compared here."
        assert short.inner_text() == f"{said[0]}{rest}"
        assert both.inner_text() == f"{said[0]}both globally and locally."
        article = visit.at(data=PLAIN, test="local")
        assert not article.locator("[data-tested=one]").is_visible()
        assert article.locator("[data-tested=both]").is_visible()
        article = visit.at(data=PLAIN, test="global", method="ssm")
        assert article.locator("[data-tested=one]").inner_text() == "This method was not tested globally."
        assert not article.locator(".distance").is_visible()
        article = visit.at(data=WHOLE)
        assert article.locator("[data-tested]:visible").count() == 0
        assert article.locator(".distance").is_visible()


@pytest.mark.parametrize("width", [390, 360])
def test_every_view_has_a_visible_tab_on_a_phone(browser: Any, address: str, width: int) -> None:
    with Visit(browser, address, width=width) as visit:
        visit.at(data=PLAIN)
        tabs = visit.page.locator("[role=tab]:visible")
        assert tabs.count() == 7
        boxes = [tab.bounding_box() for tab in tabs.all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
        assert len({round(box["y"]) for box in boxes}) == 2


def test_a_point_under_another_is_named_with_it(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        svg = visit.at(data=PLAIN).locator("[data-plot=seconds] svg")
        svg.focus()
        visit.page.keyboard.press("ArrowRight")
        playwright.expect(visit.page.locator("#tip")).to_contain_text("same placeftf-er-det · β 1.0")


def test_local_beside_global_is_as_wide_as_the_page(browser: Any, address: str) -> None:
    with Visit(browser, address, width=1440) as visit:
        article = visit.at(data=WHOLE)
        drawn = article.locator("[data-plot=tests] svg").bounding_box()
        assert drawn["width"] > 0.98 * article.bounding_box()["width"]


def test_all_is_done_by_the_keyboard(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        page, focus = visit.page, "document.activeElement.id || document.activeElement.textContent.trim()"
        seen = []
        for _ in range(5):
            page.keyboard.press("Tab")
            seen.append(page.evaluate(focus))
        assert seen[:2] == ["Skip to the results", "data"]
        assert seen[-1] == "tab-overview"
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid"
        page.keyboard.press("ArrowRight")
        assert page.evaluate(focus) == "tab-tasks"
        assert visit.words()["view"] == ["tasks"]
        page.keyboard.press("End")
        assert page.evaluate(focus) == "tab-runs"
        panel = page.locator(f"#{page.locator('#tab-runs').get_attribute('aria-controls')}")
        playwright.expect(panel).to_be_visible()
        assert panel.get_attribute("role") == "tabpanel"
        page.locator("#filter-method summary").focus()
        page.keyboard.press("Enter")
        playwright.expect(page.locator("#filter-method fieldset")).to_be_visible()
        page.keyboard.press("Escape")
        playwright.expect(page.locator("#filter-method fieldset")).to_be_hidden()
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate(focus) == "main"
        assert visit.words()["view"] == ["runs"]


AXE = "axe.run({exclude: [['article[hidden]']]}, {resultTypes: ['violations']})"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_is_found_by_axe(browser: Any, address: str, width: int, scheme: str) -> None:
    axe: Any = pytest.importorskip("axe_playwright_python", reason="the test needs axe-playwright-python")
    with Visit(browser, address, width=width, scheme=scheme) as visit:
        visit.page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
        for data, view in (
            (WHOLE, "overview"),
            *((PLAIN, view) for view in ("tasks", "compare", "numbers", "classes", "tsne", "runs")),
        ):
            article = visit.at(data=data, view=view)
            if view == "runs":
                article.locator("section:visible > details > summary").first.click()
                article.locator(".texts:visible > summary").first.click()
            found = visit.page.evaluate(AXE)["violations"]
            bad = [
                (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
            ]
            assert (view, bad) == (view, [])


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_sticks_out_of_the_window(browser: Any, address: str, width: int) -> None:
    with Visit(browser, address, width=width) as visit:
        for data in (PLAIN, LONG, WHOLE):
            for view in ("overview", "tasks", "compare", "numbers", "classes", "tsne", "runs"):
                article = visit.at(data=data, view=view, rows="all")
                for toggle in article.locator(
                    "section:visible > details > summary, .values > summary:visible"
                ).all():
                    toggle.click()
                assert (data, view, visit.page.evaluate("document.documentElement.scrollWidth")) == (
                    data,
                    view,
                    width,
                )


def test_tables_of_many_phases_fit_into_a_window(browser: Any, tmp_path: Path) -> None:
    results, notes = read_results([RESULTS / "whole-cora.json", RESULTS / "whole-arxiv.json"])
    parts = data_sets(results)
    write_page(tmp_path / "page.html", page(parts, notes))
    with Visit(browser, (tmp_path / "page.html").as_uri()) as visit:
        for title in titles(parts):
            article = visit.at(data=slug(title), view="numbers", rows="all")
            assert article.locator(".scroll:visible").count() == 2
            assert article.locator(".scroll.wide").count() == 0


def test_wide_tables_say_that_they_scroll_and_text_is_legible_on_a_phone(browser: Any, address: str) -> None:
    with Visit(browser, address, width=390) as visit:
        article = visit.at(data=PLAIN, view="numbers")
        assert article.locator(".hint:visible").count() == 2
        assert article.locator(".scroll.wide[tabindex='0'][role=region]").count() == 2
        for view in ("overview", "tasks", "compare"):
            visit.at(data=PLAIN, view=view)
            drawn = "[...document.querySelectorAll('.canvas svg')].filter((svg) => svg.checkVisibility())"
            sizes = f"{drawn}.map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
            assert all(scale > 0.95 for scale in visit.page.evaluate(sizes))


def test_a_live_page_loads_itself_again_keeps_its_view_and_can_be_paused(browser: Any, tmp_path: Path) -> None:
    runs = (RunProgress("one", State.DONE), RunProgress("two", State.RUNNING, "task 2 of 5"))
    results, _ = read_results([write(tmp_path / "r.json", small("ssm"), small("joint"))])
    progress = Progress("a grid", runs, 61.0, 1)
    write_page(tmp_path / "live.html", page(data_sets(results), progress=progress))
    with Visit(browser, f"{(tmp_path / 'live.html').as_uri()}#data={PLAIN}&view=tasks") as visit:
        assert "1 running" in " ".join(visit.page.locator(".counts").inner_text().split())
        assert "task 2 of 5" in visit.page.locator("#progress").inner_text()
        ended = replace(progress, runs=runs[:1], ended=True)
        with visit.page.expect_event("load"):
            write_page(tmp_path / "live.html", page(data_sets(results), progress=progress))
        assert visit.words() == {"data": [PLAIN], "view": ["tasks"]}
        visit.page.locator("[data-pause]").click()
        assert visit.words()["paused"] == ["1"]
        write_page(tmp_path / "live.html", page(data_sets(results), progress=ended))
        visit.page.wait_for_timeout(1500)
        assert visit.page.locator("[data-pause]").get_attribute("aria-pressed") == "true"
        with visit.page.expect_event("load"):
            visit.page.locator("[data-pause]").click()
        assert visit.page.locator("#progress h2").inner_text() == "a grid: ended"
        assert visit.page.locator("[data-pause]").count() == 0
        assert visit.words()["view"] == ["tasks"]


def test_without_the_script_everything_is_there(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    assert page.locator("article:visible").count() == 4
    assert page.locator("table:visible").count() > 12
    assert page.locator(".js-only:visible").count() == 0
    assert page.locator("nav a").count() == 4
    context.close()


DOT = """([pane, label]) => {
    const cloud = document.querySelectorAll('.cloud')[pane];
    const [, x, y] = cloud.querySelector(`.dots[data-class="${label}"]`).getAttribute('d').match(/M(\\d+) (\\d+)/);
    const area = cloud.getBoundingClientRect();
    return [area.left + x * area.width / 1000, area.top + y * area.height / 1000];
}"""
"""Where a dot of a class is in the window."""


def test_a_projection_tells_the_class_and_the_method_of_a_dot(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        tip, ring = visit.page.locator("#tip"), visit.at(data=PLAIN, view="tsne").locator(".ring")
        visit.page.locator(".cloud").first.scroll_into_view_if_needed()
        for pane, method in enumerate(("joint", "ssm")):
            for label in range(3):
                x, y = visit.page.evaluate(DOT, [pane, label])
                visit.page.mouse.move(x + 2, y - 2)
                playwright.expect(tip).to_have_text(f"class class{label}{method} · gcn")
                assert ring.nth(pane).is_visible()
                box = ring.nth(pane).bounding_box()
                assert abs(box["x"] + box["width"] / 2 - x) < 1
                assert abs(box["y"] + box["height"] / 2 - y) < 1
        area = visit.page.locator(".cloud").first.bounding_box()
        visit.page.mouse.move(area["x"] + 3, area["y"] + 3)  # far from every dot
        playwright.expect(tip).to_be_hidden()
        assert not ring.first.is_visible()
        assert visit.messages == []
        assert visit.requests == [address]


def test_classes_of_a_projection_are_faded_and_hidden_by_the_legend(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        visit.at(data=PLAIN, view="tsne")
        keys, page = visit.page.locator(".tsne .legend button"), visit.page
        assert keys.all_inner_texts() == ["class0", "class1", "class2"]
        faint = "[...document.querySelectorAll('.dots')].filter((dots) => getComputedStyle(dots).opacity < 0.5)"
        labels = f"[...new Set({faint}.map((dots) => dots.dataset.class))].join()"
        keys.nth(1).hover()
        assert page.evaluate(labels) == "0,2"
        page.locator("h1").hover()
        assert page.evaluate(labels) == ""
        keys.nth(1).click()
        playwright.expect(keys.nth(1)).to_have_attribute("aria-pressed", "false")
        shown = (
            "[...document.querySelectorAll('.dots')].filter((dots) => getComputedStyle(dots).display !== 'none')"
        )
        labels = f"[...new Set({shown}.map((dots) => dots.dataset.class))].join()"
        assert page.evaluate(labels) == "0,2"
        page.locator(".cloud").first.scroll_into_view_if_needed()
        page.mouse.move(*page.evaluate(DOT, [0, 1]))
        playwright.expect(page.locator("#tip")).to_be_hidden()
        keys.nth(1).click()
        playwright.expect(keys.nth(1)).to_have_attribute("aria-pressed", "true")
        assert page.evaluate(labels) == "0,1,2"


def test_classes_have_another_colour_in_the_dark_and_the_first_on_paper(browser: Any, address: str) -> None:
    colour = "getComputedStyle(document.querySelector('.dots')).stroke"
    key = "getComputedStyle(document.querySelector('.tsne .legend i')).backgroundColor"
    light, dark = ("rgb(24, 127, 221)", "rgb(117, 163, 255)")
    with Visit(browser, address) as day, Visit(browser, address, scheme="dark") as night:
        for visit, wanted in ((day, light), (night, dark)):
            visit.at(data=PLAIN, view="tsne")
            assert visit.page.evaluate(colour) == visit.page.evaluate(key) == wanted
        night.page.emulate_media(media="print")
        assert night.page.evaluate(colour) == light


@pytest.mark.parametrize(("width", "columns"), [(1200, 2), (768, 2), (390, 1)])
def test_panels_stand_beside_each_other_where_there_is_room(
    browser: Any, address: str, width: int, columns: int
) -> None:
    with Visit(browser, address, width=width) as visit:
        visit.at(data=PLAIN, view="tsne")
        boxes = [cloud.bounding_box() for cloud in visit.page.locator(".cloud").all()]
        assert len({round(box["x"]) for box in boxes}) == columns
        assert all(abs(box["width"] - box["height"]) < 1 for box in boxes)


def test_dark_is_dark_and_paper_is_white(browser: Any, address: str) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with Visit(browser, address) as light, Visit(browser, address, scheme="dark") as dark:
        assert light.page.evaluate(colour) == "rgb(255, 255, 255)"
        assert dark.page.evaluate(colour) == "rgb(18, 24, 29)"
        dark.page.emulate_media(media="print")
        assert dark.page.evaluate(colour) == "rgb(255, 255, 255)"
