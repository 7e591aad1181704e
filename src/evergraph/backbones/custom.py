"""Any module with forward(x, graph) as a backbone."""

from torch import Tensor, nn

from evergraph.backbones.base import Backbone
from evergraph.backbones.layers import Head
from evergraph.backbones.message import MessageGraph, NodeFeatures


class CustomBackbone(Backbone):
    """A custom module, whose output is the representation of each node, below a head that grows.

    module(x, graph) gets the features of all nodes (a dense or a sparse CSR tensor) and the MessageGraph, whose
    `edge_index` and `operator` say who hears whom, and returns (nodes, width).
    """

    def __init__(self, module: nn.Module, width: int):
        super().__init__()
        self.module = module
        self.head = Head(width)

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """What the output layer sees: (rows, width)."""
        every: Tensor = self.module(x.tensor(), graph)
        return every[graph.rows]
