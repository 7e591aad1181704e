"""The layout of a line chart of percentages, which the template draws as SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evergraph.results.groups import Stat

COLOURS, DASHES = 8, ("", "7 4", "2 4")
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.5 3.4H-4.5z",
    "M0 -5L5 0L0 5L-5 0z",
)
MOST_TICKS = 12


class Frame(NamedTuple):
    """The size of the drawing and the edges of the plot area."""

    width: int = 720
    height: int = 340
    left: float = 64.0
    right: float = 704.0
    top: float = 14.0
    bottom: float = 292.0


FRAME = Frame()


@dataclass(frozen=True)
class Series:
    """The data of a line: values at some x positions."""

    name: str
    points: dict[float, Stat]
    shown: bool = True


@dataclass(frozen=True)
class Line:
    """A line as it is drawn; `values` has a text for each position of the chart, empty if it has no value."""

    index: int
    name: str
    shown: bool
    colour: int
    dash: str
    shape: str
    path: str
    band: str
    marks: Sequence[tuple[float, float]]
    values: Sequence[str]


@dataclass(frozen=True)
class Chart:
    """A chart as it is drawn: ticks (coordinate, text), x coordinates and names of its positions, lines."""

    label: str
    caption: str
    x_label: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    places: Sequence[float]
    names: Sequence[str]
    lines: Sequence[Line]
    frame: Frame = FRAME


@dataclass(frozen=True)
class Scale:
    """From values to coordinates in the drawing, rounded to a tenth."""

    positions: Sequence[float]
    low: int
    high: int
    step: int

    def x(self, position: float) -> float:
        first, last = self.positions[0], self.positions[-1]
        share = (position - first) / (last - first) if last > first else 0.5
        return round(FRAME.left + 10 + share * (FRAME.right - FRAME.left - 20), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(FRAME.bottom - share * (FRAME.bottom - FRAME.top), 1)


def line_chart(series: Sequence[Series], *, label: str, caption: str, x_label: str, x_name: str) -> Chart:
    """A chart of average accuracies; positions are named `x_name` and their value."""
    positions = sorted({position for line in series for position in line.points})
    ends = [end for line in series for point in line.points.values() for end in _ends(point)]
    scale = Scale(positions, *axis_range(min(ends), max(ends)))
    ticks = positions[:: max(1, math.ceil(len(positions) / MOST_TICKS))]
    return Chart(
        label=label,
        caption=caption,
        x_label=x_label,
        x_ticks=[(scale.x(position), f"{position:g}") for position in ticks],
        y_ticks=[(scale.y(value), str(value)) for value in range(scale.low, scale.high + 1, scale.step)],
        places=[scale.x(position) for position in positions],
        names=[f"{x_name} {position:g}" for position in positions],
        lines=[_line(line, index, scale) for index, line in enumerate(series)],
    )


def _ends(point: Stat) -> tuple[float, float]:
    return point.mean - (point.std or 0), point.mean + (point.std or 0)


def axis_range(low: float, high: float) -> tuple[int, int, int]:
    """Low end, high end and tick step of an axis of percentages."""
    low = min(low, high - 10)
    step = next(step for step in (2, 5, 10, 20) if (high - low) / step <= 5 or step == 20)
    first = max(0, math.floor(low / step) * step)
    return first, max(first + step, min(100, math.ceil(high / step) * step)), step


def _line(line: Series, index: int, scale: Scale) -> Line:
    places = [(scale.x(position), scale.y(point.mean)) for position, point in line.points.items()]
    return Line(
        index=index,
        name=line.name,
        shown=line.shown,
        colour=index % COLOURS,
        dash=DASHES[index // COLOURS % len(DASHES)],
        shape=SHAPES[index % len(SHAPES)],
        path=_path(places),
        band=_band(line, scale),
        marks=places[:: max(1, len(places) // MOST_TICKS)],
        values=[str(line.points[position]) if position in line.points else "" for position in scale.positions],
    )


def _band(line: Series, scale: Scale) -> str:
    """The outline of one standard deviation around a line; empty if no value has one."""
    if all(point.std is None for point in line.points.values()):
        return ""
    ends = [(scale.x(position), *_ends(point)) for position, point in line.points.items()]
    lower = [(x, scale.y(max(scale.low, end))) for x, end, _ in ends]
    upper = [(x, scale.y(min(scale.high, end))) for x, _, end in ends]
    return _path(upper + lower[::-1]) + "Z"


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in places)


def steps(places: Sequence[tuple[float, float]]) -> str:
    """A path that goes right to each place and then up to it; empty without places."""
    parts = [f"{x} {y}" if at == 0 else f"H{x}V{y}" for at, (x, y) in enumerate(places)]
    return "M" + "".join(parts) if parts else ""
