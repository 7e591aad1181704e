"""The runs behind each table and figure of the paper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evergraph.config import assigned
from evergraph.paper import TARGET_NAMES
from evergraph.registry import Registry
from evergraph.runs.config import RunConfig

BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The paper's grid for β."""
FAST_BETAS = (0.0, 0.5, 1.0)
FINE_BETAS = tuple(k / 10 for k in range(11))
FAST_EPOCHS = 30
ALL_BACKBONES = ("gcn", "gat", "gin")
MAIN_METHODS = (
    "finetune", "joint", "ewc", "mas", "lwf", "gem", "twp", "er-gnn-mf", "er-gnn-cm", "ssm", "ssm-random",
    "random-replay", "ftf-er-det", "ftf-er-prob",
)  # fmt: skip
"""The methods of the paper's main table with their variants, and random nodes, the bar for every selection."""


@dataclass(frozen=True)
class Request:
    """Data, seeds and backbones; `fast` needs minutes instead of hours."""

    dataset: str
    features: str | None = None
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    backbones: tuple[str, ...] = ("gcn",)
    fast: bool = False

    @property
    def betas(self) -> tuple[float, ...]:
        return FAST_BETAS if self.fast else BETAS

    def config(self, backbone: str, settings: Mapping[str, Any], seed: int) -> RunConfig:
        """A run with the paper's settings, changed by `settings`; one thread, to keep results independent of it."""
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
    """A table or figure of the paper; dataset and backbones are defaults."""

    name: str
    title: str
    rows: Callable[[Request], list[Row]]
    dataset: str = "amazon-computers"
    backbones: tuple[str, ...] = ("gcn",)
    one_seed: bool = False

    def configs(self, request: Request) -> list[RunConfig]:
        """The runs it needs, each once; all rows with the first seed come first."""
        runs = (
            request.config(backbone, settings, seed)
            for seed in request.seeds
            for row in self.rows(request)
            for _, settings in row.candidates()
            for backbone in request.backbones
        )
        return list({config.digest(): config for config in runs}.values())


def _methods(*names: str) -> Callable[[Request], list[Row]]:
    """Methods, with β of FTF-ER to choose."""
    return lambda request: [
        Row(name, {"method.name": name}, request.betas if name.startswith("ftf-er") else ()) for name in names
    ]


def _variant(
    label: str, betas: tuple[float, ...], feature: str = "grand", topology: str = "hps", **more: str
) -> Row:
    """A variant of deterministic FTF-ER; β is chosen if there are two scores to weigh."""
    settings: dict[str, Any] = {
        "method.name": "ftf-er-det",
        "method.feature_score": feature,
        "method.topology_score": topology,
        **{f"method.{key}": value for key, value in more.items()},
    }
    if topology != "none":
        return Row(label, settings, betas)
    return Row(label, {**settings, "method.beta": 0.0})


RANDOM = _variant("neither: random", (), "random", "none")


def _components(request: Request) -> list[Row]:
    """β = 0 is GraNd alone, β = 1 HPS alone; values between use both."""
    inner = tuple(beta for beta in request.betas if 0 < beta < 1)
    ends = {"GraNd": 0.0, "HPS": 1.0}
    alone = [Row(label, {"method.name": "ftf-er-det", "method.beta": beta}) for label, beta in ends.items()]
    return [RANDOM, *alone, _variant("GraNd + HPS", inner)]


def _feature_scores(request: Request) -> list[Row]:
    scores = {"random": "random", "MF": "mf", "CM": "cm", "GraNd": "grand"}
    return [_variant(label, request.betas, feature=score) for label, score in scores.items()]


def _topology_scores(request: Request) -> list[Row]:
    return [
        _variant("random", request.betas, topology="random"),
        _variant("random neighbours", (), topology="none", neighbours="random"),
        _variant("degree neighbours", (), topology="none", neighbours="degree"),
        _variant("HPS", request.betas),
    ]


def _beta_lines(_request: Request) -> list[Row]:
    lines = [Row(name, {"method.name": name}, FINE_BETAS) for name in ("ftf-er-det", "ftf-er-prob")]
    return [*lines, Row("random selection", RANDOM.settings)]


def _fixed_beta(*names: str) -> Callable[[Request], list[Row]]:
    """Methods with the default β: these targets do not compare accuracies, so β needs no choice."""
    return lambda _request: [Row(name, {"method.name": name}) for name in names]


REPLAY = ("er-gnn-mf", "er-gnn-cm", "gem", "ssm", "ftf-er-det", "ftf-er-prob")

_ALL = (
    Target("table2", "Main results", _methods(*MAIN_METHODS), backbones=ALL_BACKBONES),
    Target("table3", "Components of FTF-ER", _components, "ogbn-arxiv"),
    Target("table4", "Feature scores in FTF-ER", _feature_scores),
    Target("table5", "Topology in FTF-ER", _topology_scores),
    Target("table6", "Memory and time of replay methods", _fixed_beta(*REPLAY), "corafull"),
    Target("fig-curves", "Average accuracy while learning", _methods("finetune", *REPLAY, "joint")),
    Target("fig-matrices", "Accuracy matrices of FTF-ER", _methods("ftf-er-det", "ftf-er-prob")),
    Target("fig-beta", "Sensitivity to β", _beta_lines),
    Target(
        "fig-tsne",
        "t-SNE of the hidden representations",
        _fixed_beta("ftf-er-det", "ssm", "er-gnn-cm", "twp"),
        one_seed=True,
    ),
)
TARGETS: Registry[Target] = Registry("target")
for _target in _ALL:
    TARGETS.add(_target.name, _target)
    TARGETS.add(TARGET_NAMES[_target.name], _target)
