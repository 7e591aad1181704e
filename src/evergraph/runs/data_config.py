"""DataConfig: the settings of data set, stream and seeds, for what needs neither a method nor a network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from evergraph.config import Settings, changed_settings, validated
from evergraph.data.datasets import DATASETS, DatasetConfig, dataset_options, is_path
from evergraph.data.stream_config import StreamConfig
from evergraph.errors import ConfigError

DATA_SECTIONS = {"dataset", "stream", "seeds"}


class SeedConfig(Settings):
    """Where each kind of randomness starts."""

    split: int = Field(0, ge=0)
    """Of the split into training, validation and test nodes."""
    order: int = Field(0, ge=0)
    """Of the order of the classes, where stream.class_order is random, and of what blurry arrival spreads."""
    init: int = Field(0, ge=0)
    """Of the parameters at the start, and of everything drawn while learning."""


@dataclass(frozen=True)
class DataConfig:
    """The sections of a RunConfig that are read without torch."""

    dataset: DatasetConfig
    stream: StreamConfig
    seeds: SeedConfig

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "DataConfig":
        """Validate nested values, as RunConfig.from_values does; ConfigError in one sentence."""
        check_sections(values, DATA_SECTIONS)
        return cls(
            dataset=validated(DatasetConfig, _canonical_dataset(values.get("dataset", {})), "dataset"),
            stream=validated(StreamConfig, values.get("stream", {}), "stream"),
            seeds=validated(SeedConfig, values.get("seeds", {}), "seeds"),
        )


def check_sections(values: Mapping[str, Any], known: set[str]) -> None:
    """ConfigError unless these are sections of settings, each with a known name."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"sections of settings are wanted, got {values!r} instead")
    unknown = sorted(set(values) - known)
    if unknown:
        raise ConfigError(f"{unknown[0]} is not a section; the sections are: {', '.join(sorted(known))}")
    for name, section in values.items():
        if not isinstance(section, Mapping):
            example = f'; {{"name": {section!r}}} is one' if isinstance(section, str) else ""
            raise ConfigError(f"{name} must be a section of settings, got {section!r} instead{example}")


def _canonical_dataset(section: Mapping[str, Any]) -> dict[str, Any]:
    """A data set's settings with its registered name, and without options that have their default."""
    name, options = section.get("name", DatasetConfig().name), section.get("options", {})
    if not isinstance(name, str) or not isinstance(options, Mapping):
        return dict(section)  # refused with the other settings
    canonical = name if is_path(name) else DATASETS.canonical(name)
    return {**section, "name": canonical, "options": changed_settings(dataset_options(canonical, options))}
