"""Frozen, validated settings; the only place where TOML, JSON and command-line strings become values."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from evergraph.errors import ConfigError
from evergraph.parsing import parse_toml, read_json, read_toml_file


class Settings(BaseModel):
    """The base of every group of settings: immutable, no unknown keys, no NaN, exact types."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: object, info: ValidationInfo) -> object:
        field = cls.model_fields[str(info.field_name)]
        if isinstance(value, bool) and field.annotation in (int, float):
            raise ValueError(f"a number is wanted, got {str(value).lower()} instead")
        return value


def usable_path(text: str) -> str:
    """A path that a system can have; ValueError for one with a zero byte or longer parts than any has."""
    if "\0" in text or len(text) > MOST_PATH or any(len(part.encode()) > MOST_PART for part in text.split("/")):
        raise ValueError(f"the path of a file is wanted, got {_shortened(text)} instead, which no system has")
    return text


S = TypeVar("S", bound=BaseModel)
MOST_PATH, MOST_PART = 4096, 255


def validated(kind: type[S], values: Mapping[str, Any], where: str) -> S:
    """`values` as settings of the given kind; ConfigError in one sentence that names `where` and the key."""
    try:
        return kind(**values)
    except ValidationError as error:
        raise ConfigError(one_sentence(error, kind, where)) from None


def one_sentence(error: ValidationError, kind: type[BaseModel], where: str) -> str:
    """The first complaint of a validation: which key, what was wanted, what came instead."""
    first = error.errors()[0]
    key = ".".join([where, *(str(part) for part in first["loc"] if _is_key(part))]).strip(".")
    if first["type"] == "extra_forbidden":
        known = ", ".join(kind.model_fields) or "none"
        return f"{key} is not a setting; the settings of {where or 'this file'} are: {known}"
    if first["type"] == "value_error":
        return f"{key}: {first['ctx']['error']}"
    wanted = first["msg"][0].lower() + first["msg"][1:]
    return f"{key}: {wanted}, got {_shortened(first['input'])} instead"


def _is_key(part: int | str) -> bool:
    """Pydantic puts the names of union members into the path; only real keys and positions are of interest."""
    return isinstance(part, int) or (part.isidentifier() and part.islower())


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names; an empty section has none."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flattened(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return found


def changed_settings(settings: BaseModel, prefix: str = "") -> dict[str, Any]:
    """The settings that differ from their defaults, as plain values by dotted name."""
    defaults = flattened(type(settings).model_construct().model_dump(mode="json"))
    values = flattened(settings.model_dump(mode="json"))
    return {prefix + key: value for key, value in values.items() if key not in defaults or value != defaults[key]}


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, or in the config.json of a run; ConfigError where it is neither."""
    if path.suffix != ".json":
        return read_toml(path)
    try:
        values = read_json(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"the configuration must be a readable JSON file, got {path} ({error})") from None
    if not isinstance(values, dict):
        raise ConfigError(f"the configuration {path} must hold sections of settings, got something else instead")
    return {name: section for name, section in values.items() if name != "plugins"}


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file; ConfigError in one sentence where it is missing or malformed."""
    try:
        return read_toml_file(path)
    except FileNotFoundError:
        raise ConfigError(f"the configuration must be a TOML file, got {path}, which does not exist") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the configuration {path} must be valid TOML, got an error instead: {error}") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"the configuration must be a readable TOML file, got {path} ({error})") from None


def parse_assignment(text: str) -> tuple[list[str], Any]:
    """`a.b=value` as a path and a value; the value is read as TOML where it is TOML, else as a string."""
    key, separator, raw = text.partition("=")
    path = key.strip().split(".")
    if not separator or not all(path):
        raise ConfigError(f"--set must look like section.key=value, got {text!r} instead")
    try:
        return path, parse_toml(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        return path, raw.strip()
    except ValueError as error:
        raise ConfigError(f"--set {'.'.join(path)[:60]} must have a value that can be read ({error})") from None


def assigned(values: Mapping[str, Any], assignments: Iterable[tuple[list[str], Any]]) -> dict[str, Any]:
    """A copy of nested `values` with each assignment made, in order."""
    result = _copy(values)
    for path, value in assignments:
        section = result
        for depth, part in enumerate(path[:-1]):
            section = section.setdefault(part, {})
            if not isinstance(section, dict):
                raise ConfigError(f"{'.'.join(path[: depth + 1])} is a value, got a key below it instead")
        section[path[-1]] = value
    return result


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings in which `over` wins key by key; ConfigError where it has a section and `base` a value."""
    result = _copy(base)
    for key, value in over.items():
        below = result.get(key, {})
        if isinstance(value, Mapping) and not isinstance(below, Mapping):
            raise ConfigError(f"{key} must be a section of settings, got {below!r} instead")
        result[key] = merged(below, value) if isinstance(value, Mapping) else value
    return result


def _copy(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, Mapping) else value for key, value in values.items()}
