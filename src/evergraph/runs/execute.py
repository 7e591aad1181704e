"""run(): the only loop over tasks. It learns, measures and stores; it decides nothing."""

import hashlib
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import torch
from numpy.typing import NDArray
from scipy import sparse

import evergraph
from evergraph.budget import current_budget
from evergraph.data.datasets import DatasetConfig, is_path, source_digest
from evergraph.data.graph import Graph
from evergraph.data.on_disk import DiskAdjacency, DiskFeatures, described, is_on_disk
from evergraph.data.stream import TaskStream
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.methods import METHODS, Learner
from evergraph.runs.batches import batch_record, choose_batches
from evergraph.runs.build import forbid_alone, make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Correct, Evaluator, totals
from evergraph.runs.process import PeakMemory, torch_threads
from evergraph.runs.record import SCHEMA_VERSION, DataRecord, Record, TaskRecord
from evergraph.runs.store import RunStore
from evergraph.watch import LearnedTask, Watch
from evergraph.workers import current_workers

NOT_AS_WRITTEN = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RuntimeError)
"""What learners raise for tensors that none of them has written."""


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    folder: Path
    """Where its files are."""
    record: Record
    """What record.json says."""


def run(
    config: RunConfig,
    out: str | Path,
    *,
    data_dir: Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    on_message: Callable[[str], None] = lambda message: None,
) -> RunResult:
    """Do a run, or with `resume` continue the one of this configuration below `out`; nothing is done twice.

    Args:
        config: All settings.
        out: The folder in which the run gets its folder.
        data_dir: The folder to look for data files in first.
        resume: Continue an interrupted run of these settings; a finished one is returned as it is.
        watch: What is told of progress and keeps the times.
        on_message: What is told of remarks to the user.
    """
    if not isinstance(config, RunConfig):
        raise ConfigError(f"a RunConfig is wanted, got {config!r} instead; RunConfig.from_values makes one")
    if current_workers() is not None:
        forbid_alone(config)
    out = Path(out)
    store = find_run(out, config, on_message=on_message) if resume else None
    if store is not None and store.finished:
        on_message(f"{store.folder} is finished already; nothing to do")
        return RunResult(store.folder, store.record())
    watch = watch or Watch()
    with torch_threads(config.train.threads), PeakMemory() as peak:
        source = source_digest(config.dataset)
        with watch.phase("load"):
            stream = open_stream(config, data_dir, progress=True)
        for message in (*stream.graph.remarks, *stream.messages):
            on_message(message)
        store = store or create_run(out, config)
        with store.locked():
            _learn_tasks(config, stream, data_record(stream, source), store, watch, peak, on_message)
    return RunResult(store.folder, store.record())


def create_run(out: Path, config: RunConfig) -> RunStore:
    """A new folder below `out` for a run of this configuration."""
    plugins = config.plugin_sources()
    values = {**config.to_values(), "plugins": plugins} if plugins else config.to_values()
    return RunStore.create(out, config.label(), values)


def find_run(
    out: Path,
    config: RunConfig,
    source_of: Callable[[DatasetConfig], str | None] = source_digest,
    on_message: Callable[[str], None] = lambda message: None,
) -> RunStore | None:
    """The run of this configuration on the data of now, below `out`, to resume: a finished one, else the furthest.

    A run of other data than the file of this name holds now is left alone, and a message says so.
    """
    stores = [store for store in RunStore.below(out, config.label_stem()) if is_run_of(config, store)]
    source = source_of(config.dataset) if stores and is_path(config.dataset.name) else None
    current = [store for store in stores if source is None or _is_of_source(store, config, source)]
    for store in stores:
        if store not in current:
            on_message(f"{store.folder} is of other data: {config.dataset.name} has changed since")
    return max(current, key=lambda store: (store.finished, store.tasks_done), default=None)


def _is_of_source(store: RunStore, config: RunConfig, source: str) -> bool:
    """Whether a run learned from these files, or from others that hold the same."""
    try:
        known = store.data()
        if known is None or known.source == source or known.fingerprint is None:
            return True
        return data_record(open_stream(config, None)).fingerprint == known.fingerprint
    except (ConfigError, DataError, StoreError):  # what cannot be read is reported where it is used
        return True


def is_run_of(config: RunConfig, store: RunStore) -> bool:
    """Whether a run has these settings: one that it does not know yet counts as having its default."""
    try:
        values = store.config()
        plugins = values.pop("plugins", {})  # other code is another run, though its settings are the same
        return RunConfig.from_values(values) == config and plugins == config.plugin_sources()
    except (ConfigError, StoreError):  # a folder that cannot be read or understood is another run's
        return False


