"""A whole run of deterministic FTF-ER: ours against the algorithms that come to mind first (benchmarks/naive/).

    python benchmarks/compare.py --data-dir FOLDER [--dataset amazon-computers] [--backbone gcn] [--epochs 200]
                                 [--tasks N] [--sample N] [--naive-epochs N] [--cpu] [--threads N]
                                 [--out FILE.json] [--json]

Task graphs, seed 0. Both begin with the same parameters and take turns, task by task, in one process, so that what
else the machine does meets both; with --cpu the seconds are those of the processor. The naive run trains with
gather and scatter, makes a backward pass for each node and solves with scipy's conjugate gradients. `analytic`
learns the same tasks beside them. Loading, evaluation and what is done once a process (compiling) are not counted.

With --sample N the naive run makes a backward pass for N nodes of each task only. Their norms are compared with
ours of the same parameters, the time of all nodes is extrapolated from theirs, and the nodes are chosen by our
norms, not counted. Scores differ in their last digits, so single nodes may differ, and with them all that follows:
the share of equal nodes is printed, and the accuracy of both. Dropout of GAT is drawn apart: its nodes differ by
chance, too.

With --naive-epochs N the naive run trains for N epochs of each task only, and the time of all is extrapolated. Then
it takes our parameters of that task: its nodes are chosen by the same model, and its accuracy is not its own.

With --out the results so far are stored after each task, and the same command goes on after an interruption.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from scipy import sparse
from torch import Tensor

from evergraph.data.graph import Graph
from evergraph.data.stream import TaskView
from evergraph.methods.ftf_er import FTFER, FTFERConfig
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.replay.selection import Chosen
from evergraph.runs.build import make_learner, make_net, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.process import keep_freed_memory
from evergraph.scores import SCORES, ScoreContext
from evergraph.watch import Watch
from naive.ftf_er import FTFER as NaiveFTFER
from naive.ftf_er import Part
from naive.gat import PlainGAT
from naive.gcn import PlainGCN
from naive.gin import PlainGIN
from naive.network import Network

PLAIN: dict[str, Any] = {"gcn": PlainGCN, "gin": PlainGIN, "gat": PlainGAT}
SETTINGS = ("dataset", "backbone", "epochs", "sample", "naive_epochs", "cpu", "threads")
SMALLEST = 1e-30
"""Below this norm, squares and products of a backward pass in float32 lose their digits."""


class Ours(FTFER):
    """Remembers what it chose last."""

    last: NDArray[np.int64]

    def chosen(self, task: TaskView, mixed: NDArray[np.float64], rng: np.random.Generator) -> Chosen:
        found = super().chosen(task, mixed, rng)
        self.last = task.train[found.at]
        return found


class Comparison:
    """The three learners, and for each task what they took and chose."""

    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.clock = time.process_time if arguments.cpu else time.perf_counter
        config = self.configured("ftf-er-det")
        settings = config.method
        assert isinstance(settings, FTFERConfig)
        self.stream = open_stream(config, arguments.data_dir)
        n_features = self.stream.graph.n_features
        self.ours, self.untrained = Ours(make_net(config, n_features), settings), make_net(config, n_features)
        analytic = make_learner(self.configured("analytic"), n_features)
        assert isinstance(analytic, StatisticsLearner)
        self.analytic = analytic
        self.naive = NaiveFTFER(
            PLAIN[arguments.backbone](self.untrained.model.state_dict()),
            budget=settings.budget,
            beta=settings.beta,
            epochs=arguments.naive_epochs or arguments.epochs,
            clock=self.clock,
        )
        self.tasks: list[dict[str, Any]] = []
        self.n_tasks = min(arguments.tasks or len(self.stream), len(self.stream))

    def configured(self, method: str) -> RunConfig:
        arguments = self.arguments
        return RunConfig.from_values(
            {
                "dataset": {"name": arguments.dataset},
                "method": {"name": method},
                "backbone": {"name": arguments.backbone},
                "train": {"epochs": arguments.epochs},
            }
        )

    def run(self) -> None:
        """Learn the tasks that are left."""
        self.resume()
        warm_up(self.arguments.backbone)
        for index in range(len(self.tasks), self.n_tasks):
            (task,) = self.stream.views(index, with_past=False)
            self.tasks.append(self.learned(task))
            self.store()

    def learned(self, task: TaskView) -> dict[str, Any]:
        """Learn a task in the three ways."""
        self.grow(task)
        ours = self.learn_ours(task)
        error = self.learn_naively(task)
        seconds = {"ours": ours, "naive": dict(self.naive.seconds)}
        begun = self.clock()
        self.analytic.learn(task, (), Watch())
        _ = self.analytic.linear  # it fits when it is asked
        seconds["analytic"] = {"learn": self.clock() - begun}
        chosen = {"ours": self.ours.last.tolist(), "naive": self.naive.chosen[-1].tolist()}
        return {"nodes": task.graph.n_nodes, "seconds": seconds, "chosen": chosen, "norm_error": error}

    def grow(self, task: TaskView) -> None:
        """Give the naive model outputs with the parameters that ours begins with."""
        self.untrained.grow(task)
        head, new = self.untrained.model.head, len(task.classes)
        self.naive.model.grow(head.weight.detach()[:, -new:], head.bias.detach()[-new:])

    def learn_ours(self, task: TaskView) -> dict[str, float]:
        watch = Watch()
        self.ours.learn(task, (), watch)
        times = watch.take()
        seconds = dict(times.processor if self.arguments.cpu else times.seconds)
        context = ScoreContext(task, self.ours.net, np.random.default_rng(0))
        begun = self.clock()
        SCORES["hps"].score(context)  # once more: its part of the scores
        hps = self.clock() - begun
        return {
            "train": seconds["train"],
            "grand": seconds["score"] - hps,
            "hps": hps,
            "select": seconds["select"],
        }

    def learn_naively(self, task: TaskView) -> float | None:
        """The largest relative difference from our norms on a sample; None where every node has its own pass."""
        naive, own = self.naive, part(task.graph, task.train)
        naive.seconds = dict.fromkeys(naive.seconds, 0.0)
        torch.manual_seed(task.index)  # of the naive dropout; ours has a generator of its own
        naive.train([own, *naive.buffer])
        if self.arguments.naive_epochs:
            naive.seconds["train"] *= self.arguments.epochs / self.arguments.naive_epochs
            set_parameters(naive.model, self.ours.net.model.state_dict())
        norms, error = self.naive_norms(task, own)
        naive.keep(own, norms, naive.potential(own))
        return error

    def naive_norms(self, task: TaskView, own: Part) -> tuple[NDArray[np.float64], float | None]:
        """The gradient norms of a task's nodes, and how far those of a sample are from ours."""
        naive, size, every = self.naive, self.arguments.sample, len(task.train)
        if not size or size >= every:
            return naive.grand(own, range(every)), None
        nodes = np.random.default_rng(task.index).permutation(every)[:size]
        naive.grand(own, [])
        forward = naive.seconds["grand"]
        sampled = naive.grand(own, nodes.tolist())
        backward = naive.seconds["grand"] - 2 * forward
        naive.seconds["grand"] = forward + backward * every / size
        norms = self.norms_of(naive.model.named(), task)
        counted = sampled > SMALLEST
        return norms, float(np.max(np.abs(norms[nodes][counted] / sampled[counted] - 1), initial=0.0))

    def norms_of(self, parameters: Mapping[str, Tensor], task: TaskView) -> NDArray[np.float64]:
        """Our gradient norms of a model with these parameters."""
        net = self.untrained
        untouched = {name: value.clone() for name, value in net.model.state_dict().items()}
        net.model.load_state_dict(dict(parameters))
        norms = SCORES["grand"].score(ScoreContext(task, net, np.random.default_rng(0))).value
        net.model.load_state_dict(untouched)
        return norms

    def summary(self) -> dict[str, Any]:
        """Seconds by part, equal nodes and accuracies."""
        sides = ("ours", "naive", "analytic")
        seconds = {
            side: {step: sum(task["seconds"][side][step] for task in self.tasks) for step in parts}
            for side in sides
            for parts in [self.tasks[0]["seconds"][side]]
        }
        total = {side: sum(parts.values()) for side, parts in seconds.items()}
        chosen = [task["chosen"] for task in self.tasks]
        return {
            "tasks": len(self.tasks),
            "seconds": seconds,
            "total": total,
            "naive_over_ours": total["naive"] / total["ours"],
            "by_part": {step: seconds["naive"][step] / seconds["ours"][step] for step in seconds["ours"]},
            "equal_nodes": sum(len(np.intersect1d(c["ours"], c["naive"])) for c in chosen)
            / sum(len(c["ours"]) for c in chosen),
            "norm_error": max((task["norm_error"] or 0.0 for task in self.tasks), default=0.0),
            "accuracy": {
                "ours": self.accuracy(lambda graph: self.ours.logits(graph).numpy()),
                "naive": self.accuracy(lambda graph: part(graph).logits(self.naive.model).detach().numpy()),
                "analytic": self.accuracy(lambda graph: self.analytic.logits(graph).numpy()),
            },
        }

    def accuracy(self, logits: Callable[[Graph], NDArray[Any]]) -> float:
        """Mean over all classes so far of their accuracy on test nodes, in percent, each task in its own graph."""
        found = []
        for task in list(self.stream)[: len(self.tasks)]:
            right = logits(task.graph).argmax(axis=1) == task.graph.labels
            found += [right[task.test][task.graph.labels[task.test] == label].mean() for label in task.classes]
        return 100 * float(np.mean(found))

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self.arguments, name) for name in SETTINGS}

    def store(self) -> None:
        """Write what is known after a task: the figures, and beside them the parameters to go on with."""
        out = self.arguments.out
        if out is None:
            return
        state = {f"naive/{name}": value for name, value in self.naive.model.named().items()}
        for side, learner in (("ours", self.ours), ("analytic", self.analytic)):
            state |= {f"{side}/{name}": value.contiguous() for name, value in learner.state().items()}
        save_file(state, states_of(out))
        content = {"settings": self.settings(), "tasks": self.tasks, "summary": self.summary()}
        out.write_text(json.dumps(content), encoding="utf-8")

    def resume(self) -> None:
        """Take up what an earlier call has stored."""
        out = self.arguments.out
        if out is None or not out.is_file():
            return
        content = json.loads(out.read_text(encoding="utf-8"))
        if content["settings"] != self.settings():
            raise SystemExit(f"{out} has other settings: {content['settings']}; name another file")
        self.tasks = content["tasks"]
        state = load_file(states_of(out))
        for index, done in enumerate(self.tasks):
            (task,) = self.stream.views(index, with_past=False)
            self.grow(task)
            self.naive.store(part(task.graph, task.train), np.array(done["chosen"]["naive"]))
        set_parameters(self.naive.model, of_side(state, "naive"))
        for side, learner in (("ours", self.ours), ("analytic", self.analytic)):
            learner.load_state(of_side(state, side))


