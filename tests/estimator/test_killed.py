"""Learning that is killed at random moments leaves the model before or after a batch, and ends the same."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed.py")


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_kills_at_random_moments_of_learning(tmp_path: Path) -> None:
    """25 kills at each of four batches, whatever the machine does meanwhile."""
    command = [sys.executable, str(SCRIPT), str(tmp_path / "model"), "25", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    *outcomes, end = done.stdout.splitlines()
    assert end == "same", done.stdout
    assert len(outcomes) == 100
    assert set(outcomes) <= {"0", "1"}
