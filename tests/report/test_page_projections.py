"""Projections on the page: read from runs and records, every node a dot of its class, small, and harmless."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.errors import StoreError
from evergraph.report.page_projections import drawn_places
from evergraph.report.palette import dark, light
from evergraph.results.load import read_results
from evergraph.results.projection import Projection

from .test_page import Reader, made, run_folder, shown_with_junk, small, write
from .test_projection_plot import projection, values
from .test_report import record


def shown(method: str = "ssm", seed: int = 0, nodes: int = 60, count: int = 3, **changes: Any) -> dict[str, Any]:
    """A small record with a projection."""
    return small(method, seed=seed, projection=values(nodes, count, method=method, **changes))


def test_it_is_read_from_a_run_folder_and_from_a_record(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", record(versions={}))
    assert read_results([folder])[0][0].record.projection is None
    (folder / "projection.json").write_text(json.dumps(values()), encoding="utf-8")
    file = write(tmp_path / "r.json", shown(), small("joint"), small("ewc", projection=None))
    found = [result.record.projection for result in read_results([folder, file])[0]]
    assert found == [projection(), projection(), None, None]


def test_a_record_is_not_changed_by_being_sorted_on_the_way(tmp_path: Path) -> None:
    order = values(classes=[[10, "ten"], [9, "nine"]], labels=[10, 9] * 30)
    again = json.loads(json.dumps(Projection(**order).model_dump(mode="json"), sort_keys=True))
    assert Projection(**again) == Projection(**order)
    assert again == order


def test_there_is_no_section_without_projections(tmp_path: Path) -> None:
    reader = Reader(made(tmp_path, small()))
    assert "t-SNE" not in reader.text
    assert not any("cloud" in str(attributes.get("class")) for _, attributes in reader.tags)


def test_every_node_is_a_dot_in_the_colours_of_its_class(tmp_path: Path) -> None:
    text = made(tmp_path, shown(), small("joint"))
    assert text.count('class="cloud"') == 1
    paths = re.findall(r'<path class="dots hue" data-class="(\d+)" style="([^"]*)" d="([^"]*)"/>', text)
    drawn = [(int(at), *map(int, place)) for at, _, way in paths for place in re.findall(r"M(\d+) (\d+)h0", way)]
    places = drawn_places(projection())
    assert sorted(drawn) == sorted(
        (label, *place) for label, place in zip(projection().labels, places.tolist(), strict=True)
    )
    assert {(int(at), style) for at, style, _ in paths} == {
        (at, f"--l:{light(at)};--d:{dark(at)}") for at in range(3)
    }
    turns = [int(at) for at, _, _ in paths]
    assert turns == [0, 1, 2] * 4  # no class lies on top of all others


def test_places_keep_their_proportions_and_stay_inside() -> None:
    wide = drawn_places(projection(nodes=4, count=1, x=[0, 10, 20, 100], y=[0, 0, 0, 50]))
    assert wide.tolist() == [[24, 738], [119, 738], [214, 738], [976, 262]]
    assert drawn_places(projection(nodes=2, count=1, x=[7, 7], y=[3, 3])).tolist() == [[500, 500]] * 2


def test_panels_name_method_backbone_measures_and_nodes(tmp_path: Path) -> None:
    runs = [shown("ssm", test_nodes=9_000), shown("twp"), shown("twp", 1, silhouette=None)]
    text = made(tmp_path, *runs, small("joint"))
    assert text.count('class="cloud"') == 3
    reader = Reader(text)
    for words in (
        "ssm · gcnSVGsilhouette −0.13 · neighbours alike 85.7 % 60 of 9,000 test nodes",
        "twp · gcn, seed 0SVGsilhouette −0.13 · neighbours alike 85.7 % 60 test nodes",
        "twp · gcn, seed 1SVGsilhouette – · neighbours alike 85.7 %",
        "classclass0class1class2",
        "t-SNE (perplexity 30)",
    ):
        assert words in reader.text


def test_the_same_class_has_the_same_colour_in_all_panels(tmp_path: Path) -> None:
    other = shown("twp", classes=[[2, "class2"], [0, "class0"]], labels=[2, 0] * 30)
    text = made(tmp_path, shown("ssm"), other)
    panes = text.split('class="cloud"')[1:]
    assert [set(re.findall(r'data-class="(\d)" style', pane.split("</svg>")[0])) for pane in panes] == [
        {"0", "1", "2"},
        {"0", "2"},
    ]


def test_four_projections_of_a_real_size_are_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(-60, 60, 2_700).round(2).tolist() for _ in range(2))
    runs = [shown(f"m{k}", nodes=2_700, count=10, x=x, y=y) for k in range(4)]
    plain = [small(f"m{k}") for k in range(4)]
    added = len(made(tmp_path, *runs).encode()) - len(made(tmp_path, *plain).encode())
    assert added < 160_000


def test_strings_of_users_are_harmless(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    reader = Reader(made(tmp_path, shown(evil, classes=[[at, evil] for at in range(3)])))
    assert reader.count("script") == Reader(made(tmp_path, small())).count("script")
    assert reader.count("img") == 0
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert reader.text.count(evil) >= 3


@pytest.mark.parametrize("junk", ["x", -1, 1e400, float("nan"), [], {}, [[]], {"a": 1}])
def test_junk_in_a_projection_is_refused_by_its_name(tmp_path: Path, junk: Any) -> None:
    whole = shown(nodes=4, count=2)
    assert "t-SNE" in made(tmp_path, whole)
    accepted = shown_with_junk(tmp_path, whole, junk)
    assert accepted["config.train.epochs"]
    assert not any(accepted[f"projection.{key}"] for key in ("settings", "classes", "labels", "x", "y"))


def test_a_broken_projection_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="projection") as error:
        made(tmp_path, small(projection={"x": 1}))
    assert "\n" not in str(error.value)
