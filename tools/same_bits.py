"""Whether two checkouts of evergraph learn the same bits, on this machine and with the same libraries.

    git worktree add ../before 765a488
    python tools/same_bits.py ../before                       # every method on digits, with each backbone
    python tools/same_bits.py ../before --dataset amazon-computers --method ftf-er-det,ftf-er-prob --backbone gcn

Each checkout does the same runs through its command line, on one thread. Compared are the bytes of every tensor of
the learners after the last task, the counts of correct predictions after every task, and what was kept of the past.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safetensors import safe_open

ROOT = Path(__file__).parents[1]


def runs_of(checkout: Path, out: Path, options: argparse.Namespace, backbone: str) -> dict[str, Any]:
    """What the methods have learned and measured, by method."""
    command = ["run", "--dataset", options.dataset, "--method", options.method, "--backbone", backbone]
    command += ["--epochs", str(options.epochs), "--seed", str(options.seed), "--set", "train.threads=1"]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "evergraph", *command, "--out", str(out), "--json"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{checkout} could not do the runs: {done.stderr}")
    answer = json.loads(done.stdout)
    return {run["config"]["method"]["name"]: content(Path(run["run_dir"])) for run in answer.get("runs", [answer])}


def content(folder: Path) -> dict[str, Any]:
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    (state,) = folder.glob("state-*.safetensors")
    with safe_open(state, "np") as file:
        tensors = {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118
    return {"state": tensors, "correct": record["correct"], "memory": record["memory"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the other checkout")
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--method", default="all")
    parser.add_argument("--backbone", default="gcn,gin,gat")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    different = 0
    for backbone in options.backbone.split(","):
        with TemporaryDirectory() as folder:
            before = runs_of(options.before.resolve(), Path(folder, "before"), options, backbone)
            after = runs_of(ROOT, Path(folder, "after"), options, backbone)
        for method, old in before.items():
            parts = [part for part in old if old[part] != after.get(method, {}).get(part)]
            different += bool(parts)
            verdict = f"DIFFERENT in {', '.join(parts)}" if parts else "the same bits"
            print(f"{options.dataset}, {backbone}, {method}: {verdict}", flush=True)
    print(f"{different} runs differ")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
