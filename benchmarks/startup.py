"""What a new process costs before it does anything: the command line, and the optimiser.

    python benchmarks/startup.py [--repeat 7]

CPU seconds of fresh processes, the two ways alternating; the medians and their ratio.
"""

import argparse
import resource
import statistics
import subprocess
import sys

OURS = "from evergraph.training.optimiser import Adam as Optimiser"
THEIRS = "from torch.optim import Adam as Optimiser"
STEP = """
import torch
{optimiser}
weight = torch.nn.Parameter(torch.ones(3))
weight.grad = torch.ones(3)
Optimiser([weight], lr=0.1, weight_decay=0.0).step()
"""
PAIRS = {
    "evergraph --version, against python -c pass": (["-m", "evergraph", "--version"], ["-c", "pass"]),
    "evergraph --help, against python -c pass": (["-m", "evergraph", "--help"], ["-c", "pass"]),
    "import torch and a first step of torch.optim.Adam, against the functional one": (
        ["-c", STEP.format(optimiser=THEIRS)],
        ["-c", STEP.format(optimiser=OURS)],
    ),
}


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    for name, (one, other) in PAIRS.items():
        cpu_seconds(one), cpu_seconds(other)  # compiled files are there from now on
        times = [(cpu_seconds(one), cpu_seconds(other)) for _ in range(repeat)]
        first, second = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name}: {first:.2f} s, {second:.2f} s ({first / second:.1f} times)")


if __name__ == "__main__":
    main()
