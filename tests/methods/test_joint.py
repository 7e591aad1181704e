"""Joint on the digits: whatever has arrived is known."""

from evergraph.data.stream import TaskStream
from evergraph.runs.metrics import average_accuracy, average_forgetting

from .measured import measured


def test_digits_are_known_to_the_end(digits_stream: TaskStream) -> None:
    matrix = measured("joint", digits_stream, epochs=15)
    assert 100 * average_accuracy(matrix) > 90
    assert 100 * average_forgetting(matrix) > -10