def of_side(state: Mapping[str, Tensor], side: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{side}/"): value for name, value in state.items() if name.startswith(f"{side}/")}


def set_parameters(model: Network, named: Mapping[str, Tensor]) -> None:
    """Give a naive model parameters by evergraph's names."""
    for own, name in model.NAMES.items():
        getattr(model, own).data = named[name].clone()


def states_of(out: Path) -> Path:
    return out.with_suffix(".safetensors")


def warm_up(backbone: str) -> None:
    """What a process does once: torch's Adam imports its compiler; the loops for GAT are compiled or loaded."""
    torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])
    values = {"dataset": {"name": "digits"}, "backbone": {"name": backbone}, "train": {"epochs": 2}}
    config = RunConfig.from_values({**values, "method": {"name": "ftf-er-det"}})
    stream = open_stream(config, None)
    (task,) = stream.views(0, with_past=False)
    make_learner(config, stream.graph.n_features).learn(task, (), Watch())


def part(graph: Graph, rows: NDArray[np.int64] | None = None) -> Any:
    """A graph as the naive code has it."""
    features = sparse.csr_array(graph.features).toarray()
    labels = np.maximum(graph.labels, 0)  # hidden ones are never read
    return Part(graph.adjacency, features, labels, np.arange(graph.n_nodes) if rows is None else rows)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--dataset", default="amazon-computers")
    parser.add_argument("--backbone", default="gcn", choices=PLAIN)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=0, help="the first ones only; 0: all")
    parser.add_argument("--sample", type=int, default=0, help="nodes of a task with a pass of their own; 0: all")
    parser.add_argument("--naive-epochs", type=int, default=0, help="extrapolate from these; 0: all")
    parser.add_argument("--threads", type=int, default=0, help="0 uses every core")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock")
    parser.add_argument("--out", type=Path, help="store the results after each task, and go on from there")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    keep_freed_memory()  # as the command line does
    torch.set_num_threads(arguments.threads or torch.get_num_threads())
    comparison = Comparison(arguments)
    comparison.run()
    found = comparison.summary()
    if arguments.json:
        print(json.dumps(found))
        return
    kind = "processor seconds" if arguments.cpu else "seconds"
    head = f"{arguments.dataset}, {arguments.backbone}, {found['tasks']} tasks, {arguments.epochs} epochs a task"
    print(f"{head}, {torch.get_num_threads()} threads, {kind}")
    for name, parts in found["seconds"].items():
        by_part = ", ".join(f"{part} {seconds:.2f}" for part, seconds in parts.items())
        print(f"{name:9}{found['total'][name]:9.2f} ({by_part}); accuracy {found['accuracy'][name]:.1f} %")
    ratios = ", ".join(f"{part} {ratio:.1f}" for part, ratio in found["by_part"].items())
    print(f"naive over ours: {found['naive_over_ours']:.1f} times ({ratios})")
    print(f"{found['equal_nodes']:.1%} of the chosen nodes are the same")
    if arguments.naive_epochs:
        print(
            f"naive training extrapolated from {arguments.naive_epochs} epochs; parameters of ours after each task"
        )
    if arguments.sample:
        print(f"{arguments.sample} nodes of a task sampled, norms equal to {found['norm_error']:.1e}")


if __name__ == "__main__":
    main()
