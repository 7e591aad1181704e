"""HPS: the Hodge potential of a node, the topology score of FTF-ER."""

from evergraph.errors import ConfigError
from evergraph.hodge import ranking_potential
from evergraph.scores.base import NodeScores, Scope, ScoreContext, ScoreEntry


def hps_score(context: ScoreContext) -> NodeScores:
    """S = ∓ Δ₀† Ā 1 (minus in the paper), on the task's graph or, if the scope is full, on the whole graph."""
    task, orientation = context.task, context.orientation
    if context.scope is Scope.FULL:
        if task.whole_potential is None:
            raise ConfigError("scope=full needs the whole graph, got only a task; use scope=task")
        return NodeScores(-orientation.sign * task.whole_potential()[task.train])
    solution = ranking_potential(task.graph.adjacency, directed=task.graph.directed, orientation=orientation)
    certificate = {name: getattr(solution, name) for name in ("residual", "iterations", "converged")}
    return NodeScores(solution.value[task.train], certificate)


HPS = ScoreEntry(
    "Hodge potential: a global ranking of the nodes by topology", "Pang et al., ACM MM 2024", hps_score
)
