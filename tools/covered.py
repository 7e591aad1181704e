"""Say what the tests reach, from the JSON report of coverage.py: lines, branches, and the least covered files.

python tools/covered.py REPORT.json    # exit with 1 below 95 % of lines
"""

import json
import sys
from pathlib import Path
from typing import Any

LEAST = 95.0
SHOWN = 12


def percent(part: int, whole: int) -> float:
    """A share in percent; of nothing, all."""
    return 100.0 * part / whole if whole else 100.0


def lines_of(summary: dict[str, Any]) -> float:
    """The share of lines that ran, without branches."""
    return percent(summary["covered_lines"], summary["num_statements"])


def described(report: dict[str, Any]) -> tuple[float, str]:
    """The share of lines in percent, and the whole as text."""
    total = report["totals"]
    branches = percent(total["covered_branches"], total["num_branches"])
    shown = [
        f"lines     {lines_of(total):5.1f} % of {total['num_statements']:,}",
        f"branches  {branches:5.1f} % of {total['num_branches']:,}",
        f"the files with the most lines that no test reaches, of {len(report['files'])}:",
    ]
    files = sorted(report["files"].items(), key=lambda item: -item[1]["summary"]["missing_lines"])
    for name, file in files[:SHOWN]:
        summary = file["summary"]
        if summary["missing_lines"]:
            missing = f"{summary['missing_lines']:4d} of {summary['num_statements']:4d}"
            shown.append(f"  {missing}  {Path(name).as_posix()}: {_shortened(file['missing_lines'])}")
    return lines_of(total), "\n".join(shown)


def _shortened(lines: list[int], most: int = 10) -> str:
    return ", ".join(map(str, lines[:most])) + (", …" if len(lines) > most else "")


def main(path: str) -> int:
    """Print the report; 1 where too few lines ran."""
    share, text = described(json.loads(Path(path).read_text(encoding="utf-8")))
    print(text)
    if share < LEAST:
        print(f"at least {LEAST:.0f} % of lines are wanted, got {share:.1f} % instead; test what is missing")
    return int(share < LEAST)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
