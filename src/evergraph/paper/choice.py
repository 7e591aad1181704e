"""Settings are chosen on validation accuracy only, and every choice says how it was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evergraph.results.groups import Group
from evergraph.results.load import Result
from evergraph.results.validation import best_on_validation

FIXED = "fixed beforehand"


@dataclass(frozen=True)
class Choice:
    """The runs that count for a row, the β they have, and how it was chosen."""

    group: Group
    beta: float | None
    how: str


def choose_beta(candidates: Mapping[float | None, Sequence[Result]]) -> Choice | None:
    """The candidate that is best on validation; None without runs."""
    groups = {beta: plain_group(runs) for beta, runs in candidates.items() if runs}
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


def best_backbone(choices: Mapping[str, Choice]) -> str:
    """The backbone with the best mean validation AA, among those with the most seeds."""
    return best_on_validation({name: choice.group.validation for name, choice in choices.items()})[0]


def plain_group(runs: Sequence[Result]) -> Group:
    """Runs that differ only by their seeds, by these."""
    return Group(tuple(sorted(runs, key=lambda run: int(run.seeds["init"]))), {}, frozenset())
