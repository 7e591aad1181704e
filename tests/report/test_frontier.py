"""The frontier of accuracy over cost."""

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from evergraph.report.frontier import draw_frontier, write_frontier
from evergraph.results.frontier import frontier

POINTS = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), max_size=12)


@given(points=POINTS)
def test_no_other_point_is_better_and_not_dearer(points: list[tuple[float, float]]) -> None:
    found = frontier(points)
    for cost, accuracy in points:
        beaten = any(other[0] <= cost and other[1] >= accuracy for other in points if other != (cost, accuracy))
        assert ((cost, accuracy) in found) == (not beaten)


def test_a_picture_is_written_where_there_is_nothing_to_draw_too(tmp_path: Path) -> None:
    one = {"method": "ssm", "aa": 50.0, "kept_bytes": 10, "seconds": 2.0, "needs_all_data": False}
    joint = {**one, "method": "joint", "aa": 60.0, "needs_all_data": True}
    for methods in ([], [one], [joint], [one, joint]):
        assert write_frontier(methods, tmp_path / "new" / "f.png", "g").read_bytes().startswith(b"\x89PNG")


def method(name: str, aa: float, kept_bytes: float, seconds: float) -> dict[str, Any]:
    return {"method": name, "aa": aa, "kept_bytes": kept_bytes, "seconds": seconds, "needs_all_data": False}


def drawn(*methods: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    draw_frontier(figure, methods, "digits")
    figure.draw_without_rendering()
    return figure


def ticks(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


CROWD = [
    method("random-replay", 92.3, 27_500, 7.5),
    method("herding", 92.2, 27_500, 7.5),
    method("means", 92.2, 27_500, 51.0),
    method("analytic-small", 98.1, 810_000, 1.4),
    method("analytic", 98.9, 42_380_000, 1.4),
    method("cat", 97.9, 10_000, 1.3),
    {**method("joint", 98.2, 0, 9.0), "needs_all_data": True},
]


def test_names_do_not_stand_over_each_other_or_over_points() -> None:
    figure = drawn(*CROWD)
    for axes in figure.axes:
        names = [Text.get_window_extent(text) for text in axes.texts]
        points = [
            axes.transData.transform(np.asarray(line.get_xydata())[0])
            for line in axes.lines
            if line.get_marker() == "o"
        ]
        assert len(names) == len(CROWD)
        assert not any(one.overlaps(other) for at, one in enumerate(names) for other in names[:at])
        assert not any(name.contains(*point) for name in names for point in points)


def test_a_name_that_is_not_beside_its_point_has_a_line_to_it() -> None:
    for axes in drawn(*CROWD).axes:
        for text in axes.texts:
            assert isinstance(text, Annotation)
            if "needs all data" not in text.get_text():
                extent, point = Text.get_window_extent(text), axes.transData.transform(text.xy)
                away = [
                    max(low - at, 0, at - high) for at, low, high in zip(point, extent.min, extent.max, strict=True)
                ]
                assert text.arrow_patch is not None or max(away) < 12


def test_ticks_are_plain_numbers_that_reach_from_the_least_to_the_most() -> None:
    bytes_kept, seconds = drawn(CROWD[0], CROWD[2]).axes
    assert ticks(bytes_kept) == ["0", "1 kB", "10 kB", "100 kB"]
    assert ticks(seconds) == ["5", "10", "20", "50", "100"]
    quick = drawn(method("a", 50.0, 0, 0.03), method("b", 60.0, 0, 1.4)).axes[1]
    assert ticks(quick) == ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"]
    wide = drawn(method("a", 50.0, 5e12, 0.0004), method("b", 60.0, 0, 20_000)).axes
    assert ticks(wide[0]) == ["0", "1 kB", "100 kB", "10 MB", "1 GB", "100 GB", "10 TB"]
    assert ticks(wide[1]) == ["0.0001", "0.01", "1", "100", "10,000"]


def test_a_method_that_takes_no_time_has_a_place() -> None:
    axes = drawn(method("a", 50.0, 0, 0.0), method("b", 60.0, 0, 3.0)).axes[1]
    assert ticks(axes) == ["0", "1", "2", "5"]
