"""Line charts as inline SVG: bands of one deviation, a legend that switches lines, values under the pointer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evergraph.report.markup import Html, el, join
from evergraph.results.groups import Stat

WIDTH, HEIGHT = 720.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 14.0, 48.0
COLOURS, DASHES = 8, ("", "7 4", "2 4")
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "M-3.6 -3.6h7.2v7.2h-7.2z",
    "M0 -4.8L4.5 3.4H-4.5z",
    "M0 -5L5 0L0 5L-5 0z",
)


@dataclass(frozen=True)
class Series:
    """A line: the values at some of the chart's positions."""

    name: str
    points: dict[float, Stat]
    shown: bool = True


@dataclass(frozen=True)
class Scale:
    """From values to places in the drawing."""

    positions: Sequence[float]
    low: float
    high: float
    step: int

    def x(self, position: float) -> float:
        first, last = self.positions[0], self.positions[-1]
        share = (position - first) / (last - first) if last > first else 0.5
        return LEFT + 10 + share * (WIDTH - LEFT - RIGHT - 20)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def line_chart(series: Sequence[Series], *, label: str, x_label: str, y_label: str, x_name: str) -> Html:
    """A chart of percentages with its legend; the script shows the values at a position, `x_name` before it."""
    positions = sorted({position for line in series for position in line.points})
    ends = [edge for line in series for point in line.points.values() for edge in _ends(point)]
    scale = Scale(positions, *_range(min(ends), max(ends)))
    drawing = el(
        "svg",
        _axes(scale, x_label, y_label),
        el("line", class_="guide", y1=TOP, y2=HEIGHT - BOTTOM, hidden=True),
        [_line(line, index, scale) for index, line in enumerate(series)],
        class_="chart",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        tabindex=0,
        aria_label=f"{label}; arrow keys show the values",
        data_x=" ".join(f"{scale.x(position):.1f}" for position in positions),
        data_at="|".join(f"{x_name} {position:g}" for position in positions),
    )
    return join(drawing, _legend(series))


def _ends(point: Stat) -> tuple[float, float]:
    return point.mean - (point.std or 0), point.mean + (point.std or 0)


def _range(low: float, high: float) -> tuple[float, float, int]:
    """The ends of an axis of percentages around some values, and the step of its ticks."""
    low = min(low, high - 10)
    step = next(step for step in (2, 5, 10, 20) if (high - low) / step <= 5 or step == 20)
    first = max(0, math.floor(low / step) * step)
    return first, max(first + step, min(100, math.ceil(high / step) * step)), step


def _axes(scale: Scale, x_label: str, y_label: str) -> Html:
    parts = []
    for value in range(int(scale.low), int(scale.high) + 1, scale.step):
        y = f"{scale.y(value):.1f}"
        parts.append(el("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        parts.append(el("text", str(value), class_="tick end", x=LEFT - 8, y=y, dy="0.35em"))
    every = max(1, math.ceil(len(scale.positions) / 12))
    for position in scale.positions[::every]:
        x = f"{scale.x(position):.1f}"
        parts.append(el("text", f"{position:g}", class_="tick mid", x=x, y=HEIGHT - BOTTOM + 20))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(el("text", x_label, class_="axis mid", x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 6))
    turned = f"rotate(-90 14 {middle:g})"
    parts.append(el("text", y_label, class_="axis mid", x=14, y=f"{middle:g}", transform=turned))
    return join(parts)


def _line(line: Series, index: int, scale: Scale) -> Html:
    places = {position: (scale.x(position), scale.y(point.mean)) for position, point in line.points.items()}
    way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places.values())
    values = [str(line.points[position]) if position in line.points else "" for position in scale.positions]
    marks = [
        el("path", class_="mark", d=SHAPES[index % len(SHAPES)], transform=f"translate({x:.1f} {y:.1f})")
        for x, y in list(places.values())[:: max(1, len(places) // 12)]
    ]
    return el(
        "g",
        _band(line, scale),
        el("path", class_="line", d=way, stroke_dasharray=_dash(index)),
        marks,
        class_=f"series c{index % COLOURS}",
        data_series=index,
        data_name=line.name,
        data_values="|".join(values),
        hidden=not line.shown,
    )


def _band(line: Series, scale: Scale) -> Html:
    if all(point.std is None for point in line.points.values()):
        return Html()
    lower = [
        f"{scale.x(at):.1f} {scale.y(max(scale.low, _ends(point)[0])):.1f}" for at, point in line.points.items()
    ]
    upper = [
        f"{scale.x(at):.1f} {scale.y(min(scale.high, _ends(point)[1])):.1f}" for at, point in line.points.items()
    ]
    return el("path", class_="band", d="M" + "L".join(upper + lower[::-1]) + "Z")


def _dash(index: int) -> str | None:
    return DASHES[index // COLOURS % len(DASHES)] or None


def _legend(series: Sequence[Series]) -> Html:
    """A button for each line; those of hidden lines are folded away."""
    shown = [_key(line, index) for index, line in enumerate(series) if line.shown]
    more = [_key(line, index) for index, line in enumerate(series) if not line.shown]
    fold = el("details", el("summary", f"{len(more)} more"), el("div", more)) if more else Html()
    return el("div", shown, fold, class_="legend", role="group", aria_label="lines shown")


def _key(line: Series, index: int) -> Html:
    sample = el(
        "svg",
        el("path", class_="line", d="M0 7H26", stroke_dasharray=_dash(index)),
        el("path", class_="mark", d=SHAPES[index % len(SHAPES)], transform="translate(13 7)"),
        class_=f"key c{index % COLOURS}",
        viewBox="0 0 26 14",
        aria_hidden="true",
    )
    pressed = "true" if line.shown else "false"
    return el("button", sample, line.name, type="button", data_series=index, aria_pressed=pressed)
