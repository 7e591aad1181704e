"""The table that compares methods: which columns it has, seeds, and what is left out where it would be too wide."""

import io
from typing import Any

from rich.console import Console

from evergraph.report.comparison import comparison_table
from evergraph.runs.record import Record

from .test_report import coming_back, record


def one(method: str = "finetune", seed: int = 0, content: Record | None = None, **changes: Any) -> Record:
    content = content or Record.model_validate(record())
    config = {
        **content.config,
        "method": {"name": method},
        "seeds": dict.fromkeys(("split", "order", "init"), seed),
    }
    return content.model_copy(update={"config": config, **changes})


def worse(content: Record) -> Record:
    """The same with the first class of the last task all wrong."""
    rows = content.correct["test"]
    last = [*rows[-1][:-2], 0, rows[-1][-1]]
    return content.model_copy(update={"correct": {**content.correct, "test": [*rows[:-1], last]}})


def shown(records: list[Record], width: int = 100) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(comparison_table(records, width))
    return console.export_text()


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def headings(records: list[Record], width: int = 100) -> list[str]:
    return [" ".join(str(column.header).split()) for column in comparison_table(records, width).columns]


def test_one_seed_of_each_method() -> None:
    text = shown([one("ssm"), one("joint")])
    assert "things · gcn · seed 0 · task-graphs" in text
    assert headings([one()]) == ["method", "AA, %", "AF, %", "local AA", "global AA", "time, s", "kept, MB"]
    assert rows(text) == [
        ["ssm", "66.7", "-50.0", "66.7", "–", "9.0", "0.00"],
        ["joint", "66.7", "-50.0", "66.7", "–", "9.0", "all data"],
    ]


def test_seeds_are_one_row_with_mean_and_deviation() -> None:
    text = shown([one("ssm", 0), one("ssm", 3, worse(one())), one("joint", 0), one("joint", 3)])
    assert "things · gcn · seeds 0, 3 · task-graphs" in text
    assert "mean ± deviation over seeds" in text
    assert [row[:3] for row in rows(text)] == [
        ["ssm", "58.3 ± 11.8", "-50.0 ± 0.0"],
        ["joint", "66.7 ± 0.0", "-50.0 ± 0.0"],
    ]


def test_a_method_with_fewer_finished_seeds_says_so() -> None:
    records = [one("ssm", 0), one("ssm", 1), one("joint", 1)]
    assert headings(records)[-1] == "seeds"
    assert [row[-1] for row in rows(shown(records))] == ["2", "1"]


def test_the_heading_has_the_kind_of_seed_that_differs() -> None:
    records = [one(seed=seed) for seed in (0, 1)]
    for content in records:
        content.config["seeds"] |= {"init": 7}
    assert "seeds 0, 1 " in shown(records)


def test_where_classes_come_back_all_nodes_so_far_come_first() -> None:
    back = one("ssm", content=coming_back())
    text = shown([back])
    assert headings([back]) == [
        *("method", "so far, %", "area, %", "global area, %", "forgetting from best", "AA, %", "AF, %"),
        *("time, s", "kept, MB"),
    ]
    assert rows(text) == [["ssm", "50.0", "60.0", "–", "-37.5", "68.8", "-37.5", "5.5", "0.00"]]
    assert "forgetting: final minus best of each class" in text
    assert "so far" not in shown([one()])


def test_in_the_whole_graph_the_other_area_is_the_local_one() -> None:
    content = coming_back()
    other = {"task-graphs": {split: [[4, 6], [4, 6, 2]] for split in ("val", "test")}}
    config = {**content.config, "stream": {"inter_task_edges": True}}
    back = one(content=content.model_copy(update={"config": config, "correct_in": other}))
    assert "local area, %" in headings([back])
    assert rows(shown([back]))[0][1:4] == ["50.0", "60.0", "100.0"]


def test_what_matters_least_is_left_out_until_it_fits() -> None:
    back = [one("analytic-small", seed, coming_back()) for seed in (0, 1)]
    assert headings(back, 1000)[-3:] == ["AA, %", "time, s", "kept, MB"]
    assert headings(back, 80)[1:] == ["so far, %", "area, %", "forgetting from best", "time, s", "kept, MB"]
    assert "left out for the width: global area, AF, AA; --json has all" in shown(back, 80)
    for width in (80, 100, 1000):
        assert max(map(len, shown(back, width).splitlines())) <= min(width, 100)
    local = [one("analytic-small", seed) for seed in (0, 1)]
    assert headings(local, 80) == ["method", "AA, %", "AF, %", "global AA", "time, s", "kept, MB"]
    assert "local AA, which is AA" in shown(local, 80)
