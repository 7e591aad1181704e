"""run(): the only loop over tasks. It learns, measures and stores; it decides nothing."""

import hashlib
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import torch
from numpy.typing import NDArray
from scipy import sparse

import evergraph
from evergraph.backbones import BACKBONES
from evergraph.data.datasets import Steps, load_dataset
from evergraph.data.graph import Graph
from evergraph.data.stream import TaskStream, learner_view, make_stream
from evergraph.errors import StoreError
from evergraph.hodge import hodge_potential
from evergraph.methods import METHODS, Learner
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator, totals
from evergraph.runs.metrics import Counts
from evergraph.runs.store import RunStore
from evergraph.training.net import Net
from evergraph.watch import Watch

try:
    import resource
except ImportError:  # not on every platform
    resource = None  # type: ignore[assignment]


@dataclass(frozen=True)
class RunResult:
    """A finished run: its folder and what record.json says."""

    folder: Path
    record: dict[str, Any]


def run(
    config: RunConfig,
    out: Path,
    *,
    data_dir: Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> RunResult:
    """Do a run, or with `resume` go on with the one of this configuration below `out`; nothing is done twice."""
    store = RunStore.find(out, config) if resume else None
    if store is not None and store.finished:
        say(f"{store.folder} is finished already; nothing to do")
        return RunResult(store.folder, store.record())
    watch = watch or Watch()
    torch.set_num_threads(config.train.threads or torch.get_num_threads())
    with watch.phase("load"):
        stream = open_stream(config, data_dir, progress=True)
    for message in (*stream.graph.remarks, *stream.messages):
        say(message)
    store = store or RunStore.create(out, config)
    with store.locked():
        _work(config, stream, store, watch)
    return RunResult(store.folder, store.record())


def open_stream(config: RunConfig, data_dir: Path | None, *, progress: bool = False) -> TaskStream:
    """The data set of a configuration as a stream of tasks."""
    graph = load_dataset(
        config.dataset.name,
        options=config.dataset.options,
        data_dir=data_dir,
        features=config.dataset.features,
        steps=Steps(**config.dataset.standardise.model_dump()),
        progress=progress,
    )
    return make_stream(graph, config.stream, split_seed=config.seeds.split, order_seed=config.seeds.order)


def make_net(config: RunConfig, n_features: int) -> Net:
    """An untrained model for graphs with this many features."""
    entry = BACKBONES[config.backbone_name]
    return Net(
        lambda generator: entry.build(n_features, config.backbone, generator),
        config.stream.setting,
        config.train,
        config.seeds.init,
    )


def make_learner(config: RunConfig, n_features: int) -> Learner:
    """An untrained learner for graphs with this many features."""
    return METHODS[config.method_name].build(make_net(config, n_features), config.method)


def _work(config: RunConfig, stream: TaskStream, store: RunStore, watch: Watch) -> None:
    learner = make_learner(config, stream.graph.n_features)
    data = describe(stream)
    tasks = store.tasks()
    if tasks:
        if tasks[-1]["data"] != data:
            raise StoreError(
                f"{store.folder} was begun on other data than is here now; start a new run without --resume"
            )
        learner.load_state(store.state())
    evaluate = Evaluator(stream, learner.net.device)
    sees_past = METHODS[config.method_name].sees_past
    potential = whole_potential(stream.graph) if config.wants_whole_potential else None
    for index in range(len(tasks), len(stream)):
        watch.task(index, len(stream))
        seen = stream.seen(index) if sees_past else [stream[index]]
        views = [learner_view(task, potential) for task in seen]
        learner.learn(views[-1], views[:-1], watch)
        with watch.phase("evaluate"):
            correct = evaluate(learner, index)
        tasks.append(
            {
                "data": data,
                "correct": {"val": correct.val.tolist(), "test": correct.test.tolist()},
                "seconds": watch.take(),
                "memory": asdict(learner.memory()),
                "peak_bytes": peak_bytes(),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        )
        store.save_task(index, tasks[-1], learner.state())
    store.finish(make_record(config, stream, tasks))


def whole_potential(graph: Graph) -> NDArray[np.float64]:
    """The Hodge potential of the whole graph: (nodes,)."""
    return hodge_potential(graph.adjacency, directed=graph.directed).value


def describe(stream: TaskStream) -> dict[str, Any]:
    """What the run learned from: counts, remarks and a fingerprint of the data and the stream."""
    graph = stream.graph
    return {
        "name": graph.name,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "tasks": len(stream),
        "class_order": list(stream.order),
        "class_names": None if graph.class_names is None else [graph.class_names[label] for label in stream.order],
        "remarks": list(graph.remarks),
        "messages": list(stream.messages),
        "fingerprint": _fingerprint(graph),
    }


def _fingerprint(graph: Graph) -> str:
    digest = hashlib.sha256()
    for part in (graph.adjacency, graph.labels, graph.features):
        arrays = [part.indptr, part.indices, part.data] if isinstance(part, sparse.csr_array) else [part]
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def make_record(config: RunConfig, stream: TaskStream, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything worth knowing of a finished run, unrounded, as plain values."""
    last = tasks[-1]
    return {
        "config": config.to_values(),
        "versions": versions(),
        "data": last["data"],
        "first_class": [stream.classes_of(index).start for index in range(len(stream))] + [stream.n_classes],
        "total": dict(zip(("val", "test"), (part.tolist() for part in totals(stream)), strict=True)),
        "correct": {split: [task["correct"][split] for task in tasks] for split in ("val", "test")},
        "seconds": [task["seconds"] for task in tasks],
        "memory": [task["memory"] for task in tasks],
        "peak_bytes": max(task["peak_bytes"] for task in tasks),
        "finished": last["finished"],
    }


def counts(record: dict[str, Any], split: str = "test") -> Counts:
    """The counts of a record, from which every accuracy follows."""
    rows, total = record["correct"][split], np.array(record["total"][split], dtype=np.int64)
    correct = np.full((len(rows), len(total)), -1, dtype=np.int64)
    for index, row in enumerate(rows):
        correct[index, : len(row)] = row
    return Counts(correct, total, np.array(record["first_class"], dtype=np.int64))


def versions() -> dict[str, str]:
    return {
        "evergraph": evergraph.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "threads": str(torch.get_num_threads()),
    }


def peak_bytes() -> int:
    """The largest memory this process has had so far; 0 where the platform does not tell."""
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
