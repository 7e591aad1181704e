"""Cells of the tables that are made from records: accuracy and forgetting, by seeds, tested both ways."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from evergraph.methods import METHODS
from evergraph.results.groups import stat
from evergraph.results.records import SmallRecord, read_records, setting
from evergraph.runs.config import completed

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


def global_aa(records: Records) -> str:
    """AA of runs tested in the whole graph; a dash where not all of them were."""
    found = [run.aa_global for run in records if run.aa_global is not None]
    return str(stat(found)) if found and len(found) == len(records) else "–"


def megabytes(records: Records) -> float:
    """What runs keep of the past, on average."""
    return statistics.mean(run.memory.bytes for run in records) / 1e6


BY_DEGREE = "by degree"


def chosen_by(record: SmallRecord) -> str:
    """How a run chooses the nodes that it replays."""
    by_degree = setting(record, "method.topology_score") == "degree"
    return BY_DEGREE if by_degree else f"`{setting(record, 'method.name')}`"


def stored(record: SmallRecord) -> str | None:
    """What a run keeps of a replayed node: in records from before there was a choice, the method's default."""
    found = setting(record, "method.storage")
    default = getattr(METHODS[record.config["method"]["name"]].config(), "storage", None)
    return found if found is not None or default is None else str(default.value)


def beside_file(path: Path, name: str) -> Records:
    """The runs of another file in the same folder."""
    other = path.with_name(f"{name}.json")
    return read_records(other, completed) if other.exists() else []


def of_seeds(records: Records, others: Records) -> Records:
    """The runs whose seeds some others have."""
    seeds = {setting(run, "seeds.init") for run in others}
    return [run for run in records if setting(run, "seeds.init") in seeds]
