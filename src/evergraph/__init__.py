"""Continual graph learning: node classification on a graph that keeps growing new classes."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "BACKBONES",
    "DATASETS",
    "METHODS",
    "SCORES",
    "Backbone",
    "BackboneEntry",
    "Batch",
    "ConfigError",
    "ContinualClassifier",
    "ConvergenceError",
    "DataError",
    "DatasetEntry",
    "FeatureSchema",
    "Graph",
    "GraphWarning",
    "Learner",
    "MethodEntry",
    "Net",
    "Record",
    "ReplayBuffer",
    "RunConfig",
    "RunResult",
    "ScoreEntry",
    "Settings",
    "StoreError",
    "TaskView",
    "Watch",
    "__version__",
    "from_pyg",
    "hodge_potential",
    "load_dataset",
    "load_plugin",
    "make_graph",
    "read_batch",
    "read_table",
    "run",
    "score_graph",
    "summarise",
    "to_batch",
    "to_pyg",
]

if TYPE_CHECKING:
    from evergraph.backbones import BACKBONES, Backbone, BackboneEntry
    from evergraph.config import Settings
    from evergraph.data.datasets import DATASETS, DatasetEntry, load_dataset
    from evergraph.data.graph import Graph, make_graph
    from evergraph.data.stream import TaskView
    from evergraph.errors import ConfigError, ConvergenceError, DataError, GraphWarning, StoreError
    from evergraph.estimator.classifier import ContinualClassifier
    from evergraph.estimator.pyg import from_pyg, to_pyg
    from evergraph.hodge import hodge_potential
    from evergraph.methods import METHODS, Learner, MethodEntry
    from evergraph.replay.buffer import ReplayBuffer
    from evergraph.results.summary import summarise
    from evergraph.runs.config import RunConfig
    from evergraph.runs.execute import RunResult, run
    from evergraph.runs.plugins import load_plugin
    from evergraph.runs.record import Record
    from evergraph.runs.scoring import score_graph
    from evergraph.scores import SCORES, ScoreEntry
    from evergraph.tables import Batch, FeatureSchema, read_batch, read_table, to_batch
    from evergraph.training.net import Net
    from evergraph.watch import Watch

_MODULES = {
    "backbones": "BACKBONES Backbone BackboneEntry",
    "config": "Settings",
    "data.datasets": "DATASETS DatasetEntry load_dataset",
    "data.graph": "Graph make_graph",
    "data.stream": "TaskView",
    "errors": "ConfigError ConvergenceError DataError GraphWarning StoreError",
    "estimator.classifier": "ContinualClassifier",
    "estimator.pyg": "from_pyg to_pyg",
    "hodge": "hodge_potential",
    "methods": "METHODS Learner MethodEntry",
    "replay.buffer": "ReplayBuffer",
    "results.summary": "summarise",
    "runs.config": "RunConfig",
    "runs.execute": "RunResult run",
    "runs.plugins": "load_plugin",
    "runs.record": "Record",
    "runs.scoring": "score_graph",
    "scores": "SCORES ScoreEntry",
    "tables": "Batch FeatureSchema read_batch read_table to_batch",
    "training.net": "Net",
    "watch": "Watch",
}
"""Where the public names are; a module is imported when one of its names is first used."""
_HOMES = {name: f"evergraph.{module}" for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker reads the imports above

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'evergraph' has no attribute {name!r}")
        from importlib import import_module

        try:
            return getattr(import_module(_HOMES[name]), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            advice = f"evergraph.{name} needs torch, got none installed; pip install torch"
            raise ModuleNotFoundError(advice, name="torch") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
