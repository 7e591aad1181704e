"""GEM: steps do not conflict with the gradients of past tasks on their memories (Lopez-Paz and Ranzato, 2017)."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse
from scipy.optimize import nnls
from torch import Tensor, nn

from evergraph.backbones.layers import InputLinear
from evergraph.backbones.products import Pattern, sampled_product
from evergraph.config import Settings
from evergraph.data.stream import Setting, TaskView
from evergraph.errors import ConvergenceError
from evergraph.methods.base import Learner, MethodEntry
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.selection import Selection, choose_per_class
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.loop import Batch, batch_loss
from evergraph.training.narrowing import occurring_features
from evergraph.training.net import Net
from evergraph.watch import Watch


class PastClasses(Enum):
    """The classes in a past task's loss: all so far, or those known when it was learned.

    KNOWN is that of the field's public benchmark; later outputs then have no past gradient.
    """

    ALL = "all"
    KNOWN = "known"


class GEMConfig(Settings):
    """The memory, and the projection of gradients."""

    budget: int = Field(60, ge=1)
    """Nodes of each class in the memory."""
    margin: float = Field(0.5, ge=0)
    """Lower bound of the multipliers of past gradients."""
    past_classes: PastClasses = PastClasses.ALL
    """Which classes are in a past task's loss."""


class GEM(Learner):
    """Trains on the current task; the memory is random nodes of each past class, with the edges between them.

    Kept nodes are never in the loss that is minimised: they only say in which directions a step must not go. So it
    has no `balance`: new nodes alone are in that loss, and of every past class as many are kept. Nor has it a
    `storage`: each past task has one gradient, that of its kept nodes as one graph.
    """

    def __init__(self, net: Net, config: GEMConfig):
        self.config = config
        self.buffer = ReplayBuffer()
        super().__init__(net, self.buffer)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        memories = self.memories()
        projection = GradientProjection(self.net.model, memories, self.config.margin) if memories else None
        self.net.fit(task, [self.net.planned_batch(task)], watch, adjust=projection)
        with watch.phase("select"):
            rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
            chance = rng.random(len(task.train))
            chosen = choose_per_class(chance, task.train_labels, self.config.budget, Selection.DETERMINISTIC, rng)
            self.buffer.store(task, self.buffer.admit(task, chosen, self.config.budget))

    def memories(self) -> list[Batch]:
        """One batch for each past task of which something is kept."""
        graph, ranks = self.buffer.graph, self.buffer.ranks
        if graph is None:
            return []
        tasks = self.net.task_of_class.cpu().numpy()[graph.labels] if ranks is None else ranks.tasks
        only_known = self.config.past_classes is PastClasses.KNOWN and self.net.setting is Setting.CLASS_IL
        batches = []
        for index in np.unique(tasks):
            rows = np.flatnonzero(tasks == index)
            batch = self.net.batch(graph, rows, graph.labels[rows])
            known = (self.net.task_of_class <= index).expand(len(rows), -1)
            batches.append(replace(batch, allowed=known) if only_known else batch)
        return batches


class GradientProjection:
    """Replaces a model's gradient by its projection.

    Each memory is a separate graph, so the gradients of all past tasks together use every stored node once. `rows`
    holds the past gradients of the first weight if few features occur, `past` all others.
    """

    def __init__(self, model: nn.Module, memories: Sequence[Batch], margin: float):
        self.model = model
        self.memories = memories
        self.margin = margin
        self.rows = occurring_rows(model, memories)
        self.parameters = [p for p in model.parameters() if self.rows is None or p is not self.rows.layer.weight]
        self.sizes = [value.numel() for value in self.parameters]
        self.past = self.parameters[0].new_empty(len(memories), sum(self.sizes))

    def __call__(self) -> None:
        self._look_back()
        current = torch.cat([gradient_of(value).reshape(-1) for value in self.parameters])
        inner = self.past @ current
        if self.rows is not None:
            inner = inner + self.rows.inner()
        if not (inner < 0).any():
            return
        gram = self.past @ self.past.T
        if self.rows is not None:
            gram = gram + self.rows.gram()
        v = multipliers(inner, gram, self.margin)
        parts = torch.split(current + v @ self.past, self.sizes)
        for value, part in zip(self.parameters, parts, strict=True):
            value.grad = part.view_as(value)
        if self.rows is not None:
            self.rows.lean(v)

    def _look_back(self) -> None:
        """The gradient of every memory's loss."""
        for index, batch in enumerate(self.memories):
            sought = self.parameters if self.rows is None else [*self.parameters, self.rows.narrow(index)]
            loss = batch_loss(self.model, batch)
            found = torch.autograd.grad(loss, sought, allow_unused=True, materialize_grads=True)
            if self.rows is not None:
                self.rows.store(index, found[-1])
            torch.cat([value.reshape(-1) for value in found[: len(self.parameters)]], out=self.past[index])


