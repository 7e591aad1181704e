"""Settings: validation in one sentence, assignments, TOML, merging."""

from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from evergraph.config import (
    Settings,
    assigned,
    changed_settings,
    flattened,
    merged,
    parse_assignment,
    read_toml,
    validated,
)
from evergraph.errors import ConfigError


class Inner(Settings):
    """A group below a group."""

    depth: int = 1


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Example(Settings):
    """One setting of each kind."""

    size: int = Field(3, ge=1)
    share: float = 0.5
    inner: Inner = Inner()


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Example().size = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"size": 0}, "part.size: input should be greater than or equal to 1, got 0 instead"),
        ({"size": "many"}, "part.size: .*got 'many' instead"),
        ({"size": 1.5}, "part.size: .*got 1.5 instead"),
        ({"share": float("nan")}, "part.share: .*finite.*got nan instead"),
        ({"share": float("inf")}, "part.share: .*finite.*got inf instead"),
        ({"colour": 1}, "part.colour is not a setting; the settings of part are: size, share, inner"),
        ({"inner": {"depth": "x"}}, "part.inner.depth: .*got 'x' instead"),
        ({"size": "x" * 500}, r"got 'x{56}\.\.\. instead"),
    ],
)
def test_the_first_complaint_is_one_sentence(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        validated(Example, values, "part")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("a.b=3", ["a", "b"], 3),
        ("a=0.5", ["a"], 0.5),
        ("a=true", ["a"], True),
        ("a=[1, 2]", ["a"], [1, 2]),
        ("a='x y'", ["a"], "x y"),
        ("a=row-l2", ["a"], "row-l2"),
        ("a = plain ", ["a"], "plain"),
        ("a=b=c", ["a"], "b=c"),
        ("a=", ["a"], ""),
    ],
)
def test_an_assignment_is_toml_where_it_is_toml(text: str, path: list[str], value: object) -> None:
    assert parse_assignment(text) == (path, value)


@pytest.mark.parametrize("text", ["", "a", "=3", "a..b=3", ".a=3", "a.=3"])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--set must look like section.key=value, got"):
        parse_assignment(text)


def test_assignments_are_made_in_order_on_a_copy() -> None:
    values = {"a": {"b": 1, "c": 2}}
    assert assigned(values, [(["a", "b"], 3), (["d", "e"], 4), (["a", "b"], 5)]) == {
        "a": {"b": 5, "c": 2},
        "d": {"e": 4},
    }
    assert values == {"a": {"b": 1, "c": 2}}


def test_nothing_lies_below_a_value() -> None:
    with pytest.raises(ConfigError, match=r"a.b is a value, got a key below it instead"):
        assigned({"a": {"b": 1}}, [(["a", "b", "c"], 2)])


NESTED = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8
)
TREES = st.dictionaries(st.sampled_from("abc"), NESTED, max_size=3)


def leaves(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """The leaves of nested values by their paths; an empty group is a leaf."""
    if not isinstance(tree, dict) or not tree:
        return {path: tree}
    return {key: value for name, part in tree.items() for key, value in leaves(part, (*path, name)).items()}


@settings(max_examples=100)
@given(tree=TREES)
def test_flattened_values_are_the_leaves_by_dotted_name(tree: dict[str, Any]) -> None:
    expected = {".".join(path): value for path, value in leaves(tree).items() if value != {}}
    before = repr(tree)
    assert flattened(tree) == expected
    assert flattened(tree, "part.") == {f"part.{path}": value for path, value in expected.items()}
    assert repr(tree) == before


def test_lists_and_none_are_values() -> None:
    assert flattened({"a": {"b": [1, {"c": 2}], "d": None}, "e": {}}) == {"a.b": [1, {"c": 2}], "a.d": None}


class Various(Settings):
    """Settings without a default, with groups, lists, enums and free keys."""

    name: str
    colour: Colour = Colour.RED
    shares: tuple[float, ...] = (0.5, 0.5)
    options: dict[str, Any] = Field(default_factory=dict)
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        ({}, {}),
        ({"colour": "red", "shares": [0.5, 0.5], "options": {}, "inner": {"depth": 1}}, {}),
        ({"colour": "blue"}, {"colour": "blue"}),
        ({"shares": [1]}, {"shares": [1.0]}),
        ({"inner": {"depth": 2}}, {"inner.depth": 2}),
        ({"options": {"k": 1, "deep": {"er": None}}}, {"options.k": 1, "options.deep.er": None}),
    ],
    ids=str,
)
def test_changed_settings_are_those_that_differ_from_their_defaults(
    values: dict[str, Any], changed: dict[str, Any]
) -> None:
    """A setting without a default always counts as changed."""
    assert changed_settings(Various(name="x", **values)) == {"name": "x", **changed}
    named = changed_settings(Various(name="x", **values), "part.")
    assert named == {"part.name": "x", **{f"part.{key}": value for key, value in changed.items()}}


def test_changed_settings_are_enough_to_make_them_again() -> None:
    one = Various(name="x", colour=Colour.BLUE, inner=Inner(depth=5))
    assignments = [(key.split("."), value) for key, value in changed_settings(one).items()]
    assert Various(**assigned({}, assignments)) == one


def clash(base: Any, over: Any) -> bool:
    """Whether the second has a section where the first has a value."""
    if not isinstance(over, dict):
        return False
    return not isinstance(base, dict) or any(clash(base[key], over[key]) for key in base.keys() & over.keys())


@settings(max_examples=100)
@given(base=TREES, over=TREES)
def test_the_second_wins_key_by_key_and_the_rest_stays(base: dict[str, Any], over: dict[str, Any]) -> None:
    before = repr(base), repr(over)
    if clash(base, over):
        with pytest.raises(ConfigError, match=r"must be a section of settings, got \d instead"):
            merged(base, over)
        return
    found = leaves(merged(base, over))
    strong = {path: value for path, value in leaves(over).items() if value != {}}
    assert strong.items() <= found.items()
    for path, value in leaves(base).items():
        related = any(path[: len(p)] == p or p[: len(path)] == path for p in leaves(over))
        if path and value != {} and not related:
            assert found[path] == value
    assert (repr(base), repr(over)) == before


def test_toml_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("[train]\nepochs = 7\n")
    assert read_toml(file) == {"train": {"epochs": 7}}


@pytest.mark.parametrize(("content", "says"), [(b"a = ", "must be valid TOML"), (b"\xff\xfe\x00", "readable TOML")])
def test_bad_toml_is_one_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "run.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=says) as caught:
        read_toml(file)
    assert "\n" not in str(caught.value)


def test_missing_toml_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        read_toml(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="readable TOML"):
        read_toml(tmp_path)
