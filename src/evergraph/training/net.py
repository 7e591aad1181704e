"""Net: a backbone that grows with the classes, and the few things that every method does with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evergraph.backbones import Backbone, ModelInput, model_input
from evergraph.data.graph import Graph
from evergraph.data.stream import Setting, TaskView
from evergraph.errors import StoreError
from evergraph.seeding import Purpose, torch_generator
from evergraph.training.loop import Batch, ClassLosses, TrainConfig, threads_for, train
from evergraph.watch import Watch

Build: TypeAlias = Callable[[torch.Generator], Backbone]
Parameters: TypeAlias = list[Tensor]


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
        """Forget everything: new parameters, no classes."""
        self.model = self._fresh(index)
        self.task_of_class = self.task_of_class[:0]

    def grow(self, task: TaskView) -> None:
        """Make room for the classes of a task that are new; indices are given in order of arrival."""
        count = sum(label >= self.n_classes for label in task.classes)
        self.model.head.grow(count, torch_generator(self.seed, Purpose.PARAMETERS, 1 + task.index))
        arrived = torch.full((count,), task.index, device=self.device)
        self.task_of_class = torch.cat([self.task_of_class, arrived])

    @property
    def n_classes(self) -> int:
        return len(self.task_of_class)

    def batch(self, graph: Graph, rows: NDArray[np.int64], labels: NDArray[np.int64], scale: float = 1.0) -> Batch:
        """The given nodes as a batch in which every class counts alike: weight `scale` / (nodes of that class).

        Where the classes' losses are averaged, each of k classes has a k-th of that.
        """
        return self._batch(graph, rows, labels, self._weights(labels, np.bincount(labels), scale))

    def _weights(
        self, labels: NDArray[np.int64], sizes: NDArray[np.int64], scale: float = 1.0
    ) -> NDArray[np.float64]:
        weights: NDArray[np.float64] = scale / sizes[labels]
        if self.config.class_losses is ClassLosses.MEAN:
            weights /= len(np.unique(labels))
        return weights

    def _batch(
        self, graph: Graph, rows: NDArray[np.int64], labels: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Batch:
        target = torch.as_tensor(labels, device=self.device)
        return Batch(
            model_input(graph, rows, self.device),
            target,
            torch.as_tensor(weights, dtype=torch.float32, device=self.device),
            self.allowed(target),
        )

    def task_batch(self, task: TaskView) -> Batch:
        """A task's training nodes as a batch."""
        return self.batch(task.graph, task.train, task.train_labels)

    def task_batches(self, tasks: Sequence[TaskView]) -> list[Batch]:
        """The training nodes of several tasks; those in the same graph make one batch, so it is propagated once.

        Every class counts alike, in however many tasks it arrives.
        """
        sizes = np.bincount(np.concatenate([task.train_labels for task in tasks]))
        graphs = {id(task.graph.adjacency): task.graph for task in tasks}
        batches = []
        for key, graph in graphs.items():
            here = [task for task in tasks if id(task.graph.adjacency) == key]
            rows = np.concatenate([task.train for task in here])
            labels = np.concatenate([task.train_labels for task in here])
            weights = np.concatenate([self._weights(task.train_labels, sizes) for task in here])
            order = np.argsort(rows)
            batches.append(self._batch(graph, rows[order], labels[order], weights[order]))
        return batches

    def allowed(self, labels: Tensor) -> Tensor | None:
        """Which classes a node of each label competes with: its own task's, or (None) all of them."""
        if self.setting is Setting.CLASS_IL:
            return None
        return self.task_of_class[labels][:, None] == self.task_of_class[None, :]

    def fit(
        self,
        task: TaskView,
        batches: Sequence[Batch],
        watch: Watch,
        *,
        penalty: Callable[[], Tensor] | None = None,
        adjust: Callable[[], None] | None = None,
        gradient_weight: float = 0.0,
        snapshots: int = 1,
    ) -> list[Parameters]:
        """Train on the batches, with the randomness of this task; the options are those of `training.train`.

        Returns copies of the parameters at `snapshots` epochs, evenly spaced, the last one left out: that is the
        model itself.
        """
        epochs = self.config.epochs
        wanted = {round(k * epochs / snapshots) for k in range(1, snapshots)} - {0, epochs}
        taken: list[Parameters] = []

        def on_epoch(epoch: int, loss: float) -> None:
            watch.epoch(epoch, loss)
            if epoch in wanted:
                taken.append([value.detach().clone() for value in self.model.parameters()])

        generator = torch_generator(self.seed, Purpose.TRAINING, task.index)
        with watch.phase("train"), threads_for(batches):
            train(
                self.model,
                batches,
                self.config,
                generator,
                penalty=penalty,
                adjust=adjust,
                gradient_weight=gradient_weight,
                on_epoch=on_epoch,
                whole=bool(wanted),
            )
        return taken

    def at_each(self, snapshots: Sequence[Parameters]) -> Iterator[None]:
        """Put the model at each of its snapshots in turn, last of all where it is now."""
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

    def state(self) -> dict[str, Tensor]:
        """Everything needed to resume, by name."""
        tensors = {f"model.{name}": value.contiguous() for name, value in self.model.state_dict().items()}
        return {**tensors, "task_of_class": self.task_of_class}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`, whatever number of classes it has; nothing is shared with it afterwards."""
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
