"""GEM: a step may not go against the gradient of any past task on its memory (Lopez-Paz and Ranzato, 2017)."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from scipy.optimize import nnls
from torch import Tensor, nn

from evergraph.buffer import ReplayBuffer
from evergraph.config import Settings
from evergraph.methods.base import Memory, MethodEntry
from evergraph.methods.importance import derivatives
from evergraph.net import Net
from evergraph.seeding import Purpose, numpy_generator
from evergraph.selection import Selection, choose_per_class
from evergraph.stream import TaskView
from evergraph.training import Batch, batch_loss
from evergraph.watch import Watch


class GEMConfig(Settings):
    """budget: nodes of each class in the memory; margin: how much of every past gradient a projection adds."""

    budget: int = Field(60, ge=1)
    margin: float = Field(0.5, ge=0)


class GEM:
    """Trains on the current task; random nodes of each past class, with the edges between them, have a veto."""

    def __init__(self, net: Net, config: GEMConfig):
        self.net = net
        self.config = config
        self.buffer = ReplayBuffer()

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        memories = self.memories()
        projection = Projection(self.net.model, memories, self.config.margin) if memories else None
        self.net.fit(task, [self.net.task_batch(task)], watch, adjust=projection)
        with watch.phase("select"):
            rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
            chance = rng.random(len(task.train))
            kept = choose_per_class(chance, task.train_labels, self.config.budget, Selection.DETERMINISTIC, rng)
            self.buffer.add(task.graph, task.train[kept], task.train_labels[kept])

    def memories(self) -> list[Batch]:
        """One batch for each past task."""
        graph = self.buffer.graph
        if graph is None:
            return []
        tasks = self.net.task_of_class.cpu().numpy()[graph.labels]
        rows = [np.flatnonzero(tasks == index) for index in np.unique(tasks)]
        return [self.net.batch(graph, own, graph.labels[own]) for own in rows]

    def memory(self) -> Memory:
        return self.buffer.memory()

    def state(self) -> dict[str, Tensor]:
        return {**self.net.state(), **self.buffer.state()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.net.load_state(state)
        self.buffer.load_state(state)


class Projection:
    """Replaces a model's gradient by its projection.

    Each memory is a piece of graph of its own, so that the gradients of all past tasks together touch every stored
    node once.
    """

    def __init__(self, model: nn.Module, memories: Sequence[Batch], margin: float):
        self.parameters = list(model.parameters())
        self.model = model
        self.memories = memories
        self.margin = margin
        first = self.parameters[0]
        self.past = first.new_empty(len(memories), sum(value.numel() for value in self.parameters))

    def __call__(self) -> None:
        for row, batch in zip(self.past, self.memories, strict=True):
            found = derivatives(batch_loss(self.model, batch), self.model)
            torch.cat([value.reshape(-1) for value in found.values()], out=row)
        held = [torch.zeros_like(value) if value.grad is None else value.grad for value in self.parameters]
        current = torch.cat([value.reshape(-1) for value in held])
        result = projected(current, self.past, self.margin)
        if result is not current:
            parts = torch.split(result, [value.numel() for value in self.parameters])
            for value, part in zip(self.parameters, parts, strict=True):
                value.grad = part.view_as(value)


def projected(gradient: Tensor, past: Tensor, margin: float) -> Tensor:
    """The gradient itself if ⟨g, g_s⟩ >= 0 for all rows g_s of `past`, else g + Σ_s v_s g_s, where that holds.

    v minimises ‖g + Σ_s v_s g_s‖ subject to v >= margin; for margin = 0 the result is the closest vector to g that
    conflicts with no g_s, and a larger margin leans further towards the past.
    """
    inner = past @ gradient
    if not (inner < 0).any():
        return gradient
    gram = (past @ past.T).double().cpu().numpy()
    linear = inner.double().cpu().numpy() + margin * gram.sum(axis=1)
    v = margin + nonnegative_minimiser(gram, linear)
    return gradient + torch.as_tensor(v, dtype=past.dtype, device=past.device) @ past


def nonnegative_minimiser(gram: NDArray[np.float64], linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """The u >= 0 that minimises uᵀ Q u / 2 + pᵀ u, for Q positive semi-definite and p in its range.

    Q = Rᵀ R makes it the non-negative least-squares problem ‖R u - c‖ with Rᵀ c = -p, of the size of Q. Q is scaled
    to a unit diagonal first, so that a small gradient is not lost in rounding; a task without any has u = 0.
    """
    lengths = np.sqrt(gram.diagonal())
    some = lengths > 0
    scale = lengths[some]
    values, vectors = np.linalg.eigh(gram[np.ix_(some, some)] / np.outer(scale, scale))
    kept = values > len(values) * np.finfo(np.float32).eps * values[-1]
    roots, basis = np.sqrt(values[kept]), vectors[:, kept]
    size = np.abs(linear[some] / scale).max() or 1.0
    c = -(basis.T @ (linear[some] / scale / size)) / roots
    result = np.zeros(len(linear))
    result[some] = nnls(roots[:, None] * basis.T, c, maxiter=100 * len(linear))[0] * size / scale
    return result


ENTRY = MethodEntry(
    "projects the gradient so that no past task's loss grows", "Lopez-Paz and Ranzato, NeurIPS 2017", GEMConfig, GEM
)
