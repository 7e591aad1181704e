"""GraNd: the norm of the gradient of a node's own loss, the feature score of FTF-ER (Paul et al., 2021)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from evergraph.scores.base import NodeScores, ScoreContext, ScoreEntry

if TYPE_CHECKING:  # imported where it is used: the table of scores needs no torch
    from torch import Tensor


def grand_score(context: ScoreContext) -> NodeScores:
    """S_i = ‖∇_θ l(f(x_i, G; θ), y_i)‖₂ over all parameters, in evaluation mode, exactly."""
    from evergraph.scores.grand import grand_norms

    return _measured(grand_norms, context)


def absolute_score(context: ScoreContext) -> NodeScores:
    """The same with ‖·‖₁, as the public code of FTF-ER has it."""
    from evergraph.scores.grand import absolute_gradients

    return _measured(absolute_gradients, context)


def _measured(norms: "Callable[..., Tensor]", context: ScoreContext) -> NodeScores:
    import torch

    task, net = context.task, context.trained
    labels = torch.as_tensor(task.train_labels, device=net.device)
    found = []
    for rows, inputs in net.input_blocks(task.graph, task.train):
        found.append(norms(net.model, inputs, labels[rows], net.allowed(labels[rows])))
    return NodeScores(torch.cat(found).double().cpu().numpy())


GRAND = ScoreEntry(
    "norm of the gradient of the node's own loss, exact",
    "Paul et al., NeurIPS 2021",
    grand_score,
    needs_model=True,
    needs_features=True,
)
