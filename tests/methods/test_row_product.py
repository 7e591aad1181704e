"""Products whose rows do not depend on their position."""

import numpy as np
import pytest

from evergraph.methods import row_product as module
from evergraph.methods.row_product import Rows, by_blas, by_torch, in_64_bits, is_steady, row_product


def unsteady(rows: Rows, columns: Rows) -> Rows:
    """Sums the rows at odd positions the other way round."""
    product = rows @ columns
    product[1::2] = rows[1::2, ::-1] @ columns[::-1]
    return product


@pytest.mark.parametrize(("n", "k", "m"), [(1024, 100, 256), (1024, 767, 256), (7, 5, 3), (1, 1, 1)])
def test_rows_do_not_depend_on_their_position(n: int, k: int, m: int) -> None:
    rng = np.random.default_rng(1)
    rows, columns = rng.standard_normal((n, k), dtype=np.float32), rng.standard_normal((k, m), dtype=np.float32)
    order = rng.permutation(n)
    np.testing.assert_array_equal(row_product(rows, columns)[order], row_product(rows[order], columns))
    np.testing.assert_allclose(row_product(rows, columns), rows.astype(np.float64) @ columns, atol=1e-4)


def test_a_way_that_depends_on_positions_is_noticed_and_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_steady(unsteady, 64, 16)
    assert is_steady(in_64_bits, 64, 16)
    monkeypatch.setattr(module, "by_blas", unsteady)
    module._way.cache_clear()
    assert module._way(64, 16) in (by_torch, in_64_bits)
    monkeypatch.setattr(module, "by_torch", unsteady)
    module._way.cache_clear()
    assert module._way(64, 16) is in_64_bits
    module._way.cache_clear()


def test_ways_agree_to_rounding() -> None:
    rng = np.random.default_rng(2)
    rows, columns = rng.standard_normal((65, 33), dtype=np.float32), rng.standard_normal((33, 9), dtype=np.float32)
    for way in (by_blas, by_torch):
        np.testing.assert_allclose(way(rows, columns), in_64_bits(rows, columns), atol=1e-5)
