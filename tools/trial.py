"""One mutant tried: a forked child in which a module's source is another, and the tests of its package."""

import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

import hypothesis
import pytest

from mutants import Mutant

ROOT = Path(__file__).parents[1]
PRELOADED = [
    "torch._dynamo",
    "scipy.sparse.csgraph",
    "sklearn.datasets",
    "sklearn.neighbors",
    "pyamg",
    "pydantic.main",
]
PRELOADED += ["hypothesis.extra.numpy", "safetensors.torch", "_pytest.doctest", "matplotlib", "typer", "rich"]
OPTIONS = ["-p", "no:xdist", "-p", "no:cacheprovider", "--hypothesis-profile", "mutate", "-q", "-x"]
OPTIONS += ["--ignore", "tests/methods/test_add_a_method.py"]  # its own process reads the unchanged files
MEMORY = 8 << 30
"""The bytes that a child may map; a mutant that wants more is killed by a MemoryError."""


@dataclass(frozen=True)
class Outcome:
    """killed, survived or timeout; the test that noticed; the seconds of a processor that it took."""

    result: str
    test: str
    seconds: float


@dataclass
class Trial:
    """A child at work; it is stopped by the clock only if it sleeps, else by the seconds of a processor."""

    pid: int
    answer: int
    end: float

    def outcome(self) -> Outcome | None:
        """What came of it, None while it is at work."""
        late = time.monotonic() > self.end
        if late:
            os.killpg(self.pid, signal.SIGKILL)
        done, status, used = os.wait4(self.pid, 0 if late else os.WNOHANG)
        if not done:
            return None
        text = os.read(self.answer, 1 << 16).decode()
        os.close(self.answer)
        late = late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
        result, test = json.loads(text) if text else ("timeout", "") if late else ("killed", "a crash")
        return Outcome(result, test, used.ru_utime + used.ru_stime)


def prepare() -> None:
    """Import in the parent what every child needs, but nothing of evergraph."""
    os.chdir(ROOT)
    os.environ["OMP_NUM_THREADS"] = "1"  # threads do not survive a fork, and children share the cores
    sys.path.insert(0, str(ROOT / "src"))
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutate", max_examples=30, derandomize=True, deadline=None, database=None, phases=phases
    )
    for name in PRELOADED:
        if importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)


def begin(tests: str, mutant: Mutant | None, limit: int, *, quiet: bool) -> Trial:
    """Fork a child that runs some tests with one module mutated, or none; `limit`: seconds of a processor."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            _work(tests, mutant, writing, quiet=quiet)
        finally:
            os._exit(0)
    os.close(writing)
    return Trial(pid, reading, time.monotonic() + 20 * limit)


def _work(tests: str, mutant: Mutant | None, answer: int, *, quiet: bool) -> None:
    os.setsid()  # what the tests start ends with the child
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if quiet:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    closest = _ClosestFirst(mutant.file if mutant else "")
    code = pytest.main([tests, *OPTIONS], plugins=[closest])
    found = ("survived", "") if code == pytest.ExitCode.OK else ("killed", closest.failed or "an import")
    os.write(answer, json.dumps(found).encode())


class _Finder:
    """Finds the mutated module; everything else is found as ever."""

    def __init__(self, mutant: Mutant):
        parts = Path("evergraph", mutant.file).with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.source = mutant.source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin)
        spec.loader.source = self.source
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from another source than its file's."""

    source = ""

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


class _ClosestFirst:
    """A pytest plug-in: the tests closest to the mutated module come first, and the first that fails is kept."""

    def __init__(self, file: str):
        self.stem, self.folder = Path(file).stem, Path(file).parent.name
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=self._distance)

    def _distance(self, item: pytest.Item) -> int:
        """Tests of the same name, of a similar one, with a case of that name (a method), the rest."""
        name = item.path.stem
        similar = self.stem in name or name.startswith(f"test_{self.folder}")
        named = self.stem.replace("_", "-") in item.nodeid
        return (name in (f"test_{self.stem}", "test_settings"), similar, named, True).index(True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid
