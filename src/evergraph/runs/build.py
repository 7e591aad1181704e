"""From a configuration to what a run works with: the stream of tasks, the model, the learner."""

from functools import partial
from pathlib import Path

from evergraph.backbones import BACKBONES
from evergraph.data.datasets import open_dataset
from evergraph.data.stream import TaskStream, make_stream
from evergraph.errors import ConfigError, DataError
from evergraph.limits import Refused, forbid_more_than_memory
from evergraph.methods import METHODS, Learner
from evergraph.runs.config import RunConfig
from evergraph.training.net import Net
from evergraph.workers import SHARED_METHODS

WEIGHT_BYTES = 4


def open_stream(config: RunConfig, data_dir: Path | None, *, progress: bool = False) -> TaskStream:
    """The data set of a configuration as a stream of tasks."""
    graph = open_dataset(config.dataset, data_dir, progress=progress)
    return make_stream(graph, config.stream, split_seed=config.seeds.split, order_seed=config.seeds.order)


def make_net(config: RunConfig, n_features: int) -> Net:
    """An untrained model for graphs with this many features; DataError where its first layer does not fit."""
    hidden = int(getattr(config.backbone, "hidden", 1))
    try:
        forbid_more_than_memory(WEIGHT_BYTES * n_features * hidden)
    except Refused as error:
        raise DataError(f"a network of {n_features:,} by {hidden:,} weights is wanted: {error}") from None
    entry = BACKBONES[config.backbone_name]
    return Net(
        partial(entry.build, n_features, config.backbone),  # unlike a lambda, it can be pickled
        config.stream.setting,
        config.train,
        config.seeds.init,
    )


def make_learner(config: RunConfig, n_features: int) -> Learner:
    """An untrained learner for graphs with this many features."""
    return METHODS[config.method_name].build(make_net(config, n_features), config.method)


def forbid_alone(config: RunConfig) -> None:
    """ConfigError for a method with which workers can do nothing: one that trains a network on a graph."""
    if not make_learner(config, 1).reads_blocks:
        raise ConfigError(
            f"--executor ray shares the work of {SHARED_METHODS}, got {config.method_name}, which trains a "
            "network; leave --executor out"
        )
