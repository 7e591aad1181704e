"""Work in threads: blocks of rows side by side, each with one thread of its libraries, or on torch's own threads.

The libraries' own threads (OpenMP under torch, those of BLAS under numpy) wait busily for work, each pool for
itself, so that small products in turn from both take several times as long on two threads as on one.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Item = TypeVar("Item")
Result = TypeVar("Result")

_ALONE = Lock()
"""The limit on the libraries' threads is that of the process: one caller at a time sets it and puts it back."""


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """A function of every item, in order, on as many threads as torch may use; not to be nested.

    The libraries have one thread each inside, so that a result has the same bits for any number of threads.
    Without torch there are as many threads as the libraries below numpy may use.
    """
    workers = min(_threads(), len(items))
    with _ALONE, ThreadpoolController().limit(limits=1), _one_thread_of_torch():
        if workers <= 1:
            return [function(item) for item in items]
        with ThreadPoolExecutor(workers, "evergraph") as pool:
            return list(pool.map(function, items))


def _threads() -> int:
    try:
        import torch  # not where tables and records are only read
    except ModuleNotFoundError:
        return max((pool["num_threads"] for pool in ThreadpoolController().info()), default=1)
    return torch.get_num_threads()


@contextmanager
def _one_thread_of_torch() -> Iterator[None]:
    """New threads take over torch's number at their first product; no limit from outside reaches them."""
    if sys.modules.get("torch") is None:  # nothing of it runs
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def on_torch_threads(function: Callable[[Item], object], items: Sequence[Item]) -> None:
    """Call a function that releases the GIL for every item, on the threads that torch's products run on.

    Inside, torch has one thread, unless there is only one item, which the calling thread does.
    Other threads would have to share the cores with those of torch, which wait busily for some milliseconds after
    each product. Where torch's OpenMP library is not found, the calling thread does all.
    """
    import torch

    parallel = _openmp_parallel() if torch.get_num_threads() > 1 and len(items) > 1 else None
    if parallel is None:
        for item in items:
            function(item)
        return
    left = iter(items)
    faults: list[BaseException] = []

    def body(_: object) -> None:
        try:
            for item in left:
                function(item)
        except BaseException as fault:
            faults.append(fault)

    parallel(_BODY(body), None, torch.get_num_threads(), 0)
    if faults:
        raise faults[0]


@cache
def _openmp_parallel() -> Any | None:
    """GOMP_parallel(body, data, threads, flags) of the library that torch has loaded: enters a parallel region."""
    import torch

    for path in sorted((Path(torch.__file__).parent / "lib").glob("libgomp*.so*")):
        try:
            return ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_LAZY).GOMP_parallel
        except (OSError, AttributeError):
            continue
    return None
