"""The site has pages from outside of docs/, and links that hold on a code host hold in it, too.

mkdocs calls `on_files` and `on_page_markdown` (`hooks` in mkdocs.yml). A page of docs/ links to ../CONTRIBUTING.md;
in the site that file is the page project/contributing.md, and the links to it and within it are rewritten.
"""

import re
from html import escape
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


NARROW = "-narrow.svg"


def for_phones(text: str, link: str) -> str:
    """A picture that has another form for narrow windows."""
    other = f'<source media="(max-width: 600px)" srcset="{link.replace(".svg", NARROW)}">'
    return f'<picture>{other}<img alt="{escape(text)}" src="{link}"></picture>'


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
        if found["picture"] and there.endswith(".svg") and (ROOT / there.replace(".svg", NARROW)).is_file():
            return for_phones(found["text"], link)
        return f"{found['picture']}[{found['text']}]({link}{mark}{anchor})"

    return CODE_OR_LINK.sub(rewritten, markdown)
