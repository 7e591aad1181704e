"""Continual graph learning: node classification on a graph that keeps growing new classes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evergraph.data.datasets import load_dataset
    from evergraph.data.graph import Graph, make_graph
    from evergraph.estimator.classifier import ContinualClassifier

__version__ = "0.1.0"
__all__ = ["ContinualClassifier", "Graph", "__version__", "load_dataset", "make_graph"]

_HOMES = {
    "ContinualClassifier": "evergraph.estimator.classifier",
    "Graph": "evergraph.data.graph",
    "load_dataset": "evergraph.data.datasets",
    "make_graph": "evergraph.data.graph",
}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first used: importing the package alone costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evergraph' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
