"""GraNd: the norm of the gradient of a node's own loss, the feature score of FTF-ER (Paul et al., 2021)."""

import torch

from evergraph.backbones import model_input
from evergraph.scores.base import NodeScores, ScoreContext, ScoreEntry
from evergraph.scores.grand import grand_norms


def grand_score(context: ScoreContext) -> NodeScores:
    """S_i = ‖∇_θ l(f(x_i, G; θ), y_i)‖₂ over all parameters, in evaluation mode, exactly."""
    task, net = context.task, context.net
    labels = torch.as_tensor(task.train_labels, device=net.device)
    inputs = model_input(task.graph, task.train, net.device)
    norms = grand_norms(net.model, inputs, labels, net.allowed(labels))
    return NodeScores(norms.double().cpu().numpy())


GRAND = ScoreEntry(
    "norm of the gradient of the node's own loss, exact",
    "Paul et al., NeurIPS 2021",
    grand_score,
    needs_model=True,
    needs_features=True,
)
