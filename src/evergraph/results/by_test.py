"""What each test found: local, in every task's own graph; global, in the whole graph known by then."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from evergraph.results.groups import DataSet, Group, Stat, stat
from evergraph.results.load import Result
from evergraph.results.summary import SoFar
from evergraph.runs.metrics import accuracy_curve

Test = Literal["global", "local"]
TESTS: tuple[Test, ...] = ("global", "local")


def own_test(data: DataSet) -> Test:
    """The test in the graph in which the runs learned."""
    return "global" if data.groups[0].first.whole_graph else "local"


def known_tests(data: DataSet) -> list[Test]:
    """The tests of which something is known, the runs' own first."""
    own = own_test(data)
    known = [test for test in TESTS if any(group.tested(test) for group in data.groups)]
    return sorted(known, key=lambda test: test != own)


def classes_return(data: DataSet) -> bool:
    """Whether accuracy is that on all nodes so far, because tasks share classes."""
    return any(group.so_far("area_plain") is not None for group in data.groups)


def main_measure(group: Group, test: Test) -> Stat | None:
    """What methods are ranked by: AA, or where classes come back the mean accuracy on all nodes so far."""
    if group.so_far("area_plain") is None:
        return group.tested(test)
    found = [_so_far(result, test) for result in group.results]
    known = [one.area_plain for one in found if one is not None]
    return stat(known) if len(known) == len(found) else None


def forgetting(group: Group, test: Test) -> Stat | None:
    """AF in a test; None where not all runs were tested so."""
    found = [_forgetting(result, test) for result in group.results]
    known = [value for value in found if value is not None]
    return stat(known) if len(known) == len(found) else None


def matrix_in(result: Result, test: Test) -> list[list[float | None]] | None:
    """The accuracy matrix in a test, in percent; None where the run was not tested so."""
    if test == _own(result):
        return result.record.matrix
    return result.record.matrix_global if test == "global" else result.record.matrix_local


def curve_in(group: Group, test: Test) -> list[Stat] | None:
    """The accuracy after each task in a test, as `main_measure` counts it; None where it is not known."""
    curves = [_curve(result, test) for result in group.results]
    known = [curve for curve in curves if curve is not None]
    if len(known) < len(curves):
        return None
    return [stat(values) for values in zip(*known, strict=True)]


def _own(result: Result) -> Test:
    return "global" if result.whole_graph else "local"


def _so_far(result: Result, test: Test) -> SoFar | None:
    return result.record.so_far_global if test == "global" else result.record.so_far_local


def _forgetting(result: Result, test: Test) -> float | None:
    if test == _own(result):
        return result.record.af
    return result.record.af_global if test == "global" else result.record.af_local


def _curve(result: Result, test: Test) -> Sequence[float] | None:
    if result.so_far is not None:
        so_far = _so_far(result, test)
        return None if so_far is None else so_far.plain
    matrix = matrix_in(result, test)
    if matrix is None:
        return None
    return [float(value) for value in accuracy_curve(np.array(matrix, dtype=np.float64))]
