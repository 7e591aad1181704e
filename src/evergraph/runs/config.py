"""RunConfig: everything that decides a run, from nested values and back, and a name for it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from evergraph.backbones import BACKBONES
from evergraph.config import Settings, validated
from evergraph.data.datasets import DATASETS, is_path
from evergraph.data.stream import StreamConfig
from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.methods.ftf_er import Scope
from evergraph.training.loop import TrainConfig


class StandardiseConfig(Settings):
    """The steps of the paper's standardisation."""

    undirected: bool = True
    unweighted: bool = True
    no_self_loops: bool = True
    largest_component: bool = True


class DatasetConfig(Settings):
    """Which graph: the name of a data set or the path of a file, and how it is read."""

    name: str = "digits"
    features: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    standardise: StandardiseConfig = StandardiseConfig()


class SeedConfig(Settings):
    """Where each kind of randomness starts."""

    split: int = Field(0, ge=0)
    order: int = Field(0, ge=0)
    init: int = Field(0, ge=0)


@dataclass(frozen=True)
class RunConfig:
    """One run: a data set as a stream, a method with a backbone, the optimiser and the seeds."""

    dataset: DatasetConfig
    stream: StreamConfig
    backbone_name: str
    backbone: Settings
    method_name: str
    method: Settings
    train: TrainConfig
    seeds: SeedConfig

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "RunConfig":
        """Validate nested values, as they come from TOML, JSON or the command line; ConfigError in one sentence."""
        unknown = sorted(set(values) - SECTIONS)
        if unknown:
            raise ConfigError(f"{unknown[0]} is not a section; the sections are: {', '.join(sorted(SECTIONS))}")
        for name, section in values.items():
            if not isinstance(section, Mapping):
                raise ConfigError(f"{name} must be a section of settings, got {section!r} instead")
        backbone_name, backbone = _chosen(values.get("backbone", {}), "gcn", "backbone")
        method_name, method = _chosen(values.get("method", {}), DEFAULT_METHOD, "method")
        return cls(
            dataset=validated(DatasetConfig, _canonical_dataset(values.get("dataset", {})), "dataset"),
            stream=validated(StreamConfig, values.get("stream", {}), "stream"),
            backbone_name=BACKBONES.canonical(backbone_name),
            backbone=validated(BACKBONES[backbone_name].config, backbone, "backbone"),
            method_name=METHODS.canonical(method_name),
            method=validated(METHODS[method_name].config, _with_budget(method, method_name, values), "method"),
            train=validated(TrainConfig, values.get("train", {}), "train"),
            seeds=validated(SeedConfig, values.get("seeds", {}), "seeds"),
        )

    def to_values(self) -> dict[str, Any]:
        """The inverse of `from_values`: nested plain values, every default written out."""
        return {
            "dataset": self.dataset.model_dump(mode="json"),
            "stream": self.stream.model_dump(mode="json"),
            "backbone": {"name": self.backbone_name, **self.backbone.model_dump(mode="json")},
            "method": {"name": self.method_name, **self.method.model_dump(mode="json")},
            "train": self.train.model_dump(mode="json"),
            "seeds": self.seeds.model_dump(mode="json"),
        }

    @property
    def wants_whole_potential(self) -> bool:
        """Whether the method ranks nodes by the topology of the whole graph."""
        return getattr(self.method, "scope", None) is Scope.FULL

    def digest(self) -> str:
        """The same for the same settings, whatever the order in which they were given."""
        text = json.dumps(self.to_values(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def label(self) -> str:
        """A folder name that people can read and that no other configuration has."""
        data = Path(self.dataset.name).stem
        return f"{data}-{self.method_name}-{self.backbone_name}-seed{self.seeds.init}-{self.digest()[:8]}"


DEFAULT_METHOD = "ftf-er-det"
SECTIONS = {"dataset", "stream", "backbone", "method", "train", "seeds"}


def _canonical_dataset(section: Mapping[str, Any]) -> dict[str, Any]:
    name = section.get("name")
    if not isinstance(name, str) or is_path(name):
        return dict(section)
    return {**section, "name": DATASETS.canonical(name)}


def _with_budget(method: dict[str, Any], name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A method's settings, with the budget that the paper uses on this data set where none is given."""
    dataset = values.get("dataset", {}).get("name", "digits")
    if "budget" in method or "budget" not in METHODS[name].config.model_fields or is_path(str(dataset)):
        return method
    return {"budget": DATASETS[str(dataset)].budget, **method}


def _chosen(section: Mapping[str, Any], default: str, where: str) -> tuple[str, dict[str, Any]]:
    rest = dict(section)
    name = rest.pop("name", default)
    if not isinstance(name, str):
        raise ConfigError(f"{where}.name must be a name, got {name!r} instead")
    return name, rest


def completed(values: dict[str, Any]) -> dict[str, Any]:
    """A run's settings with the defaults of those that came later; as they are where they are not understood."""
    try:
        every = RunConfig.from_values(values).to_values()
    except (ValueError, TypeError, AttributeError):
        return values
    return {section: {**every[section], **own} for section, own in values.items()}
