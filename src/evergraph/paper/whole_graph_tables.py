"""Tables of docs/whole-graph.md: storages, learning in task graphs, blurry streams, later edges, unseen nodes."""

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

from evergraph.paper.exhibit import markdown_table
from evergraph.paper.record_cells import (
    BY_DEGREE,
    Records,
    beside_file,
    both_tests,
    chosen_by,
    of_seeds,
    seeded_cell,
    stored,
)
from evergraph.results.groups import Stat, stat
from evergraph.results.records import grouped, grouped_by, read_records, setting
from evergraph.runs.config import completed

STORAGES = {
    "nodes": "features alone",
    "subgraph": "and the edges between them (as the paper)",
    "neighbours": "and sampled neighbours",
    "embedding": "the propagated row of that time",
    "ids": "read again in the graph known now",
}


def storage_table(records: Records) -> str:
    """Rows: what is kept of a replayed node; columns: how nodes are chosen; AA tested both ways, and the bytes."""
    groups = grouped_by(records, lambda run: (stored(run), chosen_by(run)))
    selections = sorted({selection for _, selection in groups}, key=lambda name: (name == BY_DEGREE, name))

    def row(storage: str) -> Iterator[str]:
        for selection in selections:
            runs = groups.get((storage, selection), [])
            kept = statistics.mean(run.memory.bytes for run in runs) / 1e6 if runs else 0.0
            yield f"{both_tests(runs)}; {kept:.2f} MB" if runs else "–"

    rows = [[f"`{storage}`: {meaning}", *row(storage)] for storage, meaning in STORAGES.items()]
    seeds = sorted({len(runs) for runs in groups.values()})
    heading = f"global (local) AA, %; kept; seeds: {' or '.join(map(str, seeds))}"
    return markdown_table([heading, *selections], rows)


def beside_whole_amazon(own: str, beside: str) -> Callable[[Path], str]:
    """Rows: methods; columns: the runs of a file and of whole-amazon.json beside it, each tested both ways."""

    def table(path: Path) -> str:
        alone = read_records(path, completed)
        seeds = {setting(run, "seeds.init") for run in alone}
        whole = grouped_by(of_seeds(beside_file(path, "whole-amazon"), alone), chosen_by)
        rows = [(method, runs, whole.get(method, [])) for method, runs in grouped_by(alone, chosen_by).items()]
        rows.sort(key=lambda row: -statistics.mean(run.aa_global or 0.0 for run in row[1]))
        cells = [[name, both_tests(runs), both_tests(other) if other else "–"] for name, runs, other in rows]
        return markdown_table([f"global (local) AA, %; seeds: {len(seeds)}", own, beside], cells)

    return table


def blurry_table(path: Path) -> str:
    """Rows: data sets and methods; all nodes so far where classes come back, and where each arrives at once."""
    records = read_records(path, completed)
    groups = grouped(records, ("dataset.name", "method.name"))
    once = {
        key: runs
        for name in ("whole-digits", "whole-amazon")
        for key, runs in grouped(beside_file(path, name), ("dataset.name", "method.name")).items()
    }
    order = list(dict.fromkeys(key[0] for key in groups))
    rows = []
    for key, runs in sorted(groups.items(), key=lambda pair: (order.index(pair[0][0]), -_at_the_end(pair[1]).mean)):
        same = of_seeds(once.get(key, []), runs)
        aa = str(stat([run.aa for run in runs]))
        end, other = str(_at_the_end(runs)), str(_at_the_end(same)) if same else "–"
        rows.append([f"{key[0]}, `{key[1]}` ({len(runs)})", end, other, str(_areas(runs)[0]), aa])
    header = [
        "data set, method (seeds)",
        "at the end, blurry",
        "at the end, a class at once",
        "area, blurry",
        "AA, blurry",
    ]
    return markdown_table(header, rows)


def _at_the_end(records: Records) -> Stat:
    """Accuracy on all test nodes after the last task, every class counting alike, in the whole graph."""
    return stat([run.so_far_global.balanced[-1] for run in records if run.so_far_global is not None])


def later_edges_table(path: Path) -> str:
    """Rows: methods; all nodes so far, with the features of patents.json and with such that know no edge."""
    groups = grouped(read_records(path, completed), ("method.name",))
    known = grouped(beside_file(path, "patents"), ("method.name",))
    order = sorted(groups.items(), key=lambda pair: -_areas(pair[1])[0].mean)
    rows = []
    for key, runs in order:
        sides = (known.get(key, []), runs)
        cells = ["{} ({})".format(*_areas(side)) if side else "–" for side in sides]
        rows.append([f"`{key[0]}`", *cells, str(stat([run.aa for run in runs])), str(len(runs))])
    header = ["method", "`spectral:64`", "`random:256`", "AA, `random:256`", "seeds"]
    return markdown_table(header, rows)


def _areas(records: Records) -> tuple[Stat, Stat]:
    """Accuracy on all test nodes so far, over all steps: of nodes, and of classes counting alike."""
    found = [run.so_far_global for run in records if run.so_far_global is not None]
    return stat([one.area_plain for one in found]), stat([one.area_balanced for one in found])


def inductive_table(records: Records) -> str:
    """Methods whose learners never saw the nodes that they are tested on; AA and AF in the whole graph."""
    groups = grouped(records, ("method.name",))
    order = sorted(groups.items(), key=lambda pair: -statistics.mean(run.aa for run in pair[1]))
    rows = [[f"`{name}`", seeded_cell(runs)] for (name,), runs in order]
    return markdown_table(["method", "AA / AF, % (seeds)"], rows)
