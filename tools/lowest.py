"""Write constraints-lowest.txt: every dependency at the lowest version that pyproject.toml declares.

    python tools/lowest.py

`make lowest` installs these versions and tests with them. torch is left out: it is a download of gigabytes for most
versions, so it stays at the version of constraints.txt, and its lower bound is what its documentation promises.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "constraints-lowest.txt"
HEADER = (
    "# Written by tools/lowest.py from the lower bounds in pyproject.toml; torch is the one of constraints.txt."
)
BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)")
LEFT_OUT = "torch"


def declared(project: dict[str, object]) -> list[str]:
    """The requirements of the package and of all its extras, without those that name the package itself."""
    extras = project.get("optional-dependencies", {})
    every = [project.get("dependencies", []), *(extras.values() if isinstance(extras, dict) else [])]
    found = {line for part in every if isinstance(part, list) for line in part}
    return sorted(line for line in found if not line.startswith(f"{project['name']}["))


def lowest(requirement: str) -> str | None:
    """`name==version` of a requirement `name>=version`; None for torch; ValueError for any other form."""
    found = BOUND.fullmatch(requirement)
    if found is None:
        raise ValueError(f"a requirement like name>=1.2 is wanted in pyproject.toml, got {requirement!r} instead")
    return None if found["name"] == LEFT_OUT else f"{found['name']}=={found['version']}"


def constraints(text: str) -> str:
    """The content of constraints-lowest.txt for the text of a pyproject.toml."""
    lines = [lowest(requirement) for requirement in declared(tomllib.loads(text)["project"])]
    return "\n".join([HEADER, *(line for line in lines if line is not None)]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(constraints((ROOT / "pyproject.toml").read_text(encoding="utf-8")), encoding="utf-8")
