"""HPS: the Hodge potential of a node, the topology score of FTF-ER."""

from evergraph.data.graph import GlobalIds
from evergraph.data.on_disk import in_csr
from evergraph.errors import ConfigError
from evergraph.hodge import ranking_potential
from evergraph.scores.base import NodeScores, Scope, ScoreContext, ScoreEntry


def hps_score(context: ScoreContext) -> NodeScores:
    """S = ∓ Δ₀† Ā 1 (minus in the paper), on the task's graph or, if the scope is full, on the whole graph."""
    task, orientation = context.task, context.orientation
    if context.scope is Scope.FULL:
        if task.whole_potential is None:
            raise ConfigError("scope=full needs the whole graph, got only a task; use scope=task")
        own = GlobalIds(task.node_ids[task.train])
        return NodeScores(-orientation.sign * task.whole_potential(own))
    solution = ranking_potential(
        in_csr(task.graph.adjacency),
        directed=task.graph.directed,
        orientation=orientation,
        method=context.solving.method,
        memory=context.solving.memory,
        ranks=context.solving.ranks,
    )
    certificate = {name: getattr(solution, name) for name in ("residual", "iterations", "converged")}
    return NodeScores(solution.value[task.train], certificate)


def misread_score(context: ScoreContext) -> NodeScores:
    """The whole graph's potential, read with rows of the task's graph as if they were rows of the whole one.

    This reproduces a mistake of the public code of FTF-ER: every node gets the score of another node, so that the
    scores are noise. It is here to show what the published values rest on, and for nothing else.
    """
    task = context.task
    if task.whole_potential is None:
        raise ConfigError("topology_score=misread needs the whole graph, got only a task; use topology_score=hps")
    return NodeScores(-context.orientation.sign * task.whole_potential(GlobalIds(task.train)))


HPS = ScoreEntry(
    "Hodge potential: a global ranking of the nodes by topology",
    "Pang et al., ACM MM 2024",
    hps_score,
    on_disk="edges, in blocks unless copies fit into memory",
)
