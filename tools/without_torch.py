"""Every command of evergraph where torch is not installed: it works, or says in one sentence what is missing.

    python tools/without_torch.py           # one line a command; exit with 1 where one does something else
    python tools/without_torch.py --json    # the answers as one JSON object

Where torch is installed, importing it is made to fail as if it were not.
"""

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUN = ROOT / "tests" / "fixtures" / "runs-0.1.0" / "digits-ewc-gcn-seed1-e31c02bd"
MODEL = ROOT / "tests" / "fixtures" / "models" / "format-2-analytic"
RECORDS = ROOT / "results" / "methods-digits.json"
SENTENCE = "error: this needs torch, got none installed; pip install torch\n"
NO_SERVER = "error: evergraph serve needs fastapi and uvicorn"
"""What serve says first where its extra is not installed either."""
TABLES = "--nodes nodes.csv --edges edges.csv"

WORKS = [
    "--version",
    "--help",
    "list datasets",
    "list scores",
    "data list",
    "data info digits",
    "data fetch digits",
    "data cache",
    "data check digits",
    f"data convert {TABLES} --out graph --memory 50MB",
    "data check graph/",
    "score --dataset digits --score hps --out s.csv",
    "score --dataset graph/ --score hps --method blocks --memory 50MB --out s.csv",
    "score --dataset digits --score degree --out s.csv",
    "score --dataset digits --score random --out s.csv",
    "score --dataset digits --score mf --out s.csv",
    "score --dataset digits --score cm --out s.csv",
    "probe leak --dataset digits --seeds 1",
    f"report {RECORDS} --out page.html",
    "show run",
]
REFUSED = [
    "list methods",
    "list backbones",
    "score --dataset digits --score grand --out s.csv",
    "run --dataset digits --method analytic",
    "recommend --dataset digits",
    "bench grid.toml",
    "reproduce table2 --dataset amazon-computers --fast",
    f"learn --model new {TABLES} --label-column label",
    f"predict --model model {TABLES} --out p.csv",
    "inspect model",
    f"forget --model model {TABLES} --ids ids.txt",
    "merge model model --model both",
    "serve --model model",
]


class _NoTorch(MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name="torch")


def prepare(folder: Path) -> None:
    """What the commands read, in an empty folder."""
    shutil.copytree(RUN, folder / "run")
    shutil.copytree(MODEL, folder / "model")
    nodes = [f"{row},{row % 2},{row % 3},{row % 5}" for row in range(40)]
    edges = [f"{row},{(row + step) % 40}" for row in range(40) for step in (1, 7)]
    (folder / "nodes.csv").write_text("\n".join(["id,label,a,b", *nodes]) + "\n", encoding="utf-8")
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n", encoding="utf-8")
    (folder / "ids.txt").write_text("1\n", encoding="utf-8")
    (folder / "grid.toml").write_text('[grid]\n"seeds.init" = [0]\n', encoding="utf-8")


def answers() -> dict[str, dict[str, Any]]:
    """Exit code, output and errors of every command."""
    from evergraph.cli import run_main

    found = {}
    for command in [*WORKS, *REFUSED]:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run_main(command.split())
        found[command] = {"code": code, "out": out.getvalue(), "err": err.getvalue()}
    return found


def api() -> dict[str, str]:
    """Every public name: empty where it can be had, else the sentence."""
    import evergraph

    return {name: _fault(lambda name=name: getattr(evergraph, name)) for name in evergraph.__all__}  # type: ignore[misc]


def _fault(use: Callable[[], object]) -> str:
    try:
        use()
    except ModuleNotFoundError as error:
        return str(error)
    return ""


def as_expected(command: str, answer: dict[str, Any]) -> bool:
    """Whether a command worked, or refused in the one sentence, as it is listed above."""
    if command in WORKS:
        return bool(answer["code"] == 0)
    return bool(answer["code"] == 2 and answer["err"].startswith((SENTENCE, NO_SERVER)))


def main() -> int:
    """Print what every command does; 1 where one does not do what is listed."""
    sys.meta_path.insert(0, _NoTorch())
    os.environ.pop("EVERGRAPH_TRACEBACK", None)
    with tempfile.TemporaryDirectory() as name, chdir(name):
        prepare(Path(name))
        found = answers()
    if "--json" in sys.argv[1:]:
        print(json.dumps({"commands": found, "api": api()}))
        return 0
    failed = 0
    for command, answer in found.items():
        right = as_expected(command, answer)
        failed += not right
        kind = "works  " if command in WORKS else "refused"
        print(f"{kind if right else 'WRONG  '}  evergraph {command.replace(str(ROOT), '.')}")
        if not right:
            print(answer["err"])
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
