"""Commands and scripts in processes of their own, measured and stored step by step, for scale.py and products.py.

Memory is what a process has besides pages of mapped files (RssAnon), by samples.
"""

import ctypes
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FIGURES = ("seconds", "processor", "peak_gb")
SAMPLE_SECONDS = 0.1
PR_SET_PDEATHSIG = 1
"""prctl's name of the signal that a process gets when the one that started it dies."""


def anonymous_bytes(pid: int | str = "self") -> int:
    """Memory of a process besides mapped files; 0 where it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("RssAnon:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        return 0


def write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def _dies_with_us() -> None:
    """What goes on after this process was killed would be measured by nobody, and be in the way of the next one."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def command(words: Sequence[str], peak_file: Path | None = None) -> dict[str, Any]:
    """Seconds, processor seconds, peak memory and the printed JSON of `python` with these words.

    peak_file: where the peak is kept, for a command that goes on where a killed one was.
    """
    start = time.perf_counter()
    before = peak = int(peak_file.read_text()) if peak_file is not None and peak_file.exists() else 0
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([sys.executable, *words], stdout=printed, preexec_fn=_dies_with_us)  # noqa: PLW1509
        ended, usage, code = 0, None, 0
        while not ended:
            peak = max(peak, anonymous_bytes(process.pid))
            if peak_file is not None and peak > before:
                before = peak
                write(peak_file, str(peak))
            time.sleep(SAMPLE_SECONDS)
            ended, code, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(code)
        printed.seek(0)
        text = printed.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(words[:4])} failed")
    seconds = time.perf_counter() - start
    processor = usage.ru_utime + usage.ru_stime if usage is not None else 0.0
    return {"seconds": seconds, "processor": processor, "peak_gb": peak / 1e9, "said": json.loads(text)}


class Phases:
    """Seconds of the clock and the processor, and peak memory of this process, by phase."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, float]] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """What is done several times is added up."""
        figures = self.found.setdefault(name, {"seconds": 0.0, "processor": 0.0, "peak_gb": 0.0})
        over = threading.Event()

        def sample() -> None:
            while True:
                figures["peak_gb"] = max(figures["peak_gb"], anonymous_bytes() / 1e9)
                if over.wait(SAMPLE_SECONDS / 2):
                    return

        sampling = threading.Thread(target=sample)
        sampling.start()
        start = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            figures["seconds"] += time.perf_counter() - start[0]
            figures["processor"] += time.process_time() - start[1]
            over.set()
            sampling.join()


def machine() -> dict[str, Any]:
    """What the figures depend on: cores, processor, memory, threads; not which machine it is."""
    processor = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return {"cores": os.cpu_count(), "processor": processor, "memory_gb": memory / 1e9, "threads": threads}


def total(times: list[dict[str, float]]) -> dict[str, float]:
    """The seconds of each phase of a run, over all tasks."""
    added: dict[str, float] = {}
    for task in times:
        for name, seconds in task.items():
            added[name] = added.get(name, 0.0) + seconds
    return added


Then = Callable[[dict[str, Any], dict[str, Any]], None]


class Measured:
    """The figures of one graph, stored after every step: what is stored is not done again."""

    def __init__(self, path: Path, entries: int, nodes: int, memory: str) -> None:
        self.path, self.entries = path, entries
        graphs = json.loads(path.read_text()) if path.exists() else []
        self.others = [graph for graph in graphs if graph["nodes"] != nodes]
        found = [graph for graph in graphs if graph["nodes"] == nodes and graph["memory"] == memory]
        self.graph: dict[str, Any] = (
            found[0] if found else {"entries": entries, "nodes": nodes, "memory": memory, "steps": {}}
        )
        self.graph.setdefault("machine", machine())

    def store(self) -> None:
        write(self.path, json.dumps(sorted([*self.others, self.graph], key=_entries), indent=1))

    def step(self, name: str, *words: str, then: Then | None = None, peak_file: Path | None = None) -> None:
        """One command as one step; `then` takes what it printed and the step's figures to more of them."""
        self._step(name, ["-m", "evergraph", *words], then, peak_file)

    def script(self, path: Path, *words: str) -> None:
        """A script that prints steps of its own, each with its figures, as JSON."""

        def steps(said: dict[str, Any], _: dict[str, Any]) -> None:
            self.graph["steps"] |= said

        self._step(" ".join((path.stem, words[0])), [str(path), *words], steps, None)

    def _step(self, name: str, words: list[str], then: Then | None, peak_file: Path | None) -> None:
        if name in self.graph["steps"]:
            return
        found = command(words, peak_file)
        figures = {key: found[key] for key in FIGURES}
        if then is not None:
            then(found["said"], figures)
        self.known(name, figures)
        if peak_file is not None:
            peak_file.unlink(missing_ok=True)

    def known(self, name: str, figures: dict[str, Any]) -> None:
        """Store the figures of a step."""
        self.graph["steps"][name] = figures
        self.store()
        text = f"{figures['seconds']:.1f} s ({figures['processor']:.1f} of the processor)"
        print(f"{self.entries:.0e} {name}: {text}, {figures['peak_gb']:.2f} GB", file=sys.stderr, flush=True)

    def run(self, said: dict[str, Any], figures: dict[str, Any], phases: Sequence[str], prefix: str = "") -> None:
        """The phases of a run as steps of their own; its times are of all tasks, whichever process did them."""
        record = json.loads((Path(said["run_dir"]) / "record.json").read_text())
        seconds, processor = total(record["seconds"]), total(record["processor_seconds"])
        figures["seconds"], figures["processor"] = sum(seconds.values()), sum(processor.values())
        for name in phases:
            self.graph["steps"][prefix + name] = {"seconds": seconds[name], "processor": processor[name]}


def _entries(graph: dict[str, Any]) -> float:
    return float(graph["entries"])
