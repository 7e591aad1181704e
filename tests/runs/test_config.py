"""RunConfig: values and back, digests and labels, what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.backbones import BACKBONES
from evergraph.data.datasets import DATASETS
from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.runs.config import RunConfig, completed
from evergraph.runs.execute import run


@settings(max_examples=30)
@given(
    method=st.sampled_from(list(METHODS)),
    backbone=st.sampled_from(list(BACKBONES)),
    order=st.sampled_from(["label", "size", "random", [2, 0, 1]]),
    split=st.sampled_from([[0.6, 0.2, 0.2], [0.5, 0.25, 0.25]]),
    epochs=st.integers(1, 500),
    seed=st.integers(0, 2**63),
    features=st.sampled_from([None, "degree", "spectral:4"]),
)
def test_values_survive_the_round_trip_through_json(
    method: str, backbone: str, order: Any, split: list[float], epochs: int, seed: int, features: str | None
) -> None:
    config = RunConfig.from_values(
        {
            "dataset": {"name": "digits", "features": features},
            "stream": {"class_order": order, "split": split},
            "method": {"name": method},
            "backbone": {"name": backbone},
            "train": {"epochs": epochs},
            "seeds": {"init": seed},
        }
    )
    again = RunConfig.from_values(json.loads(json.dumps(config.to_values())))
    assert again == config
    assert again.to_values() == config.to_values()
    assert again.label() == config.label()


def test_no_values_are_all_defaults() -> None:
    values = RunConfig.from_values({}).to_values()
    assert values["dataset"]["name"] == "digits"
    assert values["method"]["name"] == "ftf-er-det"
    assert values["backbone"] == {"name": "gcn", "hidden": 256, "norm": "symmetric", "bias": True}
    assert values["train"]["epochs"] == 200
    assert values["train"]["lr"] == 0.005
    assert values["train"]["weight_decay"] == 5e-4
    assert values["stream"]["preprocessing"] == "row-l2"
    assert values["stream"]["split"] == [0.6, 0.2, 0.2]


def test_the_digest_sees_every_change_but_not_the_order_or_the_spelling() -> None:
    one = RunConfig.from_values({"train": {"lr": 0.1, "epochs": 3}, "method": {"name": "joint"}})
    same = RunConfig.from_values({"method": {"name": "JOINT"}, "train": {"epochs": 3, "lr": 0.1}})
    other = RunConfig.from_values({"train": {"lr": 0.1, "epochs": 4}, "method": {"name": "joint"}})
    assert one.digest() == same.digest() != other.digest()
    assert one.label() == same.label() != other.label()


def test_only_settings_that_differ_from_their_defaults_make_the_digest() -> None:
    plain = RunConfig.from_values({})
    spelled = RunConfig.from_values(plain.to_values())
    names = {"dataset.name": "digits", "backbone.name": "gcn", "method.name": "ftf-er-det"}
    assert plain.changed() == {**names, "method.budget": DATASETS["digits"].budget}
    assert spelled.changed() == plain.changed()
    assert spelled.digest() == plain.digest()
    values = {
        "dataset": {"options": {"neighbours": 4}, "standardise": {"unweighted": False}},
        "stream": {"split": [0.5, 0.25, 0.25], "class_order": [2, 0, 1]},
        "backbone": {"name": "gat", "heads": 4},
        "method": {"name": "gem", "margin": 0.25},
        "train": {"epochs": 200, "lr": 0.1},
        "seeds": {"init": 3},
    }
    assert RunConfig.from_values(values).changed() == {
        "dataset.name": "digits",
        "dataset.options.neighbours": 4,
        "dataset.standardise.unweighted": False,
        "stream.split": [0.5, 0.25, 0.25],
        "stream.class_order": [2, 0, 1],
        "backbone.name": "gat",
        "backbone.heads": 4,
        "method.name": "gem",
        "method.budget": 10,
        "method.margin": 0.25,
        "train.lr": 0.1,
        "seeds.init": 3,
    }


def test_the_names_always_count() -> None:
    chosen = [{}, {"method": {"name": "joint"}}, {"backbone": {"name": "gin"}}, {"dataset": {"name": "sbm"}}]
    assert len({RunConfig.from_values(values).digest() for values in chosen}) == 4


def test_the_budget_is_the_data_sets_unless_it_is_given_or_not_wanted() -> None:
    def budget(values: dict[str, Any], **options: bool) -> object:
        return RunConfig.from_values(values, **options).to_values()["method"]["budget"]

    assert DATASETS["reddit"].budget != 60
    reddit = {"dataset": {"name": "Reddit"}}
    assert budget(reddit) == DATASETS["reddit"].budget
    assert budget(reddit, dataset_budget=False) == 60
    assert budget({**reddit, "method": {"budget": 7}}) == 7
    assert budget({"dataset": {"name": "some/where/my.npz"}}) == 60


def test_a_label_can_be_read() -> None:
    config = RunConfig.from_values({"dataset": {"name": "some/where/my.npz"}, "seeds": {"init": 7}})
    assert config.label_stem() == "my-ftf-er-det-gcn-seed7"
    assert config.label() == f"my-ftf-er-det-gcn-seed7-{config.digest()[:8]}"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (
            {"trian": {}},
            "trian is not a section; the sections are: backbone, dataset, method, seeds, stream, train",
        ),
        ({"train": 3}, "train must be a section of settings, got 3"),
        ({"method": {"name": 3}}, "method.name must be a name, got 3"),
        ({"method": {"name": "jiont"}}, r"did you mean 'joint'\?"),
        ({"backbone": {"name": "gcnn"}}, r"did you mean 'gcn'\?"),
        ({"dataset": {"name": "digit"}}, r"did you mean 'digits'\?"),
        ({"dataset": {"name": 3}}, r"dataset.name: .*string, got 3"),
        ({"backbone": {"norm": "mean"}}, "backbone.norm: .*'symmetric' or 'sum'.*got 'mean'"),
        ({"stream": {"split": [0.5, 0.5, 0.5]}}, "stream.split: three positive shares that add up to 1"),
        ({"seeds": {"init": -1}}, "seeds.init: .*got -1"),
        (
            {"train": {"device": "toaster"}},
            "train.device: a device that torch can use here is wanted, got 'toaster'",
        ),
    ],
)
def test_what_cannot_work_is_one_sentence(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        RunConfig.from_values(values)
    assert "\n" not in str(caught.value)


def test_heads_must_share_the_hidden_layer() -> None:
    with pytest.raises(ConfigError, match="hidden must be a multiple of heads, got 256 and 7"):
        RunConfig.from_values({"backbone": {"name": "gat", "heads": 7}})


def test_settings_that_came_later_are_filled_in_and_what_is_strange_is_left_alone() -> None:
    values = RunConfig.from_values({"method": {"name": "gem", "margin": 0.25}}).to_values()
    older = {**values, "method": {"name": "gem", "margin": 0.25, "budget": 10}}
    del older["stream"]
    filled = {key: value for key, value in values.items() if key != "stream"}
    names = ["backbone.name", "dataset.name", "method.budget", "method.margin", "method.name"]
    assert completed(older) == (filled, names)
    assert completed({"method": {"name": "unknown here", "depth": 3}}) is None


def test_options_of_a_data_set_at_their_defaults_count_as_not_given() -> None:
    plain = RunConfig.from_values({"dataset": {"name": "sbm"}})
    default = DATASETS["sbm"].options().model_dump(mode="json")
    assert RunConfig.from_values({"dataset": {"name": "sbm", "options": default}}) == plain
    changed = RunConfig.from_values({"dataset": {"name": "sbm", "options": {**default, "classes": 7}}})
    assert changed.dataset.options == {"classes": 7}
    assert (
        RunConfig.from_values({"dataset": {"name": "g.csv", "options": {"directed": True}}}).dataset.options == {}
    )


def test_what_is_no_configuration_is_one_sentence(tmp_path: Path) -> None:
    for strange in (None, 3, "digits"):
        with pytest.raises(ConfigError, match="sections of settings are wanted, got"):
            RunConfig.from_values(strange)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="a RunConfig is wanted, got"):
            run(strange, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"got 'ssm' instead; .*name.* is one"):
        RunConfig.from_values({"method": "ssm"})


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "budget" in entry.config.model_fields]
)
def test_on_ones_own_graph_the_budget_is_the_same_in_python_and_at_the_command_line(method: str) -> None:
    """A classifier has no data set, a run has the file."""
    chosen = {"method": {"name": method}}
    in_python = RunConfig.from_values(chosen, dataset_budget=False)
    at_the_command_line = RunConfig.from_values({**chosen, "dataset": {"name": "data/edges.csv"}})
    assert in_python.method == at_the_command_line.method
    assert in_python.method.model_dump()["budget"] == 60
