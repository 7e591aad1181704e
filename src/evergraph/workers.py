"""Workers: other processes, on this machine or on others, that do parts of one computation.

They belong to the process as the budget does: what they compute has the same bits as what is computed here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

SHARED_METHODS = "analytic, ncm and slda"
"""The methods whose propagation and sums workers share."""
Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers(ABC):
    """count: how many work side by side; folder: which all of them and this process reach, by path or address."""

    count: int
    folder: Path | str

    @abstractmethod
    def map(self, function: Callable[[Any, Item], Result], common: Any, items: Sequence[Item]) -> list[Result]:
        """function(common, item) of every item, in order; `common` is sent once.

        A worker that dies is replaced, and only its items are done again: a function must bear that.
        """

    @abstractmethod
    def total(
        self,
        function: Callable[[Any, Item], Result],
        add: Callable[[Result, Result], Result],
        common: Any,
        items: Sequence[Item],
    ) -> Result:
        """The sum of function(common, item) over at least one item, added up in a tree, in their order."""


_CURRENT: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current_workers() -> Workers | None:
    """The workers in force, if there are any."""
    return _CURRENT.get()


@contextmanager
def working(workers: Workers) -> Iterator[Workers]:
    """Let parts of what is computed inside be done by these workers."""
    token = _CURRENT.set(workers)
    try:
        yield workers
    finally:
        _CURRENT.reset(token)
