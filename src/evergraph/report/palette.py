"""Forty colours for classes on the light and the dark page; the first ten suit the colour-blind too.

Found by maximising distances to the nearest neighbours in OKLab; tests check the distances.
"""

LIGHT = (
    "#187fdd", "#c58508", "#38ae7c", "#c63f4f", "#8632a4", "#7c3807", "#fe91c2", "#0fceff", "#b2c819", "#22475c",
    "#367310", "#a887ff", "#002dac", "#9b6d9f", "#06817c", "#672758", "#ff5d59", "#e45ab6", "#7b6741", "#81a6e0",
    "#54568f", "#e7a28a", "#3f4a00", "#0ea210", "#5444dc", "#904f64", "#a70762", "#9fae5a", "#580099", "#b97468",
    "#b04ed2", "#ec79f6", "#87c2b3", "#bb94b4", "#668b55", "#036356", "#3097b3", "#ff9202", "#af5507", "#d12488",
)  # fmt: skip
DARK = (
    "#75a3ff", "#f68d00", "#74bb7e", "#e43f6e", "#9146d9", "#a96000", "#f0a4c7", "#93efff", "#eae706", "#4283a2",
    "#18a60a", "#ceaffe", "#045bfb", "#bc96ca", "#0cf5cb", "#89607a", "#fe6f63", "#fd79e0", "#968b77", "#94ccff",
    "#8789ba", "#fda283", "#607a01", "#13e507", "#8c77fc", "#c4759c", "#bc0699", "#c4b106", "#d242fd", "#cd948e",
    "#c088fe", "#fdc9ff", "#95d5c0", "#ebebeb", "#a5b2a2", "#30a087", "#18b8d3", "#fdcca2", "#c48230", "#ff03bd",
)  # fmt: skip


def light(at: int) -> str:
    """The colour of the class at an index, on the light page; after forty they repeat."""
    return LIGHT[at % len(LIGHT)]


def dark(at: int) -> str:
    """The same class on the dark page."""
    return DARK[at % len(DARK)]
