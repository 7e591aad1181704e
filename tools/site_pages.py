"""The site has pages from outside of docs/, links that hold on a code host hold in it, too, and phones can read it.

mkdocs calls `on_files`, `on_page_markdown` and `on_page_content` (`hooks` in mkdocs.yml). A page of docs/ links to
../CONTRIBUTING.md; in the site that file is the page project/contributing.md, and the links to it and within it are
rewritten.
"""

import re
import struct
from html import escape, unescape
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PLACES = {
    "README.md": "project/readme.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "REPRODUCIBILITY.md": "project/reproducibility.md",
    "CHANGELOG.md": "project/changelog.md",
    "benchmarks/README.md": "project/benchmarks.md",
}
"""Where a file of the repository is in the site; files of docs/ are where they are below docs/."""

CODE_OR_LINK = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]+`)|(?P<picture>!?)\[(?P<text>(?:[^][]|\[[^]]*\])*)\]\((?P<target>[^)\s]+)\)",
    flags=re.DOTALL | re.MULTILINE,
)


NARROW = "-narrow"
READABLE = 0.75
"""The part of its width with which a picture can still be read: its smallest text, of 12 px, has 9 px then."""

CELL = re.compile(r"<t[dh][ >].*?</t[dh]>", flags=re.DOTALL)
CODE = re.compile(r"<code>(?P<text>.*?)</code>", flags=re.DOTALL)
LONG = 24
"""Characters of code that a cell of a table keeps in one line; a longer command goes on in the next."""

NUMBERS = re.compile(r"(?<=>)[\d.,±() to–-]{1,13}(?=</td>)")
"""A cell with nothing but numbers, such as 93.1 (96.2), which stay in one line."""

OPTION = re.compile(r"--[\w-]+")
OUTPUT = re.compile(
    r'(?<=<div class="language-text highlight"><pre><span></span><code>).*?(?=</code>)', flags=re.DOTALL
)
COMMANDS = re.compile(r'(?<=<div class="language-sh highlight">).*?(?=</div>)', flags=re.DOTALL)
HYPHENATED = re.compile(r"[\w./=,:]*-[\w./=,:-]*(?![^<]*>)")
"""A word with hyphens, outside of tags."""
TABULAR = re.compile(r"[\u2500-\u257f]|\S {2,}\S|^ ")


def narrow_form(picture: str) -> str:
    """The name of the form of a picture for narrow windows, whether there is one or not."""
    name, _, kind = picture.rpartition(".")
    return f"{name}{NARROW}.{kind}"


def for_phones(text: str, link: str) -> str:
    """A picture that has another form for narrow windows."""
    other = f'<source media="(max-width: 600px)" srcset="{narrow_form(link)}">'
    return f'<picture>{other}<img alt="{escape(text)}" src="{link}"></picture>'


def in_a_frame(text: str, link: str, width: int) -> str:
    """A picture that has no such form: in a narrow window it keeps a width that can be read and is scrolled."""
    least = f"--readable: {width * READABLE:.0f}px"
    return f'<span class="frame"><img alt="{escape(text)}" src="{link}" style="{least}"></span>'


def width_of(picture: bytes) -> int:
    """The pixels of a PNG file from left to right."""
    (width,) = struct.unpack(">I", picture[16:20])
    return int(width)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of `PLACES` as pages."""
    for source, place in PLACES.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page with links as they are in the site."""
    sources = {place: source for source, place in PLACES.items()}
    place = page.file.src_uri
    return with_links_of_the_site(markdown, sources.get(place, f"docs/{place}"), place)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page as HTML in which what is long may go on in the next line."""
    html = COMMANDS.sub(lambda found: with_whole_words(found[0]), CELL.sub(with_lines_of_a_cell, html))
    return OUTPUT.sub(lambda found: with_lines_that_wrap(found[0]), html)


def with_lines_of_a_cell(cell: re.Match[str]) -> str:
    """A cell of a table whose long code has a class; its options and short numbers stay whole."""

    def classed(code: re.Match[str]) -> str:
        if len(unescape(code["text"])) <= LONG:
            return code[0]
        whole = OPTION.sub(r"<span>\g<0></span>", code["text"])
        return f'<code class="long">{whole}</code>'

    return NUMBERS.sub(lambda found: found[0].replace(" ", "\u00a0"), CODE.sub(classed, cell[0]))


def with_whole_words(commands: str) -> str:
    """Commands that go on in the next line between words only, not at the hyphens of options and names of files."""
    return HYPHENATED.sub(r'<span class="whole">\g<0></span>', commands)


def with_lines_that_wrap(output: str) -> str:
    """Output of a command in which sentences may go on in the next line; tables and columns keep their lines."""
    lines = output.split("\n")
    return "\n".join(
        line if not line or TABULAR.search(line) else f'<span class="line">{line}</span>' for line in lines
    )


def with_links_of_the_site(markdown: str, source: str, place: str) -> str:
    """Links of the file `source`, which is at `place` in the site; code stays as it is."""

    def rewritten(found: re.Match[str]) -> str:
        if found["code"] or "://" in found["target"] or found["target"].startswith(("#", "mailto:")):
            return found[0]
        path, mark, anchor = found["target"].partition("#")
        there = normpath(join(dirname(source), path))
        if (ROOT / there / "README.md").is_file():
            there = f"{there}/README.md"
        if there in PLACES:
            target = PLACES[there]
        elif there.startswith("docs/"):
            target = there.removeprefix("docs/")
        elif (ROOT / there).exists():
            return found["text"]  # a file of the repository that the site does not have
        else:
            return found[0]  # mkdocs complains
        link = relpath(target, dirname(place) or ".")
        if found["picture"] and (ROOT / narrow_form(there)).is_file():
            return for_phones(found["text"], link)
        if found["picture"] and there.endswith(".png"):
            return in_a_frame(found["text"], link, width_of((ROOT / there).read_bytes()))
        text = CODE_OR_LINK.sub(rewritten, found["text"]) if "](" in found["text"] else found["text"]
        return f"{found['picture']}[{text}]({link}{mark}{anchor})"

    return CODE_OR_LINK.sub(rewritten, markdown)
