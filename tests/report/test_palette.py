"""The colours of classes stay apart, on white and on the dark page, also for those who see no red or no green."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from evergraph.report.palette import DARK, LIGHT, dark, light

TO_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
TO_LAB = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
"""sRGB → OKLab (Ottosson, 2020)."""
SEEN = {
    "by most": np.eye(3),
    "without green": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "without red": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
}
"""Linear sRGB as others see it (Machado et al., 2009)."""


def linear(colours: tuple[str, ...]) -> NDArray[np.float64]:
    values = np.array([to_rgb(colour) for colour in colours])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def nearest(colours: tuple[str, ...], eyes: str) -> float:
    """The smallest distance of two colours in OKLab, in which black and white are 1 apart."""
    seen = np.clip(linear(colours) @ SEEN[eyes].T, 0, 1)
    lab = np.cbrt(seen @ TO_CONES.T) @ TO_LAB.T
    return min(float(np.linalg.norm(one - other)) for one, other in combinations(lab, 2))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_ten_and_forty_colours_stay_apart(colours: tuple[str, ...]) -> None:
    assert len(colours) == len(set(colours)) == 40
    assert nearest(colours[:10], "by most") > 0.15
    assert nearest(colours[:10], "without green") > 0.09
    assert nearest(colours[:10], "without red") > 0.09
    assert nearest(colours, "by most") > 0.085


def contrast(colours: tuple[str, ...], ground: str) -> NDArray[np.float64]:
    one, other = (linear(each) @ [0.2126, 0.7152, 0.0722] + 0.05 for each in (colours, (ground,)))
    ratio: NDArray[np.float64] = np.maximum(one, other) / np.minimum(one, other)
    return ratio


def test_every_colour_can_be_seen_on_its_ground() -> None:
    assert contrast(LIGHT, "#ffffff").min() > 1.8
    assert contrast(DARK, "#12181d").min() > 3


def test_after_forty_they_begin_again() -> None:
    assert (light(3), dark(3)) == (LIGHT[3], DARK[3])
    assert (light(43), dark(43)) == (LIGHT[3], DARK[3])
