"""The site is built strictly, loads nothing from elsewhere, and is searched without a network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pages import ROOT
from site_pages import CELL as TABLE_CELL
from site_pages import PLACES, with_lines_of_a_cell, with_lines_that_wrap, with_links_of_the_site, with_whole_words

LOADS = re.compile(
    r"<(?:script|img|iframe|source|audio|video|embed)\b[^>]*\bsrc=[\"']?(?:https?:)?//"
    r"|<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^>]*"
    r"|url\([\"']?(?:https?:)?//|@import[^;]*//",
    flags=re.IGNORECASE,
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOUND = next((path for path in map(shutil.which, BROWSERS) if path), None)


def built(checkout: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` does; not with --quiet, which drops warnings before --strict counts them."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    silent = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=checkout, env=silent, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("link", "holds"), [("other.md#there", True), ("no-page.md", False), ("other.md#x", False)]
)
def test_a_broken_link_fails(tmp_path: Path, link: str, holds: bool) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "docs").mkdir(parents=True)
    (checkout / "docs" / "index.md").write_text(f"# A\n\n[a link]({link})\n", encoding="utf-8")
    (checkout / "docs" / "other.md").write_text("# There\n", encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    validation = settings[settings.index("validation:") :]
    (checkout / "mkdocs.yml").write_text(f"site_name: a\nplugins: []\n{validation}", encoding="utf-8")
    done = built(checkout, tmp_path / "site")
    assert (done.returncode == 0) is holds, done.stderr


def test_everything_is_in_it_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    assert {"index.html", "start.html", "report.html", "tutorials/growing-months.html"} <= pages
    assert {place.replace(".md", ".html") for place in PLACES.values()} <= pages
    texts = [path for kind in ("html", "css", "svg") for path in site.rglob(f"*.{kind}")]
    assert [str(path) for path in texts if LOADS.search(path.read_text(encoding="utf-8"))] == []
    assert 'href="report.html"' in (site / "results.html").read_text(encoding="utf-8")


CELL = re.compile(r"<t[dh]\b(?! style=\"text-align: (?:left|right|center);\">)[^>]+>")
"""A cell with other attributes than that of its column: attr_list takes braces at the end of a cell for them."""


def test_no_cell_loses_text_as_attributes(site: Path) -> None:
    pages = sorted(set(site.rglob("*.html")) - {site / "report.html"})  # whose cells are made with attributes
    found = {page.name: CELL.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: cells for name, cells in found.items() if cells} == {}
    assert "list of (object of number)" in (site / "reference" / "record.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("cell", "lost"),
    [("<td name: number>", True), ("<td>", False), ('<td style="text-align: right;">', False)],
)
def test_a_cell_that_loses_text_is_noticed(cell: str, lost: bool) -> None:
    assert bool(CELL.search(cell)) is lost


def test_comments_for_the_tests_are_not_shown(site: Path) -> None:
    page = (site / "tutorials" / "clusters.html").read_text(encoding="utf-8")
    assert "not run:" not in re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    assert "grid.toml</span>" in page  # the title of a file to be saved


@pytest.mark.skipif(FOUND is None, reason=f"the browser tests need one of {', '.join(BROWSERS)}")
def test_it_is_searched_from_disk(site: Path) -> None:
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    asked: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=FOUND, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("s")
        page.wait_for_function("document.activeElement.matches('.md-search__input')")
        page.keyboard.type("hubs")
        link = page.locator("a.md-search-result__link").first
        link.wait_for(timeout=60_000)
        assert "write-a-method.html" in link.get_attribute("href")
        browser.close()
    assert [address for address in asked if not address.startswith(("file:", "blob:", "data:"))] == []


FRAMES = """() => [...document.querySelectorAll(".md-typeset__scrollwrap, .frame")].map(frame => ({
    hidden: frame.scrollWidth - frame.clientWidth,
    told: !(frame.previousElementSibling ?? {hidden: true}).hidden && frame.matches(".cut[tabindex='0']"),
}))"""
NARROW_PICTURES = """() => [...document.querySelectorAll(".md-typeset img")]
    .filter(one => !/-narrow|svg$/.test(one.currentSrc) && one.clientWidth < 0.74 * one.naturalWidth)
    .map(one => one.currentSrc)"""
RUNS_OUT = """() => [...document.querySelectorAll(".language-text .line")]
    .filter(line => line.getBoundingClientRect().right > line.closest("code").getBoundingClientRect().right)
    .map(line => line.textContent)"""


@pytest.mark.skipif(FOUND is None, reason=f"the browser tests need one of {', '.join(BROWSERS)}")
def test_what_is_cut_off_says_so_and_pictures_can_be_read(site: Path) -> None:
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    looked_at = ["project/benchmarks", "data", "start", "index", "growing-graph", "examples/what_ftf_er_keeps"]
    silent: list[object] = []
    cut: set[tuple[int, str]] = set()
    small: list[str] = []
    long: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=FOUND, args=["--no-sandbox", "--disable-gpu"])
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            for name in looked_at:
                page.goto((site / f"{name}.html").as_uri())
                page.wait_for_selector(".md-search[aria-label]", state="attached")  # site.js has run
                page.wait_for_function("[...document.images].every(one => one.complete)")
                for frame in page.evaluate(FRAMES):
                    cut |= {(width, name)} if frame["hidden"] > 1 else set()
                    silent += [(width, name, frame)] if (frame["hidden"] > 1) is not frame["told"] else []
                small += page.evaluate(NARROW_PICTURES) if width < 600 else []
                long += page.evaluate(RUNS_OUT)
        page.goto((site / "growing-graph.html").as_uri())
        page.locator(".frame").evaluate("frame => frame.scrollTo(9999, 0)")
        page.wait_for_function("!document.querySelector('.frame').matches('.cut')")
        browser.close()
    assert (silent, small, long) == ([], [], [])
    assert (390, "project/benchmarks") in cut
    assert (390, "examples/what_ftf_er_keeps") in cut
    assert cut.isdisjoint({(1280, "project/benchmarks"), (1280, "start"), (390, "index")})


SERIOUS = """async () => (await axe.run({resultTypes: ['violations']})).violations
    .filter(found => ['serious', 'critical'].includes(found.impact))
    .map(found => found.id + ': ' + found.nodes.map(node => node.target.join(' ')).slice(0, 3).join(', '))"""


NOT_LOOKED_AT = {"404", "report"}
"""The first needs a server, the second has a test of its own."""


@pytest.mark.skipif(FOUND is None, reason=f"the browser tests need one of {', '.join(BROWSERS)}")
def test_nothing_serious_is_found_by_axe(site: Path) -> None:
    """Every page once, by turns light and wide or dark and narrow: all pages in both ways take over a minute."""
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    axe: Any = pytest.importorskip("axe_playwright_python", reason="the test needs axe-playwright-python")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    names = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    assert names >= NOT_LOOKED_AT
    looked_at = sorted(names - NOT_LOOKED_AT)
    assert len(looked_at) > 30
    found = {}
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=FOUND, args=["--no-sandbox", "--disable-gpu"])
        for turn, (scheme, width) in enumerate((("light", 1280), ("dark", 390))):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            for name in looked_at[turn::2]:
                page.goto((site / f"{name}.html").as_uri())
                page.wait_for_selector(".md-search[aria-label]", state="attached")  # site.js has run
                page.evaluate(script)
                found[name] = page.evaluate(SERIOUS)
        browser.close()
    assert {where: what for where, what in found.items() if what} == {}


@pytest.mark.parametrize(
    ("load", "found"),
    [
        ('<script src="https://x.org/a.js">', True),
        ('<link rel=stylesheet href="//x.org/a.css">', True),
        ("@import url(https://x.org/a.css);", True),
        ('<a href="https://x.org">', False),
        ('<script src="assets/a.js">', False),
    ],
)
def test_loads_from_elsewhere_are_noticed(load: str, found: bool) -> None:
    assert bool(LOADS.search(load)) is found


@pytest.mark.parametrize(
    ("source", "link", "there"),
    [
        ("docs/tutorials/clusters.md", "[a](../../CONTRIBUTING.md#b)", "[a](../project/contributing.md#b)"),
        ("docs/serve.md", "[a](../benchmarks/README.md)", "[a](project/benchmarks.md)"),
        ("README.md", "![a](docs/x.jpeg) `[b](docs/x.md)`", "![a](../x.jpeg) `[b](docs/x.md)`"),
        (
            "README.md",
            "![a](docs/demo.png)",
            '<picture><source media="(max-width: 600px)" srcset="../demo-narrow.png">'
            '<img alt="a" src="../demo.png"></picture>',
        ),
        (
            "README.md",
            "[a](benchmarks) [b](https://x.org) [c](#d)",
            "[a](benchmarks.md) [b](https://x.org) [c](#d)",
        ),
        ("README.md", "[a](experiments) [b](docs/tutorials)", "a [b](../tutorials)"),
        ("README.md", "see [the `code`](src/evergraph/config.py)", "see the `code`"),
        (
            "docs/explanation/sums.md",
            "![a < b](sums-add.svg)",
            '<picture><source media="(max-width: 600px)" srcset="sums-add-narrow.svg">'
            '<img alt="a &lt; b" src="sums-add.svg"></picture>',
        ),
        (
            "docs/results.md",
            "[![a](report.png)](report.html)",
            '[<span class="frame"><img alt="a" src="report.png" style="--readable: 960px"></span>](report.html)',
        ),
    ],
)
def test_links_are_those_of_the_site(source: str, link: str, there: str) -> None:
    assert with_links_of_the_site(link, source, PLACES.get(source, source.removeprefix("docs/"))) == there


@pytest.mark.parametrize(
    ("cell", "there"),
    [
        ("<td><code>ftf-er-det</code></td>", "<td><code>ftf-er-det</code></td>"),
        (
            "<td><code>python benchmarks/epoch.py --cpu</code></td>",
            '<td><code class="long">python benchmarks/epoch.py <span>--cpu</span></code></td>',
        ),
        ("<td>a <code>b</code> c</td>", "<td>a <code>b</code> c</td>"),
        ("<td>93.1 (96.2)</td>", "<td>93.1\u00a0(96.2)</td>"),
        ("<td>93 of 100 nodes</td>", "<td>93 of 100 nodes</td>"),
    ],
)
def test_long_code_in_a_table_goes_on_in_the_next_line(cell: str, there: str) -> None:
    assert TABLE_CELL.sub(with_lines_of_a_cell, cell) == there


def test_sentences_in_output_go_on_in_the_next_line() -> None:
    output = "note: fits\n\u2502 1 \u2502\nname  value\n  indented\n\n"
    assert with_lines_that_wrap(output) == output.replace("note: fits", '<span class="line">note: fits</span>')


def test_a_command_does_not_break_at_the_hyphens_of_its_words() -> None:
    command = '<pre><code>evergraph<span class="w-1"> </span>forget --forget-ids a/my-ids.txt -v</code></pre>'
    whole = ("--forget-ids", "a/my-ids.txt", "-v")
    there = command
    for word in whole:
        there = there.replace(f" {word}", f' <span class="whole">{word}</span>')
    assert with_whole_words(command) == there
