"""The page in a real browser: a person gives a graph, sees it coloured, reads values, takes the table away."""

import csv
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .serving import EVIL, request, running

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
HEADER = "id,size,revenue,colour,old"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=FOUND, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with running(folder) as found:
        yield found


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

    def ask(self, nodes: str, edges: str) -> None:
        self.page.locator("#nodes").fill(nodes)
        self.page.locator("#edges").fill(edges)
        self.page.get_by_role("button", name="Predict").click()


def pasted(n_nodes: int = 12) -> tuple[str, str]:
    question = request(n_nodes)
    nodes = [HEADER, *(",".join(map(str, node.values())) for node in question["nodes"])]
    edges = ["source,target", *(",".join(pair) for pair in question["edges"])]
    return "\n".join(nodes), "\n".join(edges)


def test_a_pasted_graph_is_coloured_by_class(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        page = visit.page
        visit.ask(*pasted())
        playwright.expect(page.locator("#told")).to_have_text("12 nodes in 2 classes")
        assert page.locator("#dots circle").count() == 12
        fills = "[...document.querySelectorAll('#dots circle')].map((dot) => getComputedStyle(dot).fill)"
        colours = page.evaluate(fills)
        assert set(colours) == {"rgb(24, 127, 221)", "rgb(197, 133, 8)"}
        labels = page.locator("#rows td:nth-child(2)").all_text_contents()
        assert len(set(zip(colours, labels, strict=True))) == 2
        assert {text.rpartition(" (")[0] for text in page.locator("#legend button").all_text_contents()} == {
            "plant",
            EVIL,
        }
        assert page.locator("#links").get_attribute("d").count("M") == len(request()["edges"])
        assert visit.messages == []
        assert {url.removeprefix(address) for url in visit.requests if url.startswith("http")} == {
            "",
            "style.css",
            "page.js",
            "predict",
        }
        assert all(url.startswith((address, "data:", "blob:")) for url in visit.requests)


def test_names_are_text_and_never_run(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        rows = "\n".join(f'"{EVIL}{row}<img src=x onerror=alert(1)>",{4 * row},2000,blue,1' for row in range(2))
        visit.ask(f"{HEADER}\n{rows}", "")
        playwright.expect(visit.page.locator("#rows tr")).to_have_count(2)
        assert visit.page.title() == "evergraph: shop"
        assert visit.page.locator("#rows td").first.text_content() == f"{EVIL}0<img src=x onerror=alert(1)>"
        visit.page.locator("#graph").focus()
        visit.page.keyboard.press("ArrowRight")
        assert visit.page.locator("#tip b").text_content() == f"{EVIL}0<img src=x onerror=alert(1)>"
        assert visit.page.locator("main img, #rows script, #legend script").count() == 0
        assert visit.messages == []


def test_values_show_under_the_pointer_and_by_the_arrow_keys(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        page, tip = visit.page, visit.page.locator("#tip")
        visit.ask(*pasted())
        playwright.expect(page.locator("#result")).to_be_visible()
        table = [row.locator("td").all_text_contents() for row in page.locator("#rows tr").all()]

        def told(at: int) -> str:
            name, label, probability, margin = table[at]
            return f"{name}class{label}probability{probability}margin{margin}"

        for at in (0, 5):
            page.locator("#dots circle").nth(at).hover()
            playwright.expect(tip).to_have_text(told(at))
        page.locator("#caption").hover()
        playwright.expect(tip).to_be_hidden()
        page.locator("#graph").focus()
        page.keyboard.press("Home")
        playwright.expect(tip).to_have_text(told(0))
        page.keyboard.press("ArrowRight")
        playwright.expect(tip).to_have_text(told(1))
        assert page.locator("#ring").is_visible()
        page.keyboard.press("End")
        page.keyboard.press("ArrowRight")
        playwright.expect(tip).to_have_text(told(11))
        page.keyboard.press("Escape")
        playwright.expect(tip).to_be_hidden()
        assert not page.locator("#ring").is_visible()


def test_the_form_is_reached_and_sent_by_keys(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        visit.page.get_by_role("button", name="Fill in an example").focus()
        visit.page.keyboard.press("Enter")
        visit.page.get_by_role("button", name="Predict").focus()
        visit.page.keyboard.press("Enter")
        playwright.expect(visit.page.locator("#rows tr")).to_have_count(4)
        assert visit.page.evaluate("document.activeElement.id") == "told"
        for wanted in ("graph", "legend", "csv"):
            for _ in range(4):
                visit.page.keyboard.press("Tab")
                where = "[document.activeElement.id, document.activeElement.parentElement.id]"
                if wanted in visit.page.evaluate(where):
                    break
            else:
                raise AssertionError(f"{wanted} is not reached by the tabulator")


def test_files_are_taken_and_the_table_is_given_back(browser: Any, address: str, tmp_path: Path) -> None:
    nodes, edges = pasted()
    (tmp_path / "nodes.csv").write_text(nodes.replace("s1-0,", '"a ""quoted"", name",'), encoding="utf-8")
    (tmp_path / "edges.csv").write_text(edges.replace("s1-0\n", "s1-1\n"), encoding="utf-8")
    with Visit(browser, address) as visit:
        page = visit.page
        page.locator("#nodes-file").set_input_files(tmp_path / "nodes.csv")
        playwright.expect(page.locator("#nodes")).to_have_value(
            (tmp_path / "nodes.csv").read_text(encoding="utf-8")
        )
        page.get_by_role("button", name="Predict").click()
        playwright.expect(page.locator("#remarks")).to_contain_text("no edges were given")
        with page.expect_download() as waiting:
            page.locator("#csv").click()
        assert waiting.value.suggested_filename == "predictions.csv"
        rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"))))
        assert rows[0] == ["id", "label", "probability", "margin"]
        assert rows[1][0] == 'a "quoted", name'
        assert len(rows) == 13
        assert {row[1] for row in rows[1:]} <= {"plant", EVIL}
        assert all(0.5 <= float(row[2]) <= 1 for row in rows[1:])


def test_an_error_is_a_sentence_and_goes_again(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        error = visit.page.locator("#error")
        visit.ask("id,size\na,1", "")
        playwright.expect(error).to_contain_text("nodes must have the columns of the first batch, got none called")
        assert not visit.page.locator("#result").is_visible()
        visit.ask(*pasted())
        playwright.expect(visit.page.locator("#result")).to_be_visible()
        assert not error.is_visible()


def test_of_a_large_graph_a_part_is_drawn_and_said(browser: Any, address: str) -> None:
    with Visit(browser, address) as visit:
        for name, text in zip(("nodes", "edges"), pasted(2400), strict=True):
            file = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": text.encode()}
            visit.page.locator(f"#{name}-file").set_input_files(file)
            playwright.expect(visit.page.locator(f"#{name}")).to_have_value(text)
        visit.page.get_by_role("button", name="Predict").click()
        playwright.expect(visit.page.locator("#told")).to_have_text("2,400 nodes in 2 classes", timeout=60_000)
        assert visit.page.locator("#dots circle").count() == 2000
        remarks = visit.page.locator("#remarks").text_content()
        assert "2,000 of 2,400 nodes are drawn, those with the most edges" in remarks
        assert visit.page.locator("#rows tr").count() == 2000
        assert visit.page.locator("#more").text_content() == "The first 2,000 rows; the file has all 2,400."


@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_fits_its_window(browser: Any, address: str, width: int) -> None:
    with Visit(browser, address, width=width) as visit:
        visit.ask(*pasted())
        playwright.expect(visit.page.locator("#result")).to_be_visible()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_is_dark(browser: Any, address: str) -> None:
    with Visit(browser, address, scheme="dark") as visit:
        visit.ask(*pasted())
        playwright.expect(visit.page.locator("#result")).to_be_visible()
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 24, 29)"
        assert visit.page.evaluate("getComputedStyle(document.querySelector('#dots circle')).fill") in (
            "rgb(117, 163, 255)",
            "rgb(246, 141, 0)",
        )


def test_the_description_shows_without_asking_anybody(browser: Any, address: str) -> None:
    with Visit(browser, address + "docs") as visit:
        assert visit.page.locator("h2").all_text_contents() == [
            "POST /predict",
            "GET /health",
            "GET /schema",
            "Replies",
        ]
        assert visit.messages == []
        assert [url for url in visit.requests if not url.startswith("data:")] == [
            address + "docs",
            address + "style.css",
        ]
