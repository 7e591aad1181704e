"""What has to be run for each table and figure of the paper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evergraph.config import assigned
from evergraph.paper import TARGET_NAMES
from evergraph.registry import Registry
from evergraph.runs.config import RunConfig

BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The paper's grid for β; a fast run takes three of them."""
FAST_BETAS = (0.0, 0.5, 1.0)
FINE_BETAS = tuple(k / 10 for k in range(11))
FAST_EPOCHS = 30
ALL_BACKBONES = ("gcn", "gat", "gin")
MAIN_TABLE = (
    "finetune", "joint", "ewc", "mas", "lwf", "gem", "twp", "er-gnn-mf", "er-gnn-cm", "ssm", "ssm-random",
    "ftf-er-det", "ftf-er-prob",
)  # fmt: skip
"""The methods of the paper's main table; others are not part of it."""


@dataclass(frozen=True)
class Request:
    """Which data, how many seeds, which backbones, and whether in minutes instead of hours."""

    dataset: str
    features: str | None = None
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    backbones: tuple[str, ...] = ("gcn",)
    fast: bool = False

    @property
    def betas(self) -> tuple[float, ...]:
        return FAST_BETAS if self.fast else BETAS

    def config(self, backbone: str, settings: Mapping[str, Any], seed: int) -> RunConfig:
        """One run: the paper's settings but for `settings`, always on one thread: no result depends on it."""
        values = {
            "dataset.name": self.dataset,
            "dataset.features": self.features,
            "backbone.name": backbone,
            "train.threads": 1,
            **({"train.epochs": FAST_EPOCHS} if self.fast else {}),
            **{f"seeds.{kind}": seed for kind in ("split", "order", "init")},
            **settings,
        }
        return RunConfig.from_values(assigned({}, [(key.split("."), value) for key, value in values.items()]))


@dataclass(frozen=True)
class Row:
    """A row of a table or a line of a figure: settings, and the β to choose from (none: β is not used)."""

    label: str
    settings: Mapping[str, Any]
    betas: tuple[float, ...] = ()

    def candidates(self) -> list[tuple[float | None, dict[str, Any]]]:
        """The settings with each β."""
        if not self.betas:
            return [(None, dict(self.settings))]
        return [(beta, {**self.settings, "method.beta": beta}) for beta in self.betas]


@dataclass(frozen=True)
class Target:
    """A table or figure of the paper by its number, and by a name that says what it is."""

    name: str
    title: str
    dataset: str
    rows: Callable[[Request], list[Row]]
    backbones: tuple[str, ...] = ("gcn",)
    one_seed: bool = False

    @property
    def alias(self) -> str:
        return TARGET_NAMES[self.name]

    def configs(self, request: Request) -> list[RunConfig]:
        """Every run that is needed, each once; all rows with the first seed, then with the next."""
        runs = (
            request.config(backbone, settings, seed)
            for seed in request.seeds
            for row in self.rows(request)
            for _, settings in row.candidates()
            for backbone in request.backbones
        )
        return list({config.digest(): config for config in runs}.values())


def _method(name: str, request: Request) -> Row:
    return Row(name, {"method.name": name}, request.betas if name.startswith("ftf-er") else ())


def _methods(*names: str) -> Callable[[Request], list[Row]]:
    return lambda request: [_method(name, request) for name in names]


def _main_table(request: Request) -> list[Row]:
    return [_method(name, request) for name in MAIN_TABLE]


@dataclass(frozen=True)
class _Scores:
    """A variant of deterministic FTF-ER; β is chosen where both scores take part."""

    label: str
    feature: str = "grand"
    topology: str = "hps"
    more: Mapping[str, Any] = field(default_factory=dict)

    def row(self, betas: tuple[float, ...]) -> Row:
        alone = "none" in (self.feature, self.topology)
        settings = {
            "method.name": "ftf-er-det",
            "method.feature_score": self.feature,
            "method.topology_score": self.topology,
            **({"method.beta": 1.0 if self.feature == "none" else 0.0} if alone else {}),
            **self.more,
        }
        return Row(self.label, settings, () if alone else betas)


RANDOM = _Scores("neither: random", "random", "none")
ENDS = {"GraNd": 0.0, "HPS": 1.0}


def _components(request: Request) -> list[Row]:
    """β = 0 is GraNd alone and β = 1 HPS alone; both take part at the values between."""
    inner = tuple(beta for beta in request.betas if 0 < beta < 1)
    alone = [Row(label, {"method.name": "ftf-er-det", "method.beta": beta}) for label, beta in ENDS.items()]
    return [RANDOM.row(()), *alone, _Scores("GraNd + HPS").row(inner)]


def _feature_scores(request: Request) -> list[Row]:
    scores = {"random": "random", "MF": "mf", "CM": "cm", "GraNd": "grand"}
    return [_Scores(label, feature=score).row(request.betas) for label, score in scores.items()]


def _topology_scores(request: Request) -> list[Row]:
    neighbours = [
        _Scores(f"{kind} neighbours", topology="none", more={"method.neighbours": kind})
        for kind in ("random", "degree")
    ]
    variants = [_Scores("random", topology="random"), *neighbours, _Scores("HPS")]
    return [variant.row(request.betas) for variant in variants]


def _beta_lines(_request: Request) -> list[Row]:
    lines = [Row(name, {"method.name": name}, FINE_BETAS) for name in ("ftf-er-det", "ftf-er-prob")]
    return [*lines, Row("random selection", RANDOM.row(()).settings)]


def _fixed_beta(*names: str) -> Callable[[Request], list[Row]]:
    """Methods with β at its default: what does not compare accuracies needs no choice."""
    return lambda request: [Row(name, {"method.name": name}) for name in names]


REPLAY = ("er-gnn-mf", "er-gnn-cm", "gem", "ssm", "ftf-er-det", "ftf-er-prob")

TARGETS: Registry[Target] = Registry("target")
for _target in (
    Target("table2", "Main results", "amazon-computers", _main_table, ALL_BACKBONES),
    Target("table3", "Components of FTF-ER", "ogbn-arxiv", _components),
    Target("table4", "Feature scores in FTF-ER", "amazon-computers", _feature_scores),
    Target("table5", "Topology in FTF-ER", "amazon-computers", _topology_scores),
    Target("table6", "Memory and time of replay methods", "corafull", _fixed_beta(*REPLAY)),
    Target(
        "fig-curves",
        "Average accuracy while learning",
        "amazon-computers",
        _methods("finetune", *REPLAY, "joint"),
    ),
    Target(
        "fig-matrices",
        "Accuracy matrices of FTF-ER",
        "amazon-computers",
        _methods("ftf-er-det", "ftf-er-prob"),
    ),
    Target("fig-beta", "Sensitivity to β", "amazon-computers", _beta_lines),
    Target(
        "fig-tsne",
        "t-SNE of the hidden representations",
        "amazon-computers",
        _fixed_beta("ftf-er-det", "ssm", "er-gnn-cm", "twp"),
        one_seed=True,
    ),
):
    TARGETS.add(_target.name, _target)
    TARGETS.add(_target.alias, _target)
