"""Projections on the page: all dots of a class are a few paths, and the script finds the one under the pointer."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evergraph.report.markup import Html, el
from evergraph.report.page_charts import figure, seed_name
from evergraph.report.palette import dark, light
from evergraph.report.panels import class_names, measures_text, panel_columns
from evergraph.results.groups import DataSet, Group
from evergraph.results.projection import Projection

SIDE, EDGE = 1000, 24
"""A panel and its margin, in units of the drawing."""
LAYERS = 4
"""Each class is drawn in this many turns, so that none lies on top of all others."""


def projections(data: DataSet) -> Html:
    """Empty where no run has a projection."""
    shown = [entry for group in data.groups for entry in _named(group)]
    if not shown:
        return Html()
    names = class_names(projection for _, projection in shown)
    places = {label: at for at, label in enumerate(names)}
    panes = [_pane(name, projection, places) for name, projection in shown]
    columns = f"--columns:{min(3, panel_columns(len(panes)))}"
    keys = [_key(name, at) for at, name in enumerate(names.values())]
    word = el("span", "class", class_="quiet")
    legend = el("div", word, keys, class_="legend", role="group", aria_label="classes shown")
    drawing = el("div", legend, el("div", panes, class_="clouds", style=columns))
    return figure(drawing, data, _caption(projection for _, projection in shown))


def _named(group: Group) -> list[tuple[str, Projection]]:
    """The projections of a group; where it has several, their names tell the seed."""
    found = [(result, result.projection) for result in group.results if result.projection is not None]
    name = f"{group.label} · {group.backbone}"
    return [(f"{name}, {seed_name(run)}" if len(found) > 1 else name, projection) for run, projection in found]


def _caption(shown: Iterable[Projection]) -> str:
    perplexities = sorted({projection.settings.perplexity for projection in shown})
    return (
        "Every dot is a test node, in the colour of its class: the hidden layer after the last task, brought into "
        f"two dimensions by t-SNE (perplexity {', '.join(f'{value:g}' for value in perplexities)}). What is near "
        "there is near here; how far groups of dots are apart says little. Silhouette, from −1 to 1: how much "
        "nearer nodes are to their own class than to the next one. Neighbours alike: how many of a node's ten "
        "nearest neighbours are of its class. Both are measured in the hidden layer, not in the picture."
    )


def _pane(name: str, projection: Projection, places: dict[int, int]) -> Html:
    size = min(15.0, max(6.0, 400 / len(projection.labels) ** 0.5))
    drawing = el(
        "svg",
        _dots(projection, places),
        el("circle", class_="ring", r=f"{size + 3:.1f}", hidden=True),
        class_="cloud",
        viewBox=f"0 0 {SIDE} {SIDE}",
        role="img",
        aria_label=f"t-SNE of {name}, {measures_text(projection)}",
        data_name=name,
        style=f"--size:{size:.1f}px",
    )
    words = el("p", el("span", measures_text(projection)), " ", el("span", projection.nodes), class_="quiet")
    return el("div", el("b", name), words, drawing)


def _dots(projection: Projection, places: dict[int, int]) -> list[Html]:
    """Lines of no length with round ends: ten bytes a dot."""
    order = np.random.default_rng(0).permutation(len(projection.labels))
    drawn = drawn_places(projection)
    at = np.array([places[label] for label in projection.labels])
    paths = []
    for turn in np.array_split(order, LAYERS):
        for place in np.unique(at[turn]):
            way = "".join(f"M{x} {y}h0" for x, y in drawn[turn[at[turn] == place]])
            paths.append(el("path", class_="dots hue", data_class=int(place), style=_colours(int(place)), d=way))
    return paths


def drawn_places(projection: Projection) -> NDArray[np.int64]:
    """Whole units of the drawing, (nodes, 2): as large as fits, with the same scale both ways, y upwards."""
    places = np.stack([projection.x, projection.y], axis=1)
    low, high = places.min(axis=0), places.max(axis=0)
    scale = (SIDE - 2 * EDGE) / max(float((high - low).max()), 1e-9)
    drawn: NDArray[np.int64] = np.rint(SIDE / 2 + scale * (places - (low + high) / 2) * [1, -1]).astype(np.int64)
    return drawn


def _colours(place: int) -> str:
    return f"--l:{light(place)};--d:{dark(place)}"


def _key(name: str, place: int) -> Html:
    return el(
        "button",
        el("i", class_="hue", style=_colours(place), aria_hidden="true"),
        name,
        type="button",
        data_class=place,
        aria_pressed="true",
    )
