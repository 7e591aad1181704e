"""Where names stand in a picture: beside their points, or further away with a line; none over another."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]
"""(n, 2), in points of 1/72 inch, as all lengths here."""
RADIUS = 4.0
"""Of a point."""
STEP = 3.0
"""Lines are followed in such steps."""
FAR, TURNS = 12, 16
"""How many rings of places, and how many places on a ring, are tried around a point."""
OVER, OUTSIDE, ACROSS, MISTAKEN = 1000.0, 1000.0, 12.0, 18.0
"""What it costs to stand over a name or a point, outside of the picture, across a line, or about as near to another
point without a line to the own one; a point of distance costs 1."""


class Box(NamedTuple):
    """A rectangle by its lower left and upper right corner."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, centre: Points, size: Points) -> "Box":
        """The one of a size around its centre."""
        return cls(*(centre - size / 2), *(centre + size / 2))

    def overlaps(self, other: "Box") -> bool:
        """Whether both have an area in common."""
        wide = min(self.right, other.right) > max(self.left, other.left)
        return wide and min(self.top, other.top) > max(self.bottom, other.bottom)

    def distance(self, point: Points) -> float:
        """How far a point is from it."""
        x, y = point
        return float(np.hypot(max(self.left - x, 0, x - self.right), max(self.bottom - y, 0, y - self.top)))

    def holds(self, other: "Box") -> bool:
        """Whether the other lies in this one."""
        low = self.left <= other.left and self.bottom <= other.bottom
        return low and self.right >= other.right and self.top >= other.top


class Place(NamedTuple):
    """The centre of a name, and whether it is far enough from its point for a line between them."""

    centre: Points
    led: bool


class Canvas:
    """What is in a picture already."""

    def __init__(self, inside: Box, points: Points, lines: Sequence[Points]):
        """lines: the corners of each."""
        self.inside = inside
        self.points = points
        self.taken = [Box.around(point, np.full(2, 2 * RADIUS)) for point in points]
        self.along = np.concatenate([np.zeros((0, 2)), *(followed(line) for line in lines)])

    def cost(self, box: Box) -> float:
        """What it costs to have a name here."""
        over = sum(box.overlaps(other) for other in self.taken)
        x, y = self.along.T
        across = ((x > box.left) & (x < box.right) & (y > box.bottom) & (y < box.top)).any()
        return OVER * over + OUTSIDE * (not self.inside.holds(box)) + ACROSS * bool(across)

    def best(self, candidates: Sequence[tuple[float, Points]], size: Points) -> Points:
        """The centre of least cost, of centres with a cost of their own; it is taken from now on."""
        costs = [own + self.cost(Box.around(centre, size)) for own, centre in candidates]
        centre = candidates[int(np.argmin(costs))][1]
        self.taken.append(Box.around(centre, size))
        return centre

    def named(self, point: Points, size: Points) -> Place:
        """The place of a point's name."""
        near = [(own + self._mistaken(point, centre, size), centre) for own, centre in _beside(point, size)]
        centre = self.best([*near, *_around(point, size)], size)
        if any(centre is other for _, other in near):
            return Place(centre, led=False)
        self.along = np.concatenate([self.along, followed(np.stack([point, centre]))])
        return Place(centre, led=True)

    def _mistaken(self, point: Points, centre: Points, size: Points) -> float:
        """What it costs that a name without a line may be taken for that of another point."""
        box = Box.around(centre, size)
        others = [box.distance(other) for other in self.points if not np.array_equal(other, point)]
        return MISTAKEN * (min(others, default=np.inf) < box.distance(point) + RADIUS)


def followed(corners: Points) -> Points:
    """Points along a line, STEP apart."""
    parts = [np.zeros((0, 2))]
    for start, end in pairwise(corners):
        steps = int(np.linalg.norm(end - start) / STEP) + 2
        parts.append(start + np.linspace(0, 1, steps)[:, None] * (end - start))
    return np.concatenate(parts)


def _beside(point: Points, size: Points) -> Iterator[tuple[float, Points]]:
    """Right, left, above, below, and the corners."""
    x, y = size / 2 + RADIUS + 1
    for at, (right, up) in enumerate(
        ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7))
    ):
        yield float(at), point + np.array([right * x, up * y])


def _around(point: Points, size: Points) -> Iterator[tuple[float, Points]]:
    """Places further away, on rings."""
    for ring in range(1, FAR + 1):
        for angle in np.linspace(0, 2 * np.pi, TURNS, endpoint=False):
            away = 8.0 * ring
            reach = size / 2 + RADIUS + away
            yield 8 + away, point + reach * np.array([np.cos(angle), np.sin(angle)])
