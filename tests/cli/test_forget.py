"""evergraph forget of a graph that stays on disk."""

from pathlib import Path

from .conftest import Call


def test_forgetting_says_how_the_graph_is_read(call: Call, on_disk: str, tmp_path: Path) -> None:
    files = ("--model", "model", "--nodes", on_disk, "--memory", "50MB")
    assert call("learn", *files, "--method", "ncm").code == 0
    (tmp_path / "ids.txt").write_text("n3\n")
    answer = call("forget", *files, "--ids", "ids.txt")
    assert "1 node forgotten" in answer.out
    assert answer.err.count("note: read from disk in blocks (memory 0.05 GB)") == 1
