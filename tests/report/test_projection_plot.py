"""The figure of projections: a panel each, the same colour for the same class, and its measures in words."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread

from evergraph.report.palette import light
from evergraph.report.projection_plot import projection_figure
from evergraph.results.projection import Projection


def values(nodes: int = 60, count: int = 3, **changes: Any) -> dict[str, Any]:
    """What projection.json holds: classes as rows of dots, one above the other."""
    labels = [at % count for at in range(nodes)]
    content: dict[str, Any] = {
        "method": "ssm",
        "backbone": "gcn",
        "settings": {"seed": 0, "perplexity": 30.0, "most_nodes": 10_000},
        "scikit_learn": "1.9.1",
        "test_nodes": nodes,
        "classes": [[label, f"class{label}"] for label in range(count)],
        "silhouette": -0.126,
        "agreement": 0.8567,
        "labels": labels,
        "x": [float(at // count) for at in range(nodes)],
        "y": [10.0 * label for label in labels],
    }
    return {**content, **changes}


def projection(nodes: int = 60, count: int = 3, **changes: Any) -> Projection:
    return Projection(**values(nodes, count, **changes))


@pytest.mark.parametrize(("panels", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (9, 3), (30, 4)])
def test_panels_stand_in_a_square(panels: int, columns: int) -> None:
    figure = projection_figure([projection()] * panels)
    boxes = [axes.get_position().bounds for axes in figure.axes]
    assert len(boxes) == panels
    assert len({round(left, 6) for left, *_ in boxes}) == columns
    sides = {
        (round(width * figure.get_figwidth(), 6), round(high * figure.get_figheight(), 6))
        for *_, width, high in boxes
    }
    assert sides == {(4.4, 4.4)}
    assert all(left >= 0 and low > 0 and left + width <= 1 and low + high < 1 for left, low, width, high in boxes)


def test_every_node_is_a_dot_in_the_colour_of_its_class() -> None:
    other = projection(classes=[[2, "class2"], [0, "class0"]], labels=[2, 0] * 30)
    figure = projection_figure([projection(), other])
    for axes, shown in zip(figure.axes, (projection(), other), strict=True):
        (dots,) = axes.collections
        places = np.asarray(dots.get_offsets())
        drawn = {(x, y, to_hex(c)) for (x, y), c in zip(places, dots.get_facecolors(), strict=True)}  # type: ignore
        assert drawn == {(x, y, light(k)) for x, y, k in zip(shown.x, shown.y, shown.labels, strict=True)}
        (low, high), (left, right) = axes.get_ylim(), axes.get_xlim()
        assert low < places[:, 1].min() < places[:, 1].max() < high
        assert right - left == pytest.approx(high - low)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["class0", "class1", "class2"]
    assert [to_hex(key.get_color()) for key in legend.get_lines()] == [light(0), light(1), light(2)]


def test_the_words_name_model_measures_and_nodes() -> None:
    (axes,) = projection_figure([projection(test_nodes=9_000)]).axes
    words = [text.get_text() for text in axes.texts]
    assert words == ["ssm · gcn", "60 of 9,000 test nodes", "silhouette −0.13 · neighbours alike 85.7 %"]


@pytest.mark.parametrize(("nodes", "classes"), [(60, 3), (1, 1), (6_000, 40)])
def test_it_is_a_picture_of_many_colours_and_a_document(tmp_path: Path, nodes: int, classes: int) -> None:
    figure = projection_figure([projection(nodes, classes)])
    figure.savefig(tmp_path / "figure.png", dpi=60)
    picture = imread(tmp_path / "figure.png")
    assert len(np.unique(picture.reshape(-1, 4), axis=0)) > classes
    document = io.BytesIO()
    figure.savefig(document, format="pdf")
    assert document.getvalue().startswith(b"%PDF")
    assert len(document.getvalue()) < 600_000


def test_the_legend_of_many_long_names_stays_inside() -> None:
    names = [[label, f"a rather long name of class {label}"] for label in range(40)]
    figure = projection_figure([projection(400, 40, classes=names)])
    figure.savefig(io.BytesIO(), dpi=50)
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 < figure.axes[0].get_window_extent().y0
