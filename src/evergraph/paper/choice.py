"""Choose β on validation accuracy only, and record how it was chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evergraph.results.groups import Group
from evergraph.results.load import Result
from evergraph.results.validation import best_on_validation

FIXED = "fixed beforehand"


@dataclass(frozen=True)
class Choice:
    """The runs of a row with the chosen β, and how it was chosen."""

    group: Group
    beta: float | None
    how: str


def choose_beta(candidates: Mapping[float | None, Sequence[Result]]) -> Choice | None:
    """The β with the best mean validation AA; None without runs."""
    groups = {beta: seed_group(runs) for beta, runs in candidates.items() if runs}
    if not groups:
        return None
    best, means = best_on_validation({beta: group.validation for beta, group in groups.items()})
    if best is None:
        return Choice(groups[best], None, FIXED)
    if len(means) == 1:
        return Choice(groups[best], best, f"β = {best:g} {FIXED}")
    seeds = len(groups[best].results)
    tried = ", ".join(f"{beta:g}: {mean:.1f}" for beta, mean in means.items())
    how = f"β = {best:g} by mean validation AA over {seeds} {'seed' if seeds == 1 else 'seeds'} ({tried})"
    return Choice(groups[best], best, how)


def seed_group(runs: Sequence[Result]) -> Group:
    """Runs that differ only by their seeds, sorted by seed."""
    return Group(tuple(sorted(runs, key=lambda run: int(run.seeds["init"]))), {}, frozenset())
