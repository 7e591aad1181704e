"""The public names of the package, and what importing it costs."""

import subprocess
import sys
from pathlib import Path

import pytest

import evergraph

NAMES = [name for name in evergraph.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_had(name: str) -> None:
    value = getattr(evergraph, name)
    assert value is not None
    if hasattr(value, "__name__"):
        assert value.__name__ == name


def test_names_are_listed_once_and_seen_by_completion() -> None:
    assert sorted(evergraph._HOMES) == sorted(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    assert set(evergraph.__all__) <= set(dir(evergraph))


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        evergraph.nothing  # type: ignore[attr-defined]  # noqa: B018


def imported_by(code: str) -> set[str]:
    """The top-level modules that a fresh process has imported after some code."""
    report = "import sys; print('modules:', *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("modules:")[2].split())


HEAVY = {"torch", "matplotlib", "numpy", "scipy", "sklearn", "pandas", "ray"}


@pytest.mark.parametrize(
    "code",
    [
        "import evergraph",
        "from evergraph.cli import run_main; run_main(['--version'])",
        "from evergraph.cli import run_main; run_main(['--help'])",
        "from evergraph.cli import run_main; run_main(['run', '--help'])",
        "from evergraph.cli import run_main; run_main(['reproduce', '--help'])",
    ],
)
def test_help_and_version_need_nothing_heavy(code: str) -> None:
    assert imported_by(code) & HEAVY == set()


def test_a_page_is_built_without_torch() -> None:
    found = imported_by("import evergraph.report.page, evergraph.results.load, evergraph.results.groups")
    assert not found & {"torch", "matplotlib"}


def test_results_are_read_and_shown_without_torch(tmp_path: Path) -> None:
    records, page = Path(__file__).parents[1] / "results" / "methods-digits.json", tmp_path / "page.html"
    command = ["report", str(records), "--out", str(page)]
    found = imported_by(f"from evergraph.cli import run_main; assert run_main({command!r}) == 0")
    assert page.exists()
    assert "torch" not in found


def test_graphs_and_hodge_theory_need_no_torch() -> None:
    found = imported_by("import evergraph; evergraph.load_dataset; evergraph.hodge_potential; evergraph.Record")
    assert "torch" not in found
