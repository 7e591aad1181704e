"""Learning that is killed at random moments leaves the model before or after a batch, and ends the same."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed.py")


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_kills_at_random_moments_of_learning(tmp_path: Path) -> None:
    """100 attempts at four batches; those that are done before they are killed go on to the next one."""
    outcomes: list[str] = []
    for seed in range(2):
        folder = tmp_path / f"model-{seed}"
        command = [sys.executable, str(SCRIPT), str(folder), "25", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        *lines, end = done.stdout.splitlines()
        assert end == "same", done.stdout
        outcomes += lines
    assert set(outcomes) <= {"0", "1"}
    assert outcomes.count("0") >= 50
