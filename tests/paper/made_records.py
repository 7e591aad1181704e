"""Records made for tests of tables."""

import json
from pathlib import Path
from typing import Any

from evergraph.results.records import SmallRecord, checked
from report.test_page import small


def record(method: dict[str, Any], aa: float, **config: dict[str, Any]) -> SmallRecord:
    content = small(aa=aa)
    content["config"] |= {"method": method, **{name: {"name": "x", **section} for name, section in config.items()}}
    return checked(content, "a test")


def write(path: Path, *runs: dict[str, Any]) -> Path:
    """A file of records."""
    path.write_text(json.dumps({"experiment": "x", "runs": runs}), encoding="utf-8")
    return path
