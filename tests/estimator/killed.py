"""A script: learn batches into one model folder with kills at random moments; prints what became of each attempt.

    python killed.py FOLDER ATTEMPTS SEED

Every attempt is a process of its own that learns the next batch and stores the model. After a kill the model is
the one before or the one after the batch. After the last attempt at a batch it is learned without a kill.
"""

import os
import signal
import sys
import time
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import torch

from evergraph import ContinualClassifier, load_dataset
from evergraph.models import locked_model
from evergraph.models.folder import read_model
from evergraph.tables import Batch, to_batch

BATCHES = 4


def batches() -> list[Batch]:
    """Digits in four batches; classes come back."""
    graph = load_dataset("digits")
    rows = np.random.default_rng(0).permutation(graph.n_nodes)[:800]
    parts = [np.sort(rows[place::BATCHES]) for place in range(BATCHES)]
    found = []
    for nodes in parts:
        part = graph.subgraph(nodes)
        found.append(to_batch((part.adjacency, part.features), part.labels, ids=nodes))
    return found


def learn(folder: Path, batch: Batch) -> None:
    """What `evergraph learn` does."""
    with locked_model(folder) as place:
        model = ContinualClassifier.load(folder) if place.exists else new_model()
        model.partial_fit(batch)
        model.save_in(place)


def new_model() -> ContinualClassifier:
    return ContinualClassifier(settings={"method": {"width": 64}})


def attempt(folder: Path, batch: Batch, seconds: float | None) -> None:
    """Learn in a process of its own; kill it after so many seconds."""
    child = os.fork()
    if not child:
        learn(folder, batch)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if seconds is None and status:
        raise SystemExit("learning failed")


def main() -> None:
    folder, attempts = Path(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(int(sys.argv[3]))
    torch.set_num_threads(1)
    whole = new_model()
    for index, batch in enumerate(batches()):
        begun = time.perf_counter()
        whole.partial_fit(batch)
        usual = 1.2 * (time.perf_counter() - begun) + 0.02
        before = folder.with_name(f"{folder.name}-before-{index}")
        if index:
            copytree(folder, before)
        for _ in range(attempts):
            attempt(folder, batch, float(rng.uniform(0, usual)))
            known = read_model(folder).manifest["n_tasks"] if (folder / "model.json").exists() else 0
            sys.stdout.write(f"{known - index}\n")
            if known > index:  # it came too late: back to the model before the batch
                rmtree(folder)
                if index:
                    copytree(before, folder)
        attempt(folder, batch, None)
    found = ContinualClassifier.load(folder)
    same = all(
        np.array_equal(np.asarray(value), np.asarray(found.contents()[1][name]))
        for name, value in whole.contents()[1].items()
    )
    sys.stdout.write("same\n" if same else "other\n")


if __name__ == "__main__":
    main()
