"""Methods: a learner, its settings and its entry in the table."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from evergraph.backbones import ModelInput, model_input
from evergraph.config import Settings
from evergraph.data.graph import Graph
from evergraph.data.stream import TaskView
from evergraph.replay.usage import MemoryUsage
from evergraph.training.net import Net
from evergraph.watch import Watch


class Kept(Protocol):
    """Something that a learner keeps of the past, such as a replay buffer.

    `state` is everything needed to resume, under its own names; `load_state` ignores all other names.
    """

    def memory(self) -> MemoryUsage: ...

    def state(self) -> dict[str, Tensor]: ...

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


@runtime_checkable
class Droppable(Protocol):
    """What is kept node by node, so that a node can be taken out of it."""

    def drop(self, ids: NDArray[np.int64]) -> int:
        """Remove nodes; how many different ones there were, however many copies of each."""


class Learner(ABC):
    """A method that learns: `net` is its model, `kept` is what else it keeps of the past.

    trains_net: whether the parameters of `net` are learned; a method without them overrides `outputs`.
    """

    trains_net = True
    reads_blocks = False
    """Whether it learns and predicts in a graph on disk, in blocks; what it trains on are rows without edges."""
    in_batches = True
    """Whether it may train on a part of the nodes at a time."""

    def __init__(self, net: Net, *kept: Kept):
        self.net = net
        self.kept = kept

    @abstractmethod
    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        """Learn a task; `past` is empty unless the method's entry has `sees_past`."""

    def outputs(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> Callable[[], Tensor]:
        """What computes the logits of these rows of a graph (all rows where None) as the learner is then.

        What depends on the graph alone is computed once, here.
        """
        return self.net.outputs(graph, rows)

    def inputs(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> ModelInput:
        """What `net` is called with for these rows of a graph (all rows where None)."""
        return model_input(graph, rows, self.net.device)

    def logits(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> Tensor:
        """One number for each node and each class so far: (rows, classes)."""
        return self.outputs(graph, rows)()

    def drop(self, ids: NDArray[np.int64]) -> int:
        """Remove nodes, by the node_ids of the views they came in, from what is kept node by node; how many.

        What the parameters have learned from them stays.
        """
        return sum(part.drop(ids) for part in self.kept if isinstance(part, Droppable))

    def lasting_inputs(self, graph: Graph, rows: NDArray[np.int64]) -> NDArray[Any] | None:
        """What the outputs of these rows depend on, (rows, …); None where learning changes what is taken from it.

        `lasting_outputs` predicts from it at any later time, without the graph.
        """
        return None

    def lasting_outputs(self, inputs: NDArray[Any]) -> Tensor:
        """The logits of rows of `lasting_inputs`, as the learner is now."""
        raise NotImplementedError

    def embed(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """What the last layer sees of each row of a graph (all rows where None): (rows, width)."""
        hidden: NDArray[np.float32] = self.net.outputs(graph, rows, head=False)().cpu().numpy()
        return hidden

    def choices(self) -> dict[str, Any]:
        """What the learner has chosen from its training data and uses now, as JSON has it; by name."""
        return {}

    def memory(self) -> MemoryUsage:
        """The memory of all that is kept of past tasks."""
        return sum((part.memory() for part in self.kept), MemoryUsage())

    def state(self) -> dict[str, Tensor]:
        """Everything needed to resume after this task, by name."""
        state = self.net.state() if self.trains_net else {}
        for part in self.kept:
            state |= part.state()
        return state

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Resume from a state."""
        if self.trains_net:
            self.net.load_state(state)
        for part in self.kept:
            part.load_state(state)


class NoSettings(Settings):
    """The settings of a method without any."""


@dataclass(frozen=True)
class MethodEntry:
    """A method's entry in the table."""

    summary: str
    """One line on what it does."""
    paper: str
    """Where it was published."""
    config: type[Settings]
    """Its settings."""
    build: Callable[[Net, Any], Learner]
    """build(net, settings) makes the learner."""
    sees_past: bool = False
    """Whether it is given all past tasks again, as joint is."""
