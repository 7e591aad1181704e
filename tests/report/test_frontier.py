"""The frontier of accuracy over cost."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evergraph.report.frontier import write_frontier
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
