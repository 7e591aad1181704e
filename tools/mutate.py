"""Do the tests notice? One thing at a time is changed in the methods, scores, Hodge operators, replay and metrics,
and the tests of that package run until one fails.

    python tools/mutate.py --seed 0 --count 320 --jobs 2     # a random sample, the same for the same seed
    python tools/mutate.py --list                            # only show the sample
    python tools/mutate.py --under hodge --under replay      # only what the sample has in these places
    python tools/mutate.py --only 17                         # one of the sample again, with pytest's output
    python tools/mutate.py --only 17,23                      # some of the sample again
    python tools/mutate.py --only hodge/cg.py:47             # all mutants of a line, sampled or not

No file is changed: the parent imports the large packages but not evergraph and forks a child for each mutant, which
imports the changed module in place of the file. A test that fails, an import that fails, a crash and a run over
time all kill a mutant. A survivor means that no test states what that line does, or that the change makes no
difference; those of the second kind are listed in equivalent-mutants.toml with the reason, and are counted apart.

A mutant's place in the sample depends on the seed and its own lines, so edits elsewhere leave most of it as it is.
"""

import argparse
import json
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mutants import Mutant, mutants_of
from trial import ROOT, Outcome, Trial, begin, prepare

SOURCE = ROOT / "src" / "evergraph"
EQUIVALENT = Path(__file__).with_name("equivalent-mutants.toml")
TESTS = {
    "hodge": "tests/hodge",
    "methods": "tests/methods",
    "replay": "tests/replay",
    "scores": "tests/scores",
    "runs/metrics.py": "tests/runs/test_metrics.py",
}
"""What is mutated, and where its tests are."""
RESULTS = ("killed", "timeout", "survived", "equivalent")


def every_mutant() -> list[Mutant]:
    files = sorted(path for name in TESTS for path in _files(SOURCE / name))
    return [
        mutant for path in files for mutant in mutants_of(str(path.relative_to(SOURCE)), path.read_text("utf-8"))
    ]


def _files(path: Path) -> Iterable[Path]:
    return path.rglob("*.py") if path.is_dir() else [path]


def sample(mutants: Sequence[Mutant], seed: int, count: int) -> list[Mutant]:
    """So many mutants at random, in the order of their files."""
    kept = set(sorted(mutants, key=lambda mutant: mutant.rank(seed))[:count])
    return [mutant for mutant in mutants if mutant in kept]


def chosen_mutants(options: argparse.Namespace) -> dict[int, Mutant]:
    """By number: those of the sample, or all of a line."""
    every = every_mutant()
    file, _, line = (options.only or "").partition(":")
    if line:
        return {i: mutant for i, mutant in enumerate(every) if mutant.file == file and mutant.line == int(line)}
    found = dict(enumerate(sample(every, options.seed, options.count)))
    if file:
        return {i: found[i] for i in map(int, file.split(","))}
    return {i: mutant for i, mutant in found.items() if mutant.file.startswith(tuple(options.under or TESTS))}


def reasons() -> dict[tuple[str, str, str], str]:
    """Why a mutant is equivalent, by its file and its lines before and after."""
    entries = tomllib.loads(EQUIVALENT.read_text("utf-8")).get("mutant", [])
    return {(entry["file"], entry["old"], entry["new"]): entry["reason"] for entry in entries}


def tried(chosen: Mapping[int, Mutant], jobs: int, *, quiet: bool) -> Iterator[tuple[int, Outcome]]:
    """The outcome of each mutant, in the order in which they end."""
    packages = {i: next(name for name in TESTS if mutant.file.startswith(name)) for i, mutant in chosen.items()}
    limits = {package: time_limit(TESTS[package]) for package in sorted(set(packages.values()))}
    waiting, working = list(chosen)[::-1], dict[int, Trial]()
    while waiting or working:
        while waiting and len(working) < jobs:
            i = waiting.pop()
            working[i] = begin(TESTS[packages[i]], chosen[i], limits[packages[i]], quiet=quiet)
        for i, trial in list(working.items()):
            if (outcome := trial.outcome()) is not None:
                del working[i]
                yield i, outcome
        time.sleep(0.02)


def time_limit(tests: str) -> int:
    """The seconds after which a mutant has gone astray, from a run without one; that has to succeed."""
    trial = begin(tests, None, 3600, quiet=True)
    while (outcome := trial.outcome()) is None:
        time.sleep(0.02)
    if outcome.result != "survived":
        sys.exit(f"{tests} has to pass without a mutant, got a failure of {outcome.test} instead")
    print(f"{tests} without a mutant: {outcome.seconds:.1f} s", flush=True)
    return int(15 + 4 * outcome.seconds)


def row_of(index: int, mutant: Mutant) -> dict[str, Any]:
    return {"index": index, "file": mutant.file, "line": mutant.line, "old": mutant.old, "new": mutant.new}


def judged(row: dict[str, Any], outcome: Outcome, reason: str) -> dict[str, Any]:
    """A mutant with what came of it; one that is listed as equivalent and killed all the same says so."""
    result = "equivalent" if reason and outcome.result == "survived" else outcome.result
    if reason and result != "equivalent":
        reason = f", but listed as equivalent: {reason}"
    return row | {"result": result, "test": outcome.test, "reason": reason, "seconds": round(outcome.seconds, 1)}


def described(row: Mapping[str, Any]) -> str:
    """A mutant on one line."""
    text = "{index:4} {file}:{line}  {old}  =>  {new}".format(**row)
    return text + "  {result} {test}{reason} ({seconds} s)".format(**row) if "result" in row else text


def summary(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each package, and one for all; the share is that of the mutants that are not equivalent."""
    for package in (*TESTS, ""):
        own = [row["result"] for row in rows if row["file"].startswith(package)]
        parts = ", ".join(f"{own.count(name)} {name}" for name in RESULTS)
        noticed, rest = own.count("killed") + own.count("timeout"), len(own) - own.count("equivalent")
        if rest:
            yield f"{package or 'all':16} {len(own):4} mutants: {parts}; {100 * noticed / rest:.1f} % noticed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--under", action="append", metavar="PATH", help="only what is below src/evergraph/PATH")
    parser.add_argument("--only", metavar="INDEX,...|FILE:LINE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    chosen, why = chosen_mutants(options), reasons()
    if options.list:
        print("\n".join(described(row_of(i, mutant)) for i, mutant in chosen.items()))
        return
    out = options.json and options.json.resolve()
    prepare()
    begun, rows = time.monotonic(), list[dict[str, Any]]()
    for i, outcome in tried(chosen, options.jobs, quiet=not options.only or len(chosen) > 1):
        rows.append(judged(row_of(i, chosen[i]), outcome, why.get(chosen[i].key, "")))
        print(described(rows[-1]), flush=True)
    rows.sort(key=lambda row: int(row["index"]))
    print("\nsurvivors:", *(described(row) for row in rows if row["result"] == "survived"), sep="\n")
    print("", *summary(rows), f"{time.monotonic() - begun:.0f} s", sep="\n")
    if out:
        out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
