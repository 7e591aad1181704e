"""The values of the paper."""

from evergraph.paper.published import main_result
from evergraph.results.groups import Stat


def test_the_papers_main_table() -> None:
    assert main_result("ftf-er-det", "amazon-computers") == (Stat(94.6, 0.8), Stat(-4.5, 1.1))
    assert main_result("ftf-er-prob", "reddit") == (Stat(95.7, 0.6), Stat(-2.3, 0.5))
    assert main_result("er-gnn-mf", "corafull") == (Stat(10.0, 4.3), Stat(-80.7, 4.7))
    assert main_result("ssm", "ogbn-arxiv") == (Stat(54.7, 2.6), Stat(-13.8, 2.1))
    assert main_result("ssm", "digits") is None
    assert main_result("new", "reddit") is None
