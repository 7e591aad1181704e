"""The settings of a stream: class order, splits, when nodes arrive, what is in the graph."""

from enum import Enum

from pydantic import Field, field_validator, model_validator

from evergraph.config import Settings
from evergraph.data.preprocess import Preprocessing


class Setting(Enum):
    """Whether the task of a node is known when its class is predicted."""

    CLASS_IL = "class-il"
    TASK_IL = "task-il"


class Protocol(Enum):
    """In which graph a task is learned and tested.

    TASK_GRAPHS: the subgraph of the task's own classes, so that at test time the labels decide which edges a node
    keeps. WHOLE_GRAPH: the graph of all nodes that have arrived, with all its edges; nobody knows a node's task.
    """

    TASK_GRAPHS = "task-graphs"
    WHOLE_GRAPH = "whole-graph"


class ClassOrder(Enum):
    """The order in which the classes arrive, unless they are listed."""

    LABEL = "label"
    SIZE = "size"
    RANDOM = "random"


class Arrival(Enum):
    """When the nodes of a class arrive.

    CLASSES: all of them in the task of their class. TIME: by their times, in equal steps. BLURRY: as CLASSES, but
    for a share of every class, which is spread over the other tasks. In the last two, classes come back.
    """

    CLASSES = "classes"
    TIME = "time"
    BLURRY = "blurry"


class Remainder(Enum):
    """What happens to the classes left over when the last task would not be full.

    DROP: they are left out. KEEP: they are a last, smaller task.
    """

    DROP = "drop"
    KEEP = "keep"


class StreamConfig(Settings):
    """How a graph becomes a sequence of tasks."""

    setting: Setting = Setting.CLASS_IL
    """Whether the task of a node is known when its class is predicted (task-il) or not (class-il)."""
    arrival: Arrival = Arrival.CLASSES
    """When the nodes of a class arrive."""
    steps: int = Field(10, ge=1)
    """The number of tasks of arrival by time."""
    blur: float = Field(0.3, ge=0, lt=1)
    """The share of every class that arrives with other tasks, where arrival is blurry."""
    classes_per_task: int = Field(2, ge=1)
    """New classes of each task."""
    class_order: ClassOrder | tuple[int | str, ...] = ClassOrder.LABEL
    """The order in which the classes arrive: by label, by size with the largest first, at random, or a list of
    them."""
    split: tuple[float, float, float] = (0.6, 0.2, 0.2)
    """The shares of training, validation and test nodes of every class; they add up to 1."""
    min_class_size: int = Field(3, ge=3)
    """Smaller classes are left out."""
    remainder: Remainder = Remainder.DROP
    """What happens to the classes that are left over when the last task would not be full."""
    inter_task_edges: bool = False
    """Learn in the graph of all nodes so far, with all its edges (whole-graph), instead of in each task's own
    subgraph (task-graphs); --protocol sets it."""
    inductive: bool = False
    """Validation and test nodes are not in the graph in which a task is learned."""
    preprocessing: Preprocessing = Preprocessing.ROW_L2
    """How features are scaled: rows to sum 1 (row-l1) or length 1 (row-l2), or columns to mean 0 and deviation 1 on
    the first task's training nodes (standard)."""

    @property
    def protocol(self) -> Protocol:
        return Protocol.WHOLE_GRAPH if self.inter_task_edges else Protocol.TASK_GRAPHS

    @field_validator("split")
    @classmethod
    def _split_is_a_partition(cls, value: tuple[float, float, float]) -> tuple[float, float, float]:
        if min(value) <= 0 or abs(sum(value) - 1) > 1e-9:
            raise ValueError(f"three positive shares that add up to 1 are wanted, got {value} instead")
        return value

    @model_validator(mode="after")
    def _arrival_and_the_rest_fit(self) -> "StreamConfig":
        if self.arrival is not Arrival.CLASSES and self.setting is Setting.TASK_IL:
            raise ValueError(
                f"setting=class-il is wanted with arrival={self.arrival.value}, got task-il instead: "
                "a class that comes back has no task of its own"
            )
        fields = type(self).model_fields
        for name, user in OF_ARRIVAL.items():
            if self.arrival not in user and getattr(self, name) != fields[name].default:
                raise ValueError(
                    f"{name} goes with arrival={' or '.join(kind.value for kind in user)}, "
                    f"got it with arrival={self.arrival.value} instead; leave it out"
                )
        return self


OF_ARRIVAL = {
    "steps": (Arrival.TIME,),
    "blur": (Arrival.BLURRY,),
    "classes_per_task": (Arrival.CLASSES, Arrival.BLURRY),
    "class_order": (Arrival.CLASSES, Arrival.BLURRY),
    "remainder": (Arrival.CLASSES, Arrival.BLURRY),
}
"""The settings that only some kinds of arrival have."""
