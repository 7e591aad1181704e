"""The pages of the documentation and their code blocks, read from Markdown.

A comment before a block says what is special about it; without one it is run when the page is followed:

    <!-- not run: why -->            it is read only: its commands and options must exist
    <!-- run by tests/x/test_y.py --> that test runs it; at the top of a page: all of its blocks
    <!-- fails -->                   the command ends with an error, which the next block shows
    <!-- not compared: why -->       the output that is shown differs from time to time

At the top of a page, `<!-- in a checkout: results -->` names what it needs of the repository, and
`<!-- written by python tools/x.py … -->` says that a tool ran its blocks when it wrote the page.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md", *(ROOT / "docs").rglob("*.md")])

FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```[ ]*$", flags=re.DOTALL | re.MULTILINE)
REMARK = re.compile(r"<!-- (?P<remark>[^>]*?) -->\s*\Z")
TITLE = re.compile(r'title="(?P<title>[^"]+)"')
SHOWN = ("", "text")
"""The languages of output; a block of one of them with a title is a file to be saved."""


@dataclass(frozen=True)
class Block:
    """A fenced block: where its text is in the page, and what the comment before it says."""

    line: int
    language: str
    title: str
    text: str
    remark: str
    start: int

    def why_not_run(self) -> str:
        """The reason for which nobody runs it, or nothing."""
        return self.remark.removeprefix("not run:").strip() if self.remark.startswith("not run:") else ""

    def run_by(self) -> str:
        """The test that runs it, or nothing."""
        return self.remark.removeprefix("run by ").strip() if self.remark.startswith("run by ") else ""

    def is_output(self) -> bool:
        """Whether it shows what the block before it printed."""
        return self.language in SHOWN and not self.title


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found, end = [], 0
    for fence in FENCE.finditer(text):
        language, _, rest = fence["info"].strip().partition(" ")
        title = TITLE.search(rest)
        remark = REMARK.search(text[end : fence.start()])
        line = text.count("\n", 0, fence.start()) + 1
        found.append(
            Block(
                line,
                language,
                title["title"] if title else "",
                fence["text"],
                remark["remark"] if remark else "",
                fence.start("text"),
            )
        )
        end = fence.end()
    return found


def at_the_top(text: str, what: str) -> str:
    """What a comment before or below the title of a page says after `what`, or nothing."""
    head = re.split(r"^(?:## |```)", text, maxsplit=1, flags=re.MULTILINE)[0]
    said = re.search(rf"^<!-- {what} (?P<rest>[^>]*?) -->\n(?!\s*```)", head, flags=re.MULTILINE)
    return said["rest"] if said else ""


def prose(text: str) -> str:
    """A page without its fenced blocks and comments; lines stay where they are."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    return re.sub(r"<!--.*?-->", blank, FENCE.sub(blank, text), flags=re.DOTALL)


def command_lines(text: str) -> list[str]:
    """The lines of a shell block; one that ends with a backslash goes on in the next."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
