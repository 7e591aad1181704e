import sys

import pytest
import torch

from evergraph.runs.process import keep_freed_memory

resource = pytest.importorskip("resource", reason="page faults are counted on Unix only")


def faults_of_freeing_and_asking() -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        torch.ones(1 << 20)
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told to keep freed memory")
def test_freed_memory_is_not_asked_for_again() -> None:
    if not keep_freed_memory():
        pytest.skip("this C library has no mallopt")
    faults_of_freeing_and_asking()
    pages = (1 << 20) * 4 // resource.getpagesize()
    assert faults_of_freeing_and_asking() < 2 * pages, "50 times the same block should be paid for about once"
