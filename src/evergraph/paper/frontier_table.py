"""Methods and settings by the bytes that they keep, learned in task graphs and in the whole graph."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evergraph.paper.exhibit import markdown_table
from evergraph.paper.record_cells import Records, beside_file, megabytes, of_seeds
from evergraph.results.groups import Stat, stat
from evergraph.results.records import SmallRecord, grouped_by, read_records, setting
from evergraph.runs.config import completed

REPLAY = "`ftf-er-prob`"
RIVALS = (REPLAY, "`random-replay`", "`ssm`")


@dataclass(frozen=True)
class Point:
    """A method with its settings: the runs that learned in task graphs, and those that did in the whole graph."""

    name: str
    local: Records
    whole: Records

    @property
    def kept(self) -> float:
        """MB that are kept of the past in task graphs, where there are such runs."""
        return megabytes(self.local or self.whole)

    @property
    def tested(self) -> tuple[Stat, Stat] | None:
        """AA local and global; None where one is missing."""
        return (_aa(self.local), _aa(self.whole)) if self.local and self.whole else None

    @property
    def chooses_hops(self) -> bool:
        first = [*self.local, *self.whole][0]
        return setting(first, "method.name") == "analytic" and "method.hops" not in (first.changed or ())

    @property
    def row(self) -> list[str]:
        kept = f"{self.kept:.2f}"
        return [kept, self.name, _cell(self.local, kept), _cell(self.whole, kept)]


def frontier_table(whole: str) -> Callable[[Path], str]:
    """A table of a file of runs, and what it says of sums beside replay.

    Settings without runs in the whole graph have those of another file, `whole`, with the same settings and seeds.
    """

    def table(path: Path) -> str:
        points = _points(read_records(path, completed), beside_file(path, whole))
        header = ["kept of the past, MB", "method", "local AA, % (seeds)", "global AA, % (seeds)"]
        return "\n".join([markdown_table(header, [point.row for point in points]), *_said(points)])

    return table


def _points(own: Records, others: Records) -> list[Point]:
    """Fewest bytes first."""
    beside = grouped_by(others, _named_settings)
    points = []
    for name, runs in grouped_by(own, _named_settings).items():
        learned = [run for run in runs if setting(run, "stream.inter_task_edges")]
        local = [run for run in runs if not setting(run, "stream.inter_task_edges")]
        points.append(Point(name, local, learned or of_seeds(beside.get(name, []), runs)))
    return sorted(points, key=lambda point: (point.kept, point.name))


def _named_settings(record: SmallRecord) -> str:
    """A method and its settings that are not defaults."""
    changed = [key for key in record.changed or () if key.startswith("method.") and key != "method.name"]
    values = [f"{key.removeprefix('method.')}={setting(record, key)}" for key in changed]
    return ", ".join([f"`{setting(record, 'method.name')}`", *values])


def _aa(runs: Records) -> Stat:
    return stat(run.aa for run in runs)


def _cell(runs: Records, kept: str) -> str:
    """AA, the number of seeds, and the MB where they are others than those of the row."""
    if not runs:
        return "–"
    own = f"{megabytes(runs):.2f}"
    return f"{_aa(runs)} ({len(runs)})" + (f"; {own} MB" if own != kept else "")


def _said(points: list[Point]) -> Iterator[str]:
    """Sums that choose their hops, with as many bytes as replay has, or else with the fewest, beside replay."""
    by_name = {point.name: point for point in points}
    sums = [point for point in points if point.chooses_hops]
    rivals = [by_name[name] for name in RIVALS if name in by_name]
    if not sums or REPLAY not in by_name:
        return
    fitting = [point for point in sums if point.kept <= by_name[REPLAY].kept]
    one = fitting[-1] if fitting else sums[0]
    if one.tested is None:
        return
    local, whole = one.tested
    how = f"no more bytes than {REPLAY}" if fitting else f"more bytes than {REPLAY}, as every such setting here"
    yield ""
    yield (
        f"With hops that it chooses itself and {how}, {one.name} has {local} % locally and {whole} % globally in "
        f"{one.kept:.2f} MB. Beside it:"
    )
    yield ""
    for rival in rivals:
        if rival.tested is not None:
            yield f"- {rival.name}, {rival.kept:.2f} MB: {_beside(rival.tested, one.tested)}"


def _beside(rival: tuple[Stat, Stat], one: tuple[Stat, Stat]) -> str:
    """Both accuracies of a rival, and in which tests it is behind."""
    words = ["behind" if other.mean < mine.mean else "not behind" for other, mine in zip(rival, one, strict=True)]
    same = words[0] == words[1]
    verdict = f"{words[0]} in both tests" if same else f"{words[0]} locally, {words[1]} globally"
    return f"{rival[0]} % locally, {rival[1]} % globally; {verdict}"
