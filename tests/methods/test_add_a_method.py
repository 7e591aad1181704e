"""Adding a method is one file and one line in the table; the contract tests then hold for it like for any other."""

import importlib.util
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evergraph.methods import METHODS

from . import test_contract

TOY = '''
"""Toy: the current task, with every parameter drawn a little towards zero."""

from collections.abc import Mapping, Sequence

import torch
from pydantic import Field
from torch import Tensor

from evergraph.config import Settings
from evergraph.methods.base import Memory, MethodEntry
from evergraph.training.net import Net
from evergraph.data.stream import TaskView
from evergraph.watch import Watch


class ToyConfig(Settings):
    weight: float = Field(0.01, ge=0)


class Toy:
    def __init__(self, net: Net, config: ToyConfig):
        self.net = net
        self.config = config

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        self.net.fit(task, [self.net.task_batch(task)], watch, penalty=self.size)

    def size(self) -> Tensor:
        return self.config.weight * torch.stack([p.square().sum() for p in self.net.model.parameters()]).sum()

    def memory(self) -> Memory:
        return Memory()

    def state(self) -> dict[str, Tensor]:
        return self.net.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.net.load_state(state)


ENTRY = MethodEntry("a toy that shrinks", "nobody, 2024", ToyConfig, Toy)
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a method that did not exist before: its file is imported and it gets its line in the table."""
    path = tmp_path / "toy.py"
    path.write_text(TOY, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("toy", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "toy", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS))
    METHODS.add("toy", module.ENTRY)
    return "toy"


def cases(function: Any) -> Iterator[dict[str, Any]]:
    """Every combination of a contract test's parameters, without the method's name."""
    options = []
    for mark in function.pytestmark:
        argument, values = mark.args
        if argument != "name":
            options.append([(argument, value) for value in values])
    return (dict(chosen) for chosen in itertools.product(*options))


CONTRACT = [name for name in vars(test_contract) if name.startswith("test_")]


@pytest.mark.parametrize("contract", CONTRACT)
def test_a_new_method_meets_the_contract(contract: str, toy: str) -> None:
    function = getattr(test_contract, contract)
    for case in cases(function):
        function(name=toy, **case)


def test_the_contract_is_run_over_methods_by_name() -> None:
    """If a contract test were written otherwise, the test above would not see it."""
    assert len(CONTRACT) > 12
    for name in CONTRACT:
        marks = getattr(getattr(test_contract, name), "pytestmark", [])
        assert any(mark.args[0] == "name" for mark in marks), name


def test_the_table_is_as_it_was() -> None:
    assert "toy" not in METHODS
