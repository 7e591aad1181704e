"""From the arguments of a classifier to the settings of a run and to how it answers, checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

from evergraph.config import merged
from evergraph.data.preprocess import Preprocessing
from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.methods.ftf_er import TopologyScore
from evergraph.runs.config import RunConfig
from evergraph.scores import Scope

STREAM_SETTINGS = ("setting", "preprocessing")
"""The settings of a stream that concern a classifier; it gets its tasks and splits from the caller."""


def run_config(
    method: str,
    backbone: str,
    budget: int | None,
    epochs: int | None,
    random_state: int,
    settings: Mapping[str, Mapping[str, Any]] | None,
) -> RunConfig:
    """The settings of a classifier; `settings` has those of `evergraph run --set`, section by section."""
    given = {} if settings is None else settings
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"settings by section are wanted, such as {{'train': {{'lr': 0.01}}}}, got {settings!r} instead"
        )
    _forbid_unused(given)
    for name, value in (("method", method), ("backbone", backbone)):
        if not isinstance(value, str):
            raise ConfigError(f"{name} must be a name, got {value!r} instead; other settings go into settings=")
    if not isinstance(random_state, Integral) or isinstance(random_state, bool) or not 0 <= random_state < 2**32:
        raise ConfigError(f"random_state must be a whole number from 0 to 2^32 - 1, got {random_state!r} instead")
    own: dict[str, dict[str, Any]] = {
        "method": {"name": method},
        "backbone": {"name": backbone},
        "train": {} if epochs is None else {"epochs": epochs},
        "seeds": {"init": int(random_state)},
    }
    if budget is not None:
        own["method"]["budget"] = budget
    twice = [
        f"{section}.{key}" for section, values in own.items() for key in values if key in given.get(section, {})
    ]
    if twice:
        raise ConfigError(f"every setting once is wanted, got {twice[0]} as an argument and in settings")
    config = RunConfig.from_values(merged(own, given), dataset_budget=False)
    _check(config)
    return config


def _check(config: RunConfig) -> None:
    if METHODS[config.method_name].sees_past:
        raise ConfigError(f"a method that keeps its own memory is wanted, got {config.method_name} instead")
    if config.stream.preprocessing is Preprocessing.STANDARD:
        raise ConfigError("preprocessing row by row is wanted (none, row-l1, row-l2), got standard instead")
    if getattr(config.method, "scope", None) is Scope.FULL:
        raise ConfigError("method.scope=task is wanted, got full instead; a classifier has no whole graph")
    if getattr(config.method, "topology_score", None) is TopologyScore.MISREAD:
        raise ConfigError("a method.topology_score of the task's graph is wanted, got misread instead; take hps")


def _forbid_unused(settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise a ConfigError for settings that only a run with a data set of its own has."""
    stream = settings.get("stream", {})
    names = stream if isinstance(stream, Mapping) else ()  # what is no section is reported with the other settings
    unused = [f"stream.{name}" for name in names if name not in STREAM_SETTINGS]
    if "dataset" in settings or unused:
        what = "dataset" if "dataset" in settings else unused[0]
        raise ConfigError(
            f"settings of method, backbone, train, seeds, stream.{', stream.'.join(STREAM_SETTINGS)} are wanted, "
            f"got {what} instead; a classifier gets its graphs in partial_fit"
        )


@dataclass(frozen=True)
class Answers:
    """How held-out nodes are answered: the share kept aside, and when no answer is given."""

    holdout: float
    seed: int
    reject: float | None
    reject_below: float | None

    @classmethod
    def checked(cls, holdout: float, seed: int, reject: float | None, reject_below: float | None) -> Self:
        """ConfigError for what no share or probability can be, and for two ways at once."""
        for name, value, most in (
            ("holdout", holdout, 0.5),
            ("reject", reject, 0.9),
            ("reject_below", reject_below, 1),
        ):
            if value is not None and not (isinstance(value, int | float) and 0 <= value <= most):
                raise ConfigError(f"{name} must be a number from 0 to {most:g}, got {value!r} instead")
        if reject is not None and reject_below is not None:
            raise ConfigError("reject or reject_below is wanted, got both; set one of them")
        if reject and not holdout:
            raise ConfigError(
                "reject (--unknown) needs nodes kept aside, got holdout=0 (--holdout 0); raise it, or set "
                "reject_below in Python"
            )
        return cls(holdout, seed, reject, reject_below)
