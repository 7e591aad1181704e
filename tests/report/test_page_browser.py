"""The page in a real browser: it renders, sorts, shows values, fits a phone, and asks nobody for anything."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evergraph.report.page import page, write_page
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
    """A page with a small data set of several methods, one of many tasks and classes, and one of many settings."""
    folder: Path = tmp_path_factory.mktemp("page")
    runs = [small(name, aa + seed, seed) for name, aa in (("ssm", 90.0), ("joint", 96.0)) for seed in (0, 1)]
    for run in runs[::2]:
        run["projection"] = values(method=run["config"]["method"]["name"])
    runs += [small("ftf-er-det", 70 + 20 * beta, settings={"beta": beta}) for beta in (0.0, 0.5, 1.0)]
    for seed in (0, 1):
        run = small(EVIL, 50.0, seed, tasks=35)
        run["data"] |= {"name": EVIL, "remarks": [f"a stand-in {EVIL}"]}
        runs.append(run)
    for size in range(9):
        run = small("many", settings={"size": size})
        run["data"]["name"] = "many settings"
        runs.append(run)
    results, notes = read_results([write(folder / "r.json", *runs)])
    write_page(folder / "page.html", page(data_sets(results), notes))
    return (folder / "page.html").as_uri()


class Visit:
    """The page opened once, with everything it said and asked for."""

    def __init__(self, browser: Any, address: str, width: int = 1200, scheme: str = "light"):
        size = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()


def test_it_renders_without_a_word_and_without_a_request(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        assert visit.page.title().startswith("evergraph: amazon-computers")
        assert visit.page.locator("h2").all_inner_texts() == ["amazon-computers", EVIL, "many settings"]
        assert visit.page.locator(".matrix svg").count() == 4  # one pane where there is one method
        assert visit.page.locator(".matrix").first.locator(".value").first.inner_html() == "96.5"
        assert visit.page.locator("#d1 .matrix .value").count() == 0
        for toggle in visit.page.locator("summary").all():
            toggle.click()
        assert visit.page.locator("details[open] dl").first.is_visible()
        assert visit.messages == []
        assert visit.requests == [address]


def test_a_heading_sorts_by_click_and_by_key(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        values = [96.5, 90.5, 90.0, 80.0, 70.0]
        order = "#d0-results tbody tr td:nth-child(3)"

        def shown() -> list[float]:
            return [float(text.split()[0]) for text in visit.page.locator(order).all_inner_texts()]

        heading = visit.page.locator("#d0-results thead th").nth(2)
        assert (shown(), heading.get_attribute("aria-sort")) == (values, "descending")
        heading.locator("button").click()
        assert (shown(), heading.get_attribute("aria-sort")) == (values[::-1], "ascending")
        visit.page.locator("#d0-results thead th button").first.focus()
        visit.page.keyboard.press("Enter")
        assert shown() == [70.0, 80.0, 90.0, 96.5, 90.5]
        assert heading.get_attribute("aria-sort") is None
        assert visit.page.locator("#d0-results thead th").first.get_attribute("aria-sort") == "ascending"


def test_values_show_under_the_pointer(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        tip = visit.page.locator("#tip")
        assert not tip.is_visible()
        for place, words in {
            "#d0 .matrix .cell": "task 1 after learning task 1: 96.5 %",
            "#d0 .classes td": "class 1: 96.5 ± 0.7 %",
            "#d0-curves .chart": re.compile("^after task 2joint96.5 ± 0.7ssm90.5 ± 0.7"),
            "#d0-cost .bar i": "train: 4.00 s",
        }.items():
            visit.page.locator(place).first.hover()
            playwright.expect(tip).to_have_text(words)
        visit.page.locator("h1").hover()
        playwright.expect(tip).to_be_hidden()


def test_values_show_by_the_arrow_keys(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        chart = visit.page.locator("#d0-beta .chart")
        chart.focus()
        for words in ("β 0ftf-er-det70.0", "β 0.5ftf-er-det80.0", "β 1ftf-er-det90.0", "β 1ftf-er-det90.0"):
            visit.page.keyboard.press("ArrowRight")
            playwright.expect(visit.page.locator("#tip")).to_have_text(words)
        visit.page.keyboard.press("Escape")
        playwright.expect(visit.page.locator("#tip")).to_be_hidden()


def test_another_matrix_and_other_lines_can_be_chosen(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        visit.page.locator("#d0 select").first.select_option(label="joint, seed 1")
        assert visit.page.locator("#d0 .matrix").first.locator(".value").first.inner_html() == "97.0"
        line = visit.page.locator("#d0-curves .series").first
        assert line.is_visible()
        visit.page.locator("#d0-curves .legend button").first.click()
        assert not line.is_visible()
        assert visit.page.locator("#d0-curves .legend button").first.get_attribute("aria-pressed") == "false"
        hidden = visit.page.locator("#d2-curves .series").last
        assert not hidden.is_visible()
        visit.page.locator("#d2-curves .legend summary").click()
        visit.page.locator("#d2-curves .legend button").last.click()
        assert hidden.is_visible()


@pytest.mark.parametrize("width", [390, 768])
def test_nothing_sticks_out_of_a_small_window(browser: Any, address: str, width: int) -> None:
    with Visit(browser, address, width=width) as visit:
        for toggle in visit.page.locator("summary").all():
            toggle.click()
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width


DOT = """([pane, label]) => {
    const cloud = document.querySelectorAll('.cloud')[pane];
    const [, x, y] = cloud.querySelector(`.dots[data-class="${label}"]`).getAttribute('d').match(/M(\\d+) (\\d+)/);
    const area = cloud.getBoundingClientRect();
    return [area.left + x * area.width / 1000, area.top + y * area.height / 1000];
}"""
"""Where a dot of a class is in the window."""


def test_a_projection_tells_the_class_and_the_method_of_a_dot(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        tip, ring = visit.page.locator("#tip"), visit.page.locator(".ring")
        assert visit.page.locator(".tsne").count() == 1
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
        keys, page = visit.page.locator(".tsne .legend button"), visit.page
        assert keys.all_inner_texts() == ["class0", "class1", "class2"]
        faint = "[...document.querySelectorAll('.dots')].filter((dots) => getComputedStyle(dots).opacity < 0.5)"
        labels = f"[...new Set({faint}.map((dots) => dots.dataset.class))].join()"
        keys.nth(1).hover()
        assert page.evaluate(labels) == "0,2"
        page.locator("h1").hover()
        assert page.evaluate(labels) == ""
        keys.nth(1).click()
        assert keys.nth(1).get_attribute("aria-pressed") == "false"
        shown = (
            "[...document.querySelectorAll('.dots')].filter((dots) => getComputedStyle(dots).display !== 'none')"
        )
        labels = f"[...new Set({shown}.map((dots) => dots.dataset.class))].join()"
        assert page.evaluate(labels) == "0,2"
        page.locator(".cloud").first.scroll_into_view_if_needed()
        page.mouse.move(*page.evaluate(DOT, [0, 1]))
        playwright.expect(page.locator("#tip")).to_be_hidden()
        keys.nth(1).click()
        assert page.evaluate(labels) == "0,1,2"


def test_classes_have_another_colour_in_the_dark_and_the_first_on_paper(browser: Any, address: str) -> None:
    colour = "getComputedStyle(document.querySelector('.dots')).stroke"
    key = "getComputedStyle(document.querySelector('.tsne .legend i')).backgroundColor"
    light, dark = ("rgb(24, 127, 221)", "rgb(117, 163, 255)")
    with Visit(browser, address) as day, Visit(browser, address, scheme="dark") as night:
        for visit, wanted in ((day, light), (night, dark)):
            assert visit.page.evaluate(colour) == visit.page.evaluate(key) == wanted
        night.page.emulate_media(media="print")
        assert night.page.evaluate(colour) == light


@pytest.mark.parametrize(("width", "columns"), [(1200, 2), (768, 2), (390, 1)])
def test_panels_stand_beside_each_other_where_there_is_room(
    browser: Any, address: str, width: int, columns: int
) -> None:
    with Visit(browser, address, width=width) as visit:
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
