"""docs/reference/formats.md names every file that a run and a model leave, and every column that is written."""

import re
from pathlib import Path

from .conftest import Call, write_tiny
from .test_json import SMALL, write_tables

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")


def named(section: str) -> set[str]:
    """The files in the first column of a section's table, with N for digits and … for a checksum."""
    _, _, rest = PAGE.partition(f"## {section}\n")
    first = (line.split("|")[1] for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| `"))
    return {re.sub(r"\d", "N", name) for cell in first for name in re.findall(r"`([^`]+)`", cell)}


def test_every_file_of_a_run_is_named(call: Call, tmp_path: Path) -> None:
    graph = write_tiny(tmp_path / "tiny.npz")
    assert call("run", "--dataset", graph, "--method", "ncm", *SMALL).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"tiny-ncm-gcn-seed0-[0-9a-f]{8}", folder.name)
    there = {re.sub(r"\d", "N", path.name) for path in folder.iterdir()}
    assert there == named("Run folders") - {"projection.json"}


def test_what_may_be_deleted_of_a_finished_run(call: Call, tmp_path: Path) -> None:
    graph = write_tiny(tmp_path / "tiny.npz")
    ask = ("run", "--dataset", graph, "--method", "ncm", *SMALL, "--resume", "--json")
    aa = call(*ask).json()["aa"]
    (folder,) = (tmp_path / "runs").iterdir()
    for path in folder.iterdir():
        if path.name not in ("config.json", "record.json"):
            path.unlink()
    assert call("show", folder, "--json").json()["aa"] == aa
    assert call(*ask).json()["aa"] == aa
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [folder.name]


def test_every_file_of_a_model_and_every_column_is_named(call: Call, tmp_path: Path) -> None:
    files = write_tables(tmp_path)
    assert call("learn", "--model", "model", *files, *SMALL).code == 0
    there = {re.sub("-[0-9a-f]{16}", "-…", path.name) for path in (tmp_path / "model").iterdir()}
    assert there == named("Model folders") - {".lock"}
    header = call("predict", "--model", "model", *files).out.splitlines()[0].split(",")
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| `predict"))
    assert re.findall("`(id|label|probability|margin)`", row) == header
    graph = write_tiny(tmp_path / "tiny.npz")
    assert call("score", "--dataset", graph, "--out", "s.csv").code == 0
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| `score"))
    assert re.findall("`(\\w+)`", row)[:4] == (tmp_path / "s.csv").read_text().splitlines()[0].split(",")
