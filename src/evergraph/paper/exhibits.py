"""The paper's tables and figures from finished runs, with the paper's values beside ours."""

from collections.abc import Callable, Sequence

from evergraph.paper.exhibit import Exhibit
from evergraph.paper.figures import beta_lines, curves, matrices, projections
from evergraph.paper.tables import component_table, cost_table, feature_table, main_table, topology_table
from evergraph.paper.target_runs import TargetRuns
from evergraph.paper.targets import Request, Target
from evergraph.results.load import Result

EXHIBITS: dict[str, Callable[[TargetRuns], Exhibit]] = {
    "table2": main_table,
    "table3": component_table,
    "table4": feature_table,
    "table5": topology_table,
    "table6": cost_table,
    "fig-curves": curves,
    "fig-matrices": matrices,
    "fig-beta": beta_lines,
    "fig-tsne": projections,
}


def make_exhibit(target: Target, request: Request, results: Sequence[Result]) -> Exhibit:
    """The exhibit of a target; results that do not belong to it are ignored."""
    return EXHIBITS[target.name](TargetRuns.of(target, request, results))
