"""The tables of REPRODUCIBILITY.md and docs/whole-graph.md, written from the records in results/ between marks.

    python -m evergraph.paper.reproducibility REPRODUCIBILITY.md results
    python -m evergraph.paper.reproducibility docs/whole-graph.md results

A block `<!-- begin NAME -->` … `<!-- end NAME -->` gets the table NAME; everything else in the file stays.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evergraph.paper.check_tables import benchmark_table, checks_table, published_table, settings_table
from evergraph.paper.exhibit import markdown_table
from evergraph.paper.exhibits import make_exhibit
from evergraph.paper.fall_table import fall_table
from evergraph.paper.frontier_table import frontier_table
from evergraph.paper.fusion_table import fusion_table
from evergraph.paper.learners_table import learners_table
from evergraph.paper.record_cells import Records
from evergraph.paper.targets import ALL_BACKBONES, TARGETS, Request
from evergraph.paper.whole_graph_tables import (
    beside_whole_amazon,
    blurry_table,
    inductive_table,
    later_edges_table,
    storage_table,
)
from evergraph.results.load import read_results
from evergraph.results.records import read_records
from evergraph.runs.config import completed


@dataclass(frozen=True)
class Block:
    """The content between two marks of a document: a table of the records in a file."""

    file: str
    table: Callable[[Path], str]
    document: str = "REPRODUCIBILITY.md"

    def text(self, results: Path) -> str:
        return self.table(results / f"{self.file}.json")


def of_records(table: Callable[[Records], str]) -> Callable[[Path], str]:
    """Turn a table of records into a table of a file of records."""
    return lambda path: table(read_records(path, completed))


def exhibit(target: str, request: Request) -> Callable[[Path], str]:
    """The table of `evergraph reproduce` from a file of records: rows that have runs, and notes."""

    def table(path: Path) -> str:
        shown = make_exhibit(TARGETS[target], request, read_results([path], completed)[0])
        there = {line["row"] for line in shown.numbers}
        rows = [row for row in shown.rows if row[0] in there]
        notes = "\n".join(f"- {note}" for note in shown.notes)
        return f"{markdown_table(shown.header, rows)}\n\n{notes}"

    return table


ARXIV = Request("ogbn-arxiv", features="spectral:128", seeds=(0,))
CORA = Request("cora-papers70", seeds=(0, 1, 2))
AMAZON = Request("amazon-computers", seeds=(0, 1, 2))
WHOLE_GRAPH = "docs/whole-graph.md"
ALL_AMAZON = Request("amazon-computers", backbones=ALL_BACKBONES)

TABLES: dict[str, Block] = {
    "fusion-amazon": Block("fusion-amazon", of_records(fusion_table)),
    "fusion-gat-amazon": Block("fusion-gat-amazon", of_records(fusion_table)),
    "methods-digits": Block("methods-digits", exhibit("table2", Request("digits", seeds=(0, 1, 2)))),
    "methods-amazon": Block("methods-amazon", exhibit("table2", ALL_AMAZON)),
    "methods-coauthor": Block("methods-coauthor", exhibit("table2", Request("coauthor-cs", seeds=(0, 1, 2)))),
    "methods-cora": Block("methods-cora", exhibit("table2", CORA)),
    "cost-cora": Block("methods-cora", exhibit("table6", CORA)),
    "methods-arxiv": Block("arxiv", exhibit("table2", ARXIV)),
    "components-arxiv": Block("arxiv", exhibit("table3", ARXIV)),
    "components-amazon": Block("fusion-amazon", exhibit("table3", Request("amazon-computers"))),
    "feature-scores-amazon": Block("scores-amazon", exhibit("table4", AMAZON)),
    "topology-scores-amazon": Block("scores-amazon", exhibit("table5", AMAZON)),
    "tsne-amazon": Block("methods-amazon", exhibit("fig-tsne", Request("amazon-computers", seeds=(0,)))),
    "beta-amazon": Block("beta-amazon", exhibit("fig-beta", AMAZON)),
    "benchmark-gcn-amazon": Block("benchmark-gcn-amazon", of_records(benchmark_table)),
    "as-published-amazon": Block("as-published-amazon", of_records(published_table)),
    "checks-amazon": Block("checks-amazon", of_records(checks_table)),
    "settings-amazon": Block("settings-amazon", of_records(settings_table)),
    "learners": Block("learners", learners_table),
    "storage-amazon": Block("storage-amazon", of_records(storage_table), WHOLE_GRAPH),
    "frontier-amazon": Block("frontier-amazon", frontier_table("whole-amazon"), WHOLE_GRAPH),
    "frontier-cora": Block("frontier-cora", frontier_table("whole-cora"), WHOLE_GRAPH),
    "fall-amazon": Block(
        "fall-amazon", beside_whole_amazon("learned in task graphs", "learned in the whole graph"), WHOLE_GRAPH
    ),
    "blurry": Block("blurry", blurry_table, WHOLE_GRAPH),
    "patents-random": Block("patents-random", later_edges_table, WHOLE_GRAPH),
    "balance-amazon": Block(
        "balance-amazon", beside_whole_amazon("`balance=logit`", "`balance=weight` (the default)"), WHOLE_GRAPH
    ),
    "fall-logit-amazon": Block("fall-logit-amazon", fall_table, WHOLE_GRAPH),
    "inductive-amazon": Block("inductive-amazon", of_records(inductive_table), WHOLE_GRAPH),
}


def rendered(text: str, results: Path) -> str:
    """The document with every marked block filled from its records."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- begin {match[1]} -->\n{TABLES[match[1]].text(results)}\n<!-- end {match[1]} -->"

    return re.sub(r"<!-- begin ([\w-]+) -->.*?<!-- end \1 -->", fill, text, flags=re.DOTALL)


def main() -> None:
    document, results = Path(sys.argv[1]), Path(sys.argv[2])
    document.write_text(rendered(document.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
