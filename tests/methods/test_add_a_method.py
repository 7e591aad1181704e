"""The method in CONTRIBUTING.md works as it stands there, and meets the contract like any other."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

import evergraph
from evergraph.testing import MethodContract

evergraph.load_plugin("mine.py")


@pytest.mark.parametrize("name", ["mine"])
class TestMine(MethodContract):
    pass
"""


def test_the_method_in_contributing_meets_the_contract(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Add a method")[2]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    (tmp_path / "test_mine.py").write_text(TESTS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 30
