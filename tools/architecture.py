"""Write docs/architecture.md's module map and its pictures, for wide and narrow windows, from the code.

    python tools/architecture.py            # write them
    python tools/architecture.py --check    # exit with 1 where they differ from the code

The layers come from the contract in pyproject.toml that `make check` enforces, the sentences from the docstrings.
"""

import ast
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "evergraph"
PAGE, PICTURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "architecture.svg"
BEGIN, END = "<!-- begin modules -->", "<!-- end modules -->"
FOR_PHONES = PICTURE.with_stem("architecture-narrow")
WIDTH, ROW, PAD = 860, 46, 14
NARROW_WIDTH, IN_A_ROW = 400, 4
COLOURS = ("#e7f5f8", "#ffffff")


def layers() -> list[list[str]]:
    """The packages and modules of each layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (found,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip() for name in layer.replace("|", ":").split(":")] for layer in found]


def sentence(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0] if text else ""


def file_of(name: str) -> Path:
    folder = PACKAGE / name
    return folder / "__init__.py" if folder.is_dir() else PACKAGE / f"{name}.py"


def modules_of(name: str) -> list[str]:
    """The names of a package's modules; a package inside it stands for its own."""
    folder = PACKAGE / name
    inside = [path for path in folder.glob("*") if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted(path.stem + ("/" if path.is_dir() else "") for path in inside if path.stem != "__init__")


def module_map() -> str:
    """A row for each package, the highest layer first."""
    rows = ["| package | what it is | modules |", "|---|---|---|"]
    for name in (name for layer in layers() for name in layer):
        modules = ", ".join(f"`{module}`" for module in modules_of(name))
        rows.append(f"| `{name}` | {sentence(file_of(name))} | {modules} |")
    return "\n".join(rows)


def picture(*, narrow: bool = False) -> str:
    """The layers as bars, one above the other; each imports only from bars below it. For phones, names alone."""
    width, most = (NARROW_WIDTH, IN_A_ROW) if narrow else (WIDTH, len(max(layers(), key=len)))
    heights = [ROW * -(-len(layer) // most) for layer in layers()]
    height = sum(heights) + 2 * PAD
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'role="img" aria-label="The layers of evergraph: each imports only from the layers below it">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for at, layer in enumerate(layers()):
        columns = min(len(layer), most)
        share = (width - 2 * PAD) / columns
        for place, name in enumerate(layer):
            left, top = PAD + place % columns * share, PAD + sum(heights[:at]) + place // columns * ROW
            lines.append(
                f'<rect x="{left + 2:.0f}" y="{top + 2}" width="{share - 4:.0f}" height="{ROW - 6}" rx="6" '
                f'fill="{COLOURS[at % 2]}" stroke="#0b7285"/>'
            )
            lines += _text(name, left, top, alone=len(layer) == 1 and not narrow)
    return "\n".join([*lines, "</svg>\n"])


def _text(name: str, left: float, top: int, *, alone: bool) -> list[str]:
    """The name, and what it is where it has a whole row."""
    bold = f'<text x="{left + 12:.0f}" y="{top + 26}" font-size="14" font-weight="bold">{name}</text>'
    if not alone:
        return [bold]
    said = sentence(file_of(name)).replace("&", "&amp;").replace("<", "&lt;")
    return [bold, f'<text x="{left + 110:.0f}" y="{top + 26}" font-size="12" fill="#52606d">{said}</text>']


def page() -> str:
    """The page with its module map made anew."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{module_map()}\n\n{END}{after}"


def main() -> int:
    made = {PAGE: page(), PICTURE: picture(), FOR_PHONES: picture(narrow=True)}
    if "--check" in sys.argv[1:]:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in made.items()))
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
