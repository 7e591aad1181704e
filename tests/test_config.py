"""Settings: validation in one sentence, assignments, TOML, merging."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from evergraph.config import Settings, assigned, merged, parse_assignment, read_toml, validated
from evergraph.errors import ConfigError


class Inner(Settings):
    """A group below a group."""

    depth: int = 1


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
