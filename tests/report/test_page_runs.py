"""The text in cells of classes and matrices has enough contrast (WCAG AA) in every shade, light and dark."""

import re
from importlib.resources import files

import numpy as np
import pytest
from matplotlib.colors import to_hex

from evergraph.report.page_runs import DEEP

from .test_palette import TO_CONES, TO_LAB, contrast, linear

ASSETS = files("evergraph.report")
STYLE = ASSETS.joinpath("page.css").read_text(encoding="utf-8")
SHARES = np.arange(101.0)
RAMPS = {"accuracies": ("heat-low", "heat-high"), "negative differences": ("less-low", "less")}


def colours(mode: str) -> dict[str, str]:
    """The colours of the page by name; the dark ones stand in the second :root."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    return dict(re.findall(r"--([\w-]+): (#\w{6});", blocks[("light", "dark").index(mode)]))


def ramp(low: str, high: str) -> tuple[str, ...]:
    """The colour of every share of the high end, mixed in OKLab."""
    ends = np.cbrt(linear((low, high)) @ TO_CONES.T) @ TO_LAB.T
    mixed = ends[0] + SHARES[:, None] / 100 * (ends[1] - ends[0])
    rgb = np.clip((mixed @ np.linalg.inv(TO_LAB).T) ** 3 @ np.linalg.inv(TO_CONES).T, 0, 1)
    return tuple(map(to_hex, np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)))


def test_matrices_have_light_text_where_classes_have_it() -> None:
    script = ASSETS.joinpath("script/compare.js").read_text(encoding="utf-8")
    assert f"const DEEP = {DEEP};" in script


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("ends", RAMPS.values(), ids=RAMPS)
def test_text_can_be_read_on_every_shade(ends: tuple[str, str], mode: str) -> None:
    """At the threshold either text may stand: the share of a cell is rounded."""
    known = colours(mode)
    ground = ramp(*(known[end] for end in ends))
    for name, shown in (("on-low", SHARES <= DEEP), ("on-high", SHARES >= DEEP)):
        ratio = contrast(ground, known[name])
        assert ratio[shown].min() >= 4.5, (name, SHARES[shown & (ratio < 4.5)])
