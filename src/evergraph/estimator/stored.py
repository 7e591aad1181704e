"""What a stored classifier says of itself and its tensors, and reading it back with care."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from evergraph.config import Settings, validated
from evergraph.errors import ConfigError, StoreError
from evergraph.estimator.history import Step
from evergraph.estimator.keys import Origin
from evergraph.estimator.learned import Learned
from evergraph.estimator.prepared import n_inputs
from evergraph.estimator.settings import Answers
from evergraph.models import Model
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.tables import FeatureSchema

KIND = "classifier"
"""What a model folder says it holds."""
NOT_AS_SAVED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RuntimeError)
"""What learners raise for settings or tensors that none of them has written."""


class StoredOrigin(Settings):
    """An Origin."""

    number: int = Field(ge=0, lt=2**32)
    features: str | None = Field(None, pattern="^[0-9a-f]{16}$")


class About(Settings):
    """The content of a manifest. params: of the constructor; returns: whether classes may come back.

    Folders of versions 1 and 2 have no params, no schema and no history; n_tasks is what is called batches now.
    """

    kind: str = KIND
    config: dict[str, dict[str, Any]]
    classes: tuple[str | int, ...]
    n_features: int = Field(ge=0)
    n_tasks: int = Field(ge=0)
    plugins: dict[str, str] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)
    features: str = ""
    temperature: float | None = Field(None, gt=0)
    below: float = Field(0.0, ge=0, le=1)
    returns: bool = False
    history: tuple[Step, ...] = ()
    origins: tuple[StoredOrigin, ...] = ()


def checked_about(model: Model, path: Path) -> About:
    """What the manifest says; StoreError for anything but a classifier."""
    try:
        about = validated(About, model.manifest, "classifier")
    except ConfigError as error:
        raise StoreError(f"the folder of a saved classifier is wanted, got {path} instead ({error})") from None
    if (
        about.kind != KIND
        or (about.n_tasks == 0) != (not about.classes)
        or len(set(about.classes)) < len(about.classes)
        or (bool(about.n_tasks) and model.version > 2 and not about.features)
        or len(about.origins) not in (0, about.n_tasks)
    ):
        raise StoreError(
            f"the folder of a saved classifier is wanted, got {path} instead, which holds another model"
        )
    return about


@contextmanager
def as_saved(path: Path) -> Iterator[None]:
    """StoreError for settings or tensors that no classifier has written."""
    try:
        yield
    except NOT_AS_SAVED as error:
        why = " ".join(str(error).split())[:300]
        raise StoreError(f"{path} must hold a classifier as it was saved, got another one ({why})") from None


def may_be_nan(name: str) -> bool:
    """Keys of kept nodes are NaN for neighbours, which do not compete for a place."""
    return name.rpartition(".")[2] == "keys"


def check_plugins(saved: Mapping[str, str], here: Mapping[str, str], path: Path) -> None:
    """Raise a StoreError where a plug-in's code is not the one that a classifier was saved with."""
    other = [key for key in saved if here.get(key) != saved[key]]
    if other:
        came = here.get(other[0], "none")
        raise StoreError(f"{path} needs the {other[0]} of {saved[other[0]]}, got {came} instead; load that code")


def manifest_of(learned: Learned) -> dict[str, Any]:
    """What the manifest says of what was learned."""
    return {
        "config": learned.config.to_values(),
        "classes": learned.classes,
        "n_features": learned.n_features,
        "n_tasks": learned.batches,
        "plugins": learned.config.plugin_sources(),
        "features": learned.schema.to_json(),
        "temperature": learned.temperature,
        "below": learned.below,
        "returns": learned.returns,
        "origins": [asdict(origin) for origin in learned.origins],
        "history": [step.model_dump(mode="json") for step in learned.history],
    }


def tensors_of(learned: Learned) -> dict[str, Any]:
    """What is stored beside the manifest, by name."""
    tensors: dict[str, Any] = {f"learner.{name}": value for name, value in learned.learner.state().items()}
    return tensors | _named(learned.ledger.arrays(), "ledger") | _named(learned.held_out.arrays(), "held_out")


def learned_of(model: Model, about: About, config: RunConfig, answers: Answers) -> Learned:
    """The inverse of both; ValueError for what does not fit together."""
    old = model.version < 3
    schema = FeatureSchema(width=about.n_features) if old else FeatureSchema.from_json(about.features)
    if n_inputs(schema) != about.n_features:
        raise ValueError(f"{n_inputs(schema):,} inputs are wanted, got {about.n_features:,}")
    learned = Learned(
        config,
        schema,
        make_learner(config, about.n_features),
        answers,
        classes=list(about.classes),
        origins=_origins(about),
        temperature=about.temperature,
        below=about.below,
        returns=about.returns,
        history=list(about.history),
    )
    prefix = "" if old else "learner."
    own = [name for name in model.tensors if name.startswith(prefix)]
    learned.learner.load_state({name.removeprefix(prefix): model.tensors[name] for name in own})
    if not old:
        learned.ledger.load_arrays(_part(model.tensors, "ledger"))
        learned.held_out.load_arrays(_part(model.tensors, "held_out"))
    learned.check_outputs()
    return learned


def _origins(about: About) -> list[Origin]:
    """Earlier versions stored the number of batches only."""
    stored = [Origin(origin.number, origin.features) for origin in about.origins]
    return stored or [Origin(number) for number in range(about.n_tasks)]


def arguments_of(about: About, config: RunConfig) -> dict[str, Any]:
    """The arguments of a stored classifier; of one that an earlier version saved, those that its settings say."""
    if about.params:  # as they were before JSON
        return {name: tuple(value) if isinstance(value, list) else value for name, value in about.params.items()}
    values = {name: dict(section) for name, section in config.to_values().items() if name != "dataset"}
    method, backbone = values["method"].pop("name"), values["backbone"].pop("name")
    seed = values["seeds"].pop("init")
    stream = {name: values["stream"][name] for name in ("setting", "preprocessing")}
    settings = {**values, "stream": stream}
    return {"method": method, "backbone": backbone, "random_state": seed, "holdout": 0.0, "settings": settings}


def _part(tensors: Mapping[str, Tensor], name: str) -> dict[str, NDArray[Any]]:
    """The arrays below a name."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): value.numpy() for key, value in tensors.items() if key.startswith(prefix)}


def _named(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """The inverse of `_part`."""
    return {f"{name}.{key}": np.ascontiguousarray(value) for key, value in arrays.items()}
