"""Where names stand beside points."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.report.labels import RADIUS, Box, Canvas, Points, followed

INSIDE = Box(0, 0, 300, 200)
SIZE = np.array([50.0, 9.0])


def canvas(*points: tuple[float, float], lines: tuple[Points, ...] = ()) -> tuple[Canvas, Points]:
    places = np.array(points, dtype=np.float64)
    return Canvas(INSIDE, places, lines), places


def test_a_lonely_point_has_its_name_on_the_right_without_a_line() -> None:
    picture, (point,) = canvas((100, 100))
    centre, led = picture.named(point, SIZE)
    assert centre.tolist() == [100 + RADIUS + 1 + 25, 100]
    assert not led


def test_at_the_right_edge_it_stands_on_the_left() -> None:
    picture, (point,) = canvas((290, 100))
    assert picture.named(point, SIZE).centre[0] == 290 - RADIUS - 1 - 25


def test_a_name_does_not_stand_on_a_line_if_it_can_stand_elsewhere() -> None:
    picture, (point,) = canvas((100, 100), lines=(np.array([[0.0, 100.0], [300.0, 100.0]]),))
    centre, led = picture.named(point, SIZE)
    assert abs(centre[1] - 100) > SIZE[1] / 2
    assert not led


def test_a_name_that_could_be_that_of_another_point_has_a_line() -> None:
    crowd = [(100 + 9 * x, 100 + 9 * y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    picture, points = canvas(*crowd)
    centre, led = picture.named(points[4], SIZE)
    assert led
    assert np.linalg.norm(centre - points[4]) > 20


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.floats(20, 280), st.floats(20, 180)), min_size=1, max_size=12, unique=True))
def test_no_name_stands_over_another_or_over_a_point(places: list[tuple[float, float]]) -> None:
    picture, points = canvas(*places)
    boxes = [Box.around(picture.named(point, SIZE).centre, SIZE) for point in points]
    dots = [Box.around(point, np.full(2, 2 * RADIUS)) for point in points]
    for at, box in enumerate(boxes):
        assert INSIDE.holds(box)
        assert not any(box.overlaps(other) for other in [*boxes[:at], *dots])


def test_a_line_is_followed_from_corner_to_corner() -> None:
    along = followed(np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 30.0]]))
    assert along[0].tolist() == [0, 0]
    assert along[-1].tolist() == [9, 30]
    assert np.abs(np.diff(along, axis=0)).max() <= 3
