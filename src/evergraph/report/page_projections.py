"""Projections on the page; all dots of a class are a few SVG paths."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evergraph.report.page_runs import seed_name
from evergraph.report.palette import dark, light
from evergraph.report.panels import class_names, measures_text, panel_columns
from evergraph.results.groups import DataSet, Group
from evergraph.results.projection import Projection

SIDE, EDGE = 1000, 24
"""A panel and its margin, in SVG units."""
LAYERS = 4
"""Each class is drawn in this many layers, so that none covers all others."""


class Hue(NamedTuple):
    """The index of a class among all classes, and its colours on the light and the dark page."""

    place: int
    light: str
    dark: str


class Panel(NamedTuple):
    """A projection as it is drawn: the paths of its dots in drawing order."""

    name: str
    measures: str
    nodes: str
    size: float
    dots: list[tuple[Hue, str]]


class Projections(NamedTuple):
    """The projections of a data set, the colours of the classes, and the perplexities used."""

    side: int
    columns: int
    perplexities: list[str]
    classes: list[tuple[Hue, str]]
    panels: list[Panel]


def projections(data: DataSet) -> Projections | None:
    """The projections of a data set; None if no run has one."""
    shown = [entry for group in data.groups for entry in _named(group)]
    if not shown:
        return None
    names = class_names(projection for _, projection in shown)
    hues = {label: Hue(at, light(at), dark(at)) for at, label in enumerate(names)}
    perplexities = sorted({projection.settings.perplexity for _, projection in shown})
    return Projections(
        side=SIDE,
        columns=min(3, panel_columns(len(shown))),
        perplexities=[f"{value:g}" for value in perplexities],
        classes=[(hues[label], name) for label, name in names.items()],
        panels=[_panel(name, projection, hues) for name, projection in shown],
    )


def _named(group: Group) -> list[tuple[str, Projection]]:
    """The projections of a group; the seed is in their names if there are several."""
    found = [(result, result.record.projection) for result in group.results if result.record.projection is not None]
    name = f"{group.label} · {group.backbone}" if group.backbone else group.label
    return [(f"{name}, {seed_name(run)}" if len(found) > 1 else name, projection) for run, projection in found]


def _panel(name: str, projection: Projection, hues: Mapping[int, Hue]) -> Panel:
    size = min(15.0, max(6.0, 400 / len(projection.labels) ** 0.5))
    return Panel(name, measures_text(projection), projection.nodes, size, _dots(projection, hues))


def _dots(projection: Projection, hues: Mapping[int, Hue]) -> list[tuple[Hue, str]]:
    """Dots as lines of no length with round ends: ten bytes each."""
    order = np.random.default_rng(0).permutation(len(projection.labels))
    drawn, labels = drawn_places(projection), np.array(projection.labels)
    paths = []
    for turn in np.array_split(order, LAYERS):
        for label in np.unique(labels[turn]):
            path = "".join(f"M{x} {y}h0" for x, y in drawn[turn[labels[turn] == label]])
            paths.append((hues[int(label)], path))
    return paths


def drawn_places(projection: Projection) -> NDArray[np.int64]:
    """Coordinates in SVG units, (nodes, 2): as large as fits, equal scale on both axes, y upwards."""
    places = np.stack([projection.x, projection.y], axis=1)
    low, high = places.min(axis=0), places.max(axis=0)
    scale = (SIDE - 2 * EDGE) / max(float((high - low).max()), 1e-9)
    drawn: NDArray[np.int64] = np.rint(SIDE / 2 + scale * (places - (low + high) / 2) * [1, -1]).astype(np.int64)
    return drawn
