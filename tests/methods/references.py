"""The scores of FTF-ER written out: loops, dense matrices, and one backward pass a node."""

import numpy as np
import torch
from numpy.typing import NDArray

from evergraph.backbones import model_input
from evergraph.data.stream import TaskView
from evergraph.training.loop import node_losses
from evergraph.training.net import Net

Scores = NDArray[np.float64]


def gradient_norms(net: Net, view: TaskView) -> Scores:
    """‖∇l_i‖₂ of each training node over all parameters."""
    labels = torch.as_tensor(view.train_labels)
    losses = node_losses(net.model(*model_input(view.graph, view.train, net.device)), labels, None)
    gradients = (torch.autograd.grad(loss, list(net.model.parameters()), retain_graph=True) for loss in losses)
    return np.array([torch.cat([g.flatten() for g in every]).double().norm().item() for every in gradients])


def feature_points(view: TaskView) -> Scores:
    assert isinstance(view.graph.features, np.ndarray)
    return view.graph.features[view.train].astype(np.float64)


def hidden_points(net: Net, view: TaskView) -> Scores:
    """Â relu(Â X W1 + b1) of each training node, what the output layer of a GCN sees; Â = D^-1/2 (A + I) D^-1/2."""
    assert isinstance(view.graph.features, np.ndarray)
    looped = view.graph.adjacency.toarray().astype(np.float64) + np.eye(view.graph.n_nodes)
    root = np.sqrt(looped.sum(axis=1))
    operator = looped / np.outer(root, root)
    weight, bias = (net.state()[f"model.first.{name}"].double().numpy() for name in ("weight", "bias"))
    hidden: Scores = operator @ np.maximum(operator @ view.graph.features @ weight + bias, 0)
    return np.asarray(hidden[view.train])


def mean_feature(points: Scores, labels: NDArray[np.int64]) -> Scores:
    means = {label: points[labels == label].mean(axis=0) for label in set(labels.tolist())}
    return np.array([-np.linalg.norm(x - means[y]) for x, y in zip(points, labels.tolist(), strict=True)])


def coverage(points: Scores, labels: NDArray[np.int64], distance: float) -> Scores:
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = (gaps <= distance) & (labels[:, None] != labels[None])
    return np.asarray(-near.sum(axis=1), dtype=np.float64)


def potential(adjacency: NDArray[np.float32], sign: float = -1.0) -> Scores:
    """sign · Δ₀† A 1 of every node of an undirected graph."""
    degrees = adjacency.sum(axis=1).astype(np.float64)
    exact: Scores = sign * np.linalg.pinv(np.diag(degrees) - adjacency, rcond=1e-10) @ degrees
    return exact


def fused(loss: Scores, topology: Scores, labels: NDArray[np.int64], beta: float) -> Scores:
    """(1 - β) norm(loss) + β norm(topology), norm = min-max within a class."""
    result = np.zeros(len(labels))
    for label in set(labels.tolist()):
        own = labels == label
        for weight, scores in ((1 - beta, loss[own]), (beta, topology[own])):
            if np.ptp(scores) > 0:
                result[own] += weight * (scores - scores.min()) / np.ptp(scores)
    return result


def best(scores: Scores, labels: NDArray[np.int64], budget: int) -> list[int]:
    """The positions with the highest scores of each class, equal ones in order."""
    chosen: list[int] = []
    for label in set(labels.tolist()):
        members = np.flatnonzero(labels == label).tolist()
        chosen += sorted(members, key=lambda position: -scores[position])[:budget]
    return sorted(chosen)
