"""What a run works with, and what workers can do nothing for."""

from pathlib import Path
from typing import cast

import pytest

from evergraph.errors import ConfigError
from evergraph.methods import METHODS
from evergraph.runs.build import forbid_alone, make_learner
from evergraph.runs.execute import run
from evergraph.workers import Workers, working
from helpers import run_config


@pytest.mark.parametrize("method", METHODS)
def test_workers_are_refused_for_methods_that_read_no_blocks(method: str) -> None:
    config = run_config(method={"name": method})
    if make_learner(config, 3).reads_blocks:
        forbid_alone(config)
    else:
        with pytest.raises(ConfigError, match=f"analytic, ncm and slda, got {method}, which trains a network"):
            forbid_alone(config)


def test_a_run_on_workers_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    config = run_config(dataset={"name": "nowhere/"}, method={"name": "ewc"})
    with working(cast(Workers, object())), pytest.raises(ConfigError, match="leave --executor out"):
        run(config, tmp_path)
    assert not list(tmp_path.iterdir())
