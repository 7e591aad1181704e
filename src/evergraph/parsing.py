"""JSON and TOML from strangers: every way in which they can be wrong is a ValueError with a short reason."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from evergraph.limits import DEEPEST, MOST_SETTINGS_BYTES, Refused, most_json_bytes, read_limited

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""Half of a character that UTF-8 cannot write, or one of two halves that are a character."""
_LONG_KEY = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    rf"{{{DEEPEST + 1}}}"
)
"""A dotted key of more parts than may be inside each other: the parser takes the square of their number."""


def strict_json(content: bytes, deepest: int = DEEPEST, *, constants: bool = False) -> Any:
    """The values in JSON without repeated keys, halves of characters or deep nesting; else ValueError.

    constants: whether NaN and infinities are let through, to be refused by the name of their field.
    """
    constant = float if constants else _no_constant
    try:
        values = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=constant)
        if _HALF.search(content):
            json.dumps(values, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise _too_deep(deepest) from None
    forbid_deep(values, deepest)
    return values


def read_json(path: Path, *, inside: bool = False, constants: bool = False) -> Any:
    """The values in a JSON file; ValueError or OSError where it has none. inside: see `read_limited`."""
    return strict_json(read_limited(path, most_json_bytes(), inside=inside), constants=constants)


def read_toml_file(path: Path) -> dict[str, Any]:
    """The values in a TOML file; ValueError or OSError where it has none."""
    return parse_toml(read_limited(path, MOST_SETTINGS_BYTES).decode("utf-8"))


def parse_toml(text: str) -> dict[str, Any]:
    """The values in TOML; ValueError (tomllib.TOMLDecodeError where it is no TOML) for anything else."""
    if _LONG_KEY.search(text):
        raise _too_deep(DEEPEST)
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(DEEPEST) from None
    forbid_deep(values, DEEPEST)
    return values


def forbid_deep(values: Any, deepest: int) -> None:
    """Refused where lists and tables are more than so many inside each other, found level by level."""
    level = [values] if isinstance(values, list | dict) else []
    for _ in range(deepest):
        inner = (part for whole in level for part in (whole.values() if isinstance(whole, dict) else whole))
        level = [part for part in inner if isinstance(part, list | dict)]
    if level:
        raise _too_deep(deepest)


def _too_deep(deepest: int) -> "TooDeep":
    return TooDeep(f"at most {deepest} lists and objects inside each other are wanted, got more")


class TooDeep(Refused):
    """Lists and objects that are too many inside each other."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key that is repeated")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} in the place of a number")
