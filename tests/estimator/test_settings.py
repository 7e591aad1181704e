"""Arguments and settings of a classifier, taken or refused in a sentence."""

from typing import Any

import pytest

from evergraph import ContinualClassifier
from evergraph.data.datasets import DATASETS
from evergraph.data.stream import StreamConfig
from evergraph.errors import ConfigError
from evergraph.estimator.settings import run_config
from evergraph.methods import METHODS
from evergraph.runs.config import RunConfig

from .pieces import tiny_pieces


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"dataset": {"name": "digits"}}, "got dataset instead; a classifier gets its graphs in partial_fit"),
        ({"dataset": {}}, "got dataset instead"),
        *(
            ({"stream": {name: value}}, f"got stream.{name} instead")
            for name, value in StreamConfig().model_dump(mode="json").items()
            if name not in ("setting", "preprocessing")
        ),
        ({"stream": {"speed": 3}}, "got stream.speed instead"),
        ({"method": {"scope": "full"}}, r"method.scope=task is wanted, got full instead"),
        ({"method": {"topology_score": "misread"}}, r"got misread instead"),
        ({"method": {"storage": "ids"}}, r"method.storage=ids reads kept nodes again"),
        ({"method": {"name": "ssm"}}, "got method.name as an argument and in settings"),
        ({"seeds": {"init": 1}}, "got seeds.init as an argument and in settings"),
        (3, "settings by section are wanted"),
        ({"stream": {"preprocessing": "standard"}}, "row by row is wanted .*, got standard instead"),
        ({"trian": {}}, "trian is not a section"),
        ({"stream": 3}, "stream must be a section of settings, got 3 instead"),
        ({"train": {"speed": 1}}, "train.speed is not a setting"),
    ],
    ids=str,
)
def test_settings_that_a_classifier_has_no_use_for_are_refused(settings: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        ContinualClassifier("ftf-er-det", settings=settings).partial_fit(*tiny_pieces()[0])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"method": "joint"}, "keeps its own memory is wanted, got joint instead"),
        ({"method": "no-such"}, "no-such"),
        ({"method": {"name": "ssm"}}, "method must be a name, got {'name': 'ssm'} instead"),
        ({"backbone": 3}, "backbone must be a name"),
        ({"holdout": 0.7}, "holdout must be a number from 0 to 0.5, got 0.7 instead"),
        ({"reject": "some"}, "reject must be a number from 0 to 0.9"),
        ({"reject": 0.1, "reject_below": 0.5}, "got both; set one of them"),
        ({"reject": 0.1, "holdout": 0}, "got holdout=0"),
        ({"epochs": -1}, "epochs"),
        ({"method": "analytic", "budget": 3}, "method.budget is not a setting"),
    ],
    ids=str,
)
def test_arguments_that_cannot_work_are_refused_when_they_are_used(arguments: dict[str, Any], says: str) -> None:
    model = ContinualClassifier(**arguments)
    with pytest.raises(ConfigError, match=says) as caught:
        model.partial_fit(*tiny_pieces()[0])
    assert "\n" not in str(caught.value)
    assert "nothing learned" in repr(model)


def test_settings_that_concern_a_classifier_are_taken() -> None:
    stream = {"setting": "task-il", "preprocessing": "none"}
    given: dict[str, dict[str, Any]] = {"stream": stream, "method": {"scope": "task"}, "train": {"lr": 0.02}}
    model = ContinualClassifier("ftf-er-det", backbone="gin", random_state=3, epochs=1, settings=given)
    config = model.partial_fit(*tiny_pieces()[0])._learned.config
    assert config.to_values()["stream"] == {**StreamConfig().model_dump(mode="json"), **stream}
    assert (config.backbone_name, config.seeds.init, config.train.lr) == ("gin", 3, 0.02)


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "budget" in entry.config.model_fields]
)
def test_the_budget_is_the_methods_own_unless_it_is_given(method: str) -> None:
    """That of the default data set of a run, which a classifier does not have, is another one."""
    declared = METHODS[method].config.model_fields["budget"].default
    assert declared == 60 != DATASETS[RunConfig.from_values({}).dataset.name].budget
    for budget in (None, 7):
        config = run_config(method, "gcn", budget, None, 0, None)
        assert config.to_values()["method"]["budget"] == (budget or 60)
