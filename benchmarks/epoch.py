"""One training epoch: GCN against a plain gather-scatter network, sparse against dense features, GAT against GCN.

    python benchmarks/epoch.py --data-dir FOLDER [--threads N] [--cpu] [--json]

Amazon Computers, the largest task: ours and the plain implementation train the same network from the same
parameters in the same run; the losses must agree. The matrix-multiplication rate of the machine is measured in
turn with ours, as one square product, and compared with the rate that an epoch's two large products amount to.
Cora papers (70 classes, sparse features), the largest task: the same code with the features sparse and made dense.
"Afterwards" is the weight decay of features that do not occur in the task: an epoch leaves them out, and the loop
catches up with it once at the end (evergraph.training.narrowing); its share of an epoch is shown, and "times as
fast" counts it.
GAT on the same Amazon task takes turns with GCN: with compiled loops, if numba is installed, and without them.
--threads sets torch's threads; with --cpu an epoch is what it takes of the processor, which says more than a clock
beside other work, but only with one thread.
"""

import argparse
import json
import os
import statistics
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import cross_entropy

from evergraph.backbones import BACKBONES
from evergraph.backbones.gcn import GCN, GCNConfig
from evergraph.backbones.jit import kernels
from evergraph.data.datasets import load_dataset
from evergraph.data.stream import Setting, StreamConfig, TaskView, learner_view, make_stream
from evergraph.runs.process import keep_freed_memory
from evergraph.training.loop import Batch, TrainConfig, train
from evergraph.training.net import Net
from naive.gcn import PlainGCN
from naive.network import Edges

EPOCHS = 200
"""As many as the paper trains a task for."""
TURNS = 3
"""Sparse and dense take turns, so that what else the machine does meets both."""
HIDDEN = 256


def largest_task(name: str, data_dir: Path | None) -> TaskView:
    """The task with the most nodes, as a learner sees it, its classes numbered from 0."""
    stream = make_stream(load_dataset(name, data_dir=data_dir), StreamConfig(), split_seed=0, order_seed=0)
    task = max(stream, key=lambda task: task.graph.n_nodes)
    view = learner_view(task)
    labels = np.where(view.graph.labels < 0, -1, view.graph.labels - task.classes[0])
    return replace(view, index=0, classes=(0, 1), graph=replace(view.graph, labels=labels))


class Timing(NamedTuple):
    """Seconds of an epoch, its share of what the loop does once after the last epoch, and all losses."""

    epoch: float
    afterwards: float
    losses: list[float]


def median_timing(timings: list[Timing]) -> Timing:
    """The median of several timings of the same training."""
    epoch, afterwards = (statistics.median(getattr(t, field) for t in timings) for field in ("epoch", "afterwards"))
    return Timing(epoch, afterwards, timings[0].losses)


def our_epochs(view: TaskView, epochs: int = EPOCHS, backbone: str = "gcn", *, cpu: bool = False) -> Timing:
    """Our training loop on a task."""
    config, entry = TrainConfig(epochs=epochs), BACKBONES[backbone]
    clock = time.process_time if cpu else time.perf_counter
    settings = entry.config.model_validate({"hidden": HIDDEN})
    net = Net(lambda g: entry.build(view.graph.n_features, settings, g), Setting.CLASS_IL, config, seed=0)
    net.grow(view)
    batch = net.task_batch(view)
    losses: list[float] = []
    stamps: list[float] = []

    def on_epoch(_epoch: int, loss: float) -> None:
        stamps.append(clock())
        losses.append(loss)

    train(net.model, [batch], config, torch.Generator(), on_epoch=on_epoch)
    afterwards = (clock() - stamps[-1]) / epochs
    return Timing(statistics.median(np.diff(stamps).tolist()), afterwards, losses)


def plain_epochs(view: TaskView, epochs: int, cpu: bool) -> tuple[list[float], list[float]]:
    """Seconds and losses of each epoch of the plain implementation, started from our parameters."""
    config, clock = TrainConfig(), time.process_time if cpu else time.perf_counter
    net = Net(lambda g: GCN(view.graph.n_features, GCNConfig(hidden=HIDDEN), g), Setting.CLASS_IL, config, seed=0)
    net.grow(view)
    batch: Batch = net.task_batch(view)
    model, edges = PlainGCN(net.model.state_dict()), Edges(view.graph.adjacency)
    x = torch.as_tensor(sparse.csr_array(view.graph.features).toarray())
    optimiser = torch.optim.Adam(model.parameters(), config.lr, weight_decay=config.weight_decay, fused=True)
    rows = torch.as_tensor(view.train)
    seconds, losses = [], []
    for _ in range(epochs):
        start = clock()
        optimiser.zero_grad()
        loss = batch.weights @ cross_entropy(model(x, edges)[rows], batch.labels, reduction="none")
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
        seconds.append(clock() - start)
    return seconds, losses


