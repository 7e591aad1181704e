"""Fine-tune on the digits: it learns each task and forgets all others."""

from evergraph.data.stream import TaskStream
from evergraph.runs.metrics import average_accuracy, average_forgetting, learning_accuracy

from .measured import measured


def test_digits_are_forgotten(digits_stream: TaskStream) -> None:
    matrix = measured("finetune", digits_stream, epochs=15)
    assert 15 < 100 * average_accuracy(matrix) < 25
    assert 100 * average_forgetting(matrix) < -90
    assert 100 * learning_accuracy(matrix) > 90
