"""The names of methods and data in headings."""

from typing import Any

import pytest
import torch

from evergraph.methods import METHODS
from evergraph.results.groups import data_sets
from evergraph.results.load import read_results
from evergraph.results.summary import NO_BACKBONE, backbone_of, data_title, derived_ahead
from evergraph.runs.build import make_learner
from evergraph.watch import Watch
from helpers import quick_config, stream_of, tiny_graph
from report.test_page import small, write


@pytest.mark.parametrize("method", list(METHODS))
def test_methods_without_a_backbone_are_those_that_give_the_same_with_any(method: str) -> None:
    """They are named here without their code, which reading results must not import."""
    graph, found = tiny_graph((9,) * 4, width=6), []
    for backbone in ("gcn", "gin"):
        config = quick_config(method, backbone)
        learner = make_learner(config, graph.n_features)
        task = stream_of(graph, config).views(0, with_past=False)[-1]
        learner.learn(task, (), Watch())
        found.append(learner.logits(task.graph))
    assert torch.equal(*found) == (method in NO_BACKBONE)


def test_the_backbone_is_named_where_it_is_used() -> None:
    assert backbone_of("ssm", "gcn") == "gcn"
    assert backbone_of("analytic", "gcn") is None


def test_rows_without_a_backbone_stand_beside_every_backbone(tmp_path: Any) -> None:
    runs = [small("ssm", 80.0), small("ssm", 81.0, backbone="gat"), small("analytic", 90.0)]
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    found = {name: [group.method for group in groups] for name, groups in data.by_backbone.items()}
    assert found == {"gat": ["analytic", "ssm"], "gcn": ["analytic", "ssm"]}
    assert [data.name(group) for group in data.groups] == ["analytic", "ssm · gat", "ssm · gcn"]


def test_only_methods_without_a_backbone_are_one_chart(tmp_path: Any) -> None:
    (data,) = data_sets(read_results([write(tmp_path / "r.json", small("analytic"), small("ncm"))])[0])
    assert [len(groups) for groups in data.by_backbone.values()] == [2]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("edges.csv", "edges"),
        ("may/edges.csv", "may/edges"),
        ("/a/june/edges.csv", "june/edges"),
        ("../edges.csv", "edges"),
    ],
)
def test_a_file_is_named_with_its_folder(name: str, shown: str) -> None:
    assert data_title({"name": name}, "edges") == shown
    assert data_title({"name": "digits"}, "digits") == "digits"


@pytest.mark.parametrize(
    ("dataset", "stream", "wanted"),
    [
        ({"name": "patents"}, {"arrival": "time"}, True),
        ({"name": "digits", "features": "degree"}, {"inductive": True}, True),
        ({"name": "ogbn-arxiv", "features": "spectral:128"}, {"inter_task_edges": True}, True),
        ({"name": "digits", "features": "degree"}, {}, False),
        ({"name": "digits"}, {"arrival": "blurry", "inductive": True}, False),
    ],
)
def test_derived_features_that_know_later_edges_are_told(
    dataset: dict[str, Any], stream: dict[str, Any], wanted: bool
) -> None:
    assert bool(derived_ahead({"dataset": dataset, "stream": stream})) is wanted
