"""StatisticsLearner: a learner that keeps only sums over random features of its training nodes."""

import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_validator
from torch import Tensor

from evergraph.budget import current_budget, memory_budget
from evergraph.config import Settings
from evergraph.data.graph import Graph
from evergraph.data.on_disk import is_on_disk
from evergraph.data.stream import TaskView
from evergraph.errors import DataError, StoreError
from evergraph.methods.base import Kept, Learner
from evergraph.methods.hop_features import STEP, Codes, HopFeatures, HopSet, HopSum, OnGraph, beside, on_hops
from evergraph.methods.statistics import Blocks, ClassStatistics, Matrix, Statistics
from evergraph.replay.usage import MemoryUsage
from evergraph.training.net import Net
from evergraph.watch import Watch
from evergraph.workers import current_workers

PORTION = 2**18
"""Rows that a worker adds up at a time."""
KEPT = 8
"""At most this part of the budget of memory is for φ of nodes that are predicted again and again."""


class MapConfig(Settings):
    """The random map whose outputs are summed."""

    width: int = Field(1024, ge=1)
    """Features of the random map."""
    hops: HopSum = (0, 1, 2)
    """Which hops it adds up."""

    @field_validator("hops")
    @classmethod
    def _hops_are_a_set(cls, value: HopSum) -> HopSum:
        return _checked_sum(value)


def checked_hops(hops: HopSet) -> HopSet:
    """Sums side by side in ascending order, each of hops in ascending order; one sum as it is."""
    sums = tuple(sorted(_checked_sum(one) for one in beside(hops)))
    if len(set(sums)) < len(sums):
        raise ValueError(
            f"sums that stand side by side must be different, got {[list(one) for one in sums]} instead"
        )
    return sums if len(sums) > 1 else sums[0]


def _checked_sum(hops: HopSum) -> HopSum:
    """Hops in ascending order, at least one."""
    if not hops or min(hops) < 0 or len(set(hops)) < len(hops):
        raise ValueError(f"hops must be different whole numbers from 0 on, got {list(hops)} instead")
    return tuple(sorted(hops))


class _Seed:
    """The random map of a learner, kept as its seed."""

    def __init__(self, seed: int):
        self.seed = seed

    def memory(self) -> MemoryUsage:
        return MemoryUsage(bytes=8)

    def state(self) -> dict[str, Tensor]:
        return {"map.seed": torch.tensor(self.seed, dtype=torch.int64)}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        came = int(state["map.seed"])
        if came != self.seed:
            raise StoreError(f"the state of a learner with seeds.init={self.seed} is wanted, got one of {came}")


class _Held:
    """The bytes of arrays that are still in use."""

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, array: NDArray[Any]) -> None:
        self.bytes += array.nbytes
        weakref.finalize(array, self._let_go, array.nbytes)

    def _let_go(self, size: int) -> None:
        self.bytes -= size


