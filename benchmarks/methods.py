"""Time per task and peak memory of every method, relative to Fine-tune in the same run.

    python benchmarks/methods.py --data-dir FOLDER [--epochs 20] [--repeats 3] [--threads N] [--cpu] [--json]

Amazon Computers, GCN, every setting at its default but the epochs. Each method learns the whole stream in a process
of its own, whose largest resident memory is the peak; a few steps beforehand warm the process up. The methods take
turns, and of several rounds the fastest counts. With --cpu the seconds are those of the processor, which say more
than a clock where the machine has other work, but add up those of all threads. With fewer epochs than the 200 of a
real run, what a method does once per task (choosing nodes, measuring importance) weighs more than it would there.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from evergraph.data.stream import TaskStream, learner_view
from evergraph.methods import METHODS
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.process import keep_freed_memory
from evergraph.watch import Watch

DATASET = "amazon-computers"
LIMITS = {"gem": 6.0, "twp": 6.0}
"""How many times as long as Fine-tune a method may take."""


def seconds_per_task(
    config: RunConfig, stream: TaskStream, clock: Callable[[], float]
) -> tuple[list[float], dict[str, int]]:
    """The seconds of each task until it can be predicted, and what the learner keeps in the end."""
    learner = make_learner(config, stream.graph.n_features)
    sees_past = METHODS[config.method_name].sees_past
    seconds = []
    for index in range(len(stream)):
        *past, task = stream.views(index, with_past=sees_past)
        start = clock()
        learner.learn(task, past, Watch())
        _ = learner.linear if isinstance(learner, StatisticsLearner) else None  # these fit when they are asked
        seconds.append(clock() - start)
    return seconds, asdict(learner.memory())


def configured(method: str, epochs: int) -> RunConfig:
    return RunConfig.from_values(
        {"dataset": {"name": DATASET}, "method": {"name": method}, "train": {"epochs": epochs}}
    )


def measure(method: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """One method on the whole stream, in this process."""
    keep_freed_memory()  # as the command line does
    torch.set_num_threads(arguments.threads or torch.get_num_threads())
    config = configured(method, arguments.epochs)
    stream = open_stream(config, arguments.data_dir)
    warm = make_learner(configured("finetune", 3), stream.graph.n_features)
    warm.learn(learner_view(stream[0]), (), Watch())
    clock = time.process_time if arguments.cpu else time.perf_counter
    seconds, kept = seconds_per_task(config, stream, clock)
    return {
        "seconds_per_task": sum(seconds) / len(seconds),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "kept": kept,
    }


def in_a_process(method: str, arguments: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--only", method, "--epochs", str(arguments.epochs)]
    command += ["--threads", str(arguments.threads), *(["--cpu"] if arguments.cpu else [])]
    if arguments.data_dir:
        command += ["--data-dir", str(arguments.data_dir)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(finished.stdout)
    return result


def compare(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Every method's figures, and how many times those of Fine-tune they are."""
    results: dict[str, dict[str, Any]] = {}
    for _ in range(arguments.repeats):
        for method in arguments.methods or METHODS:
            found = in_a_process(method, arguments)
            if method not in results or found["seconds_per_task"] < results[method]["seconds_per_task"]:
                results[method] = found
    base = results["finetune"]
    for method, figures in results.items():
        figures["times_finetune"] = figures["seconds_per_task"] / base["seconds_per_task"]
        figures["memory_times_finetune"] = figures["peak_mib"] / base["peak_mib"]
        if method in LIMITS:
            figures["limit"] = LIMITS[method]
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0 uses every core")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock")
    parser.add_argument("--methods", nargs="+", help="these and no others; finetune must be among them")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments)))
        return
    if arguments.methods and "finetune" not in arguments.methods:
        parser.error("--methods must name finetune, to which the others are compared")
    results = compare(arguments)
    if arguments.json:
        print(json.dumps(results))
        return
    print(f"{DATASET}, GCN, {arguments.epochs} epochs a task")
    print(f"{'method':14}{'s/task':>9}{'times':>8}{'peak MiB':>10}{'times':>8}  kept")
    for method, figures in results.items():
        line = f"{method:14}{figures['seconds_per_task']:9.3f}{figures['times_finetune']:8.2f}"
        line += f"{figures['peak_mib']:10,.0f}{figures['memory_times_finetune']:8.2f}"
        line += f"  {figures['kept']['bytes'] / 2**20:.1f} MiB"
        if "limit" in figures:
            met = figures["times_finetune"] <= figures["limit"]
            line += f"; at most {figures['limit']:g} times: {'met' if met else 'NOT MET'}"
        print(line)


if __name__ == "__main__":
    main()
