"""ContinualClassifier: fit a new task, predict, save, load; for a growing graph in memory."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field
from scipy import sparse

from evergraph.config import Settings, validated
from evergraph.data.graph import GlobalIds, Graph, LocalIds, make_graph
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.methods import METHODS
from evergraph.methods.ftf_er import TopologyScore
from evergraph.models import read_model, write_model
from evergraph.models.folder import WAIT_SECONDS
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.scores import Scope
from evergraph.watch import Watch

KIND = "classifier"
"""What a model folder says it holds."""
NOT_AS_SAVED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RuntimeError)
"""What learners raise for settings or tensors that none of them has written."""

Adjacency: TypeAlias = sparse.sparray | sparse.spmatrix
Attributes: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""Node features: (nodes, features), dense or sparse."""


class ContinualClassifier:
    """Learns new classes from one graph after the other and keeps the old ones.

    Settings are those of `evergraph run`: ContinualClassifier(method={"name": "ftf-er-prob", "budget": 60}).
    """

    def __init__(self, **settings: Mapping[str, Any]):
        _forbid_unused(settings)
        self.config = RunConfig.from_values(settings, dataset_budget=False)
        if METHODS[self.config.method_name].sees_past:
            raise ConfigError(
                f"a method that keeps its own memory is wanted, got {self.config.method_name} instead"
            )
        if self.config.stream.preprocessing is Preprocessing.STANDARD:
            raise ConfigError("preprocessing row by row is wanted (none, row-l1, row-l2), got standard instead")
        if getattr(self.config.method, "scope", None) is Scope.FULL:
            raise ConfigError("method.scope=task is wanted, got full instead; a classifier has no whole graph")
        if getattr(self.config.method, "topology_score", None) is TopologyScore.MISREAD:
            raise ConfigError(
                "a method.topology_score of the task's graph is wanted, got misread instead; take hps"
            )
        self.classes: list[int] = []
        self.n_features = 0
        self.n_tasks = 0

    def fit(
        self, adjacency: Adjacency, features: Attributes, labels: ArrayLike, watch: Watch | None = None
    ) -> "ContinualClassifier":
        """Learn the classes in `labels`, all of them new; -1 marks a node whose class is not known.

        What goes wrong or is interrupted leaves the classifier as it was before.
        """
        given = np.asarray(labels)
        if given.dtype.kind not in "iu":
            raise DataError(f"labels must be whole numbers, got values of type {given.dtype} instead")
        known = given >= 0
        if given.size and given.min() < HIDDEN:
            raise DataError(f"labels must be 0 or more, or {HIDDEN} for unknown, got {given.min()} instead")
        graph = self._graph(adjacency, features, np.where(known, given, 0))
        fresh = [int(label) for label in np.unique(given[known])]
        again = sorted(set(fresh) & set(self.classes))
        if again or not fresh:
            problem = f"classes learned before: {again}" if again else "no labelled node"
            raise DataError(f"fit needs nodes of new classes only, got {problem}")
        start = len(self.classes)
        index = np.full(len(given), HIDDEN, dtype=np.int64)
        index[known] = start + np.searchsorted(fresh, given[known])
        view = TaskView(
            self.n_tasks,
            tuple(range(start, start + len(fresh))),
            Graph(graph.adjacency, graph.features, index, graph.original_ids, directed=graph.directed),
            GlobalIds(np.arange(graph.n_nodes)),
            LocalIds(np.flatnonzero(known)),
        )
        if not self.n_tasks:
            self.n_features = graph.n_features
            self.learner = make_learner(self.config, self.n_features)
        before = {name: value.clone() for name, value in self.learner.state().items()} if self.n_tasks else None
        try:
            self.learner.learn(view, (), watch or Watch())
        except BaseException:
            if before is not None:
                self.learner = make_learner(self.config, self.n_features)
                self.learner.load_state(before)
            raise
        self.classes += fresh
        self.n_tasks += 1
        return self

    def predict_logits(self, adjacency: Adjacency, features: Attributes) -> NDArray[np.float32]:
        """One number for each node and each class of `classes`: (nodes, classes)."""
        if not self.n_tasks:
            raise ConfigError("a fitted classifier is wanted, got one that has learned nothing; call fit first")
        n_nodes = adjacency.shape[0]
        graph = self._graph(adjacency, features, np.zeros(n_nodes, dtype=np.int64))
        logits: NDArray[np.float32] = self.learner.logits(graph).cpu().numpy()
        return logits

    def predict(self, adjacency: Adjacency, features: Attributes) -> NDArray[np.int64]:
        """The most likely class of each node, as it was called in `fit`."""
        best: NDArray[np.int64] = np.array(self.classes)[self.predict_logits(adjacency, features).argmax(axis=1)]
        return best

    def save(self, folder: str | Path, *, timeout: float = WAIT_SECONDS) -> None:
        """Store the classifier with its memory in a model folder, in the place of the model that is there.

        The folder holds the old or the new classifier, whenever the process dies (`evergraph.models`). timeout: how
        many seconds to wait for another process that writes there.
        """
        about = {
            "kind": KIND,
            "config": self.config.to_values(),
            "classes": self.classes,
            "n_features": self.n_features,
            "n_tasks": self.n_tasks,
            "plugins": self.config.plugin_sources(),
        }
        state = self.learner.state() if self.n_tasks else {}
        write_model(folder, about, state, nan_in=_may_be_nan, timeout=timeout)

    @classmethod
    def load(cls, folder: str | Path) -> "ContinualClassifier":
        """The inverse of `save`: it predicts the same and learns on the same."""
        path = Path(folder)
        model = read_model(path, nan_in=_may_be_nan)
        about = _checked_about(model.manifest, path)
        result = cls.__new__(cls)
        with _as_saved(path):
            config = {name: section for name, section in about.config.items() if name != "dataset"}
            result.config = RunConfig.from_values(config, dataset_budget=False)
        _check_plugins(about.plugins, result.config.plugin_sources(), path)
        result.classes, result.n_features, result.n_tasks = list(about.classes), about.n_features, about.n_tasks
        if result.n_tasks:
            with _as_saved(path):
                result.learner = make_learner(result.config, result.n_features)
                result.learner.load_state(model.tensors)
        return result

    def _graph(self, adjacency: Adjacency, features: Attributes, labels: NDArray[np.int64]) -> Graph:
        graph = make_graph(adjacency, features, labels)
        if graph.features is None:
            raise DataError("features are wanted, got None instead")
        if self.n_tasks and graph.n_features != self.n_features:
            raise DataError(
                f"{self.n_features} features a node are wanted as before, got {graph.n_features} instead"
            )
        values = preprocess(graph.features, self.config.stream.preprocessing, np.arange(graph.n_nodes))
        return Graph(graph.adjacency, values, graph.labels, graph.original_ids, directed=graph.directed)