class StatisticsLearner(Learner):
    """Adds the training nodes of each task to its sums; there is no model to train and no order that matters."""

    trains_net = False
    reads_blocks = True

    def __init__(self, net: Net, features: HopFeatures, statistics: Statistics, *kept: Kept):
        self.features = features
        self.statistics = statistics
        self._held = _Held()
        self._witness: Callable[[Codes], None] | None = None
        super().__init__(net, statistics, _Seed(net.seed), *kept)

    def scores(self, codes: Codes) -> Matrix:
        """One number for each row and each class so far."""
        columns, offsets = self.linear
        return np.asarray(codes[self.used_map].astype(columns.dtype) @ columns - offsets)

    @property
    @abstractmethod
    def linear(self) -> tuple[NDArray[Any], Matrix]:
        """The scores are φ @ the first of these (width, classes) minus the second (classes)."""

    def changed(self) -> None:
        """The sums are others now: whatever was computed from them no longer holds."""

    @contextmanager
    def witnessed(self, witness: Callable[[Codes], None]) -> Iterator[None]:
        """Inside, `witness` is given φ of the rows that this process adds, some at a time, in their order."""
        self._witness = witness
        try:
            yield
        finally:
            self._witness = None

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        with watch.phase("statistics"):
            self.add(task)
            self.statistics.widen(max(task.classes) + 1)
            self.changed()

    def add(self, task: TaskView) -> None:
        """Add the training rows of a task to the sums; workers do that where there are some."""
        workers, statistics = current_workers(), self.statistics
        exact = isinstance(statistics, ClassStatistics) and statistics.exact
        if workers is None or not exact or not is_on_disk(task.graph) or not len(task.train):
            statistics.add(self._seen(self._rows(task)))
            return
        assert isinstance(statistics, ClassStatistics)
        map_, hops = self.features, self.features.hops_on_disk(task.graph)
        common = (map_.hops, map_.width, map_.seed), hops, statistics.empty(), current_budget().memory
        count = min(-(-len(task.train) // PORTION), max(len(task.train), 1))
        rows, labels = (np.array_split(values, count) for values in (task.train, task.train_labels))
        statistics.merge(workers.total(summed, merged, common, list(zip(rows, labels, strict=True))))

    def forget(self, task: TaskView) -> None:
        """Take the training nodes of a view out again, in the graph in which they were learned."""
        self.statistics.forget(self._rows(task))
        self.changed()

    def _seen(self, blocks: Blocks) -> Blocks:
        """The same blocks, shown to the witness on the way."""
        for codes, labels in blocks:
            if self._witness is not None:
                self._witness(codes)
            yield codes, labels

    def _rows(self, task: TaskView) -> Blocks:
        labels = task.train_labels
        return ((codes, labels[here]) for here, codes in self.features.on(task.graph).in_blocks(task.train))

    @property
    def forgets_exactly(self) -> bool:
        """Whether forgotten nodes leave no trace in the sums."""
        return self.statistics.exact

    def embed(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        every = np.arange(graph.n_nodes) if rows is None else rows
        return np.asarray(self.features.only(self.used_map)(graph, every)[0] / np.float32(STEP))

    @property
    def used_map(self) -> int:
        """The position of the set of hops that predictions are made with."""
        return 0

    def logits(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> Tensor:
        every = np.arange(graph.n_nodes) if rows is None else rows
        return self._times(self.features.only(self.used_map).on(graph), every)

    def _times(self, on: OnGraph, rows: NDArray[np.int64]) -> Tensor:
        """The logits of rows, whose φ are never in memory together."""
        columns, offsets = self.linear
        return torch.as_tensor(on.times(rows, columns) - offsets, dtype=torch.float32)

    def lasting_inputs(self, graph: Graph, rows: NDArray[np.int64]) -> NDArray[Any]:
        return self.features(graph, rows).transpose(1, 0, 2)

    def lasting_outputs(self, inputs: NDArray[Any]) -> Tensor:
        return torch.as_tensor(self.scores(inputs.transpose(1, 0, 2)), dtype=torch.float32)

    def merge(self, other: "StatisticsLearner", places: NDArray[np.int64] | None = None) -> None:
        """Learn what a learner of the same settings and seed has learned; its class k is class places[k] here."""
        mine, others = ((map_.hops, map_.width, map_.seed) for map_ in (self.features, other.features))
        if mine != others:
            raise DataError(f"a learner with the random map {mine} is wanted, got {others} instead")
        self.statistics.merge(other.statistics if places is None else other.statistics.moved(places))
        self.changed()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        super().load_state(state)
        self.changed()

    def outputs(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> Callable[[], Tensor]:
        every = np.arange(graph.n_nodes) if rows is None else rows
        size = len(self.features.hops) * len(every) * self.features.width
        if is_on_disk(graph) or self._held.bytes + size > current_budget().memory // KEPT:
            on = self.features.on(graph)
            return lambda: self._times(on.only(self.used_map), every)
        codes = self.features(graph, every)
        self._held.add(codes)
        return lambda: torch.as_tensor(self.scores(codes), dtype=torch.float32)


def summed(
    common: tuple[Any, list[Any], ClassStatistics, int], item: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> ClassStatistics:
    """What a worker does: the sums of some rows."""
    (hops, width, seed), sources, statistics, memory = common
    rows, labels = item
    total = statistics.empty()
    with memory_budget(memory):
        on = on_hops(HopFeatures(hops, width, seed), sources)
        total.add((codes, labels[here]) for here, codes in on.in_blocks(rows))
    return total


def merged(first: ClassStatistics, second: ClassStatistics) -> ClassStatistics:
    """The sums of both."""
    total = first.empty()
    total.merge(first)
    total.merge(second)
    return total
