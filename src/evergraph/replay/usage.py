"""MemoryUsage: counts of what a learner keeps of the past."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class MemoryUsage:
    """What is kept of the past besides the model, and its bytes."""

    nodes: int = 0
    """Nodes, or rows made from them."""
    edges: int = 0
    """Edges between them."""
    floats: int = 0
    """Numbers that are features or sums."""
    bytes: int = 0
    """Bytes of all of it."""
    parameters: int = 0
    """Copies of parameters and their importances, in numbers."""

    def __add__(self, other: "MemoryUsage") -> "MemoryUsage":
        return MemoryUsage(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))