def _learn_tasks(
    config: RunConfig,
    stream: TaskStream,
    data: DataRecord,
    store: RunStore,
    watch: Watch,
    peak: PeakMemory,
    on_message: Callable[[str], None],
) -> None:
    learner = make_learner(config, stream.graph.n_features)
    if is_on_disk(stream.graph):
        plan_of_disk = _plan(learner, stream.graph)
        on_message(plan_of_disk)
        watch.on_disk(plan_of_disk)
    tasks = store.tasks()
    if tasks:
        if not tasks[-1].data.same_as(data):
            raise StoreError(
                f"{store.folder} was begun on other data than is here now; start a new run without --resume"
            )
        _load_state(learner, store)
    with_past = METHODS[config.method_name].sees_past
    plan = choose_batches(learner, stream, tasks, with_past=with_past)
    if plan is not None:
        on_message(plan.described())
    if is_on_disk(stream.graph) and not learner.reads_blocks:
        stream = replace(stream, in_arrays=True)
    evaluate = Evaluator(stream, learner)
    for index in range(len(tasks), len(stream)):
        watch.task(index, len(stream))
        *past, task = stream.views(index, with_past=with_past)
        learner.learn(task, past, watch)
        del past, task  # tests make graphs of their own, and vectors of the nodes are beside the budget
        with watch.phase("evaluate"):
            found = {protocol.value: counted(correct) for protocol, correct in evaluate(index).items()}
        times = watch.take()
        tasks.append(
            TaskRecord(
                data=data,
                correct=found.pop(stream.config.protocol.value),
                correct_in=found,
                seconds=times.seconds,
                processor_seconds=times.processor,
                memory=learner.memory(),
                peak_bytes=peak.bytes,
                finished=datetime.now(UTC).isoformat(timespec="seconds"),
                batches=None if plan is None else batch_record(plan),
                choices=learner.choices(),
            )
        )
        store.save_task(index, tasks[-1], learner.state())
        watch.learned(_learned(make_record(config, stream, tasks), index, len(stream)))
    store.finish(make_record(config, stream, tasks))


def _plan(learner: Learner, graph: Graph) -> str:
    """How a graph on disk is read."""
    if learner.reads_blocks:
        return described(graph.n_nodes, graph.n_features)
    budget = current_budget()
    return (
        f"the graph stays on disk; those of tasks are read into memory where they fit ({budget.memory / 1e9:.3g} "
        f"GB), else mapped from files in {budget.scratch}"
    )


def _load_state(learner: Learner, store: RunStore) -> None:
    """StoreError for tensors that no learner of these settings has written."""
    try:
        learner.load_state(store.state())
    except StoreError:
        raise
    except NOT_AS_WRITTEN as error:
        why = " ".join(str(error).split())[:300]
        raise StoreError(f"{store.folder} must hold a state as it was written, got another ({why})") from None


def _learned(record: Record, index: int, count: int) -> LearnedTask:
    """What is told of a task: `record` is that of the tasks so far."""
    tests = {"local": "task-graphs", "global": "whole-graph"}
    accuracies = {}
    for name, protocol in tests.items():
        if record.tested(protocol):
            row = record.counts("test", protocol).balanced()[index, : index + 1]
            accuracies[name] = [None if np.isnan(value) else float(value) * 100 for value in row]
    return LearnedTask(index, count, accuracies, record.seconds[index])


def counted(correct: Correct) -> dict[str, list[int]]:
    """Counts of correct predictions by split, as they are recorded."""
    return {"val": correct.val.tolist(), "test": correct.test.tolist()}


def data_record(stream: TaskStream, source: str | None = None) -> DataRecord:
    """What a run learns from: counts, remarks and a fingerprint of the data and the stream."""
    graph = stream.graph
    return DataRecord(
        name=graph.name,
        nodes=graph.n_nodes,
        edges=graph.n_edges,
        features=graph.n_features,
        tasks=len(stream),
        class_order=list(stream.order),
        class_names=None if graph.class_names is None else [graph.class_names[label] for label in stream.order],
        remarks=list(graph.remarks),
        messages=list(stream.messages),
        fingerprint=_fingerprint(graph),
        source=source,
    )


def _fingerprint(graph: Graph) -> str:
    digest = hashlib.sha256()
    for part in (graph.adjacency, graph.labels, graph.features, graph.times):
        for array in () if part is None else _arrays(part):
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(part: object) -> Iterable[NDArray[Any]]:
    """What a matrix or an array is made of; of one on disk the same, in blocks."""
    if isinstance(part, DiskAdjacency):
        return part.arrays()
    if isinstance(part, DiskFeatures):
        return (rows for _, rows in part.blocks())
    return [part.indptr, part.indices, part.data] if isinstance(part, sparse.csr_array) else [np.asarray(part)]


def make_record(config: RunConfig, stream: TaskStream, tasks: list[TaskRecord]) -> Record:
    """The record of a finished run."""
    return Record(
        schema_version=SCHEMA_VERSION,
        config=config.to_values(),
        changed=sorted(config.changed()),
        versions={**versions(), **config.plugin_sources()},
        data=tasks[-1].data,
        first_class=[stream.known(index - 1) for index in range(len(stream) + 1)],
        cells=_cells(stream),
        total=dict(zip(("val", "test"), (part.tolist() for part in totals(stream)), strict=True)),
        correct=by_split([task.correct for task in tasks]),
        correct_in={
            name: by_split([task.correct_in[name] for task in tasks])
            for name in tasks[0].correct_in
            if all(name in task.correct_in for task in tasks)
        },
        seconds=[task.seconds for task in tasks],
        processor_seconds=[task.processor_seconds for task in tasks if task.processor_seconds],
        memory=[task.memory for task in tasks],
        peak_bytes=max(task.peak_bytes for task in tasks),
        finished=tasks[-1].finished,
        batches=tasks[-1].batches,
        choices=[task.choices for task in tasks if task.choices],
    )


def _cells(stream: TaskStream) -> list[tuple[int, int]] | None:
    """The task and the class of each cell; None where the cells are the classes."""
    if not stream.classes_return:
        return None
    return list(zip(stream.cells.task.tolist(), stream.cells.label.tolist(), strict=True))


def by_split(rows: list[dict[str, list[int]]]) -> dict[str, list[list[int]]]:
    """The counts of each task, by split."""
    return {split: [row[split] for row in rows] for split in ("val", "test")}


def versions() -> dict[str, str]:
    """What the bits of a result may depend on besides its settings."""
    return {
        "evergraph": evergraph.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": version("numba") if find_spec("numba") else "none",
        "threads": str(torch.get_num_threads()),
    }
