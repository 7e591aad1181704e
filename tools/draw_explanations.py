"""Draw the pictures of docs/explanation, and write the table of leaks.md: from computations and from results/.

python tools/draw_explanations.py
"""

import sys
from collections.abc import Callable
from pathlib import Path

from explanations import gradients, hodge, leaks, sums
from explanations.style import styled

FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
LEAKS = FOLDER / "leaks.md"
BEGIN, END = "<!-- begin leak-amazon -->", "<!-- end leak-amazon -->"
PICTURES: dict[str, Callable[[], str]] = {
    "hodge-parts.svg": hodge.decomposition,
    "hodge-reach.svg": hodge.reach,
    "sums-add.svg": sums.adding,
    "sums-accuracy.svg": sums.accuracy,
    "leak-example.svg": leaks.example,
    "leak-amazon.svg": leaks.both_tests,
    "gradient-merging.svg": gradients.merging,
}


FOR_PHONES = {name.replace(".svg", "-narrow.svg"): name for name in PICTURES}
"""The same with panels below each other; the site shows them in a narrow window."""


def drawn(name: str) -> str:
    """A picture by the name of its file."""
    with styled(narrow=name in FOR_PHONES):
        return PICTURES[FOR_PHONES.get(name, name)]()


def leak_page() -> str:
    """leaks.md with its table made anew."""
    before, _, rest = LEAKS.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{leaks.table()}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    LEAKS.write_text(leak_page(), encoding="utf-8")
    for name in (*PICTURES, *FOR_PHONES):
        (FOLDER / name).write_text(drawn(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
