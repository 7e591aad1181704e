"""A TOML file as a grid of different runs."""

from pathlib import Path

import pytest

from evergraph.errors import ConfigError
from evergraph.experiments.grid import read_experiment

ROOT = Path(__file__).parents[2]


def written(folder: Path, text: str) -> Path:
    path = folder / "experiment.toml"
    path.write_text(text)
    return path


def test_every_combination_once_and_grids_add_up(tmp_path: Path) -> None:
    experiment = read_experiment(
        written(
            tmp_path,
            """
            name = "mine"
            [base.train]
            epochs = 3
            [[grid]]
            "method.name" = ["finetune", "ftf-er-det"]
            seed = [0, 1]
            [[grid]]
            method.name = "ftf-er-det"
            method.beta = [0.5, 1.0]
            seed = 0
            """,
        )
    )
    assert experiment.name == "mine"
    found = [
        (config.method_name, getattr(config.method, "beta", None), config.seeds.init)
        for config in experiment.configs
    ]
    assert found == [
        ("finetune", None, 0),
        ("finetune", None, 1),
        ("ftf-er-det", 0.5, 0),
        ("ftf-er-det", 0.5, 1),
        ("ftf-er-det", 1.0, 0),
    ]
    assert all(config.train.epochs == 3 for config in experiment.configs)
    assert all(config.seeds.split == config.seeds.order == config.seeds.init for config in experiment.configs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wrong = 1", "wrong"),
        ("grid = 3", "no \\[\\[grid\\]\\] table"),
        ('[[grid]]\n"method.name" = "nope"', "nope"),
        ('[[grid]]\n"train.epochs" = [1, 0]', "train.epochs"),
        ("[[grid]", "valid TOML"),
    ],
)
def test_a_bad_file_is_answered_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_experiment(written(tmp_path, text))


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_the_experiments_of_the_repository_are_valid(path: Path) -> None:
    experiment = read_experiment(path)
    assert experiment.name == path.stem
    assert len(experiment.configs) > 1
