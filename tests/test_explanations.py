"""The pictures and figures of the explanations are those that the command makes now, and pages show them."""

import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import draw_explanations  # noqa: E402

PAGES = sorted(draw_explanations.FOLDER.glob("*.md"))
NAMES = r'(?:id|clip-path|xlink:href)="[^"]*"'
NUMBER = r"-?\d+\.?\d*(?:e-?\d+)?"


def parts(picture: str) -> tuple[list[str], list[float]]:
    """What a picture is made of besides numbers, and its numbers; names of parts are digests of numbers."""
    text = re.sub(NAMES, "", picture)
    return re.split(NUMBER, text), [float(number) for number in re.findall(NUMBER, text)]


@pytest.mark.parametrize("name", [*draw_explanations.PICTURES, *draw_explanations.FOR_PHONES])
def test_a_picture_is_what_is_drawn_now(name: str) -> None:
    kept = (draw_explanations.FOLDER / name).read_text(encoding="utf-8")
    drawn = draw_explanations.drawn(name)
    assert drawn.startswith("<?xml")
    pinned = re.search(r"^matplotlib==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    if pinned is None or version("matplotlib") != pinned[1]:
        return  # another version draws the same with other elements
    words, numbers = parts(drawn)
    words_kept, numbers_kept = parts(kept)
    assert words == words_kept, "run python tools/draw_explanations.py"
    assert numbers == pytest.approx(numbers_kept, abs=0.02)


@pytest.mark.parametrize("name", draw_explanations.FOR_PHONES)
def test_text_for_a_phone_is_as_large_as_that_of_the_page(name: str) -> None:
    """A phone of 390 px has 358 px for a picture."""
    kept = (draw_explanations.FOLDER / name).read_text(encoding="utf-8")
    found = re.search(r'viewBox="0 0 ([\d.]+) ', kept)
    assert found
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: (?:bold )?([\d.]+)px", kept)]
    assert sizes
    assert min(sizes) * 358 / float(found[1]) > 10


def test_another_picture_would_be_noticed() -> None:
    one = '<path id="a1" d="M 1.5 2 L 3"/>'
    assert parts(one) == parts(one.replace("a1", "b2"))
    assert parts(one) != parts(one.replace("1.5", "1.7"))
    assert parts(one) != parts(one.replace("L", "C"))


def test_the_table_of_leaks_is_that_of_the_results() -> None:
    text = draw_explanations.LEAKS.read_text(encoding="utf-8")
    assert text == draw_explanations.leak_page(), "run python tools/draw_explanations.py"
    assert "| `analytic` | 93.1 | 96.2 |" in text


def test_every_picture_is_shown_and_every_shown_picture_is_drawn() -> None:
    shown = {
        name for page in PAGES for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == set(draw_explanations.PICTURES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert (page.parent / target).exists(), target
