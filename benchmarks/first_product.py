"""One GCN epoch with the product of graph and features in each of its three forms, taking turns in one run.

    python benchmarks/first_product.py [--threads N] [--json]

The graphs are generated (`sbm` with words), so no data is needed. "Words, degree 66": 1,779 nodes with 25 of 8,189
words each, whose propagated features are a little over 10 % dense. "Many words": the sizes of a task of Amazon
Computers. "One word, degree 400": neighbours have the same word many times over. For each form the seconds of an
epoch (with its share of what the loop does once at the end) are shown as times those of the fastest one, beside the
same ratio of the estimates by which evergraph.backbones.input_product chooses. The losses of all forms must agree.
"""

import argparse
import json
import statistics
import time
from dataclasses import replace

import numpy as np
import torch

from evergraph.backbones import ModelInput, NodeFeatures, Norm
from evergraph.backbones.gcn import GCN, GCNConfig
from evergraph.backbones.input_product import Form, InputProduct, product_as, product_size
from evergraph.data.datasets.sbm import SbmOptions, generate
from evergraph.data.stream import Setting, StreamConfig, TaskView, learner_view, make_stream
from evergraph.training.loop import Batch, TrainConfig, train
from evergraph.training.net import Net

SHAPES = {
    "words, degree 66": SbmOptions(nodes=1779, classes=2, mean_degree=66, features=8189, words=25),
    "many words": SbmOptions(nodes=2400, classes=2, mean_degree=22, features=767, words=250),
    "one word, degree 400": SbmOptions(nodes=1779, classes=2, mean_degree=400, features=8189, words=1),
}
EPOCHS = 15
TURNS = 5
"""The forms take turns, so that what else the machine does meets all of them."""


class InForm(NodeFeatures):
    """Node features whose first propagation has the form it was given."""

    def __init__(self, x: NodeFeatures, product: InputProduct):
        super().__init__(x.values, x.graph)
        self.product = product

    def propagated(self, norm: Norm) -> InputProduct:
        return self.product


def task_of(options: SbmOptions) -> TaskView:
    """The only task of a generated graph, as a learner sees it."""
    return learner_view(make_stream(generate(options), StreamConfig(), split_seed=0, order_seed=0)[0])


def started(view: TaskView) -> tuple[Net, Batch]:
    """A new network and the training nodes as its batch."""
    features = view.graph.n_features
    net = Net(lambda g: GCN(features, GCNConfig(), g), Setting.CLASS_IL, TrainConfig(epochs=EPOCHS), seed=0)
    net.grow(view)
    return net, net.task_batch(view)


def epochs_in(form: Form, view: TaskView) -> tuple[float, list[float]]:
    """Seconds of an epoch with the product in this form, and all losses."""
    net, batch = started(view)
    x, graph = batch.input
    local = x.values[graph.frontier[0]]
    product = product_as(form, graph.step_matrix(Norm.SYMMETRIC, 1), local, graph.device)
    stamps: list[float] = []
    losses: list[float] = []

    def on_epoch(_epoch: int, loss: float) -> None:
        stamps.append(time.perf_counter())
        losses.append(loss)

    batch = replace(batch, input=ModelInput(InForm(x, product), graph))
    train(net.model, [batch], net.config, torch.Generator(), on_epoch=on_epoch)
    afterwards = (time.perf_counter() - stamps[-1]) / EPOCHS
    return statistics.median(np.diff(stamps).tolist()) + afterwards, losses


def compared(options: SbmOptions) -> dict[str, float | str]:
    """The epochs of all forms, and the form that is chosen."""
    view = task_of(options)
    turns = [{form: epochs_in(form, view) for form in Form} for _ in range(TURNS)]
    seconds = {form: statistics.median(turn[form][0] for turn in turns) for form in Form}
    losses = np.array([turns[0][form][1] for form in Form])
    x, graph = started(view)[1].input
    size = product_size(graph.step_matrix(Norm.SYMMETRIC, 1), x.values[graph.frontier[0]])
    least = min(size.cost(form) for form in Form)
    found: dict[str, float | str] = {
        "rows": size.rows,
        "share_of_entries": size.entries / size.rows / size.features,
        "share_of_features_that_occur": size.occurring / size.features,
        "chosen": x.propagated(Norm.SYMMETRIC).form.value,
    }
    for form in Form:
        found[f"{form.value}_ms"] = seconds[form] * 1e3
        found[f"{form.value}_times_the_fastest"] = seconds[form] / min(seconds.values())
        found[f"{form.value}_estimated"] = size.cost(form) / least
    return found | {"largest_loss_difference": float(np.ptp(losses, axis=0).max())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="threads of a product (1)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    results = {name: compared(options) for name, options in SHAPES.items()}
    if arguments.json:
        print(json.dumps(results))
        return
    for name, figures in results.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key.replace('_', ' '):30} {value if isinstance(value, str) else f'{value:,.4g}'}")


if __name__ == "__main__":
    main()
