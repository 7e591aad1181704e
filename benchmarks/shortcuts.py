"""What two shortcuts of training are worth: each backbone with and without them, taking turns in one run.

    python benchmarks/shortcuts.py --data-dir FOLDER [--json]

Amazon Computers, the largest task, 200 epochs, the median epoch of the second half, where most nodes are already
classified without doubt. "tiny gradients" sets derivatives below evergraph.training.loop.MIN_GRADIENT to zero (GIN
and the GCN that sums its neighbours); "attention" has the gradient of each head of a GAT in closed form, against
the same attention one differentiable step after the other. The losses of both ways must agree in the first epochs;
later on, rounding drives a network with dropout apart.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from evergraph.backbones import BACKBONES, Norm
from evergraph.backbones.attention import attended_step_by_step
from evergraph.backbones.gcn import GCNConfig
from evergraph.config import Settings
from evergraph.data.datasets import load_dataset
from evergraph.data.stream import Setting, StreamConfig, TaskView, learner_view, make_stream
from evergraph.training.loop import TrainConfig, train
from evergraph.training.net import Net

EPOCHS = 200
TURNS = 3
"""Both ways take turns, so that what else the machine does meets both."""


def largest_task(data_dir: Path | None) -> TaskView:
    """The task of Amazon Computers with the most nodes, as a learner sees it, its classes numbered from 0."""
    graph = load_dataset("amazon-computers", data_dir=data_dir)
    task = max(make_stream(graph, StreamConfig(), split_seed=0, order_seed=0), key=lambda task: task.graph.n_nodes)
    view = learner_view(task)
    labels = np.where(view.graph.labels < 0, -1, view.graph.labels - task.classes[0])
    return replace(view, index=0, classes=(0, 1), graph=replace(view.graph, labels=labels))


def epochs_of(view: TaskView, backbone: str, settings: Settings) -> tuple[float, list[float]]:
    """Seconds of a late epoch, and the losses of all."""
    config = TrainConfig(epochs=EPOCHS)
    entry = BACKBONES[backbone]
    net = Net(lambda g: entry.build(view.graph.n_features, settings, g), Setting.CLASS_IL, config, seed=0)
    net.grow(view)
    stamps: list[float] = []
    losses: list[float] = []

    def on_epoch(_epoch: int, loss: float) -> None:
        stamps.append(time.perf_counter())
        losses.append(loss)

    train(net.model, [net.task_batch(view)], config, torch.Generator().manual_seed(0), on_epoch=on_epoch)
    return statistics.median(np.diff(stamps[EPOCHS // 2 :]).tolist()), losses


def compared(view: TaskView, backbone: str, settings: Settings, target: str, without: object) -> dict[str, float]:
    """A backbone's epochs as they are, and with `target` replaced by what stands for the way without."""

    def plainly() -> tuple[float, list[float]]:
        with patch(target, without):
            return epochs_of(view, backbone, settings)

    ways: tuple[Callable[[], tuple[float, list[float]]], ...] = (
        lambda: epochs_of(view, backbone, settings),
        plainly,
    )
    turns = [[way() for way in ways] for _ in range(TURNS)]
    ours, other = (statistics.median(turn[side][0] for turn in turns) for side in (0, 1))
    difference = np.abs(np.subtract(turns[0][0][1][:20], turns[0][1][1][:20])).max()
    return {
        "with_ms": ours * 1e3,
        "without_ms": other * 1e3,
        "times_as_fast": other / ours,
        "largest_loss_difference": float(difference),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    view = largest_task(arguments.data_dir)
    tiny, attended = "evergraph.training.loop.MIN_GRADIENT", "evergraph.backbones.gat.attended"
    cases: dict[str, tuple[str, Settings, str, object]] = {
        "tiny gradients, GIN": ("gin", BACKBONES["gin"].config(), tiny, 0.0),
        "tiny gradients, GCN that sums": ("gcn", GCNConfig(norm=Norm.SUM), tiny, 0.0),
        "attention, GAT": ("gat", BACKBONES["gat"].config(), attended, attended_step_by_step),
    }
    results = {name: compared(view, *case) for name, case in cases.items()}
    if arguments.json:
        print(json.dumps(results))
        return
    for name, figures in results.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key.replace('_', ' '):26} {value:,.6g}")


if __name__ == "__main__":
    main()
