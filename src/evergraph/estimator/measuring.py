"""The end of a step: test held-out nodes, calibrate, set when there is no answer, close the step."""

import time

import numpy as np

from evergraph.errors import ConfigError
from evergraph.estimator.calibration import fitted_temperature, least_probability, probabilities
from evergraph.estimator.held_out import Outcome
from evergraph.estimator.history import Rejection, Step, class_accuracies
from evergraph.estimator.learned import Learned
from evergraph.estimator.prepared import Prepared
from evergraph.estimator.settings import Answers


def close_step(
    learned: Learned, step: Step, prepared: Prepared | None, begun: float, novel: tuple[int, float] | None
) -> None:
    """Test the held-out nodes, calibrate, and close a step."""
    tested = _tested(learned, prepared)
    learned.temperature = fitted_temperature(tested) or learned.temperature
    _set_below(learned, tested)
    before = next((past.classes for past in reversed(learned.history) if past.classes), ())
    classes = class_accuracies(tested, learned.classes, before)
    measured = {
        "classes": classes,
        "accuracy": float(np.mean([entry.accuracy for entry in classes])) if classes else None,
        "untested": len(learned.held_out) - len(tested.labels),
        "rejection": _rejection(learned, tested, novel),
        "temperature": learned.temperature,
        "bytes": learned.nbytes,
        "seconds": time.perf_counter() - begun,
    }
    learned.history.append(step.model_copy(update=measured))


def _tested(learned: Learned, prepared: Prepared | None) -> Outcome:
    """The held-out nodes that can be tested, where there is a graph also in it."""
    if not len(learned.ledger) and learned.returns:
        return Outcome(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
    return learned.held_out.tested(
        learned.learner,
        None if prepared is None else prepared.graph,
        np.zeros(0, dtype=np.int64) if prepared is None else prepared.keys,
    )


def _set_below(learned: Learned, tested: Outcome) -> None:
    """The probability below which there is no answer; as it was where no node can be tested."""
    if learned.answers.reject and len(tested.labels):
        learned.below = least_probability(tested, learned.used_temperature, learned.answers.reject)
    elif not learned.answers.reject:
        learned.below = learned.answers.reject_below or 0.0


def answer_as(learned: Learned, answers: Answers) -> None:
    """Withhold answers in another way from now on."""
    if answers == learned.answers:
        return
    tested = _tested(learned, None)
    if answers.reject and not len(tested.labels):
        raise ConfigError(
            f"reject={answers.reject} needs held-out nodes that can be tested without their graph, got none; "
            "set reject before learning, or reject_below"
        )
    learned.answers = answers
    _set_below(learned, tested)


def _rejection(learned: Learned, tested: Outcome, novel: tuple[int, float] | None) -> Rejection | None:
    if not learned.below or not len(tested.labels):
        return None
    found = probabilities(tested.logits, learned.used_temperature)
    answered = found.max(axis=1) >= learned.below
    right = found.argmax(axis=1) == tested.labels
    return Rejection(
        below=learned.below,
        share=float(1 - answered.mean()),
        accuracy=float(right[answered].mean()) if answered.any() else 0.0,
        novel=0 if novel is None else novel[0],
        novel_share=None if novel is None else novel[1],
    )
