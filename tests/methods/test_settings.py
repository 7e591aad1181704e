"""The bounds of every method's settings: the last value inside is taken, the first one outside is refused."""

import re
from pathlib import Path
from typing import Any

import pytest

from evergraph.config import validated
from evergraph.errors import ConfigError
from evergraph.methods import METHODS

Bounds = tuple[list[float], list[float]]
AT_LEAST_ONE: Bounds = [1], [0]
NOT_NEGATIVE: Bounds = [0.0], [-0.001]
POSITIVE: Bounds = [0.001], [0.0]
SHARE: Bounds = [0.0, 1.0], [-0.01, 1.01]
REPLAY = {
    "budget": AT_LEAST_ONE,
    "neighbour_budget": AT_LEAST_ONE,
    "hops": AT_LEAST_ONE,
    "replay_weight": NOT_NEGATIVE,
    "tau": NOT_NEGATIVE,
}
ER_GNN = {**{key: REPLAY[key] for key in ("budget", "neighbour_budget", "hops", "tau")}, "distance": POSITIVE}
DECOUPLED: dict[str, Bounds] = {
    **{key: REPLAY[key] for key in ("budget", "hops", "tau")},
    "hidden": AT_LEAST_ONE,
    "alpha": SHARE,
    "projection": ([0, 1], [-1]),
}
ANALYTIC: dict[str, Bounds] = {"width": AT_LEAST_ONE, "anchors": ([0], [-1]), "rank": ([0], [-1])}
FTF_ER = {**REPLAY, "distance": POSITIVE, "beta": SHARE, "snapshots": AT_LEAST_ONE}
BOUNDS: dict[str, dict[str, Bounds]] = {
    "finetune": {},
    "joint": {},
    "ewc": {"weight": NOT_NEGATIVE},
    "mas": {"weight": NOT_NEGATIVE},
    "lwf": {"weight": NOT_NEGATIVE, "temperature": POSITIVE},
    "gem": {"budget": AT_LEAST_ONE, "margin": NOT_NEGATIVE},
    "twp": dict.fromkeys(("loss_weight", "topology_weight", "gradient_weight"), NOT_NEGATIVE),
    "er-gnn-mf": ER_GNN,
    "er-gnn-cm": ER_GNN,
    "random-replay": REPLAY,
    "ssm": REPLAY,
    "ssm-random": REPLAY,
    "tem": {**DECOUPLED, "replay_weight": NOT_NEGATIVE},
    "cat": {
        **DECOUPLED,
        **dict.fromkeys(("encoders", "steps", "width"), AT_LEAST_ONE),
        "feature_lr": POSITIVE,
    },
    "ftf-er-det": FTF_ER,
    "ftf-er-prob": FTF_ER,
    "ncm": {"width": AT_LEAST_ONE},
    "slda": {"width": AT_LEAST_ONE, "shrinkage": ([0.001, 1.0], [0.0, 1.01])},
    "analytic": ANALYTIC,
    "analytic-small": ANALYTIC,
}
DEFAULTS: dict[str, dict[str, float]] = {
    "ewc": {"weight": 10_000.0},
    "mas": {"weight": 10_000.0},
    "lwf": {"weight": 1.0, "temperature": 2.0},
    "gem": {"budget": 60, "margin": 0.5},
    "twp": {"loss_weight": 10_000.0, "topology_weight": 10_000.0, "gradient_weight": 0.01},
    "er-gnn-mf": {"budget": 60, "distance": 0.5},
    "er-gnn-cm": {"budget": 60, "distance": 0.5},
    "random-replay": {"budget": 60, "replay_weight": 1.0},
    "ssm": {"budget": 60, "neighbour_budget": 60, "hops": 2, "replay_weight": 1.0},
    "ssm-random": {"budget": 60, "neighbour_budget": 60, "hops": 2, "replay_weight": 1.0},
    "ncm": {"width": 1024},
    "slda": {"width": 1024, "shrinkage": 0.1},
    "analytic": {"width": 2048, "anchors": 64, "rank": 0},
    "analytic-small": {"width": 2048, "anchors": 256, "rank": 64},
}
FTF_DEFAULTS: dict[str, float] = {
    "budget": 60,
    "beta": 0.5,
    "distance": 0.5,
    "neighbour_budget": 60,
    "hops": 1,
    "snapshots": 1,
}
DEFAULTS |= {name: {**FTF_DEFAULTS, "replay_weight": 1.0} for name in ("ftf-er-det", "ftf-er-prob")}
"""What METHODS.md and the paper say; a default that changes silently changes every result."""


GOES_WITH: dict[str, dict[str, Any]] = {"tau": {"balance": "logit"}, "width": {"rank": 0}}
"""What some numbers need beside them."""


def test_every_number_has_its_bounds_here() -> None:
    assert set(BOUNDS) == set(METHODS)
    for name, bounds in BOUNDS.items():
        fields = METHODS[name].config.model_fields
        numbers = {key for key, field in fields.items() if field.annotation in (int, float)}
        assert numbers == set(bounds), name


@pytest.mark.parametrize("name", list(BOUNDS))
def test_the_bounds_are_kept(name: str) -> None:
    kind = METHODS[name].config
    for key, (inside, outside) in BOUNDS[name].items():
        others = GOES_WITH.get(key, {}) if set(GOES_WITH.get(key, {})) <= set(kind.model_fields) else {}
        for value in inside:
            assert getattr(validated(kind, {**others, key: value}, "method"), key) == value
        for value in outside:
            with pytest.raises(ConfigError, match=f"method.{key}"):
                validated(kind, {**others, key: value}, "method")


@pytest.mark.parametrize("name", list(DEFAULTS))
def test_the_defaults_are_those_of_the_paper_and_its_gaps(name: str) -> None:
    settings = METHODS[name].config().model_dump()
    assert {key: settings[key] for key in DEFAULTS[name]} == DEFAULTS[name]


@pytest.mark.parametrize(("setting", "entry"), [("balance", "Balance"), ("storage", "Storage")])
def test_the_glossary_names_the_methods_that_have_a_setting(setting: str, entry: str) -> None:
    glossary = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    text = glossary.partition(f"- **{entry}**")[2]
    named = re.findall(r"`([\w-]+)`", text.partition(f"`method.{setting}`")[2].partition(". ")[0])
    assert named == [name for name in METHODS if setting in METHODS[name].config.model_fields]
    assert "`gem`" in text.partition("- **")[0]
