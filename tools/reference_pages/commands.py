"""docs/reference/commands.md, from the signatures of the commands."""

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo, DefaultPlaceholder, OptionInfo, ParameterInfo

from evergraph.cli import app
from reference_pages.fields import one_line, table

HEAD = """\
# Commands

Every command with its arguments and options. `evergraph COMMAND --help` says the same at the terminal.

Results go to stdout, notes and progress to stderr. The exit code is 0 when all is done, 2 for bad input, 1 for a
failure, 130 for an interruption. Where no default is shown, leaving an option out leaves its setting as it is. What
`--set` takes is in [every setting](settings.md), what `--json` prints in [the fields of a record](record.md).
"""
NOT_RUN = "<!-- not run: the tests of the command line run the examples of help -->"
TYPES = {str: "text", int: "integer", float: "number", Path: "path", bool: "flag"}


@dataclass(frozen=True)
class Parameter:
    """An argument or an option, as it is typed."""

    name: str
    kind: str
    default: str
    help: str
    is_argument: bool
    is_required: bool


@dataclass(frozen=True)
class Command:
    """A command or a group of commands; function: None for a group."""

    name: str
    help: str
    epilog: str
    function: Callable[..., Any] | None

    @property
    def parameters(self) -> list[Parameter]:
        return [] if self.function is None else parameters_of(self.function)


def commands(group: Typer = app, prefix: str = "evergraph") -> Iterator[Command]:
    """A group's own command line, then its commands, then its groups."""
    yield Command(prefix, _said(group.info.help), _said(group.info.epilog), _callback(group))
    for info in group.registered_commands:
        assert info.name is not None
        assert info.callback is not None
        text = inspect.getdoc(info.callback) or ""
        yield Command(f"{prefix} {info.name}", text, _said(info.epilog), info.callback)
    for below in group.registered_groups:
        assert below.typer_instance is not None
        yield from commands(below.typer_instance, f"{prefix} {below.name}")


def _callback(group: Typer) -> Callable[..., Any] | None:
    return group.registered_callback.callback if group.registered_callback else None


def _said(value: object) -> str:
    return "" if value is None or isinstance(value, DefaultPlaceholder) else str(value)


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a command, in order."""
    hints = get_type_hints(function, include_extras=True)
    return [_parameter(one, hints[one.name]) for one in inspect.signature(function).parameters.values()]


def _parameter(one: inspect.Parameter, hint: Any) -> Parameter:
    kind, info = (get_args(hint)[0], get_args(hint)[1]) if get_origin(hint) is Annotated else (hint, one.default)
    assert isinstance(info, ParameterInfo)
    default = info.default if isinstance(one.default, ParameterInfo) else one.default
    is_required = default is inspect.Parameter.empty or default is ...
    is_silent = is_required or default is None or default is False
    shown = "" if is_silent else f"`{_value(default)}`"
    return Parameter(
        name=_name(one.name, info, kind),
        kind=_kind(kind, info),
        default=f"({info.show_default})" if isinstance(info.show_default, str) else shown,
        help=one_line(info.help or ""),
        is_argument=isinstance(info, ArgumentInfo),
        is_required=is_required,
    )


def _name(name: str, info: ParameterInfo, kind: Any) -> str:
    if isinstance(info, ArgumentInfo):
        return name.upper()
    assert isinstance(info, OptionInfo)
    own = f"--{name.replace('_', '-')}"
    usual = (own, f"--no-{own[2:]}") if kind is bool else (own,)
    first = (info.default,) if isinstance(info.default, str) else ()  # where Annotated has the names of an option
    return ", ".join(f"`{word}`" for word in (*first, *(info.param_decls or ())) or usual)


def _kind(kind: Any, info: ParameterInfo) -> str:
    """What is typed: a word for the type, the choices, the limits, and whether it may be repeated."""
    inner = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) in (Union, types.UnionType):
        return _kind(inner[0], info)
    if get_origin(kind) is list:
        return f"{_kind(inner[0], info)}, may be repeated"
    if info.metavar:
        return f"`{info.metavar}`"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{entry.value}`" for entry in kind)
    limits = [f"{sign} {bound}" for sign, bound in (("≥", info.min), ("≤", info.max)) if bound is not None]
    return " ".join([TYPES[kind], ", ".join(limits)]).strip()


def _value(value: object) -> object:
    return value.value if isinstance(value, Enum) else value


def page() -> str:
    return "\n".join([HEAD, *map(_section, commands())])


def _section(command: Command) -> str:
    level = "#" * max(2, len(command.name.split()))
    parts = [f"{level} {command.name}", command.help]
    parts += _tables(command.parameters)
    example = command.epilog.removeprefix("Example: ")
    if example:
        parts.append(f"{NOT_RUN}\n```sh\n{example}\n```")
    return "\n\n".join(parts) + "\n"


def _tables(parameters: list[Parameter]) -> list[str]:
    arguments = [one for one in parameters if one.is_argument]
    options = [one for one in parameters if not one.is_argument]
    made = []
    for heading, several in (("argument", arguments), ("option", options)):
        lines = [(one.name, one.kind, "required" if one.is_required else one.default, one.help) for one in several]
        made += [table((heading, "type", "default", "meaning"), lines)] if lines else []
    return made
