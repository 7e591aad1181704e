"""A TOML file as a grid of runs.

    name = "fusion"
    [base.dataset]                      # settings of every run, as in `evergraph run --config`
    name = "amazon-computers"
    [[grid]]                            # every combination of these; several grids add up
    "method.name" = ["ftf-er-det", "ftf-er-prob"]
    "method.beta" = [0, 0.5, 1]
    seed = [0, 1, 2]

A key names a setting by its path; `seed` stands for all three seeds. A value may be a list or a single value.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evergraph.config import assigned, flattened, read_toml
from evergraph.errors import ConfigError
from evergraph.limits import MOST_RUNS
from evergraph.runs.config import RunConfig

SEED_KEYS = ("seeds.split", "seeds.order", "seeds.init")


@dataclass(frozen=True)
class Experiment:
    """A named list of different runs."""

    name: str
    configs: tuple[RunConfig, ...]


def read_experiment(path: Path) -> Experiment:
    """The grid in a TOML file, each run once; ConfigError if it is invalid."""
    content = read_toml(path)
    unknown = sorted(set(content) - {"name", "base", "grid"})
    grids = content.get("grid", [{}])
    if unknown or not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
        problem = f"the key {unknown[0]!r}" if unknown else "a grid that is no [[grid]] table"
        raise ConfigError(f"an experiment has name, [base] and [[grid]] tables, got {problem} in {path} instead")
    _forbid_many(grids, path)
    configs = {config.digest(): config for grid in grids for config in _combinations(content.get("base", {}), grid)}
    return Experiment(str(content.get("name", path.stem)), tuple(configs.values()))


def _forbid_many(grids: list[dict[str, Any]], path: Path) -> None:
    runs = sum(math.prod(map(len, _choices(grid).values())) for grid in grids)
    if runs > MOST_RUNS:
        raise ConfigError(f"an experiment has at most {MOST_RUNS:,} runs, got {runs:,} in {path}; cut it in parts")


def _choices(grid: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {path: value if isinstance(value, list) else [value] for path, value in flattened(grid).items()}


def _combinations(base: Mapping[str, Any], grid: Mapping[str, Any]) -> Iterator[RunConfig]:
    flat = _choices(grid)
    for values in itertools.product(*flat.values()):
        pairs = zip(flat, values, strict=True)
        expanded = [(key, value) for path, value in pairs for key in (SEED_KEYS if path == "seed" else (path,))]
        yield RunConfig.from_values(assigned(base, [(key.split("."), value) for key, value in expanded]))
