"""The runs behind each table and figure of the paper."""

from pathlib import Path

import pytest

from evergraph.experiments.grid import read_experiment
from evergraph.methods import METHODS
from evergraph.paper import published as paper
from evergraph.paper.targets import ALL_BACKBONES, BETAS, FAST_EPOCHS, TARGETS, Request

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.mark.parametrize("name", list(TARGETS))
@pytest.mark.parametrize("fast", [False, True])
def test_every_target_is_a_list_of_different_runs(name: str, fast: bool) -> None:
    request = Request("digits", seeds=(0, 1), fast=fast)
    configs = TARGETS[name].configs(request)
    assert len({config.digest() for config in configs}) == len(configs) >= 4
    assert {config.seeds.init for config in configs} == {0, 1}
    assert {config.train.epochs for config in configs} == {FAST_EPOCHS if fast else 200}
    assert {config.train.threads for config in configs} == {1}


def test_a_target_has_a_number_and_a_name() -> None:
    assert TARGETS["table2"] is TARGETS["main-results"] is TARGETS["Main_Results"]
    assert len({id(target) for target in TARGETS.values()}) == len(TARGETS) / 2 == 9


@pytest.mark.parametrize(
    ("target", "published"),
    [("table3", paper.COMPONENTS), ("table4", paper.FEATURE_SCORES), ("table5", paper.TOPOLOGY_SCORES)],
)
def test_the_rows_are_the_papers(target: str, published: dict[str, object]) -> None:
    assert [row.label for row in TARGETS[target].rows(Request("digits"))] == list(published)


def test_the_main_table_has_every_method_of_the_paper_its_grid_and_random_nodes() -> None:
    rows = TARGETS["table2"].rows(Request("digits"))
    published = [name for name in METHODS if paper.main_result(name, "amazon-computers")]
    assert [row.label for row in rows if row.label != "random-replay"] == published
    assert len(rows) == len(published) + 1
    assert {row.betas for row in rows if row.label.startswith("ftf-er")} == {BETAS}


@pytest.mark.parametrize(
    ("file", "request_"),
    [
        ("methods-amazon", Request("amazon-computers", backbones=ALL_BACKBONES)),
        ("methods-coauthor", Request("coauthor-cs", seeds=(0, 1, 2))),
        ("methods-cora", Request("cora-papers70", seeds=(0, 1, 2))),
    ],
)
def test_the_committed_grids_are_the_main_tables(file: str, request_: Request) -> None:
    grid = {config.digest() for config in read_experiment(EXPERIMENTS / f"{file}.toml").configs}
    assert grid == {config.digest() for config in TARGETS["table2"].configs(request_)}


def test_a_score_alone_needs_no_beta_and_both_leave_out_its_ends() -> None:
    rows = {row.label: row for row in TARGETS["table3"].rows(Request("digits"))}
    assert rows["GraNd + HPS"].betas == (0.25, 0.5, 0.75)
    assert [rows[label].betas for label in ("neither: random", "GraNd", "HPS")] == [(), (), ()]
    assert rows["HPS"].settings["method.beta"] == 1.0
    assert rows["GraNd"].settings["method.beta"] == 0.0


def test_the_runs_on_ogbn_arxiv_make_the_table_of_components() -> None:
    grid = {config.digest() for config in read_experiment(EXPERIMENTS / "arxiv.toml").configs}
    request = Request("ogbn-arxiv", features="spectral:128", seeds=(0,))
    assert {config.digest() for config in TARGETS["table3"].configs(request)} <= grid
