"""Learners that the paper does not have, by data set."""

import statistics
from pathlib import Path

from evergraph.paper.exhibit import markdown_table
from evergraph.paper.record_cells import chosen_by, global_aa, seeded_cell
from evergraph.results.records import grouped, read_records, setting
from evergraph.runs.config import completed


def learners_table(path: Path) -> str:
    """Rows: learners that the paper does not have, best on the first data set first; two columns for each data set.

    The second has the same runs, learned in task graphs, tested in the whole graph; none where no run has that.
    random-replay, with a GCN, and all runs on ogbn-arxiv are in the records of the main tables beside.
    """
    records = read_records(path, completed)
    wanted = {chosen_by(run) for run in records} | {"`random-replay`"}
    for beside in [*sorted(path.parent.glob("methods-*.json")), *path.parent.glob("arxiv.json")]:
        gcn = [run for run in read_records(beside, completed) if setting(run, "backbone.name") == "gcn"]
        records += [run for run in gcn if chosen_by(run) in wanted]
    groups = grouped(records, ("method.name", "dataset.name"))
    names = sorted({name for _, name in groups})
    first = {
        one: statistics.mean(run.aa for run in runs) for (one, name), runs in groups.items() if name == names[0]
    }
    methods = sorted({method for method, _ in groups}, key=lambda method: -first.get(method, 0.0))
    tested = {name for (_, name), runs in groups.items() if any(run.aa_global is not None for run in runs)}
    header = ["method"]
    for name in names:
        header += [f"{name}: AA / AF, % (seeds)", *([f"{name}: global AA, %"] if name in tested else [])]
    rows = []
    for one in methods:
        rows.append([f"`{one}`"])
        for name in names:
            runs = groups.get((one, name), [])
            rows[-1] += [seeded_cell(runs), *([global_aa(runs)] if name in tested else [])]
    return markdown_table(header, rows)
