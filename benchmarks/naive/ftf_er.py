"""Deterministic FTF-ER as the paper writes it: a backward pass per node, a generic solver, scatter-add layers."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from torch import Tensor
from torch.nn.functional import cross_entropy

from .network import Edges, Network

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

    def logits(self, model: Network) -> Tensor:
        found: Tensor = model(self.x, self.edges)
        return found

    def losses(self, model: Network) -> Tensor:
        return cross_entropy(self.logits(model)[torch.as_tensor(self.rows)], self.target, reduction="none")


@dataclass
class FTFER:
    """The model, the parts that are replayed, the nodes that were chosen, and the seconds of each step."""

    model: Network
    budget: int
    beta: float = 0.5
    epochs: int = 200
    clock: Callable[[], float] = time.perf_counter
    buffer: list[Part] = field(default_factory=list)
    chosen: list[NDArray[np.int64]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STEPS, 0.0))

    def learn(self, task: Part) -> None:
        """Train on the task and the buffer, score the task's nodes, keep the best of each class and their edges."""
        self.train([task, *self.buffer])
        self.keep(task, self.grand(task, range(len(task.rows))), self.potential(task))

    def train(self, parts: list[Part]) -> None:
        begun = self.clock()
        optimiser = torch.optim.Adam(self.model.parameters(), lr=0.005, weight_decay=5e-4)
        self.model.train()
        for _ in range(self.epochs):
            optimiser.zero_grad()
            loss = torch.stack([part.weight @ part.losses(self.model) for part in parts]).sum()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        self.model.eval()
        self._add("train", begun)

    def grand(self, task: Part, nodes: Sequence[int]) -> NDArray[np.float64]:
        """The norm of the gradient of these of the learned nodes: one backward pass for each."""
        begun = self.clock()
        losses, norms = task.losses(self.model), []
        for node in nodes:
            gradients = torch.autograd.grad(losses[node], list(self.model.parameters()), retain_graph=True)
            norms.append(torch.stack([gradient.double().norm() for gradient in gradients]).norm().item())
        self._add("grand", begun)
        return np.array(norms)

    def potential(self, task: Part) -> NDArray[np.float64]:
        begun = self.clock()
        found = hodge_potential(task.adjacency)[task.rows]
        self._add("hps", begun)
        return found

    def keep(self, task: Part, loss_score: NDArray[np.float64], topology_score: NDArray[np.float64]) -> None:
        """The highest mixed scores of each class, and the subgraph that they induce."""
        begun = self.clock()
        labels, kept = task.labels[task.rows], []
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            parts = ((1 - self.beta, loss_score), (self.beta, topology_score))
            mixed = sum(share * normalised(score[members]) for share, score in parts)
            kept.append(members[np.argsort(-mixed, kind="stable")[: self.budget]])
        self.store(task, task.rows[np.sort(np.concatenate(kept))])
        self._add("select", begun)

    def store(self, task: Part, rows: NDArray[np.int64]) -> None:
        """Keep these nodes of a task for replay, with the edges between them."""
        self.chosen.append(rows)
        adjacency = csr_array(task.adjacency[rows][:, rows])
        self.buffer.append(Part(adjacency, task.features[rows], task.labels[rows], np.arange(len(rows))))

    def _add(self, step: str, begun: float) -> None:
        self.seconds[step] += self.clock() - begun


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
