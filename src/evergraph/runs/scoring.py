"""Scores for a whole graph: all its nodes and classes as one task."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evergraph.data.graph import GlobalIds, Graph, LocalIds
from evergraph.data.on_disk import is_on_disk
from evergraph.data.preprocess import preprocess
from evergraph.data.stream import TaskView
from evergraph.errors import ConfigError, DataError
from evergraph.hodge import Orientation, Solving
from evergraph.runs.data_config import DataConfig
from evergraph.scores import SCORES, NodeScores, ScoreContext
from evergraph.seeding import Purpose, numpy_generator
from evergraph.watch import Watch

if TYPE_CHECKING:  # only a score that looks at a model needs torch
    from evergraph.runs.config import RunConfig
    from evergraph.training.net import Net


def score_graph(
    graph: Graph,
    score: str,
    config: "RunConfig | DataConfig",
    orientation: Orientation = Orientation.PAPER,
    solving: Solving | None = None,
) -> NodeScores:
    """A score of every node; a score that looks at a model gets one trained on all nodes first.

    config: a RunConfig, or a DataConfig for a score without a model.
    orientation, solving: of the Hodge potential. Features are preprocessed for scores that need them.
    """
    entry = SCORES[score]
    if is_on_disk(graph) and not entry.on_disk:
        *names, last = (name for name, other in SCORES.items() if other.on_disk)
        raise DataError(
            f"the score {score} needs the whole graph in memory, got {graph.name}, which does not fit; raise "
            f"--memory, or take --score {', '.join(names)} or {last}"
        )
    task = one_task(graph, config, with_features=entry.needs_features or entry.needs_model)
    if graph.features is None and entry.needs_features:
        raise DataError(
            f"{graph.name} has no features, and the score {score} needs some; derive them with --features degree"
        )
    net = _trained(score, config, task) if entry.needs_model else None
    rng = numpy_generator(config.seeds.init, Purpose.SELECTION, 0)
    scores = entry.score(ScoreContext(task, net, rng, orientation, solving=solving or Solving()))
    if scores.value.shape != (graph.n_nodes,) or not np.isfinite(scores.value).all():
        raise DataError(
            f"the score {score} must be one finite number for each of the {graph.n_nodes} nodes, got others instead"
        )
    return scores


def _trained(score: str, config: "RunConfig | DataConfig", task: TaskView) -> "Net":
    """A model that has learned the task."""
    from evergraph.methods.base import NoSettings
    from evergraph.methods.finetune import FineTune
    from evergraph.runs.build import make_net
    from evergraph.runs.config import RunConfig

    if not isinstance(config, RunConfig):
        raise ConfigError(f"the score {score} looks at a model: a RunConfig is wanted, got a DataConfig instead")
    net = make_net(config, max(task.graph.n_features, 1))
    FineTune(net, NoSettings()).learn(task, (), Watch())
    return net


def one_task(graph: Graph, config: "RunConfig | DataConfig", *, with_features: bool = True) -> TaskView:
    """The whole graph as a single task in which every node is a training node."""
    nodes = np.arange(graph.n_nodes)
    classes, labels = np.unique(graph.labels, return_inverse=True)
    features = graph.features
    if features is not None and with_features:
        features = preprocess(features, config.stream.preprocessing, nodes)
    whole = replace(graph, labels=labels.astype(np.int64), features=features)
    return TaskView(0, tuple(range(len(classes))), whole, GlobalIds(nodes), LocalIds(nodes))