class _About(Settings):
    """What a stored classifier says of itself besides its tensors."""

    kind: str = KIND
    config: dict[str, dict[str, Any]]
    classes: tuple[int, ...]
    n_features: int = Field(ge=0)
    n_tasks: int = Field(ge=0)
    plugins: dict[str, str] = Field(default_factory=dict)


def _checked_about(values: Mapping[str, Any], path: Path) -> _About:
    try:
        about = validated(_About, values, "classifier")
    except ConfigError as error:
        raise StoreError(f"the folder of a saved classifier is wanted, got {path} instead ({error})") from None
    if (
        about.kind != KIND
        or (about.n_tasks == 0) != (not about.classes)
        or len(set(about.classes)) < len(about.classes)
    ):
        raise StoreError(
            f"the folder of a saved classifier is wanted, got {path} instead, which holds another model"
        )
    return about


@contextmanager
def _as_saved(path: Path) -> Iterator[None]:
    """StoreError for settings or tensors that no classifier has written."""
    try:
        yield
    except NOT_AS_SAVED as error:
        why = " ".join(str(error).split())[:300]
        raise StoreError(f"{path} must hold a classifier as it was saved, got another one ({why})") from None


def _may_be_nan(name: str) -> bool:
    """Keys of kept nodes are NaN for neighbours, which do not compete for a place."""
    return name.rpartition(".")[2] == "keys"


def _check_plugins(saved: Mapping[str, str], here: Mapping[str, str], path: Path) -> None:
    """Raise a StoreError where a plug-in's code is not the one that a classifier was saved with."""
    other = [key for key in saved if here.get(key) != saved[key]]
    if other:
        came = here.get(other[0], "none")
        raise StoreError(f"{path} needs the {other[0]} of {saved[other[0]]}, got {came} instead; load that code")


STREAM_SETTINGS = ("setting", "preprocessing")
"""The settings of a stream that concern a classifier; it gets its tasks and splits from the caller."""


def _forbid_unused(settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise a ConfigError for settings that only a run with a data set of its own has."""
    stream = settings.get("stream", {})
    names = stream if isinstance(stream, Mapping) else ()  # what is no section is reported with the other settings
    unused = [f"stream.{name}" for name in names if name not in STREAM_SETTINGS]
    if "dataset" in settings or unused:
        what = "dataset" if "dataset" in settings else unused[0]
        raise ConfigError(
            f"settings of method, backbone, train, seeds, stream.{', stream.'.join(STREAM_SETTINGS)} are wanted, "
            f"got {what} instead; a classifier gets its graphs in fit"
        )
