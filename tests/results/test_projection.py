"""Projections as they are kept: read as they were written, and one sentence for whatever is wrong with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from evergraph.errors import StoreError
from evergraph.results.projection import Projection, read_projection
from helpers import one_sentence

WHOLE: dict[str, Any] = {
    "method": "ssm",
    "backbone": "gcn",
    "settings": {"seed": 0, "perplexity": 5.0, "most_nodes": 4},
    "scikit_learn": "1.5",
    "test_nodes": 1_234,
    "classes": [[7, "seven"], [2, "two"]],
    "silhouette": 0.25,
    "agreement": 0.5,
    "labels": [2, 7, 7, 2],
    "x": [0.5, -1.25, 3.0, 4.0],
    "y": [1.0, 2.0, 3.0, 4.5],
}


def written(folder: Path, values: object) -> Path:
    text = values if isinstance(values, str) else json.dumps(values)
    (folder / "projection.json").write_text(text, encoding="utf-8")
    return folder


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_projection(tmp_path) is None
    found = read_projection(written(tmp_path, WHOLE))
    assert found == Projection(**WHOLE)
    assert found.model_dump(mode="json") == WHOLE
    assert found.nodes == "4 of 1,234 test nodes"
    assert Projection(**{**WHOLE, "test_nodes": 4}).nodes == "4 test nodes"


@pytest.mark.parametrize(
    "values",
    [
        "",
        "{",
        [],
        {},
        3,
        {**WHOLE, "x": WHOLE["x"][1:]},
        {**WHOLE, "y": [*WHOLE["y"], 1.0]},
        {**WHOLE, "labels": [99] * 4},
        {**WHOLE, "test_nodes": 3},
        {**WHOLE, "agreement": "much"},
        {**WHOLE, "agreement": float("nan")},
        {**WHOLE, "settings": {"seed": 0}},
        {**WHOLE, "more": 1},
        {**WHOLE, "labels": [], "x": [], "y": []},
    ],
)
def test_a_broken_file_is_told_in_one_sentence(tmp_path: Path, values: object) -> None:
    with pytest.raises(StoreError, match=r"projection.*delete it") as error:
        read_projection(written(tmp_path, values))
    one_sentence(error.value)


def test_a_file_that_is_not_text_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "projection.json").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(StoreError, match=r"projection.*delete it") as error:
        read_projection(tmp_path)
    one_sentence(error.value)
