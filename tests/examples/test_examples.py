"""Every example runs, its pages say what it prints, and it becomes a notebook that others can open."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import examples  # noqa: E402

SMALL = {
    "growing_graph": ["PRODUCTS=100", "EPOCHS=30"],
    "what_ftf_er_keeps": ["SEEDS=1", "EPOCHS=60", "DRAWS=5", "AMAZON=False"],
    "hodge_potential": ["PAPERS=400", "HOUSES=200"],
    "your_own_method": ["SEEDS=1", "EPOCHS=40"],
}
"""Settings with which an example takes seconds."""
CONTRACT = """
import pytest

import evergraph
from evergraph.testing import MethodContract

evergraph.load_plugin("herding.py")


@pytest.mark.parametrize("name", ["herding-means"])
class TestHerding(MethodContract):
    pass
"""


def python(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A process of its own: an example loads plug-ins, and draws without a screen."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def numbers(page: str, name: str) -> list[float]:
    """The numbers in the first printed line that begins with a name."""
    printed = "\n".join(re.findall(r"```text\n(.*?)```", page, flags=re.S))
    (line, *_) = re.findall(rf"^ *{re.escape(name)}(.*)$", printed, flags=re.M)
    return [float(number) for number in re.findall(r"[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?", line)]


def growing_graph(page: str) -> None:
    (by_month,), (at_once,), (finetune,) = (
        numbers(page, name) for name in ("month by month", "everything at once", "finetune")
    )
    assert finetune < by_month - 15
    assert abs(by_month - at_once) < 10
    assert "exactly: the sums are as if they had never been learned" in page
    assert "the same probabilities, bit by bit: True" in page
    assert page.count("held out,") >= 7


def what_ftf_er_keeps(page: str) -> None:
    names = ("deterministic", "probabilistic", "random")
    rows = [re.findall(rf"^{name} +((?:[\d.]+ +){{4}}[\d.]+)$", page, flags=re.M) for name in names]
    tables = [[[float(value) for value in row.split()] for row in table] for table in zip(*rows, strict=True)]
    assert len(tables) == 1 + ("![Amazon Computers" in page)
    for table in tables:  # digits, and Amazon where it was found
        degree, distance, off, _, near = zip(*table, strict=True)
        assert degree[0] < degree[1] < degree[2]
        assert distance[0] > distance[1] > distance[2]
        assert off[0] > off[1] > off[2]
        assert near[0] < near[1] < near[2]
        assert near[0] < 0.5 * near[2]
    (deterministic, _, random) = (line[3] for line in tables[0])
    assert deterministic > 2 * random
    for found in re.findall(r"^(?:potential|gradient), degree +(\S+)$", page, flags=re.M):
        assert float(found) < -0.3
    accuracy = [float(re.findall(rf"^{name} +(\d+\.\d) %", page, flags=re.M)[0]) for name in names]
    assert accuracy[0] < min(accuracy[1:])


def hodge_potential(page: str) -> None:
    assert numbers(page, "the shares add up to") == [1.0]
    assert max(numbers(page, "curl and divergence of the harmonic part:")) < 1e-9
    highest, nearest = numbers(page, "the potential is highest at square")
    assert highest == nearest
    by_potential, by_citations = numbers(page, "potential and age:")
    assert by_potential > 0.8 > by_citations
    assert numbers(page, "rank correlation with the degree:")[0] < -0.5
    count, of_top, of_all = numbers(page, "of the")
    assert of_top > 90
    assert of_all < 30
    assert count > 10
    step, lacking = numbers(page, "step over the road:")
    assert step == pytest.approx(lacking, rel=1e-6)


def your_own_method(page: str) -> None:
    names = ("finetune", "random-replay", "herding ", "herding-means", "analytic")
    found = {name: numbers(page, name)[0] for name in names}
    assert found["finetune"] < 25
    assert found["random-replay"] < found["herding-means"] < found["analytic"]
    kept = {name: numbers(page, name)[-1] for name in names}
    assert kept["finetune"] == 0 < kept["herding-means"] < kept["analytic"] / 100


CLAIMS = {check.__name__: check for check in (growing_graph, what_ftf_er_keeps, hodge_potential, your_own_method)}
"""What the texts say of the figures."""


def test_there_are_claims_and_settings_for_every_example() -> None:
    assert examples.names() == list(SMALL)
    assert set(CLAIMS) == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_an_example_runs_and_shows_what_its_text_says(name: str, tmp_path: Path) -> None:
    settings = [word for value in SMALL[name] for word in ("--set", value)]
    done = python("tools/examples.py", name, *settings, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    CLAIMS[name](page)
    pictures = re.findall(r"!\[(.+)\]\((.+\.png)\)", page)
    assert pictures
    for _, file in pictures:
        assert (tmp_path / file).stat().st_size > 5000
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.md", *(file for _, file in pictures)}


@pytest.mark.parametrize("name", SMALL)
def test_the_committed_page_shows_what_its_text_says(name: str) -> None:
    page = (examples.PAGES / f"{name}.md").read_text(encoding="utf-8")
    CLAIMS[name](page)
    files = re.findall(r"\]\((.+\.png)\)", page)
    assert files
    for file in files:
        assert (examples.PAGES / file).exists()


def test_the_pages_have_the_text_and_the_code_of_the_examples() -> None:
    assert examples.outdated() == [], "run python tools/examples.py"


def test_a_changed_example_is_noticed() -> None:
    page = (examples.PAGES / "hodge_potential.md").read_text(encoding="utf-8")
    assert examples.is_page_of("hodge_potential", page)
    for old, new in (("plt.show()\n", "plt.show() \n"), ("hodge_potential(land)", "hodge_potential(town)")):
        assert old in page
        assert not examples.is_page_of("hodge_potential", page.replace(old, new, 1))
    assert not examples.is_page_of("hodge_potential", page + "\n```python\nmore = 1\n```\n")


def test_every_block_of_a_page_says_where_it_is_run() -> None:
    for name in SMALL:
        lines = (examples.PAGES / f"{name}.md").read_text(encoding="utf-8").splitlines()
        starts = [at for at, line in enumerate(lines) if re.match(r"```\w", line)]
        assert starts
        assert {lines[at - 1] for at in starts} == {f"<!-- not run: run as examples/{name}.py -->"}


def test_an_example_is_a_plain_script() -> None:
    done = python("examples/hodge_potential.py")
    assert done.returncode == 0, done.stderr
    assert "step over the road" in done.stdout


def test_the_notebooks_are_valid_and_hold_every_cell(tmp_path: Path) -> None:
    assert python("tools/examples.py", "--notebooks", str(tmp_path)).returncode == 0
    assert {path.stem for path in tmp_path.iterdir()} == set(SMALL)
    for name in SMALL:
        found = json.loads((tmp_path / f"{name}.ipynb").read_text(encoding="utf-8"))
        assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
        cells = found["cells"]
        assert ["".join(cell["source"]) for cell in cells] == [cell.text for cell in examples.read_cells(name)]
        assert len({cell["id"] for cell in cells}) == len(cells)
        assert sum(cell["metadata"].get("tags") == ["parameters"] for cell in cells) == 1
        for cell in cells:
            if cell["cell_type"] == "code":
                assert (cell["execution_count"], cell["outputs"]) == (None, [])
                compile("".join(cell["source"]), name, "exec")
            else:
                assert set(cell) == {"cell_type", "metadata", "id", "source"}


def test_the_method_of_the_notebook_is_a_plug_in_that_meets_the_contract(tmp_path: Path) -> None:
    (cell,) = (cell for cell in examples.read_cells("your_own_method") if "class Herding(Learner)" in cell.text)
    (tmp_path / "herding.py").write_text(cell.text, encoding="utf-8")
    (tmp_path / "test_herding.py").write_text(CONTRACT, encoding="utf-8")
    options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    done = python("-m", "pytest", *options, "test_herding.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "an example is one of growing_graph, .*, got nothing instead"),
        (("hodge_potential", "--set", "TOWNS=3"), "has the parameters HOUSES, PAPERS, got TOWNS instead"),
        (("hodge_potential", "--set", "HOUSES=many"), "--set wants KEY=VALUE .*, got HOUSES=many"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = python("tools/examples.py", *arguments, "--out", str(tmp_path))
    assert done.returncode == 1
    assert re.fullmatch(rf".*{message}.*\n", done.stderr)
