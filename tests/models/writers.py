"""What other processes do in the tests of model folders; nothing else is imported, so that they start fast."""

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from evergraph.errors import StoreError
from evergraph.models import locked_model, read_model, write_model

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["evergraph.models", "torch", "numpy", "safetensors.torch"])


def started(work: Callable[..., None], *arguments: object) -> BaseProcess:
    """A process that has begun its work: it has sent something."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=work, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    assert ours.poll(60)
    ours.recv()
    return process


def answered(work: Callable[..., None], *arguments: object) -> Any:
    """What a process sends."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=work, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    assert ours.poll(60)
    answer = ours.recv()
    process.join()
    return answer


def numbered(number: int) -> tuple[dict[str, Any], dict[str, torch.Tensor], dict[str, bytes]]:
    """A model whose every part tells its number."""
    tensors = {"a": torch.full((40, 40), float(number)), "b": torch.tensor([number])}
    return {"number": number}, tensors, {"extra.txt": str(number).encode() * 1000}


def saving(folder: Path, first: int, answer: Connection) -> None:
    """Save one model after the other until somebody ends it."""
    torch.set_num_threads(1)
    for number in range(first, 10**9):
        write_model(folder, *numbered(number))
        if number == first:
            answer.send(number)


def adding(folder: Path, times: int, answer: Connection) -> None:
    """Read and write as one step."""
    answer.send("begun")
    for _ in range(times):
        with locked_model(folder) as place:
            place.write(*numbered(int(place.read().manifest["number"]) + 1))


def limited(folder: Path, most: int, answer: Connection) -> None:
    """Write where the system allows no file to be larger."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        write_model(folder, *numbered(1))
    except StoreError as error:
        answer.send(str(error))
    else:
        answer.send("written")


def as_nobody(folder: Path, answer: Connection) -> None:
    """Write and read as a user without rights."""
    os.setuid(65534)
    try:
        write_model(folder, {}, {})
    except StoreError as error:
        answer.send((str(error), read_model(folder).manifest))
    else:
        answer.send(("written", None))