def product_rate(cpu: bool, size: int = 2048, repeats: int = 5) -> float:
    """Floating-point operations a second of one large matrix product."""
    a, b = torch.rand(size, size), torch.rand(size, size)
    clock, seconds = time.process_time if cpu else time.perf_counter, []
    for _ in range(repeats + 1):
        start = clock()
        _ = a @ b
        seconds.append(clock() - start)
    return 2 * size**3 / statistics.median(seconds[1:])


def against_plain(data_dir: Path | None, cpu: bool) -> dict[str, float]:
    """Ours against gather-scatter, and in turn with square products against the machine's product rate."""
    view = largest_task("amazon-computers", data_dir)
    work = 2 * 2 * view.graph.n_nodes * view.graph.n_features * HIDDEN
    turns, rates = [], []
    for _ in range(2 * TURNS):
        rates.append(product_rate(cpu))
        turns.append(our_epochs(view, EPOCHS // 8, cpu=cpu))
    shares = [work / (turn.epoch + turn.afterwards) / rate for turn, rate in zip(turns, rates, strict=True)]
    ours = median_timing(turns)
    plain, plain_losses = plain_epochs(view, 6, cpu)
    per_epoch = ours.epoch + ours.afterwards
    return {
        "nodes": view.graph.n_nodes,
        "edges": view.graph.n_edges,
        "our_ms": per_epoch * 1e3,
        "plain_ms": statistics.median(plain) * 1e3,
        "times_as_fast": statistics.median(plain) / per_epoch,
        "largest_loss_difference": float(np.abs(np.array(ours.losses[:6]) - plain_losses).max()),
        "product_rate_gflops": statistics.median(rates) / 1e9,
        "share_of_product_rate": statistics.median(shares),
    }


def sparse_against_dense(data_dir: Path | None) -> dict[str, float]:
    """The same epoch with sparse and with dense features."""
    view = largest_task("cora-papers70", data_dir)
    features = view.graph.features
    assert features is not None, "the stand-in has features"
    dense = replace(view, graph=replace(view.graph, features=sparse.csr_array(features).toarray()))
    turns = [(our_epochs(view), our_epochs(dense, EPOCHS // 4)) for _ in range(TURNS)]
    ours, other = (median_timing([turn[side] for turn in turns]) for side in (0, 1))
    both = min(len(ours.losses), len(other.losses))
    return {
        "nodes": view.graph.n_nodes,
        "features": view.graph.n_features,
        "sparse_ms": ours.epoch * 1e3,
        "sparse_afterwards_ms": ours.afterwards * 1e3,
        "dense_ms": other.epoch * 1e3,
        "times_as_fast": (other.epoch + other.afterwards) / (ours.epoch + ours.afterwards),
        "times_as_fast_in_the_loop": other.epoch / ours.epoch,
        "largest_loss_difference": float(
            np.abs(np.array(ours.losses[:both]) - np.array(other.losses[:both])).max()
        ),
    }


def without_numba(view: TaskView, epochs: int, cpu: bool) -> Timing:
    """GAT epochs as they are where numba is not installed."""
    with ExitStack() as stack:
        for user in ("activation", "attention", "dropout"):
            stack.enter_context(patch(f"evergraph.backbones.{user}.kernels", lambda: None))
        return our_epochs(view, epochs, "gat", cpu=cpu)


def gat_against_gcn(data_dir: Path | None, cpu: bool) -> dict[str, float]:
    """A GAT epoch in GCN epochs, with and without compiled loops; the median over turns of all three."""
    view = largest_task("amazon-computers", data_dir)
    our_epochs(view, 2, "gat")  # compiles, or loads what was compiled
    turns = [
        (our_epochs(view, 30, cpu=cpu), our_epochs(view, 20, "gat", cpu=cpu), without_numba(view, 20, cpu))
        for _ in range(2 * TURNS)
    ]
    gcn, gat, plain = (statistics.median(turn[side].epoch for turn in turns) for side in (0, 1, 2))
    difference = np.abs(np.subtract(turns[0][1].losses, turns[0][2].losses)).max()
    return {
        "numba": float(kernels() is not None),
        "gcn_ms": gcn * 1e3,
        "gat_ms": gat * 1e3,
        "gat_without_numba_ms": plain * 1e3,
        "gat_in_gcn_epochs": statistics.median(turn[1].epoch / turn[0].epoch for turn in turns),
        "gat_without_numba_in_gcn_epochs": statistics.median(turn[2].epoch / turn[0].epoch for turn in turns),
        "times_as_fast": statistics.median(turn[2].epoch / turn[1].epoch for turn in turns),
        "largest_loss_difference": float(difference),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch takes by itself")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time instead of the clock, but for Cora papers"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    keep_freed_memory()  # as the command line does
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    results = {
        "amazon-computers, largest task, GAT": gat_against_gcn(arguments.data_dir, arguments.cpu),
        "amazon-computers, largest task, GCN": against_plain(arguments.data_dir, arguments.cpu),
        "cora-papers70 (stand-in for CoraFull), largest task, GCN": sparse_against_dense(arguments.data_dir),
    }
    if arguments.json:
        print(json.dumps(results))
        return
    for name, figures in results.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key.replace('_', ' '):32} {value:,.6g}")


if __name__ == "__main__":
    main()
