"""Gradient norms of a GIN."""

import torch
from torch import Tensor

from evergraph.backbones.gin import GIN
from evergraph.backbones.message import ModelInput, Norm
from evergraph.scores.grand.alike import Alike
from evergraph.scores.grand.losses import LossGradient, row_squares
from evergraph.scores.grand.neighbourhoods import Neighbourhoods
from evergraph.scores.grand.outer import feature_blocks, gathered, layer_squares, with_bias


def gin_norms(model: GIN, inputs: ModelInput, loss_gradient: LossGradient, memory: int) -> Tensor:
    """‖∇l_i‖ for logits_i = e_i W4 + b4, e_i = relu(s_i W3 + b3), s_i = Σ_u a_iu h_u and
    h_u = relu(c_u W2 + b2), c_u = relu(p_u W1 + b1): (rows,).

    With δ_i the gradient at the logits and q_i = W4 δ_i ∘ [e_i > 0], the squares are, from the last to the first,
    (‖e_i‖² + 1) ‖δ_i‖², (‖s_i‖² + 1) ‖q_i‖², ‖Σ_u (c_u, 1) ⊗ a_iu t_iu‖² with t_iu = W3 q_i ∘ [h_u > 0], and
    ‖Σ_u (p_u, 1) ⊗ a_iu (W2 t_iu ∘ [c_u > 0])‖².
    """
    operator = inputs.graph.operator(Norm.SUM, 2)
    inner = torch.relu_(model.first(model.input_product(inputs.x)))
    hidden = torch.relu_(model.second(inner))
    summed = operator @ hidden
    last = torch.relu_(model.third(summed))
    delta, scale = loss_gradient(model.head(last))
    last_back = (delta @ model.head.weight.T).mul_(last > 0)

    active = torch.cat([hidden, inner], dim=1) > 0
    alike = Alike(operator, active)
    hidden_alive, inner_alive = torch.split(active.any(dim=0), hidden.shape[1])
    hidden_masks = (hidden[alike.example][:, hidden_alive] > 0).float()
    inner_masks = (inner[alike.example][:, inner_alive] > 0).float()
    hidden_back = (last_back @ model.third.weight[hidden_alive].T)[alike.order]
    between = model.second.weight[inner_alive][:, hidden_alive].T.contiguous()

    def to_second(hoods: Neighbourhoods) -> Tensor:
        return gathered(hidden_masks, hoods.nodes).mul_(hidden_back[hoods.rows, None])

    def to_first(hoods: Neighbourhoods) -> Tensor:
        return (to_second(hoods) @ between).mul_(gathered(inner_masks, hoods.nodes))

    seen = with_bias([inner[:, inner_alive]])
    lower = layer_squares(alike.pattern, seen, alike.sums, to_second, len(between), memory)
    blocks = with_bias(feature_blocks(model.input_product(inputs.x), memory))
    lower += layer_squares(alike.pattern, blocks, alike.sums, to_first, between.shape[1], memory)
    upper = (row_squares(last) + 1) * row_squares(delta) + (row_squares(summed) + 1) * row_squares(last_back)
    return scale * (upper + alike.unsorted(lower)).sqrt()
