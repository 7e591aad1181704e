"""Learners that the paper does not have, by data set."""

import statistics
from pathlib import Path

from evergraph.paper.exhibit import markdown_table
from evergraph.paper.record_cells import chosen_by, seeded_cell
from evergraph.results.records import grouped, read_records
from evergraph.runs.config import completed


def learners_table(path: Path) -> str:
    """Rows: learners that the paper does not have, best on the first data set first; columns: data sets.

    random-replay is in the records of the main tables beside.
    """
    records = read_records(path, completed)
    for beside in sorted(path.parent.glob("methods-*.json")):
        records += [run for run in read_records(beside, completed) if chosen_by(run) == "`random-replay`"]
    groups = grouped(records, ("method.name", "dataset.name"))
    names = sorted({name for _, name in groups})
    first = {
        one: statistics.mean(run.aa for run in runs) for (one, name), runs in groups.items() if name == names[0]
    }
    methods = sorted({method for method, _ in groups}, key=lambda method: -first.get(method, 0.0))
    rows = [[f"`{one}`", *(seeded_cell(groups.get((one, name), [])) for name in names)] for one in methods]
    return markdown_table(["AA / AF, % (seeds)", *names], rows)
