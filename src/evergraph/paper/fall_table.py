"""What takes the accuracy of replay in the whole graph: the loss, the edges, or nodes that are torn out of them."""

from pathlib import Path

from evergraph.paper.exhibit import markdown_table
from evergraph.paper.record_cells import Records, beside_file, both_tests, chosen_by, of_seeds, stored
from evergraph.results.records import SmallRecord, grouped_by, read_records, setting
from evergraph.runs.config import completed

BESIDE = ("fall-amazon", "balance-amazon", "storage-amazon")
BALANCES = ("weight", "logit")
PLACES = {
    (False, "subgraph"): "task graphs",
    (True, "subgraph"): "whole graph, torn out",
    (True, "ids"): "whole graph, `ids`",
}
"""Where runs learn and what they keep of a replayed node."""


def fall_table(path: Path) -> str:
    """Rows: methods of a file; columns: losses, where runs learn, and what they keep; tested both ways.

    The file and those of `BESIDE` together have the runs.
    """
    own = read_records(path, completed)
    others: Records = [run for name in BESIDE for run in beside_file(path, name)]
    groups = grouped_by([*own, *of_seeds(others, own)], _cell_of)
    columns = [(place, balance) for place in PLACES for balance in BALANCES]
    methods = sorted({chosen_by(run) for run in own})
    shown = {(method, *key): groups.get((method, *key), []) for method in methods for key in columns}
    seeds = sorted({len(runs) for runs in shown.values() if runs})
    heading = f"global (local) AA, %; seeds: {' or '.join(map(str, seeds))}"
    rows = [[method, *(both_tests(shown[(method, *key)]) for key in columns)] for method in methods]
    return markdown_table([heading, *(f"{PLACES[place]}, `{balance}`" for place, balance in columns)], rows)


def _cell_of(record: SmallRecord) -> tuple[str, tuple[bool, str | None], str]:
    """The method, the place and the loss of a run; records from before there was a choice have the default loss."""
    place = bool(setting(record, "stream.inter_task_edges")), stored(record)
    return chosen_by(record), place, setting(record, "method.balance") or BALANCES[0]
