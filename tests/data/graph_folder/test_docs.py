"""docs/graph-folder.md: its commands work, and its table of files is that of the format."""

import re
import shlex
from pathlib import Path

import pytest

from evergraph.cli import run_main
from evergraph.data.graph_folder.manifest import TYPES
from evergraph.methods import METHODS, Learner
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.workers import SHARED_METHODS

PAGE = (Path(__file__).parents[3] / "docs" / "graph-folder.md").read_text(encoding="utf-8")


def test_the_examples_run_as_they_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nodes = [f"n{row},c{row % 4},{row % 4 + row % 5 / 9:.3f}" for row in range(48)]
    Path("nodes.csv").write_text("id,label,size\n" + "\n".join(nodes) + "\n")
    Path("edges.csv").write_text("source,target\n" + "".join(f"n{row},n{(row + 1) % 48}\n" for row in range(48)))
    blocks = "".join(re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL))
    commands = re.sub(r"\\\n\s*", "", blocks).splitlines()
    on_ray = [line for line in commands if "--executor ray" in line]  # tests/experiments/test_ray_workers.py
    assert len(on_ray) == 2
    remote = [line for line in commands if "://" in line]  # tests/cli/test_cache.py
    assert len(remote) == 4
    for line in [line for line in commands if line not in (*on_ray, *remote)]:
        words = shlex.split(line, comments=True)
        assert words[0] == "evergraph"
        assert run_main(words[1:]) == 0, line
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(code, {})


def test_every_file_is_in_the_table_with_its_types() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `") and ".npy`" in line.split("|")[1]]
    listed = {name for row in rows for name in re.findall(r"`(\w+\.npy)`", row.split("|")[1])}
    assert listed == set(TYPES)


def test_the_methods_that_read_blocks_are_named() -> None:
    (sentence,) = re.findall(r"^- (.*) pass over the graph once", PAGE, flags=re.MULTILINE)
    reading = {name for name in METHODS if learner(name).reads_blocks}
    assert set(re.findall(r"`([\w-]+)`", sentence)) == reading


def test_the_methods_whose_work_is_shared_are_named() -> None:
    kinds = {name: one for name in METHODS if isinstance(one := learner(name), StatisticsLearner)}
    shared = {name for name, one in kinds.items() if getattr(one.statistics, "exact", False)}
    (sentence,) = re.findall(r"^- Shared are propagation and sums of (.*?), also", PAGE, flags=re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", sentence)) == shared
    assert set(re.split(", | and ", SHARED_METHODS)) == shared
    assert kinds.keys() - shared == {"analytic-small"}  # of which the page says what is shared


def learner(name: str) -> Learner:
    return make_learner(RunConfig.from_values({"method": {"name": name}}), 1)
