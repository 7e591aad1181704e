"""Published values of the paper (Pang et al., ACM MM 2024): mean and standard deviation, %."""

from typing import TypeAlias

from evergraph.results.groups import Stat
from evergraph.results.published import PublishedResults

Published: TypeAlias = tuple[Stat, Stat]
"""AA and AF."""

DATASETS = ("amazon-computers", "corafull", "ogbn-arxiv", "reddit")

_MAIN: dict[str, tuple[float, ...]] = {
    "finetune": (19.4, 0.0, -99.7, 0.2, 3.2, 0.2, -95.7, 0.1, 4.9, 0.0, -84.6, 2.0, 5.3, 0.9, -94.3, 2.1),
    "ewc": (19.4, 0.0, -99.6, 0.2, 36.2, 9.1, -60.1, 9.3, 5.2, 0.1, -92.0, 0.2, 12.3, 2.8, -91.6, 2.9),
    "lwf": (19.4, 0.0, -99.6, 0.2, 3.3, 0.2, -95.3, 0.3, 4.9, 0.1, -83.7, 2.8, 7.7, 1.1, -87.7, 1.8),
    "mas": (31.1, 11.1, -46.4, 24.8, 28.6, 5.2, -60.2, 6.9, 6.9, 1.5, -23.5, 10.9, 13.1, 4.9, -16.8, 4.1),
    "gem": (19.7, 0.8, -99.0, 1.1, 11.3, 2.3, -85.1, 2.6, 5.0, 0.1, -88.5, 0.8, 18.0, 0.9, -84.4, 1.0),
    "er-gnn": (27.5, 5.1, -88.9, 6.4, 10.0, 4.3, -80.7, 4.7, 7.5, 0.8, -82.1, 1.2, 18.0, 0.9, -84.4, 1.0),
    "twp": (19.3, 0.0, -99.6, 0.1, 42.2, 5.0, -54.8, 5.3, 11.5, 1.0, -75.8, 4.1, 9.7, 1.6, -91.9, 2.0),
    "ssm": (93.6, 0.8, -6.5, 1.1, 76.4, 0.3, -10.6, 0.4, 54.7, 2.6, -13.8, 2.1, 93.9, 1.0, -4.6, 1.2),
    "joint": (97.8, 0.1, -0.9, 0.0, 83.0, 0.1, -2.1, 0.2, 58.8, 0.3, -12.7, 0.5, 98.3, 0.3, -0.4, 0.2),
    "ftf-er-det": (94.6, 0.8, -4.5, 1.1, 77.5, 0.1, -3.5, 0.3, 58.3, 0.6, -10.5, 0.5, 95.2, 0.7, -2.9, 0.8),
    "ftf-er-prob": (93.9, 1.4, -5.3, 1.9, 77.9, 0.1, -7.3, 0.2, 57.0, 1.3, -11.8, 1.7, 95.7, 0.6, -2.3, 0.5),
}


def main_result(method: str, dataset: str) -> Published | None:
    """AA and AF of a method in the paper's main table; a variant such as ssm-x has the row of ssm."""
    row = next((row for name, row in _MAIN.items() if method == name or method.startswith(name + "-")), None)
    if row is None or dataset not in DATASETS:
        return None
    at = 4 * DATASETS.index(dataset)
    return _published(*row[at : at + 4])


def _published(aa: float, aa_std: float, af: float, af_std: float) -> Published:
    return Stat(aa, aa_std), Stat(af, af_std)


PANG_2024 = PublishedResults(
    source="Pang et al., ACM MM 2024",
    note="Paper: main table of Pang et al., ACM MM 2024; a variant stands beside the row of its method.",
    lookup=main_result,
)

COMPONENTS: dict[str, Published] = {
    "neither: random": _published(50.9, 1.9, -15.0, 1.2),
    "GraNd": _published(52.3, 0.9, -12.5, 1.0),
    "HPS": _published(54.6, 0.8, -7.0, 1.6),
    "GraNd + HPS": _published(58.3, 0.6, -10.5, 0.5),
}
"""Table 3, ogbn-arxiv."""

FEATURE_SCORES: dict[str, Published] = {
    "random": _published(91.0, 3.5, -9.2, 4.4),
    "MF": _published(65.9, 4.6, -41.1, 5.7),
    "CM": _published(85.8, 5.1, -15.5, 6.6),
    "GraNd": _published(94.6, 0.8, -4.5, 1.1),
}
"""Table 4, Amazon Computers."""

TOPOLOGY_SCORES: dict[str, Published] = {
    "random": _published(93.5, 2.0, -5.6, 2.2),
    "random neighbours": _published(87.7, 1.7, -13.3, 2.3),
    "degree neighbours": _published(87.8, 2.3, -13.3, 2.9),
    "HPS": _published(94.6, 0.8, -4.5, 1.1),
}
"""Table 5, Amazon Computers."""

COST: dict[str, tuple[float, float, float]] = {
    "er-gnn": (10.0, 128.65, 1530.16),
    "ssm": (76.4, 195.05, 3614.25),
    "gem": (11.3, 625.84, 6176.56),
    "ftf-er": (77.9, 128.94, 1242.74),
}
"""Table 6, CoraFull: AA in percent, buffer in MB, training time in seconds."""

BETA_SWING = {"amazon-computers": 14.0, "corafull": 0.8}
"""Change of AA with β in points, from the paper's text."""
