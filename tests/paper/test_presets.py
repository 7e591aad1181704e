"""Presets are settings that a run understands, and they say why."""

from pathlib import Path

import pytest

from evergraph.config import merged
from evergraph.errors import ConfigError
from evergraph.experiments.grid import read_experiment
from evergraph.paper.presets import PRESETS
from evergraph.results.groups import stat
from evergraph.results.records import grouped, read_records
from evergraph.runs.config import RunConfig, completed

RESULTS = Path(__file__).parents[2] / "results"
EXPERIMENT = Path(__file__).parents[2] / "experiments" / "as-published-amazon.toml"


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_is_a_run_with_a_reason(name: str) -> None:
    changed = RunConfig.from_values(PRESETS[name].values).changed()
    given = {f"{section}.{key}" for section, values in PRESETS[name].values.items() for key in values}
    assert given <= set(changed) | {"method.beta"}  # all that is named makes a difference, but for a default
    assert PRESETS[name].note.startswith(f"{name}: ")
    assert "\n" not in PRESETS[name].note


def test_as_published_says_what_it_rests_on_and_leaves_the_data_set_open() -> None:
    preset = PRESETS["as-published"]
    assert "mistake" in preset.note
    config = RunConfig.from_values(merged(preset.values, {"dataset": {"name": "sbm"}}))
    assert config.dataset.name == "sbm"
    assert config.changed()["method.topology_score"] == "misread"


def test_the_note_has_the_figures_of_the_committed_runs() -> None:
    runs = grouped(read_records(RESULTS / "as-published-amazon.json", completed), ("method.topology_score",))
    for score in ("misread", "hps"):
        assert len(runs[score,]) == 5
        assert str(stat([run.aa for run in runs[score,]])) in PRESETS["as-published"].note


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"preset must be one of as-published; got 'published' instead"):
        PRESETS["published"]


def test_the_committed_grid_is_the_preset_with_five_seeds() -> None:
    grid = {config.digest() for config in read_experiment(EXPERIMENT).configs}
    for seed in range(5):
        more = {
            "dataset": {"name": "amazon-computers"},
            "train": {"threads": 1},
            "seeds": dict.fromkeys(("split", "order", "init"), seed),
        }
        assert RunConfig.from_values(merged(PRESETS["as-published"].values, more)).digest() in grid
