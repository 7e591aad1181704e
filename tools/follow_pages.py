"""Follow a page as a reader does, in an empty folder: save its files, run its commands, look at what they print.

    python tools/follow_pages.py docs/start.md    # write into the page what its commands print now

Commands of evergraph run in this process, which saves the start of Python and torch; other lines go to a shell.
"""

import argparse
import contextlib
import doctest
import glob
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evergraph.cli import run_main
from pages import ROOT, Block, at_the_top, blocks, command_lines

PROGRESS = re.compile(r"^task \d+/\d+\n|^.*\r|[ ]+$", flags=re.MULTILINE)
"""What a terminal shows in another way or not at all."""

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
SECONDS = re.compile(r"\d[\d.,]* (?=s\b|seconds\b|bytes\b|[KMG]i?B\b)")


class PageError(Exception):
    """A page says what is not so; the message has its line."""


def follow(page: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page one by one in `folder`; yields each output block with what was printed in truth."""
    text = page.read_text(encoding="utf-8")
    for name in at_the_top(text, "in a checkout:").split():
        (folder / name).symlink_to(ROOT / name)
    scope: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks(text):
        if block.why_not_run() or block.run_by():
            printed = None
        elif block.title:
            target = folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.is_output():
            if printed is None:
                raise PageError(f"{page.name}:{block.line}: shows the output of nothing that was run")
            yield block, printed
            printed = None
        else:
            with contextlib.chdir(folder):
                printed = _done(block, scope, f"{page.name}:{block.line}")


def _done(block: Block, scope: dict[str, Any], where: str) -> str:
    if block.language == "sh":
        lines = command_lines(block.text)
        return "".join(_line(line, where, fails=block.remark == "fails") for line in lines)
    if block.language == "toml":
        tomllib.loads(block.text)
        return ""
    if block.language != "python":
        raise PageError(f"{where}: a block of {block.language!r} without a title is neither run nor saved")
    if block.text.startswith(">>>"):
        return _session(block.text, scope, where)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(block.text, where, "exec"), scope)
    return said.getvalue()


def _session(text: str, scope: dict[str, Any], where: str) -> str:
    examples = doctest.DocTestParser().get_doctest(text, {}, where, where, 0)
    examples.globs = scope  # later blocks go on with what this one makes
    reports: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(examples, out=reports.append, clear_globs=False).failed
    if failed:
        raise PageError("".join(reports))
    return ""


def _line(line: str, where: str, *, fails: bool) -> str:
    words = shlex.split(line, comments=True)
    # a plug-in would stay in this process, where later pages and tests would see it
    ours = words[0] == "evergraph" and not {"|", ">", "&&", ";", "--plugin"} & set(words)
    code, said = _our_command(_expanded(words[1:])) if ours else _other_command(line)
    if (code != 0) != fails:
        raise PageError(f"{where}: {line}: ended with {code}\n{said}")
    return PROGRESS.sub("", said)


def _expanded(words: list[str]) -> list[str]:
    """Patterns of files as a shell expands them; one that no file has stays."""
    return [name for word in words for name in (sorted(glob.glob(word)) if "*" in word else []) or [word]]


def _our_command(words: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run_main(words)
    return code, said.getvalue()


def _other_command(line: str) -> tuple[int, str]:
    own = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["sh", "-c", line],
        env={**os.environ, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def differences(shown: str, printed: str) -> list[str]:
    """The first line in which a page and the truth differ, if any; a line `...` stands for any lines.

    Words and whole numbers must be the same. Decimals may differ by 1, since processors round differently; seconds
    and bytes may be any.
    """
    left = _without_seconds(printed)
    wanted = _without_seconds(shown)
    for place, line in enumerate(wanted):
        if line.strip() == "...":
            after = wanted[place + 1] if place + 1 < len(wanted) else None
            while left and not (after is not None and same_line(after, left[0])):
                left.pop(0)
        elif not left or not same_line(line, left.pop(0)):
            return [f"shown: {line}", f"printed: {printed}"]
    return [f"printed, and not shown: {left[0]}"] if left else []


def _without_seconds(text: str) -> list[str]:
    """The lines of an output; columns of tables whose names say that they hold seconds are left out."""
    lines, clocks = [], set[int]()
    for line in text.splitlines():
        if line.startswith("┏"):
            clocks = set()
        elif line.startswith("┃"):
            clocks |= {at for at, cell in enumerate(line.split("┃")) if cell.strip() in ("seconds", "time, s")}
        kept = [cell for at, cell in enumerate(line.split("│")) if at not in clocks or not line.startswith("│")]
        lines.append("│".join(kept))
    return lines


def same_line(shown: str, printed: str) -> bool:
    """Whether two lines have the same words, and numbers as `differences` says."""
    one, other = (SECONDS.sub("# ", line) for line in (shown, printed))
    if [*NUMBER.sub("#", one).split()] != [*NUMBER.sub("#", other).split()]:
        return False
    return all(_close(a, b) for a, b in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True))


def _close(one: str, other: str) -> bool:
    if "." not in one and "." not in other:
        return one == other
    return abs(float(one.replace(",", "")) - float(other.replace(",", ""))) <= 1


def written(page: Path, folder: Path) -> str:
    """The page with the output of its commands as it is now; what has a line `...` or is not compared stays."""
    text = page.read_text(encoding="utf-8")
    for block, printed in reversed(list(follow(page, folder))):
        if "..." not in block.text.splitlines() and not block.remark.startswith("not compared:"):
            text = text[: block.start] + printed.rstrip("\n") + "\n" + text[block.start + len(block.text) :]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Write into pages what their commands print now.")
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    os.environ["COLUMNS"] = "80"
    for page in parser.parse_args().pages:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(written(page, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
