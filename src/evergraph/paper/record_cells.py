"""Cells of the tables that are made from records: accuracy and forgetting, by seeds, tested both ways."""

from collections.abc import Sequence

from evergraph.results.groups import stat
from evergraph.results.records import SmallRecord, setting

Records = Sequence[SmallRecord]


def cell(records: Records) -> str:
    """AA / AF of some runs, mean ± deviation over their seeds."""
    return " / ".join(str(stat(values)) for values in zip(*((run.aa, run.af) for run in records), strict=True))


def seeded_cell(records: Records) -> str:
    """AA / AF and the number of seeds; a dash where there is no run."""
    return f"{cell(records)} ({len(records)})" if records else "–"


def both_tests(records: Records) -> str:
    """AA of runs tested in the whole graph, in brackets in the graphs of the tasks."""
    found = [(run.aa_global, run.aa_local) for run in records if None not in (run.aa_global, run.aa_local)]
    if len(found) < len(records) or not found:
        return "–"
    whole, local = (str(stat([float(value or 0.0) for value in values])) for values in zip(*found, strict=True))
    return f"{whole} ({local})"


BY_DEGREE = "by degree"


def chosen_by(record: SmallRecord) -> str:
    """How a run chooses the nodes that it replays."""
    by_degree = setting(record, "method.topology_score") == "degree"
    return BY_DEGREE if by_degree else f"`{setting(record, 'method.name')}`"
