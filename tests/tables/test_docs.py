"""The examples of docs/data.md run as they are printed."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evergraph.tables import Batch, batch_from_arrays, batch_from_frames, batch_from_networkx, batch_from_pyg

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def block(text: str, marker: str) -> str:
    (found,) = (code for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) if marker in code)
    return str(found)


def test_the_example_of_two_months_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for month, plans in (("01", ("gold", "basic")), ("02", ("gold", "tin"))):
        rows = [f"n{k},{('art', '', 'law')[k % 3]},{k * k},{plans[k % 2]},n{k}@x" for k in range(9)]
        header = "id,topic,age,plan,mail"
        if month == "02":  # in another order
            rows = [",".join(reversed(row.split(","))) for row in rows]
            header = ",".join(reversed(header.split(",")))
        Path(f"nodes-{month}.csv").write_text("\n".join([header, *rows]) + "\n")
        Path(f"edges-{month}.csv").write_text("source,target\nn0,n1\nn1,n2\n")
    names: dict[str, object] = {}
    exec(block(PAGE.read_text(encoding="utf-8"), "read_batch("), names)
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["age", "plan", "left out"]
    assert names["remarks"] == (
        "nodes-02.csv: 'tin' of 'plan' not in the first batch, so 4 of 9 rows have no category",
    )


def test_the_tables_of_the_page_are_read(tmp_path: Path) -> None:
    from evergraph import load_dataset

    text = PAGE.read_text(encoding="utf-8")
    for name in ("edges.csv", "nodes.csv"):
        lines = text.partition(f"`{name}`\n\n")[2].partition("\n\n")[0].splitlines()
        (tmp_path / name).write_text("\n".join(line.strip() for line in lines) + "\n")
    graph = load_dataset(str(tmp_path / "edges.csv"))
    assert graph.feature_names == ("age", "plan=basic", "plan=gold", "revenue")
    assert graph.n_nodes == 3


@pytest.mark.parametrize(
    ("graph", "adapter"),
    [
        ("frames", batch_from_frames),
        ("NetworkX", batch_from_networkx),
        ("a scipy matrix", batch_from_arrays),
        ("PyG", batch_from_pyg),
    ],
)
def test_the_page_names_every_option_of_a_graph(graph: str, adapter: Callable[..., Batch]) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("Options of `to_batch`")[2]
    (row,) = re.findall(rf"^\| {graph}[^|]*\|(.*)\|$", section, flags=re.MULTILINE)
    parameters = inspect.signature(adapter).parameters.values()
    assert set(re.findall(r"`(\w+)`", row)) == {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}


def test_what_the_page_imports_is_there() -> None:
    import evergraph

    names = re.findall(r"`from evergraph import (\w+)`", PAGE.read_text(encoding="utf-8"))
    assert names == ["to_pyg"]
    assert all(hasattr(evergraph, name) for name in names)
