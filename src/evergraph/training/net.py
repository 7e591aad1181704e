"""Net: a backbone that grows with the classes, and the operations that methods share."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evergraph.backbones import Backbone, ModelInput, model_input
from evergraph.backbones.blocks import Blocks
from evergraph.backbones.sampling import Links
from evergraph.backbones.size import GraphSize, total
from evergraph.data.graph import Graph
from evergraph.data.stream import Setting, TaskView
from evergraph.errors import StoreError
from evergraph.seeding import Purpose, numpy_generator, torch_generator
from evergraph.training.balance import BalanceConfig
from evergraph.training.batching import Batching, BatchPlan, make_plan, training_budget
from evergraph.training.loop import Batch, ClassLosses, TrainConfig, threads_for, train
from evergraph.training.minibatches import NodeBatch, SampledBatch, epoch_steps, pieces
from evergraph.watch import Watch

Build: TypeAlias = Callable[[torch.Generator], Backbone]
Parameters: TypeAlias = list[Tensor]

BY_WEIGHT = BalanceConfig()
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Part:
    """Nodes of a graph whose loss counts: every class alike, with weight `scale`.

    sizes: the nodes of each class, by which its weight is divided; those of this part where None. kept: whether the
    graph is what is kept of the past: it is small, so all of it is in every step.
    """

    graph: Graph
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    scale: float = 1.0
    sizes: NDArray[np.int64] | None = None
    kept: bool = False

    @classmethod
    def of(cls, task: TaskView, scale: float = 1.0, sizes: NDArray[np.int64] | None = None) -> "Part":
        """A task's training nodes."""
        return cls(task.graph, task.train, task.train_labels, scale, sizes)


@dataclass(frozen=True)
class _Terms:
    """The nodes of one graph that are in a loss."""

    graph: Graph
    rows: NDArray[np.int64]
    kept: bool
    labels: Tensor
    weights: Tensor
    offset: Tensor | None


