"""Small graphs, settings and child processes that many tests share."""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import torch

from evergraph.testing.samples import (
    CPU,
    assert_same_bits,
    copied,
    learn_tasks,
    learned,
    quick_config,
    random_adjacency,
    run_config,
    stream_of,
    tiny_graph,
)

__all__ = [
    "CPU",
    "assert_same_bits",
    "command_line",
    "copied",
    "learn_tasks",
    "learned",
    "one_sentence",
    "quick_config",
    "random_adjacency",
    "run_config",
    "stream_of",
    "tiny_graph",
]

PRELOADED = [
    "evergraph.cli.printing",
    "evergraph.report.plots",
    "evergraph.runs.execute",
    "matplotlib.backends.backend_agg",
    "sklearn.datasets",
]
"""What a run needs and takes long to import; processes are forked from one that has it."""


def one_sentence(error: BaseException) -> str:
    """The message of an error, which must be a single line that says what came."""
    message = str(error)
    assert message
    assert "\n" not in message
    assert "got" in message
    return message


def command_line(arguments: list[str], folder: Path) -> ForkServerProcess:
    """A process of its own that runs the command line; its output goes to two files in `folder`."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_child, args=(arguments, str(folder)))
    process.start()
    return process


def _child(arguments: list[str], folder: str) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    torch.set_num_threads(1)
    from evergraph.cli import run_main

    code = run_main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
