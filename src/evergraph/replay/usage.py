"""MemoryUsage: counts of what a learner keeps of the past."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class MemoryUsage:
    """What is kept of the past besides the model, and its bytes."""

    nodes: int = 0
    edges: int = 0
    floats: int = 0
    bytes: int = 0
    parameters: int = 0

    def __add__(self, other: "MemoryUsage") -> "MemoryUsage":
        return MemoryUsage(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))
