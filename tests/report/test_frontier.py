"""The frontier of accuracy over cost."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Annotation

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


def test_names_of_near_points_do_not_overlap_and_ticks_reach_the_dearest() -> None:
    one = {"method": "random-replay", "aa": 92.3, "kept_bytes": 27_500, "seconds": 7.5, "needs_all_data": False}
    near = [one, {**one, "method": "herding", "aa": 92.2}, {**one, "method": "means", "aa": 92.2, "seconds": 51.0}]
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    draw_frontier(figure, near, "digits")
    for axes in figure.axes:
        names = [text for text in axes.texts if isinstance(text, Annotation) and text.xy[0] == one["kept_bytes"]]
        places = [axes.transData.transform(name.xy)[1] + name.xyann[1] * figure.dpi / 72 for name in names]
        assert all(abs(a - b) > 9 for at, a in enumerate(places) for b in places[:at])
    assert len(figure.axes[0].texts) == len(near)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["0", "1 kB", "10 kB", "100 kB"]
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()][-2:] == ["50", "100"]
