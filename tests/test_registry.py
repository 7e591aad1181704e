"""Registry: an explicit table whose complaints help."""

import pytest

from evergraph.errors import ConfigError
from evergraph.methods import METHODS, MethodEntry, NoSettings
from evergraph.methods.finetune import FineTune
from evergraph.registry import Registry
from evergraph.training.net import Net


@pytest.fixture
def table() -> Registry[int]:
    return Registry("thing", {"ogbn-arxiv": 1, "sbm": 2})


def test_entries_are_found_whatever_the_spelling(table: Registry[int]) -> None:
    assert table["ogbn-arxiv"] == table["OGBN_Arxiv"] == table["ogbnarxiv"] == 1
    assert table.canonical("OGBN_Arxiv") == "ogbn-arxiv"
    assert "SBM" in table
    assert "none" not in table
    number: object = 3
    assert not table.__contains__(number)


def test_the_order_is_kept(table: Registry[int]) -> None:
    table.add("a", 3)
    assert list(table) == ["ogbn-arxiv", "sbm", "a"]
    assert len(table) == 3


@pytest.mark.parametrize("name", ["sbm", "S-B-M"])
def test_a_second_entry_of_a_name_is_refused(table: Registry[int], name: str) -> None:
    with pytest.raises(ConfigError, match=f"must be new, got '{name}' of evergraph, which evergraph has"):
        table.add(name, 4)
    assert table["sbm"] == 2


def test_an_unknown_name_lists_the_choices_and_the_nearest(table: Registry[int]) -> None:
    with pytest.raises(ConfigError) as caught:
        table["sbn"]
    assert str(caught.value) == "thing must be one of ogbn-arxiv, sbm; got 'sbn' instead (did you mean 'sbm'?)"
    with pytest.raises(ConfigError, match=r"got 'xyz' instead$"):
        table["xyz"]


def built_here(net: Net, config: NoSettings) -> FineTune:
    return FineTune(net, config)


def test_a_foreign_entry_that_builds_a_class_of_ours_takes_no_blame() -> None:
    table: Registry[MethodEntry] = Registry("method", entry_type=MethodEntry)
    table.add_foreign("again", METHODS["finetune"], "again.py")
    assert table.origin("evergraph.methods.finetune") is None
    table.add_foreign("own", MethodEntry("", "", NoSettings, built_here), "own.py")
    assert table.origin(__name__) == "own.py"
