"""Gradient norms of a GCN."""

from torch import Tensor, nn

from evergraph.backbones.gcn import GCN
from evergraph.backbones.message import ModelInput
from evergraph.scores.grand.alike import Alike
from evergraph.scores.grand.losses import LossGradient, row_squares
from evergraph.scores.grand.neighbourhoods import Neighbourhoods
from evergraph.scores.grand.outer import feature_blocks, gathered, layer_squares, with_bias


def gcn_norms(
    model: GCN, inputs: ModelInput, loss_gradient: LossGradient, memory: int, *, absolute: bool = False
) -> Tensor:
    """‖∇l_i‖ for logits_i = Σ_u a_iu h_u W2 + b2 and h_u = relu(p_u W1 + b1): (rows,).

    With δ_i the gradient at the logits, the squares are (‖Σ_u a_iu h_u‖² + 1) ‖δ_i‖² for the head and, for the
    first layer, ‖Σ_u (p_u, 1) ⊗ a_iu (W2 δ_i ∘ [h_u > 0])‖²; without biases the ones are left out.
    absolute: the same with sums of absolute values, ‖∇l_i‖₁, in the place of squares and their root.
    """
    hidden = model.hidden(inputs.x)
    operator = inputs.graph.operator(model.norm, 2)
    delta, scale = loss_gradient(operator @ (hidden @ model.head.weight) + model.head.bias)
    active = hidden > 0
    alike = Alike(operator, active)
    alive = active.any(dim=0)
    masks = active[alike.example][:, alive].float()
    back = (delta @ model.head.weight[alive].T)[alike.order]

    def messages(hoods: Neighbourhoods) -> Tensor:
        return gathered(masks, hoods.nodes).mul_(back[hoods.rows, None])

    biased = isinstance(model.first.bias, nn.Parameter)
    features = feature_blocks(model.input_product(inputs.x), memory)
    blocks = with_bias(features) if biased else features
    first = layer_squares(alike.pattern, blocks, alike.sums, messages, masks.shape[1], memory, absolute=absolute)
    if absolute:
        head = ((operator @ hidden).abs().sum(dim=1) + biased) * delta.abs().sum(dim=1)
        return scale * (head + alike.unsorted(first))
    last = (row_squares(operator @ hidden) + biased) * row_squares(delta)
    return scale * (last + alike.unsorted(first)).sqrt()
