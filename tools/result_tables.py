"""Write the tables of README.md and docs/whole-graph.md from the committed records.

python tools/result_tables.py
"""

from pathlib import Path

from evergraph.report.markdown import glance, markdown
from evergraph.results.groups import DataSet, data_sets
from evergraph.results.load import read_results

ROOT = Path(__file__).parents[1]
WHOLE = ("whole-digits", "whole-amazon", "whole-coauthor", "whole-cora", "whole-arxiv")


def shown(*names: str) -> list[DataSet]:
    """The data sets of files in results/."""
    return data_sets(read_results([ROOT / "results" / f"{name}.json" for name in names])[0])


def readme_table() -> str:
    """The first table of the README."""
    return glance(shown(*WHOLE, "patents"))


def whole_graph_tables() -> str:
    """What docs/whole-graph.md ends with; `evergraph report` makes the same, see there."""
    return markdown(shown(*WHOLE, "patents"))


def main() -> None:
    """Put both where they belong."""
    page, readme = ROOT / "docs" / "whole-graph.md", ROOT / "README.md"
    before, heading, _ = page.read_text(encoding="utf-8").partition("## Tables\n\n")
    page.write_text(before + heading + whole_graph_tables(), encoding="utf-8")
    lines = readme.read_text(encoding="utf-8").splitlines(keepends=True)
    inside = [at for at, line in enumerate(lines) if line.startswith("|")]
    lines[inside[0] : inside[-1] + 1] = [readme_table()]
    readme.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
