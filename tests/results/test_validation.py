from evergraph.results.validation import best_on_validation


def test_the_best_mean_wins_and_the_first_of_equal_ones() -> None:
    assert best_on_validation({0.0: [80.0, 90.0], 0.5: [86.0, 86.0], 1.0: [70.0, 99.0]})[0] == 0.5
    assert best_on_validation({0.0: [80.0], 0.5: [80.0]}) == (0.0, {0.0: 80.0, 0.5: 80.0})


def test_a_mean_over_fewer_seeds_is_not_compared() -> None:
    assert best_on_validation({0.0: [80.0, 80.0], 0.5: [99.0]}) == (0.0, {0.0: 80.0})
