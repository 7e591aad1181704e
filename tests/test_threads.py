"""Work in threads: in order, with one thread of each library, and as before afterwards."""

import sys
import threading
import time
from unittest.mock import patch

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from evergraph.runs.process import torch_threads
from evergraph.threads import in_threads, on_torch_threads


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


def test_without_torch_there_are_as_many_threads_as_the_libraries_have() -> None:
    pools = [{"num_threads": 3}, {"num_threads": 2}]
    seen = set()

    def work(item: int) -> int:
        time.sleep(0.02)
        seen.add(threading.get_ident())
        return item

    with (
        patch.dict(sys.modules, {"torch": None}),
        patch("evergraph.threads.ThreadpoolController.info", lambda _: pools),
    ):
        assert in_threads(work, range(6)) == list(range(6))
    assert len(seen) == 3


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


@pytest.mark.parametrize("threads", [1, 2])
def test_torchs_own_threads_do_every_item_once(threads: int) -> None:
    done: list[int] = []
    seen = set()

    def work(item: int) -> None:
        time.sleep(0.01)
        seen.add(threading.get_native_id())
        done.append(item)

    with torch_threads(threads):
        on_torch_threads(work, range(20))
        on_torch_threads(work, range(0))
    assert sorted(done) == list(range(20))
    assert len(seen) == threads


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fault_on_torchs_threads_is_raised_and_products_work_afterwards(threads: int) -> None:
    def fail(item: int) -> None:
        raise KeyError(item)

    with torch_threads(threads):
        with pytest.raises(KeyError):
            on_torch_threads(fail, range(3))
        assert torch.equal(torch.ones(300, 300) @ torch.ones(300, 300), torch.full((300, 300), 300.0))


def test_without_an_openmp_library_the_calling_thread_does_all() -> None:
    seen = set()
    with torch_threads(2), patch("evergraph.threads._openmp_parallel", lambda: None):
        on_torch_threads(lambda _: seen.add(threading.get_ident()), range(3))
    assert seen == {threading.get_ident()}
