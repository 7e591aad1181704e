"""ContinualClassifier: fit a new task, predict, save, load; for one's own growing graph."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from safetensors.torch import load_file, save_file
from scipy import sparse

from evergraph.backbones import model_input
from evergraph.data.graph import GlobalIds, Graph, LocalIds, make_graph
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.methods import METHODS
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import make_learner
from evergraph.watch import Watch


class ContinualClassifier:
    """Learns new classes from one graph after the other and keeps the old ones.

    Settings are those of `evergraph run`: ContinualClassifier(method={"name": "ftf-er-prob", "budget": 60}).
    """

    def __init__(self, **settings: Any):
        self.config = RunConfig.from_values(settings)
        if METHODS[self.config.method_name].sees_past:
            raise ConfigError(
                f"a method that keeps its own memory is wanted, got {self.config.method_name} instead"
            )
        if self.config.stream.preprocessing is Preprocessing.STANDARD:
            raise ConfigError("preprocessing row by row is wanted (none, row-l1, row-l2), got standard instead")
        self.classes: list[int] = []
        self.n_features = 0
        self.n_tasks = 0

    def fit(
        self, adjacency: Any, features: Any, labels: ArrayLike, watch: Watch | None = None
    ) -> "ContinualClassifier":
        """Learn the classes in `labels`, all of them new; -1 marks a node whose class is not known.

        What goes wrong or is interrupted leaves the classifier as it was before.
        """
        given = np.asarray(labels)
        if given.dtype.kind not in "iu":
            raise DataError(f"labels must be whole numbers, got values of type {given.dtype} instead")
        known = given >= 0
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

    def predict_logits(self, adjacency: Any, features: Any) -> NDArray[np.float32]:
        """One number for each node and each class of `classes`: (nodes, classes)."""
        if not self.n_tasks:
            raise ConfigError("a fitted classifier is wanted, got one that has learned nothing; call fit first")
        n_nodes = adjacency.shape[0]
        graph = self._graph(adjacency, features, np.zeros(n_nodes, dtype=np.int64))
        logits: NDArray[np.float32] = (
            self.learner.net.logits(model_input(graph, None, self.learner.net.device)).cpu().numpy()
        )
        return logits

    def predict(self, adjacency: Any, features: Any) -> NDArray[np.int64]:
        """The most likely class of each node, as it was called in `fit`."""
        best: NDArray[np.int64] = np.array(self.classes)[self.predict_logits(adjacency, features).argmax(axis=1)]
        return best

    def save(self, folder: str | Path) -> None:
        """Write the classifier with its memory into a folder, as JSON and safetensors."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        state = self.learner.state() if self.n_tasks else {}
        save_file(
            {name: value.detach().cpu().contiguous() for name, value in state.items()}, path / "state.safetensors"
        )
        about = {
            "config": self.config.to_values(),
            "classes": self.classes,
            "n_features": self.n_features,
            "n_tasks": self.n_tasks,
        }
        (path / "classifier.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> "ContinualClassifier":
        """The inverse of `save`: it predicts the same and goes on learning the same."""
        path = Path(folder)
        try:
            about = json.loads((path / "classifier.json").read_text(encoding="utf-8"))
            state = load_file(path / "state.safetensors")
        except (OSError, ValueError) as error:
            raise StoreError(f"the folder of a saved classifier is wanted, got {path} instead ({error})") from None
        result = cls(**about["config"])
        result.classes, result.n_features, result.n_tasks = about["classes"], about["n_features"], about["n_tasks"]
        if result.n_tasks:
            result.learner = make_learner(result.config, result.n_features)
            result.learner.load_state(state)
        return result

    def _graph(self, adjacency: Any, features: Any, labels: NDArray[Any]) -> Graph:
        graph = make_graph(adjacency, features, labels)
        if graph.features is None:
            raise DataError("features are wanted, got None instead")
        if self.n_tasks and graph.n_features != self.n_features:
            raise DataError(
                f"{self.n_features} features a node are wanted as before, got {graph.n_features} instead"
            )
        values = preprocess(graph.features, self.config.stream.preprocessing, np.arange(graph.n_nodes))
        return Graph(graph.adjacency, values, graph.labels, graph.original_ids, directed=graph.directed)


def from_pyg(data: Any) -> tuple[sparse.csr_array, NDArray[np.float32], NDArray[np.int64]]:
    """Adjacency, features and labels of a torch_geometric `Data`; labels outside train_mask, if any, become -1."""
    n_nodes = int(data.num_nodes)
    source, target = data.edge_index.cpu().numpy()
    adjacency = sparse.csr_array(
        (np.ones(len(source), dtype=np.float32), (source, target)), shape=(n_nodes, n_nodes)
    )
    adjacency.sum_duplicates()
    adjacency.data[:] = 1
    labels = data.y.cpu().numpy().astype(np.int64).copy()
    mask = getattr(data, "train_mask", None)
    if mask is not None:
        labels[~mask.cpu().numpy()] = HIDDEN
    return adjacency, data.x.cpu().numpy(), labels


def to_pyg(graph: Graph) -> Any:
    """A graph as a torch_geometric `Data` with x, edge_index and y; needs evergraph[pyg]."""
    try:
        from torch_geometric.data import Data
    except ImportError:
        raise ConfigError("torch_geometric is wanted, got none installed; pip install 'evergraph[pyg]'") from None
    coo = graph.adjacency.tocoo()
    edge_index = torch.as_tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    features = graph.features
    x = (
        None
        if features is None
        else torch.as_tensor(features if isinstance(features, np.ndarray) else features.toarray())
    )
    return Data(x=x, edge_index=edge_index, y=torch.as_tensor(graph.labels))
