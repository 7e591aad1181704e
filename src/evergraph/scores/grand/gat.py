"""Gradient norms of a GAT."""

import torch
from torch import Tensor
from torch.nn.functional import elu

from evergraph.backbones.gat import GAT
from evergraph.backbones.message import ModelInput
from evergraph.scores.grand.attended import Attended, attend, spread
from evergraph.scores.grand.gat_head import Above, head_squares
from evergraph.scores.grand.losses import LossGradient, row_squares
from evergraph.scores.grand.neighbourhoods import Neighbourhoods
from evergraph.scores.grand.outer import gathered, layer_squares


def gat_norms(model: GAT, inputs: ModelInput, loss_gradient: LossGradient, memory: int) -> Tensor:
    """‖∇l_i‖ for logits_i = Σ_u α_iu z_u + b2, z_u = h_u W2 and h_u = elu(m_u + b1): (rows,).

    With δ_i the gradient at the logits and s_iu at the scores, g_iu = ∂l_i/∂z_u = α_iu δ_i + s_iu sent, for u = i
    with Σ_v s_iv to. The squares are ‖δ_i‖² for b2, ‖Σ_u s_iu z_i‖² for `to`, ‖Σ_u s_iu z_u‖² for `sent`,
    ‖Σ_u h_u ⊗ g_iu‖² for W2, and those of the heads of the first layer, which get W2 g_iu ∘ elu'(m_u + b1).
    """
    delta, scale = loss_gradient(model(*inputs))
    heads = _first_layer(model, inputs)
    before = torch.cat([head.mean for head in heads], dim=1) + model.first.bias
    hidden, slopes = elu(before), torch.exp(before.clamp(max=0))
    pattern, last = inputs.graph.pattern(2), model.head
    to, sent = last.attend_to[:, 0], last.attend_from[:, 0]
    second = attend(pattern, inputs.graph.own(2), hidden @ last.weight, to, sent, model.slope)
    scores = second.score_gradients(delta)
    received = pattern.row_sum(scores[:, None])
    squares = row_squares(delta) + row_squares(received * second.z[second.own])
    squares += row_squares(spread(pattern, scores, second.z))
    back = _gradients_at_z(second, delta, scores, received)

    def neighbours(block: Tensor, hoods: Neighbourhoods, part: slice) -> Tensor:
        return gathered(block, hoods.nodes[:, part])

    def messages(hoods: Neighbourhoods) -> Tensor:
        return back[hoods.entries].mul_(hoods.inside[:, :, None])

    squares += layer_squares(pattern, [hidden], neighbours, messages, back.shape[1], memory)
    parts = zip(heads, torch.split(last.weight, model.width), torch.split(slopes, model.width, dim=1), strict=True)
    for head, weight, slope in parts:
        above = Above(pattern, back, weight, slope.contiguous())
        squares += head_squares(head, above, model.input_product(inputs.x), memory)
    return scale * squares.sqrt()


def _first_layer(model: GAT, inputs: ModelInput) -> list[Attended]:
    """The attention of each head of the first layer."""
    pattern, own = inputs.graph.pattern(1), inputs.graph.own(1)
    every = model.first.multiply(model.input_product(inputs.x))
    parts = zip(torch.split(every, model.width, dim=1), model.attend_to, model.attend_from, strict=True)
    return [attend(pattern, own, z.contiguous(), to, sent, model.slope) for z, to, sent in parts]


def _gradients_at_z(second: Attended, delta: Tensor, scores: Tensor, received: Tensor) -> Tensor:
    """∂l_i/∂z_u for each entry (i, u): (entries, classes)."""
    row = second.pattern.row
    back = second.weights[:, None] * delta[row] + scores[:, None] * second.sent
    itself = (second.pattern.col == second.own[row]).nonzero().squeeze(1)
    back[itself] += received[row[itself]] * second.to
    return back
