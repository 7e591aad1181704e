"""`evergraph probe leak` on every data set that is here: how often mean features give the task away.

    python benchmarks/leak.py --data-dir FOLDER [--streams digits "patents, by time" …]

One JSON object by name, each what the command prints with --json.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

STREAMS: dict[str, list[str]] = {
    "digits": [],
    "amazon-computers": [],
    "coauthor-cs": [],
    "cora-papers70": [],
    "corafull": ["--features", "spectral:128"],
    "ogbn-arxiv": ["--features", "spectral:128"],
    "patents": [],
    "patents, by time": ["--set", "stream.arrival=time"],
}
"""Data sets, and the options that they need."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--json", action="store_true", help="accepted as elsewhere: JSON is all that is printed")
    arguments = parser.parse_args()
    where = ["--data-dir", str(arguments.data_dir)] if arguments.data_dir else []
    found = {}
    for name in arguments.streams:
        options = ["--dataset", name.partition(",")[0], *STREAMS[name], *where, "--json"]
        command = [sys.executable, "-m", "evergraph", "probe", "leak", *options]
        found[name] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
