"""Relative links of all pages lead to files and headings that exist."""

import re
from pathlib import Path

import pytest

from pages import FENCE, PAGES, ROOT

LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as code hosts make them; the site makes the same."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.*?)\s*$", FENCE.sub("", text), flags=re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        anchor, count = base, 0
        while anchor in found:
            count += 1
            anchor = f"{base}-{count}"
        found.add(anchor)
    return found


def broken(page: Path, text: str) -> list[str]:
    plain = re.sub(r"`[^`\n]+`", "", FENCE.sub("", text))
    found = []
    for target in (link["target"] for link in LINK.finditer(plain)):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if "://" in target or target.startswith("mailto:"):
            continue
        if not there.exists() or not there.is_relative_to(ROOT):
            found.append(target)
        elif anchor and there.suffix == ".md":
            content = text if there == page else there.read_text(encoding="utf-8")
            found += [] if anchor in anchors(content) else [target]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    assert broken(ROOT / name, (ROOT / name).read_text(encoding="utf-8")) == []


def test_a_broken_link_is_noticed() -> None:
    page = ROOT / "docs" / "data.md"
    text = "## A `b` and C\n[1](no.md) [2](#a-b-and-c) [3](#d) [4](hodge.md#the-solver) [5](hodge.md#x) [6](..)\n"
    assert broken(page, text) == ["no.md", "#d", "hodge.md#x"]
