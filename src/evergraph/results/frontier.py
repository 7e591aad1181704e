"""The frontier of accuracy over cost."""

from collections.abc import Sequence


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points (cost, accuracy) that no other reaches at the same or a lower cost, by cost."""
    best: list[tuple[float, float]] = []
    for cost, accuracy in sorted(points, key=lambda point: (point[0], -point[1])):
        if not best or accuracy > best[-1][1]:
            best.append((cost, accuracy))
    return best
