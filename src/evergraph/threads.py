"""Work in threads: blocks of rows side by side, each with one thread of its libraries.

The libraries' own threads (OpenMP under torch, those of BLAS under numpy) wait busily for work, each pool for
itself, so that small products in turn from both take several times as long on two threads as on one.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

import torch
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Item = TypeVar("Item")
Result = TypeVar("Result")

_ALONE = Lock()
"""The limit on the libraries' threads is that of the process: one caller at a time sets it and puts it back."""


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """A function of every item, in order, on as many threads as torch may use; not to be nested.

    The libraries have one thread each inside, so that a result has the same bits for any number of threads.
    """
    workers = min(torch.get_num_threads(), len(items))
    with _ALONE, ThreadpoolController().limit(limits=1), _one_thread_of_torch():
        if workers <= 1:
            return [function(item) for item in items]
        with ThreadPoolExecutor(workers, "evergraph") as pool:
            return list(pool.map(function, items))


@contextmanager
def _one_thread_of_torch() -> Iterator[None]:
    """New threads take over torch's number at their first product; no limit from outside reaches them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
