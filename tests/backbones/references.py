"""Each backbone once more, as plainly as it can be written: dense matrices, float64, one formula a line."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evergraph.backbones import BACKBONES, Norm
from evergraph.data.graph import Graph

WAYS = ("compiled", "plain")


@contextmanager
def way(name: str) -> Iterator[None]:
    """Attention, activation and dropout as they are with numba, or as they are without it."""
    if name == "compiled":
        pytest.importorskip("numba", reason="compiled loops need evergraph[jit]")
        yield
        return
    with ExitStack() as stack:
        for user in ("activation", "attention", "dropout"):
            stack.enter_context(patch(f"evergraph.backbones.{user}.kernels", lambda: None))
        yield


Parameters = dict[str, Tensor]
Reference = Callable[[Parameters, Tensor, Tensor, Any], Tensor]


def gcn(p: Parameters, hears: Tensor, x: Tensor, config: Any) -> Tensor:
    operator = hears
    if config.norm is Norm.SYMMETRIC:
        operator = torch.diag(hears.sum(1) ** -0.5) @ hears @ torch.diag(hears.sum(0) ** -0.5)
    hidden = torch.relu(operator @ x @ p["first.weight"] + p["first.bias"])
    return operator @ hidden @ p["head.weight"] + p["head.bias"]


def gin(p: Parameters, hears: Tensor, x: Tensor, config: Any) -> Tensor:
    inner = torch.relu(hears @ x @ p["first.weight"] + p["first.bias"])
    hidden = torch.relu(inner @ p["second.weight"] + p["second.bias"])
    last = torch.relu(hears @ hidden @ p["third.weight"] + p["third.bias"])
    return last @ p["head.weight"] + p["head.bias"]


def attention_weights(hears: Tensor, to: Tensor, sent: Tensor, slope: float) -> Tensor:
    raw = nn.functional.leaky_relu(to[:, None] + sent[None, :], slope)
    return torch.softmax(raw.masked_fill(hears == 0, -torch.inf), dim=1)


def gat(p: Parameters, hears: Tensor, x: Tensor, config: Any) -> Tensor:
    width = config.hidden // config.heads
    z = x @ p["first.weight"]
    parts = []
    for head in range(config.heads):
        own = z[:, head * width : (head + 1) * width]
        to, sent = own @ p["attend_to"][head], own @ p["attend_from"][head]
        parts.append(attention_weights(hears, to, sent, config.slope) @ own)
    hidden = nn.functional.elu(torch.cat(parts, dim=1) + p["first.bias"])
    z = hidden @ p["head.weight"]
    weights = attention_weights(
        hears, (z @ p["head.attend_to"])[:, 0], (z @ p["head.attend_from"])[:, 0], config.slope
    )
    return weights @ z + p["head.bias"]


REFERENCES: dict[str, Reference] = {"gcn": gcn, "gin": gin, "gat": gat}


def hears(graph: Graph) -> Tensor:
    """Entry (i, j): node i hears node j, and every node itself."""
    incoming = graph.adjacency.toarray().T.astype(np.float64)
    return torch.as_tensor(incoming + np.eye(graph.n_nodes))


def dense_features(graph: Graph) -> Tensor:
    assert graph.features is not None
    values = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    return torch.as_tensor(values.astype(np.float64))


def parameters_of(model: nn.Module) -> Parameters:
    """Copies in float64 that collect gradients of their own."""
    return {name: value.detach().double().requires_grad_() for name, value in model.named_parameters()}


def small_settings(name: str) -> dict[str, Any]:
    return {"hidden": 6} | ({"heads": 3, "dropout": 0.0} if name == "gat" else {})


def built(name: str, n_features: int, n_classes: int, seed: int = 0, **settings: Any) -> tuple[Any, Any]:
    """A small backbone with random values in every parameter, in evaluation mode, and its settings."""
    config = BACKBONES[name].config(**{**small_settings(name), **settings})
    generator = torch.Generator().manual_seed(seed)
    model: Any = BACKBONES[name].build(n_features, config, generator)
    model.head.grow(n_classes, generator)
    with torch.no_grad():
        for value in model.parameters():
            value.copy_(torch.empty(value.shape).uniform_(-0.8, 0.8, generator=generator))
    return model.eval(), config


def random_rows(n: int, seed: int) -> NDArray[np.int64]:
    """Some rows, in no order."""
    rng = np.random.default_rng(seed)
    return rng.permutation(n)[: max(1, n // 2)].astype(np.int64)
