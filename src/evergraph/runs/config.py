"""RunConfig: everything that decides a run, from nested values and back, and a name for it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergraph.backbones import BACKBONES
from evergraph.config import Settings, changed_settings, validated
from evergraph.data.datasets import DATASETS, DatasetConfig, is_path
from evergraph.data.stream import StreamConfig
from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.replay.storage import Storage
from evergraph.runs.data_config import DATA_SECTIONS, DataConfig, SeedConfig, check_sections
from evergraph.training.loop import TrainConfig


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
    def from_values(cls, values: Mapping[str, Any], *, dataset_budget: bool = True) -> "RunConfig":
        """Validate nested values, as they come from TOML, JSON or the command line; ConfigError in one sentence.

        dataset_budget: a method's budget is by default the one that the paper uses on the data set.
        """
        check_sections(values, SECTIONS)
        backbone_name, backbone = _chosen(values.get("backbone", {}), "gcn", "backbone")
        method_name, method = _chosen(values.get("method", {}), DEFAULT_METHOD, "method")
        data = DataConfig.from_values({name: values[name] for name in DATA_SECTIONS & set(values)})
        dataset, stream = data.dataset, data.stream
        if dataset_budget:
            method = _with_budget(method, method_name, dataset.name)
        settings = validated(METHODS[method_name].config, method, "method")
        if getattr(settings, "storage", None) is Storage.IDS and not stream.inter_task_edges:
            raise ConfigError(
                "method.storage=ids reads kept nodes again from the graph known now: stream.inter_task_edges=true "
                "is wanted, got false instead; choose another method.storage where old nodes are gone"
            )
        return cls(
            dataset=dataset,
            stream=stream,
            backbone_name=BACKBONES.canonical(backbone_name),
            backbone=validated(BACKBONES[backbone_name].config, backbone, "backbone"),
            method_name=METHODS.canonical(method_name),
            method=settings,
            train=validated(TrainConfig, values.get("train", {}), "train"),
            seeds=data.seeds,
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

    def changed(self) -> dict[str, Any]:
        """The settings that differ from their defaults, by dotted name; the three names are always among them."""
        sections = {
            "dataset": self.dataset,
            "stream": self.stream,
            "backbone": self.backbone,
            "method": self.method,
            "train": self.train,
            "seeds": self.seeds,
        }
        names = {
            "dataset.name": self.dataset.name,
            "backbone.name": self.backbone_name,
            "method.name": self.method_name,
        }
        changed = (changed_settings(section, f"{name}.") for name, section in sections.items())
        return {key: value for part in (names, *changed) for key, value in part.items()}

    def plugin_sources(self) -> dict[str, str]:
        """For the method, backbone and data set that come from outside of evergraph: which code they are."""
        used = ((METHODS, self.method_name), (BACKBONES, self.backbone_name), (DATASETS, self.dataset.name))
        found = {f"{table.kind} {name}": table.source(name) for table, name in used if name in table}
        return {key: source for key, source in found.items() if source is not None}

    def digest(self) -> str:
        """The same for the same settings; a setting that has its default counts as one that is not there."""
        text = json.dumps(self.changed(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def label(self) -> str:
        """A folder name that people can read and that no other configuration has."""
        return f"{self.label_stem()}-{self.digest()[:8]}"

    def label_stem(self) -> str:
        """The readable part of the label; configurations that differ in other settings share it."""
        return f"{Path(self.dataset.name).stem}-{self.method_name}-{self.backbone_name}-seed{self.seeds.init}"


DEFAULT_METHOD = "ftf-er-det"
SECTIONS = DATA_SECTIONS | {"backbone", "method", "train"}


def _with_budget(method: dict[str, Any], name: str, dataset: str) -> dict[str, Any]:
    """A method's settings, with the budget that the paper uses on this data set where none is given."""
    if "budget" in method or "budget" not in METHODS[name].config.model_fields or is_path(dataset):
        return method
    return {"budget": DATASETS[dataset].budget, **method}


def _chosen(section: Mapping[str, Any], default: str, where: str) -> tuple[str, dict[str, Any]]:
    rest = dict(section)
    name = rest.pop("name", default)
    if not isinstance(name, str):
        raise ConfigError(f"{where}.name must be a name, got {name!r} instead")
    return name, rest


def completed(values: dict[str, Any]) -> tuple[dict[str, Any], list[str]] | None:
    """A run's settings with those that came later, and the names of the changed ones; None if not understood."""
    try:
        config = RunConfig.from_values(values)
    except (ValueError, TypeError, AttributeError):
        return None
    every = config.to_values()
    return {section: {**every[section], **own} for section, own in values.items()}, sorted(config.changed())
