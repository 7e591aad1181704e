"""Work in threads: in order, with one thread of each library, and as before afterwards."""

import threading
import time

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from evergraph.runs.process import torch_threads
from evergraph.threads import in_threads


def library_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info()]


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_order_and_libraries_have_one_thread(threads: int) -> None:
    seen = set()

    def work(item: int) -> tuple[int, int]:
        time.sleep(0.01 * (5 - item))
        seen.add(threading.get_ident())
        return item, max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    with torch_threads(threads):
        before = library_threads()
        found = in_threads(work, range(5))
        assert library_threads() == before
        assert torch.get_num_threads() == threads
    assert found == [(item, 1) for item in range(5)]
    assert len(seen) == threads


def test_a_fault_is_raised_and_the_next_call_works() -> None:
    def fail(item: int) -> None:
        raise KeyError(item)

    with torch_threads(2), pytest.raises(KeyError):
        in_threads(fail, range(3))
    assert in_threads(lambda item: item, [7]) == [7]
    assert in_threads(lambda item: item, list[int]()) == []


def test_callers_in_threads_wait_for_each_other() -> None:
    inside, most = [0], [0]

    def work(_: int) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        inside[0] -= 1

    def call() -> None:
        in_threads(work, [0, 1])

    with torch_threads(1):
        callers = [threading.Thread(target=call) for _ in range(3)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert most[0] <= 2  # those of one caller; a new thread may have torch's own number


def test_products_have_the_same_bits_for_any_number_of_threads() -> None:
    values = np.random.default_rng(0).standard_normal((4, 200, 64), dtype=np.float32)
    found = []
    for threads in (1, 2):
        with torch_threads(threads):
            found.append(np.stack(in_threads(lambda part: part @ part.T, list(values))))
    assert np.array_equal(found[0], found[1])