class OccurringRows:
    """Past gradients of the first weight, each only in the rows of the features that occur in its memory.

    The rows of all memories are concatenated; only pairs of the same feature contribute to inner products.
    """

    def __init__(self, layer: InputLinear, columns: Sequence[Tensor]):
        self.layer = layer
        self.columns = columns
        self.all_columns = torch.cat(list(columns))
        sizes = torch.tensor([len(own) for own in columns])
        self.bounds = [0, *sizes.cumsum(0).tolist()]
        weight = layer.weight
        self.memory = torch.arange(len(columns)).repeat_interleave(sizes).to(weight.device)
        self.rows = weight.new_empty(len(self.all_columns), weight.shape[1])
        count, features = len(self.rows), self.all_columns.cpu().numpy()
        of_feature = sparse.csr_array((np.ones(count), (np.arange(count), features)), shape=(count, len(weight)))
        same = sparse.csr_array(of_feature @ of_feature.T)
        self.same = Pattern(same.indptr, same.indices, same.shape, weight.device)
        self.pair = self.memory[self.same.row.long()] * len(columns) + self.memory[self.same.col.long()]

    def narrow(self, index: int) -> Tensor:
        """The rows of the weight of a memory's features, to which the layer is narrowed until `store`."""
        rows = self.layer.weight.detach().index_select(0, self.columns[index]).requires_grad_()
        self.layer.narrowed = (self.columns[index], rows)
        return rows

    def store(self, index: int, gradient: Tensor) -> None:
        """Keep a memory's gradient, and restore the layer's whole weight."""
        self.rows[self.bounds[index] : self.bounds[index + 1]] = gradient
        self.layer.narrowed = None

    def inner(self) -> Tensor:
        """The inner product of each memory's gradient with the weight's gradient: (memories,)."""
        present = gradient_of(self.layer.weight).index_select(0, self.all_columns)
        products = (self.rows * present).sum(dim=1)
        return products.new_zeros(len(self.columns)).index_add_(0, self.memory, products)

    def gram(self) -> Tensor:
        """The inner products of the memories' gradients: (memories, memories)."""
        products = sampled_product(self.same, self.rows, self.rows)
        count = len(self.columns)
        return products.new_zeros(count * count).index_add_(0, self.pair, products).view(count, count)

    def lean(self, v: Tensor) -> None:
        """Add v_s times each memory's gradient to the weight's gradient."""
        gradient = gradient_of(self.layer.weight).clone()
        self.layer.weight.grad = gradient.index_add_(0, self.all_columns, self.rows * v[self.memory][:, None])


KEEP_ROWS_BELOW = 0.05
"""Rows are used if their inner products take at most this share of the operations of whole gradients."""


def occurring_rows(model: nn.Module, memories: Sequence[Batch]) -> OccurringRows | None:
    """The past gradients of the first weight by rows, if few features occur in each memory."""
    found = occurring_features(model, [batch.input for batch in memories])
    if found is None:
        return None
    layer, columns = found
    often = torch.bincount(torch.cat(columns), minlength=len(layer.weight))
    worth_it = int(often.square().sum()) <= KEEP_ROWS_BELOW * len(memories) ** 2 * len(layer.weight)
    return OccurringRows(layer, columns) if worth_it else None


def gradient_of(parameter: nn.Parameter) -> Tensor:
    """A parameter's gradient; zeros where it has none."""
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def multipliers(inner: Tensor, gram: Tensor, margin: float) -> Tensor:
    """The v >= margin that minimises ‖g + Σ_s v_s g_s‖, from ⟨g, g_s⟩ and ⟨g_s, g_t⟩, g_s the past gradients.

    For margin = 0 the sum is the closest vector to g that conflicts with no g_s; a larger margin favours the past.
    """
    matrix, vector = gram.double().cpu().numpy(), inner.double().cpu().numpy()
    if not (np.isfinite(matrix).all() and np.isfinite(vector).all()):
        raise ConvergenceError(
            "the gradients of past tasks must stay finite, got products of them that are not instead; "
            "lower train.lr or choose another stream.preprocessing"
        )
    linear = vector + margin * matrix.sum(axis=1)
    return torch.as_tensor(margin + nonnegative_minimiser(matrix, linear), dtype=gram.dtype, device=gram.device)


def nonnegative_minimiser(gram: NDArray[np.float64], linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """The u >= 0 that minimises uᵀ Q u / 2 + pᵀ u, for Q positive semi-definite and p in its range.

    With Q = Rᵀ R it is the non-negative least-squares problem ‖R u - c‖, Rᵀ c = -p, of the size of Q. Q is scaled
    to a unit diagonal first, so that small gradients are not lost in rounding; a zero gradient has u = 0.
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
