"""What a method is: a learner, its settings and a line in the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from evergraph.config import Settings
from evergraph.data.stream import TaskView
from evergraph.training.net import Net
from evergraph.watch import Watch


@dataclass(frozen=True)
class Memory:
    """What a learner keeps of the past besides its model: counts, and the bytes they take."""

    nodes: int = 0
    edges: int = 0
    floats: int = 0
    bytes: int = 0
    parameters: int = 0


class Learner(Protocol):
    """A method at work. `net` is its model; everything else it keeps is in `memory` and `state`."""

    net: Net

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        """Learn a task; `past` is empty unless the method's entry says that it sees the past."""
        ...

    def memory(self) -> Memory:
        """What is kept of the tasks so far."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything needed to go on after this task, by name."""
        ...

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        ...


class NoSettings(Settings):
    """A method without settings of its own."""


@dataclass(frozen=True)
class MethodEntry:
    """A method's line in the table; build(net, settings) makes the learner."""

    summary: str
    paper: str
    config: type[Settings]
    build: Callable[[Net, Any], Learner]
    sees_past: bool = False
