"""Sound files with bytes changed, cut or added: they are read, or refused with an error of this package.

EVERGRAPH_FUZZ=2000 tries so many of each kind instead of a few.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evergraph.config import read_settings, read_toml
from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.data.graph_folder import check_folder
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.experiments.grid import read_experiment
from evergraph.models import read_model, write_model
from evergraph.results.load import read_results
from evergraph.runs.config import RunConfig
from evergraph.runs.store import RunStore, load_tensors
from evergraph.tables import read_table
from helpers import run_config, tiny_graph
from report.test_page import small, write
from runs.test_store import run_record

OURS = (ConfigError, DataError, StoreError)
FEW = int(os.environ.get("EVERGRAPH_FUZZ", "40"))
TOML = 'name = "x"\n[base.dataset]\nname = "digits"\n[[grid]]\n"method.name" = ["joint", "ssm"]\nseed = [0, 1]\n'


def archive(path: Path) -> None:
    graph = tiny_graph((9,) * 6, width=6)
    ends = np.stack(graph.adjacency.nonzero())
    np.savez_compressed(path, edge_index=ends, x=np.asarray(graph.features), y=graph.labels)


def tables(folder: Path) -> None:
    (folder / "nodes.csv").write_text("id,label,size\n" + "".join(f"n{row},c{row % 2},{row}\n" for row in range(9)))
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{row},n{(row + 1) % 9}\n" for row in range(9)))


def parquet_file(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"id": range(9), "label": ["a", "b", None] * 3, "size": np.arange(9) / 7})
    pytest.importorskip("pyarrow.parquet").write_table(table, path)


def graph_folder(folder: Path) -> None:
    tables(folder)
    plan = Plan.of(10**8)
    convert_tables(folder / "edges.csv", folder / "nodes.csv", folder / "graph", FileOptions(), plan)


def model_folder(folder: Path) -> None:
    write_model(folder / "model", {"a": [1, {"b": None}]}, {"w": np.arange(6, dtype=np.float32)}, {"s.json": b"{}"})


def run_folder(folder: Path) -> None:
    store = RunStore.create(folder, "run", run_config().to_values())
    store.finish(run_record())


Make: TypeAlias = Callable[[Path], object]
Read: TypeAlias = Callable[[Path], object]
KINDS: dict[str, tuple[Make, Read]] = {
    "npz": (lambda at: archive(at / "g.npz"), lambda at: read_graph(at / "g.npz", FileOptions())),
    "csv": (tables, lambda at: read_graph(at / "edges.csv", FileOptions())),
    "parquet": (lambda at: parquet_file(at / "n.parquet"), lambda at: read_table(at / "n.parquet")),
    "graph folder": (graph_folder, lambda at: check_folder(at / "graph")),
    "model folder": (model_folder, lambda at: read_model(at / "model")),
    "run folder": (run_folder, lambda at: (read_results([at]), read_settings(at / "run" / "config.json"))),
    "states": (
        model_folder,
        lambda at: [load_tensors(one, "") for one in sorted((at / "model").glob("*.safetensors"))],
    ),
    "records": (lambda at: write(at / "r.json", small()), lambda at: read_results([at / "r.json"])),
    "experiment": (
        lambda at: at.joinpath("e.toml").write_text(TOML),
        lambda at: read_experiment(at / "e.toml"),
    ),
    "settings": (
        lambda at: at.joinpath("c.toml").write_text("[method]\nname='ssm'\n[train]\nlr=0.1\n"),
        lambda at: RunConfig.from_values(read_toml(at / "c.toml")),
    ),
}
NASTY = [b"9" * 12, b"[" * 50, b"\x00", b"\xff" * 8, b"-1"]
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 10**9),
        st.sampled_from(["set", "cut", "insert", "repeat"]),
        st.one_of(
            st.binary(min_size=1, max_size=4), st.sampled_from([b"9" * 12, b"[" * 50, b"\x00", b"\xff" * 8, b"-1"])
        ),
    ),
    min_size=1,
    max_size=4,
)


def changed(content: bytes, changes: list[tuple[int, str, bytes]]) -> bytes:
    for place, what, new in changes:
        at = place % (len(content) + 1)
        if what == "set":
            content = content[:at] + new + content[at + len(new) :]
        elif what == "cut":
            content = content[:at]
        elif what == "insert":
            content = content[:at] + new + content[at:]
        else:
            content = content[:at] + content[max(0, at - 64) :]
    return content


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    make, read = KINDS[kind]
    sound = tmp_path / "sound"
    sound.mkdir()
    make(sound)
    assert read(sound) is not None
    files = [path.relative_to(sound) for path in sorted(sound.rglob("*")) if path.is_file()]

    @given(st.sampled_from(files), CHANGES)
    @settings(max_examples=FEW, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def tried(name: Path, changes: list[tuple[int, str, bytes]]) -> None:
        damaged = tmp_path / "damaged"
        shutil.rmtree(damaged, ignore_errors=True)
        shutil.copytree(sound, damaged)
        (damaged / name).write_bytes(changed((sound / name).read_bytes(), changes))
        with suppress(*OURS):
            read(damaged)

    tried()
