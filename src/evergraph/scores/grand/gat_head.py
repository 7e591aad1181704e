"""Gradient norms of one head of the first layer of a GAT."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.products import Pattern
from evergraph.scores.grand.attended import Attended, spread
from evergraph.scores.grand.losses import row_squares
from evergraph.scores.grand.neighbourhoods import Neighbourhoods
from evergraph.scores.grand.outer import feature_blocks, gathered, layer_squares

TABLES = 6
"""About this many arrays of the size of a block of features are in use at a time."""


@dataclass(frozen=True)
class Above:
    """The gradient from the second layer to a head: W g_iu ∘ slope_u from row i to its neighbour u.

    pattern: of the second step; back: g, (entries, classes); weight: W, (f, classes); slopes: of the activation,
    (nodes, f).
    """

    pattern: Pattern
    back: Tensor
    weight: Tensor
    slopes: Tensor

    def classes(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The same as a sum over classes of g_iu (entries,) times a vector of u (nodes, f)."""
        for number in range(self.weight.shape[1]):
            yield self.back[:, number].contiguous(), self.slopes * self.weight[:, number]


def head_squares(head: Attended, above: Above, product: InputProduct, memory: int) -> Tensor:
    """‖∇l_i‖² of the parameters of one head, m_u = Σ_w α_uw z_w with z_w = x_w W1: (rows,).

    With d_iu the gradient from above, s_iuw its gradient at the scores of u, and q_iu = Σ_w s_iuw, the squares are
    ‖Σ_u d_iu‖² for b1, ‖Σ_u q_iu z_u‖² for `to`, ‖Σ_uw s_iuw z_w‖² for `sent`, and for W1
    ‖Σ_u (Σ_w α_uw x_w) ⊗ d_iu + (Σ_u q_iu x_u) ⊗ to + (Σ_uw s_iuw x_w) ⊗ sent‖².
    """
    pattern = above.pattern
    n_rows, n_nodes = pattern.shape
    summed = (head.summed_score_gradients() * above.slopes) @ above.weight
    received = (above.back * summed.index_select(0, pattern.col)).sum(dim=1)

    def inputs() -> Iterator[Tensor]:
        for x in feature_blocks(product, memory // TABLES):
            means, own = spread(head.pattern, head.weights, x), spread(pattern, received, x[head.own])
            yield torch.cat([means, own, _through_scores(head, above, x)])

    def select(table: Tensor, hoods: Neighbourhoods, part: slice) -> Tensor:
        rows = hoods.rows[:, None]
        nodes = torch.cat([hoods.nodes, n_nodes + rows, n_nodes + n_rows + rows], dim=1)
        return gathered(table, nodes[:, part])

    def messages(hoods: Neighbourhoods) -> Tensor:
        vectors = (above.back[hoods.entries] @ above.weight.T).mul_(gathered(above.slopes, hoods.nodes))
        constant = torch.stack([head.to, head.sent]).expand(len(vectors), -1, -1)
        return torch.cat([vectors.mul_(hoods.inside[:, :, None]), constant], dim=1)

    first = layer_squares(pattern, inputs(), select, messages, len(above.weight), memory)
    bias = sum((spread(pattern, back, vector) for back, vector in above.classes()), torch.zeros(()))
    to, sent = spread(pattern, received, head.z[head.own]), _through_scores(head, above, head.z)
    return first + row_squares(bias) + row_squares(to) + row_squares(sent)


def _through_scores(head: Attended, above: Above, values: Tensor) -> Tensor:
    """Σ_uw s_iuw values_w: (rows, columns of values)."""
    total = values.new_zeros(above.pattern.shape[0], values.shape[1])
    for back, vector in above.classes():
        total += spread(above.pattern, back, spread(head.pattern, head.score_gradients(vector), values))
    return total
