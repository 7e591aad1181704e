"""Shared by the plot and the page of projections."""

import math
from collections.abc import Iterable

from evergraph.results.projection import Projection


def panel_columns(panels: int) -> int:
    """One row up to three panels, two by two for four, at most four in a row."""
    return panels if panels < 4 else min(4, math.ceil(math.sqrt(panels)))


def class_names(projections: Iterable[Projection]) -> dict[int, str]:
    """Label → name of all classes, by ascending label."""
    return dict(sorted({label: name for projection in projections for label, name in projection.classes}.items()))


def measures_text(projection: Projection) -> str:
    """Both measures of a projection as text."""
    apart = "–" if projection.silhouette is None else f"{projection.silhouette:.2f}".replace("-", "−")
    return f"silhouette {apart} · neighbours alike {100 * projection.agreement:.1f} %"
