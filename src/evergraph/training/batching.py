"""Full or sampled batches: what is asked for, what a full batch would take, and the choice."""

import os
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from evergraph.budget import current_budget

AUTO: Final = "auto"
FULL: Final = "full"
BatchSetting: TypeAlias = Literal["auto", "full"] | int
AUTO_SIZE = 1024
"""Nodes of a sampled batch where the choice is automatic; independent of the budget, so that results are, too."""
NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Batching:
    """Sampled batches: nodes in the loss of one step; neighbours of each of them, and of each of those."""

    size: int
    fanout: tuple[int, ...]

    def __str__(self) -> str:
        return f"sampled (batch {self.size:,}, neighbours {', '.join(map(str, self.fanout))})"


@dataclass(frozen=True)
class BatchPlan:
    """How a task is trained (batching: None for full batches) and why: estimated bytes, the budget, who chose."""

    batching: Batching | None
    full_bytes: int
    budget: int
    automatic: bool

    def __str__(self) -> str:
        """full, or sampled with its sizes."""
        return FULL if self.batching is None else str(self.batching)

    def described(self) -> str:
        """The choice and its reason in one sentence."""
        step = f"a step with all nodes takes at most about {size_text(self.full_bytes)}"
        if not self.automatic:
            return f"batches: {self}, as set with train.batch; {step}"
        fits = "which fits into" if self.batching is None else "more than"
        advice = "" if self.batching is None else "; results differ from those of full batches (train.batch=full)"
        return f"batches: {self}; {step}, {fits} the budget of {size_text(self.budget)}{advice}"


def make_plan(setting: BatchSetting, fanout: tuple[int, ...], full_bytes: int) -> BatchPlan:
    """The choice for a step that takes so many bytes as a full batch."""
    budget = training_budget()
    if setting == FULL:
        return BatchPlan(None, full_bytes, budget, automatic=False)
    if setting == AUTO:
        batching = Batching(AUTO_SIZE, fanout) if full_bytes > budget else None
        return BatchPlan(batching, full_bytes, budget, automatic=True)
    return BatchPlan(Batching(int(setting), fanout), full_bytes, budget, automatic=False)


def training_budget() -> int:
    """The bytes that a training step may take: the given budget, else half of the machine's memory.

    Not half of what is free, as for other work: full and sampled batches have different results, and what else
    happens to run must not decide between them.
    """
    budget = current_budget()
    return budget.memory if budget.given else machine_memory() // 2


@cache
def machine_memory() -> int:
    """The bytes that the machine has; NO_LIMIT where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every platform
        return NO_LIMIT


def size_text(size: float) -> str:
    """Bytes in the largest unit that leaves at least one of it."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.{0 if size >= 10 * unit else 1}f} {name}"
    return f"{size:.0f} bytes"
