"""Keys of nodes, the same for a whole number and its text, whatever its size; checksums of what was learned."""

import numpy as np
import pytest
from scipy import sparse

from evergraph.estimator.keys import checksums, fingerprint, node_keys, row_keys


@pytest.mark.parametrize("number", [0, 7, -1, 2**53 + 1, 2**63 - 1, -(2**63) + 1])
def test_a_number_and_its_text_have_one_key(number: int) -> None:
    assert node_keys(np.array([number])) == node_keys(np.array([str(number)], dtype=object))


def test_text_that_is_no_64_bit_number_has_a_key_of_its_own() -> None:
    words = ["07", "+7", "7", "7.0", str(2**63), str(2**64 + 7), "9" * 5000, "-" + "9" * 5000, ""]
    keys = node_keys(np.array(words, dtype=object))
    assert len(set(keys.tolist())) == len(words)


def test_an_id_has_one_key_whether_it_is_text_or_a_number() -> None:
    numbers = np.array([0, 7, -3, 2**62])
    text = np.array([str(number) for number in numbers], dtype=object)
    assert np.array_equal(node_keys(numbers), node_keys(text))
    assert len(set(node_keys(np.array(["7", "07", "7.0", " 7", "x"], dtype=object)))) == 5
    zeros, ones = np.zeros((100, 2), dtype=np.float32), sparse.csr_array(np.eye(100, dtype=np.float32))
    some, other = fingerprint(zeros), fingerprint(ones)
    assert len({*row_keys(0, some, 100), *row_keys(1, some, 100), *row_keys(0, other, 100)}) == 300


def test_checksums_see_every_bit() -> None:
    rows = np.random.default_rng(0).integers(0, 128, (50, 3, 33), dtype=np.uint8)
    found = checksums(rows)
    assert len(set(found.tolist())) == 50
    changed = rows.copy()
    changed[7, 1, 4] ^= 1
    assert np.flatnonzero(checksums(changed) != found).tolist() == [7]
    assert np.array_equal(checksums(rows[::-1]), found[::-1])
