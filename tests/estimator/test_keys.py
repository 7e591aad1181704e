"""Keys of nodes: the same for a whole number and its text, whatever its size."""

import numpy as np
import pytest

from evergraph.estimator.keys import node_keys


@pytest.mark.parametrize("number", [0, 7, -1, 2**53 + 1, 2**63 - 1, -(2**63) + 1])
def test_a_number_and_its_text_have_one_key(number: int) -> None:
    assert node_keys(np.array([number])) == node_keys(np.array([str(number)], dtype=object))


def test_text_that_is_no_64_bit_number_has_a_key_of_its_own() -> None:
    words = ["07", "+7", "7", "7.0", str(2**63), str(2**64 + 7), "9" * 5000, "-" + "9" * 5000, ""]
    keys = node_keys(np.array(words, dtype=object))
    assert len(set(keys.tolist())) == len(words)
