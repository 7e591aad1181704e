"""t-SNE of the hidden layer of a finished model on the test nodes of all tasks.

The hidden layer is the first layer's output; the head's input has already passed the second layer.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evergraph.config import validated
from evergraph.data.stream import TaskStream
from evergraph.errors import ConfigError, StoreError
from evergraph.files import write_atomically
from evergraph.results.projection import FILE, Projection, ProjectionSettings, read_projection
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import data_record
from evergraph.runs.process import torch_threads
from evergraph.runs.store import RunStore

NEIGHBOURS = 10
SILHOUETTE_NODES = 5_000
"""More nodes are sampled for the silhouette, which compares all pairs."""


def project(
    folder: Path, *, data_dir: Path | None, seed: int = 0, perplexity: float = 30.0, most_nodes: int = 10_000
) -> Projection:
    """The projection of a finished run: the stored one if it has these settings, else a new one."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    given = {"seed": seed, "perplexity": perplexity, "most_nodes": most_nodes}
    settings = validated(ProjectionSettings, given, "projection")
    record = RunStore(folder).record()
    found = read_projection(folder)
    if found is not None and found.settings == settings:
        return found
    stream = open_stream(RunConfig.from_values(record.config), data_dir)
    if data_record(stream).fingerprint != record.data.fingerprint:
        raise StoreError(
            f"the data that {folder} has learned are wanted, got others instead; name their folder with --data-dir"
        )
    with torch_threads(1), threadpool_limits(1):  # threads change the order of sums; t-SNE amplifies the last bit
        found = _projected(folder, record.config, stream, settings)
    write_atomically(folder / FILE, json.dumps(found.model_dump(mode="json"), separators=(",", ":")) + "\n")
    return found


def representations(folder: Path, stream: TaskStream) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The hidden layer of the test nodes of all tasks, each on its task's graph, and their labels."""
    store = RunStore(folder)
    learner = make_learner(RunConfig.from_values(store.record().config), stream.graph.n_features)
    learner.load_state(store.state())
    tasks = stream.seen(len(stream) - 1)
    with torch.no_grad():
        layers = [learner.net.model.hidden_layer(learner.inputs(task.graph, task.test)) for task in tasks]
    order = np.array(stream.order, dtype=np.int64)
    labels = order[np.concatenate([task.graph.labels[task.test] for task in tasks])]
    return torch.cat(layers).cpu().numpy(), labels


def _projected(
    folder: Path, config: dict[str, dict[str, Any]], stream: TaskStream, settings: ProjectionSettings
) -> Projection:
    import sklearn

    values, labels = representations(folder, stream)
    shown = stratified(labels, settings.most_nodes, settings.seed)
    places = tsne(values[shown], settings)
    names = stream.graph.class_names
    return Projection(
        method=config["method"]["name"],
        backbone=config["backbone"]["name"],
        settings=settings,
        scikit_learn=sklearn.__version__,
        test_nodes=len(labels),
        classes=tuple((label, str(label) if names is None else names[label]) for label in stream.order),
        silhouette=silhouette(values[shown], labels[shown], settings.seed),
        agreement=neighbour_agreement(values[shown], labels[shown]),
        labels=tuple(labels[shown].tolist()),
        x=tuple(round(float(value), 2) for value in places[:, 0]),
        y=tuple(round(float(value), 2) for value in places[:, 1]),
    )


def tsne(values: NDArray[np.float32], settings: ProjectionSettings) -> NDArray[np.float32]:
    """Coordinates, (nodes, 2), by Barnes-Hut t-SNE, initialised with the first two principal components."""
    from sklearn.manifold import TSNE

    if settings.perplexity >= len(values):
        raise ConfigError(
            f"a perplexity below the number of test nodes is wanted, got {settings.perplexity:g} for {len(values)}"
        )
    if values.shape[1] < 2 or not np.ptp(values, axis=0).any():
        raise StoreError(
            "a hidden layer that separates nodes in two dimensions is wanted, got one that does not; "
            "train longer or with a larger backbone.hidden"
        )
    model = TSNE(init="pca", perplexity=settings.perplexity, random_state=settings.seed, n_jobs=1)
    places: NDArray[np.float32] = model.fit_transform(values)
    return places


def stratified(labels: NDArray[np.int64], most: int, seed: int) -> NDArray[np.int64]:
    """At most `most` positions, sampled in proportion to the classes, ascending."""
    if len(labels) <= most:
        return np.arange(len(labels))
    by_class = np.lexsort((np.random.default_rng(seed).random(len(labels)), labels))
    evenly = (np.arange(most) * 2 + 1) * len(labels) // (2 * most)
    return np.sort(by_class[evenly])


def silhouette(values: NDArray[np.float32], labels: NDArray[np.int64], seed: int) -> float | None:
    """The silhouette of the classes, -1 to 1; None for a single class."""
    from sklearn.metrics import silhouette_score

    chosen = stratified(labels, SILHOUETTE_NODES, seed)
    if not 1 < len(np.unique(labels[chosen])) < len(chosen):
        return None
    return float(silhouette_score(values[chosen], labels[chosen]))


def neighbour_agreement(values: NDArray[np.float32], labels: NDArray[np.int64]) -> float:
    """The share of a node's nearest neighbours with its class, mean over nodes."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(values) - 1), n_jobs=1).fit(values)
    nearest = search.kneighbors(return_distance=False)
    return float((labels[nearest] == labels[:, None]).mean())