class Net:
    """The model of a learner; `build` makes an untrained backbone without classes from a generator."""

    def __init__(self, build: Build, setting: Setting, config: TrainConfig, seed: int):
        self.build = build
        self.setting = setting
        self.config = config
        self.seed = seed
        self.device = torch.device(config.device)
        self.task_of_class = torch.empty(0, dtype=torch.int64, device=self.device)
        self.model = self._fresh(0)

    def _fresh(self, index: int) -> Backbone:
        return self.build(torch_generator(self.seed, Purpose.PARAMETERS, index)).to(self.device).eval()

    def restart(self, index: int) -> None:
        """Start again with new parameters and no classes."""
        self.model = self._fresh(index)
        self.task_of_class = self.task_of_class[:0]

    def grow(self, task: TaskView) -> None:
        """Add outputs for the classes of a task that are new; class indices are in order of arrival."""
        count = sum(label >= self.n_classes for label in task.classes)
        self.model.head.grow(count, torch_generator(self.seed, Purpose.PARAMETERS, 1 + task.index))
        arrived = torch.full((count,), task.index, device=self.device)
        self.task_of_class = torch.cat([self.task_of_class, arrived])

    @property
    def n_classes(self) -> int:
        """The classes so far."""
        return len(self.task_of_class)

    def plan(self, sizes: Sequence[GraphSize], classes: int | None = None) -> BatchPlan:
        """Full or sampled batches for graphs of these sizes, with so many classes (those so far if None)."""
        return make_plan(self.config.batch, self.config.fanout, self.step_bytes(sizes, classes))

    def step_bytes(self, sizes: Sequence[GraphSize], classes: int | None = None) -> int:
        """About the memory of a step on all nodes of these graphs: with the parameters, and Adam's two of each."""
        count = self.n_classes if classes is None else classes
        size, head = total(sizes), self.model.head.weight.shape[0]
        parameters = sum(value.numel() for value in self.model.parameters()) + head * max(count - self.n_classes, 0)
        return self.model.step_bytes(size, count) + 16 * parameters

    def exceeds(self, graph: Graph) -> bool:
        """Whether a graph is taken in blocks: batches are sampled, or a step on all of it is more than the budget.

        A module of one's own may look at all nodes, so it gets them.
        """
        sampled = isinstance(self.config.batch, int)
        return self.model.by_steps and (sampled or self.step_bytes([GraphSize.of(graph)]) > training_budget())

    def batch(self, graph: Graph, rows: NDArray[np.int64], labels: NDArray[np.int64], scale: float = 1.0) -> Batch:
        """The nodes as a batch with weights `scale` / (nodes of the class), divided by the classes for MEAN."""
        return self.batches([Part(graph, rows, labels, scale)])[0]

    def task_batch(self, task: TaskView) -> Batch:
        """A task's training nodes as a full batch."""
        return self.batch(task.graph, task.train, task.train_labels)

    def batches(self, parts: Sequence[Part], balance: BalanceConfig = BY_WEIGHT) -> list[Batch]:
        """Several parts as full batches; those in the same graph make one, so it is propagated once."""
        return [self._full(terms) for terms in self._terms(parts, balance)]

    def planned_batch(self, task: TaskView) -> NodeBatch:
        """A task's training nodes as a full or a sampled batch."""
        return self.planned([Part.of(task)])[0]

    def planned(self, parts: Sequence[Part], balance: BalanceConfig = BY_WEIGHT) -> list[NodeBatch]:
        """`batches`, those of graphs that are not kept sampled where the settings or the budget want it."""
        graphs = {id(part.graph.adjacency): part.graph for part in parts}
        plan = self.plan([GraphSize.of(graph) for graph in graphs.values()])
        batching = plan.batching
        if plan.automatic and batching is not None:  # a run has chosen before, and says so itself
            LOG.warning("%s", plan.described())
        return [
            self._full(terms) if terms.kept or batching is None else self._sampled(terms, batching)
            for terms in self._terms(parts, balance)
        ]

    def _terms(self, parts: Sequence[Part], balance: BalanceConfig) -> Iterator["_Terms"]:
        """The parts of each graph together, in order of their rows."""
        offset = balance.logit_offset(np.concatenate([part.labels for part in parts]), self.n_classes)
        shift = None if offset is None else torch.as_tensor(offset).to(self.device, torch.float32)
        graphs = {id(part.graph.adjacency): part.graph for part in parts}
        for key, graph in graphs.items():
            here = [part for part in parts if id(part.graph.adjacency) == key]
            rows = np.concatenate([part.rows for part in here])
            labels = np.concatenate([part.labels for part in here])
            weights = np.concatenate([self._weights(part, balance) for part in here])
            order = np.argsort(rows, kind="stable") if len(here) > 1 else np.arange(len(rows))
            target = torch.as_tensor(labels[order], device=self.device)
            of_rows = torch.as_tensor(weights[order], dtype=torch.float32, device=self.device)
            yield _Terms(graph, rows[order], all(part.kept for part in here), target, of_rows, shift)

    def _full(self, terms: "_Terms") -> Batch:
        inputs = model_input(terms.graph, terms.rows, self.device)
        return Batch(inputs, terms.labels, terms.weights, self.allowed(terms.labels), offset=terms.offset)

    def _sampled(self, terms: "_Terms", batching: Batching) -> SampledBatch:
        links, allowed = Links(terms.graph), self.allowed(terms.labels)
        return SampledBatch(links, terms.rows, batching, terms.labels, terms.weights, allowed, offset=terms.offset)

    def pieces(self, task: TaskView, batch: NodeBatch) -> Iterator[Batch]:
        """A task's batch as it is, or a sampled one in pieces; each time the same."""
        return pieces(batch, numpy_generator(self.seed, Purpose.IMPORTANCE, task.index))

    def _weights(self, part: Part, balance: BalanceConfig) -> NDArray[np.float64]:
        weights = balance.node_weights(part.labels, part.scale, part.sizes)
        return weights / len(np.unique(part.labels)) if self.config.class_losses is ClassLosses.MEAN else weights

    def allowed(self, labels: Tensor) -> Tensor | None:
        """The classes that a node of each label competes with: its task's, or (None) all of them."""
        if self.setting is Setting.CLASS_IL:
            return None
        return self.task_of_class[labels][:, None] == self.task_of_class[None, :]

    def fit(
        self,
        task: TaskView,
        batches: Sequence[NodeBatch],
        watch: Watch,
        *,
        penalty: Callable[[], Tensor] | None = None,
        adjust: Callable[[], None] | None = None,
        gradient_weight: float = 0.0,
        snapshots: int = 1,
    ) -> list[Parameters]:
        """Train on the batches, with this task's random stream; the options are those of `train`.

        Returns copies of the parameters at `snapshots` evenly spaced epochs, without the last, which is the model.
        """
        epochs = self.config.epochs
        wanted = {round(k * epochs / snapshots) for k in range(1, snapshots)} - {0, epochs}
        taken: list[Parameters] = []

        def on_epoch(epoch: int, loss: float) -> None:
            watch.epoch(epoch, loss)
            if epoch in wanted:
                taken.append([value.detach().clone() for value in self.model.parameters()])

        generator = torch_generator(self.seed, Purpose.TRAINING, task.index)
        drawn = numpy_generator(self.seed, Purpose.SAMPLING, task.index)
        full = [batch for batch in batches if isinstance(batch, Batch)]
        sampled = len(full) < len(batches)
        with watch.phase("train"), threads_for(full) if not sampled else nullcontext():
            train(
                self.model,
                full,
                self.config,
                generator,
                penalty=penalty,
                adjust=adjust,
                gradient_weight=gradient_weight,
                on_epoch=on_epoch,
                whole=bool(wanted),
                steps=(lambda: epoch_steps(batches, drawn)) if sampled else None,
            )
        return taken

    def at_each(self, snapshots: Sequence[Parameters]) -> Iterator[None]:
        """Set the parameters to each snapshot in turn, and at the end to what they are now."""
        own = [value.detach().clone() for value in self.model.parameters()]
        for values in (*snapshots, own):
            with torch.no_grad():
                for parameter, value in zip(self.model.parameters(), values, strict=True):
                    parameter.copy_(value)
            yield

    def logits(self, inputs: ModelInput) -> Tensor:
        """Outputs for the rows of `inputs`, without side effects: (rows, classes)."""
        with torch.no_grad():
            outputs: Tensor = self.model(*inputs)
        return outputs

    def outputs(
        self, graph: Graph, rows: NDArray[np.int64] | None = None, *, head: bool = True
    ) -> Callable[[], Tensor]:
        """What computes the logits of these rows (all if None), or without the head what it sees of them.

        What depends on the graph alone is computed once, here. Exact, in blocks where the graph does not fit.
        """
        wanted = np.arange(graph.n_nodes) if rows is None else rows
        if self.exceeds(graph):
            return partial(self._in_blocks, Blocks(Links(graph), wanted, self.device), head=head)
        inputs = model_input(graph, rows, self.device)
        return partial(self.logits, inputs) if head else partial(self._embedded, inputs)

    def batch_logits(self, batch: NodeBatch) -> Tensor:
        """The logits of the nodes of a batch, exact also for a sampled one."""
        if isinstance(batch, Batch):
            return self.logits(batch.input)
        return self.outputs(batch.links.graph, batch.rows)()

    def input_blocks(self, graph: Graph, rows: NDArray[np.int64]) -> Iterator[tuple[slice, ModelInput]]:
        """The rows with all that reaches them, in blocks where the graph does not fit, else all at once."""
        if self.exceeds(graph):
            yield from Blocks(Links(graph), rows, self.device).two_steps()
        else:
            yield slice(None), model_input(graph, rows, self.device)

    def _in_blocks(self, blocks: Blocks, *, head: bool) -> Tensor:
        with torch.no_grad():
            return self.model.in_blocks(blocks, head=head)

    def _embedded(self, inputs: ModelInput) -> Tensor:
        with torch.no_grad():
            return self.model.embed(*inputs)

    def state(self) -> dict[str, Tensor]:
        """Everything needed to resume, by name."""
        tensors = {f"model.{name}": value.contiguous() for name, value in self.model.state_dict().items()}
        return {**tensors, "task_of_class": self.task_of_class}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`, for any number of classes; the tensors are copied."""
        given = {name.removeprefix("model."): value for name, value in state.items() if name.startswith("model.")}
        unlike = sorted(self.model.state_dict().keys() ^ given.keys())
        if unlike or "task_of_class" not in state:
            what = unlike[0] if unlike else "task_of_class"
            raise StoreError(
                f"a state of this backbone is wanted, got one that differs from it in {what!r} instead"
            )
        trained = dict(self.model.named_parameters())
        for key, value in given.items():
            path, _, name = key.rpartition(".")
            copy = value.to(self.device, copy=True)
            setattr(self.model.get_submodule(path), name, nn.Parameter(copy) if key in trained else copy)
        self.task_of_class = state["task_of_class"].to(self.device, copy=True)
