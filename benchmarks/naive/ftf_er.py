"""Deterministic FTF-ER as the paper writes it: a backward pass per node, a generic solver, scatter-add layers."""

import time
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from torch import Tensor
from torch.nn.functional import cross_entropy

from .gcn import Edges, PlainGCN

STEPS = ("train", "grand", "hps", "select")


@dataclass
class Part:
    """Nodes in a graph, and those of them (rows) that are learned."""

    adjacency: csr_array
    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    rows: NDArray[np.int64]

    def __post_init__(self) -> None:
        self.edges, self.x = Edges(self.adjacency), torch.as_tensor(self.features)
        self.target = torch.as_tensor(self.labels[self.rows])
        self.weight = torch.as_tensor(1 / np.bincount(self.labels[self.rows])[self.labels[self.rows]]).float()

    def logits(self, model: PlainGCN) -> Tensor:
        found: Tensor = model(self.x, self.edges)
        return found

    def losses(self, model: PlainGCN) -> Tensor:
        return cross_entropy(self.logits(model)[torch.as_tensor(self.rows)], self.target, reduction="none")


@dataclass
class FTFER:
    """The model, the parts that are replayed, the nodes that were chosen, and the seconds of each step."""

    model: PlainGCN
    budget: int
    beta: float = 0.5
    epochs: int = 200
    buffer: list[Part] = field(default_factory=list)
    chosen: list[NDArray[np.int64]] = field(default_factory=list)
    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("train", "grand", "hps", "select"), 0.0)
    )

    def learn(self, task: Part) -> None:
        """Train on the task and the buffer, score the task's nodes, keep the best of each class and their edges."""
        begun = time.perf_counter()
        self.train([task, *self.buffer])
        begun = self._clock("train", begun)
        loss_score = self.grand(task)
        begun = self._clock("grand", begun)
        topology_score = hodge_potential(task.adjacency)[task.rows]
        begun = self._clock("hps", begun)
        self.keep(task, loss_score, topology_score)
        self._clock("select", begun)

    def _clock(self, step: str, begun: float) -> float:
        now = time.perf_counter()
        self.seconds[step] += now - begun
        return now

    def train(self, parts: list[Part]) -> None:
        optimiser = torch.optim.Adam(self.model.parameters(), lr=0.005, weight_decay=5e-4)
        for _ in range(self.epochs):
            optimiser.zero_grad()
            loss = torch.stack([part.weight @ part.losses(self.model) for part in parts]).sum()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()

    def grand(self, task: Part) -> NDArray[np.float64]:
        """The norm of each node's gradient: one backward pass for each."""
        losses, norms = task.losses(self.model), []
        for loss in losses:
            gradients = torch.autograd.grad(loss, list(self.model.parameters()), retain_graph=True)
            norms.append(torch.stack([gradient.double().norm() for gradient in gradients]).norm().item())
        return np.array(norms)

    def keep(self, task: Part, loss_score: NDArray[np.float64], topology_score: NDArray[np.float64]) -> None:
        """The highest mixed scores of each class, and the subgraph that they induce."""
        labels, kept = task.labels[task.rows], []
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            parts = ((1 - self.beta, loss_score), (self.beta, topology_score))
            mixed = sum(share * normalised(score[members]) for share, score in parts)
            kept.append(members[np.argsort(-mixed, kind="stable")[: self.budget]])
        rows = task.rows[np.sort(np.concatenate(kept))]
        self.chosen.append(rows)
        adjacency = csr_array(task.adjacency[rows][:, rows])
        self.buffer.append(Part(adjacency, task.features[rows], task.labels[rows], np.arange(len(rows))))


def normalised(score: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = score.max() - score.min()
    return (score - score.min()) / spread if spread else np.zeros_like(score)


def hodge_potential(adjacency: csr_array) -> NDArray[np.float64]:
    """-Δ† A 1 with scipy's conjugate gradients, one component at a time."""
    graph = csr_array(adjacency, dtype=np.float64)
    degree = graph.sum(axis=1)
    laplacian = csr_array(diags_array(degree) - graph)
    count, label = connected_components(graph, directed=False)
    value = np.zeros(len(degree))
    for component in range(count):
        rows = np.flatnonzero(label == component)
        wanted = degree[rows].mean() - degree[rows]
        found, _ = cg(laplacian[rows][:, rows], wanted, rtol=1e-10, maxiter=20_000)
        value[rows] = found - found.mean()
    return value
