"""ContinualClassifier: fit a new task, predict, save, load; for a growing graph in memory."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.data.graph import GlobalIds, Graph, LocalIds, make_graph
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.data.standardise import Standardisation, standardise
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.files import make_folder, write_atomically
from evergraph.methods import METHODS
from evergraph.methods.ftf_er import TopologyScore
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.store import load_tensors, tensor_bytes
from evergraph.scores import Scope
from evergraph.watch import Watch

Adjacency: TypeAlias = sparse.sparray | sparse.spmatrix
Attributes: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""Node features: (nodes, features), dense or sparse."""


class ContinualClassifier:
    """Learns new classes from one graph after the other and keeps the old ones.

    Settings are those of `evergraph run`: ContinualClassifier(method={"name": "ftf-er-prob", "budget": 60}).
    Graphs are standardised as there: without direction, weights and self-loops, unless a setting says otherwise,
    such as dataset={"standardise": {"unweighted": False}}; but every component is kept.
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

    def save(self, folder: str | Path) -> None:
        """Write the classifier with its memory into a folder, as JSON and safetensors.

        The state has a name of its own and counts only once classifier.json names it, so that a folder holds the
        classifier as it was before or as it is now, whenever the process dies.
        """
        path = Path(folder)
        make_folder(path, "folder")
        state = tensor_bytes(self.learner.state() if self.n_tasks else {})
        name = f"state-{sha256(state).hexdigest()[:16]}.safetensors"
        write_atomically(path / name, state)
        about = {
            "config": self.config.to_values(),
            "classes": self.classes,
            "n_features": self.n_features,
            "n_tasks": self.n_tasks,
            "state": name,
            "plugins": self.config.plugin_sources(),
            "standardised": True,
        }
        write_atomically(path / "classifier.json", json.dumps(about, indent=1) + "\n")
        for old in path.glob("state*.safetensors"):
            if old.name != name:
                old.unlink()

    @classmethod
    def load(cls, folder: str | Path) -> "ContinualClassifier":
        """The inverse of `save`: it predicts the same and learns on the same."""
        path = Path(folder)
        try:
            about = json.loads((path / "classifier.json").read_text(encoding="utf-8"))
            config = {**about["config"]}
            steps = config.pop("dataset", {}).get("standardise", {})
            if not about.get("standardised", False):  # saved when graphs were taken as they came
                steps = dict.fromkeys(Standardisation.model_fields, False)
            config["dataset"] = {"standardise": steps}
            classes = [int(label) for label in about["classes"]]
            n_features, n_tasks = int(about["n_features"]), int(about["n_tasks"])
            kept = path / about.get("state", "state.safetensors")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"the folder of a saved classifier is wanted, got {path} instead ({error})") from None
        state = load_tensors(kept, "save the classifier again")
        digest = kept.stem.partition("-")[2]
        if digest and sha256(kept.read_bytes()).hexdigest()[:16] != digest:
            raise StoreError(f"{kept} must be as it was saved, got other bytes instead; save the classifier again")
        result = cls.__new__(cls)
        result.config = RunConfig.from_values(config, dataset_budget=False)
        _check_plugins(about.get("plugins", {}), result.config.plugin_sources(), path)
        result.classes, result.n_features, result.n_tasks = classes, n_features, n_tasks
        if result.n_tasks:
            result.learner = make_learner(result.config, result.n_features)
            result.learner.load_state(state)
        return result

    def _graph(self, adjacency: Adjacency, features: Attributes, labels: NDArray[np.int64]) -> Graph:
        steps = self.config.dataset.standardise.model_copy(update={"largest_component": False})
        graph = standardise(make_graph(adjacency, features, labels), steps)
        if graph.features is None:
            raise DataError("features are wanted, got None instead")
        if self.n_tasks and graph.n_features != self.n_features:
            raise DataError(
                f"{self.n_features} features a node are wanted as before, got {graph.n_features} instead"
            )
        values = preprocess(graph.features, self.config.stream.preprocessing, np.arange(graph.n_nodes))
        return Graph(graph.adjacency, values, graph.labels, graph.original_ids, directed=graph.directed)


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
    dataset = settings.get("dataset", {"standardise": {}})
    if list(dataset) != ["standardise"] or unused:
        what = "dataset" if list(dataset) != ["standardise"] else unused[0]
        raise ConfigError(
            f"settings of method, backbone, train, seeds, dataset.standardise, "
            f"stream.{', stream.'.join(STREAM_SETTINGS)} are wanted, got {what} instead; "
            "a classifier gets its graphs in fit"
        )
