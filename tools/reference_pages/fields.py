"""The fields of settings and records: type, default, allowed values, and the docstring below each."""

import ast
import dataclasses
import inspect
import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

LIMITS = (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))
SIMPLE: dict[Any, str] = {
    int: "integer",
    float: "number",
    str: "text",
    bool: "true or false",
    Path: "path",
    Any: "any",
    type(None): "null",
}


@dataclass(frozen=True)
class Row:
    """One field; kind: its annotation; limits: the numbers that are allowed."""

    name: str
    kind: Any
    limits: str
    default: Any
    meaning: str


def rows(model: type) -> list[Row]:
    """The fields of a pydantic model or a dataclass, in their order."""
    docs = docs_of(model)
    if issubclass(model, BaseModel):
        return [
            Row(
                name,
                field.annotation,
                limits(field.metadata),
                field.get_default(call_default_factory=True),
                docs.get(name, ""),
            )
            for name, field in model.model_fields.items()
        ]
    assert dataclasses.is_dataclass(model)
    hints = inspect.get_annotations(model, eval_str=True)
    return [
        Row(field.name, hints[field.name], "", field.default, docs.get(field.name, ""))
        for field in dataclasses.fields(model)
    ]


def docs_of(model: type) -> dict[str, str]:
    """The docstring below each attribute, the nearest class's own where several classes have one."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if one.__module__.startswith("evergraph"):
            found |= _own_docs(one)
    return found


def _own_docs(model: type) -> dict[str, str]:
    tree = _tree(inspect.getsourcefile(model) or "")
    (body,) = (
        node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == model.__name__
    )
    found = {}
    for statement, after in pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            match after:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    found[statement.target.id] = one_line(text)
    return found


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def limits(metadata: Iterable[Any]) -> str:
    """The numbers that are allowed, such as `≥ 0, < 1`."""
    found = [f"{sign} {getattr(one, name):,}" for one in metadata for name, sign in LIMITS if hasattr(one, name)]
    return ", ".join(found)


def type_text(kind: Any) -> str:
    """A type in the words of TOML and JSON; the values of an Enum or a Literal."""
    if kind in SIMPLE:
        return SIMPLE[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{entry.value}`" for entry in kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(type_text(one) for one in arguments)
    if origin in (list, tuple):
        return _list_text(arguments)
    return _other_text(kind, origin, arguments)


def _other_text(kind: Any, origin: Any, arguments: tuple[Any, ...]) -> str:
    if origin is Annotated:
        allowed = limits(getattr(arguments[1], "metadata", arguments[1:]))
        return type_text(arguments[0]) + (f" {allowed}" if allowed else "")
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is dict:
        return f"object of {_inside(type_text(arguments[1]))}"
    return str(kind.__name__)


def _list_text(arguments: tuple[Any, ...]) -> str:
    several = [one for one in arguments if one is not Ellipsis]
    if len(several) == 1:
        return f"list of {_inside(type_text(several[0]))}"
    return f"[{', '.join(type_text(one) for one in several)}]"


def _inside(text: str) -> str:
    """A type of more than a word in brackets; not in braces, which the site takes for attributes of the cell."""
    return f"({text})" if " or " in text or " of " in text else text


def value_text(value: Any) -> str:
    """A value as TOML has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Enum):
        return f"`{value.value}`"
    if isinstance(value, tuple | list):
        return f"`[{', '.join(str(list(one) if isinstance(one, tuple) else one) for one in value)}]`"
    return f"`{value}`" if str(value) not in ("", "{}") else ""


def one_line(text: str) -> str:
    return " ".join(text.split())


def table(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    head = [f"| {' | '.join(headings)} |", "|" + "---|" * len(headings)]
    return "\n".join([*head, *(f"| {' | '.join(map(_cell, line))} |" for line in lines)])


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
