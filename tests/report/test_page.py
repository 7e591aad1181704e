"""The page without a browser: what it holds, that it is harmless, and that its numbers are those of the runs."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from evergraph.cli import run_main
from evergraph.errors import StoreError
from evergraph.report.page import page, titles
from evergraph.report.page_lines import beta, curves
from evergraph.report.page_tables import bytes_text, overview_table, results_table
from evergraph.results.groups import Stat, data_sets
from evergraph.results.load import read_results
from evergraph.results.published import PublishedResults

from .test_report import record


def small(
    method: str = "ssm", aa: float = 80.0, seed: int = 0, *, tasks: int = 3, **changes: Any
) -> dict[str, Any]:
    """A small record of a run that has the same accuracy on every task."""
    settings = changes.pop("settings", {})
    content: dict[str, Any] = {
        "config": {
            "dataset": {"name": "amazon-computers", "features": None},
            "backbone": {"name": changes.pop("backbone", "gcn"), "hidden": 256},
            "method": {"name": method, **settings},
            "train": {"epochs": 200, "threads": 1},
            "seeds": {"split": seed, "order": seed, "init": seed},
        },
        "data": {
            "name": "amazon-computers",
            "nodes": 100,
            "edges": 400,
            "features": 7,
            "tasks": tasks,
            "remarks": [],
        },
        "versions": {"evergraph": "0.1.0", "torch": "2.9"},
        "aa": aa,
        "af": aa - 100,
        "matrix": [[aa if column <= row else None for column in range(tasks)] for row in range(tasks)],
        "learning_accuracy": aa,
        "per_class": [aa] * (2 * tasks),
        "plain": {"aa": aa, "af": aa - 100},
        "val": {"aa": aa - 1, "af": aa - 100},
        "seconds": {"load": 9.0, "train": 4.0, "score": 1.0},
        "memory": {"nodes": 1200, "edges": 34, "bytes": 3 * 2**20},
        "peak_bytes": 500 * 2**20,
    }
    return {**content, **changes}


def write(path: Path, *runs: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"experiment": "x", "runs": runs}), encoding="utf-8")
    return path


def made(path: Path, *runs: dict[str, Any], published: PublishedResults | None = None) -> str:
    results, notes = read_results([write(path / "records.json", *runs)])
    return page(data_sets(results), notes, published)


class Reader(HTMLParser):
    """Elements, attributes and the text of table rows; complains about what is not closed."""

    VOID = ("meta", "br", "input")

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        if not {"script", "style"} & set(self.open):
            self.text += data

    def table(self, heading: str) -> list[list[str]]:
        """The rows of the first table with such a column, in which spaces do not count."""
        rows = [[" ".join(cell.split()) for cell in row] for row in self.rows]
        start = next(at for at, row in enumerate(rows) if heading in row)
        width = len(rows[start])
        after = next((at for at, row in enumerate(rows) if at > start and row[:1] == ["Method"]), len(rows))
        return [row for row in rows[start:after] if len(row) == width]

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


VALUES = {("ssm", "amazon-computers"): (Stat(93.6, 0.8), Stat(-6.5, None))}
PUBLISHED = PublishedResults("Doe <1999>", "Paper: table 7.", lambda *key: VALUES.get(key))


def test_ours_stands_beside_what_was_published(tmp_path: Path) -> None:
    runs = (small(aa=90.0), small(aa=94.0, seed=1), small("joint", 97.0))
    reader = Reader(made(tmp_path, *runs, published=PUBLISHED))
    header, joint, ssm = reader.table("AA, val.")
    columns = "Method|Backbone|AA, %|AA, paper|AF, %|AF, paper|AA, val.|Seeds|Settings"
    assert header == columns.split("|")
    assert joint == ["joint", "gcn", "97.0", "–", "−3.0", "–", "96.0", "1", "fixed"]
    assert ssm == ["ssm", "gcn", "92.0 ± 2.8", "93.6 ± 0.8", "−8.0 ± 2.8", "−6.5", "91.0 ± 2.8", "2", "fixed"]
    assert "Paper: table 7." in reader.text


def test_there_is_no_column_for_a_paper_that_has_nothing(tmp_path: Path) -> None:
    run = small()
    run["config"]["dataset"]["name"] = "digits"
    text = Reader(made(tmp_path, run, published=PUBLISHED)).text
    assert "AA, paper" not in text
    assert "The paper (Doe <1999>) has no results on this data set." in text


def test_without_published_values_there_is_no_word_of_a_paper(tmp_path: Path) -> None:
    reader = Reader(made(tmp_path, small()))
    assert reader.table("AA, val.")[0] == ["Method", "Backbone", "AA, %", "AF, %", "AA, val.", "Seeds", "Settings"]
    assert "paper" not in reader.text.lower()


def test_groups_differ_by_method_backbone_and_settings_and_not_by_threads(tmp_path: Path) -> None:
    runs = [small("ftf-er-det", settings={"beta": beta}, seed=seed) for beta in (0.0, 0.5) for seed in (0, 1)]
    runs += [small("ssm", seed=seed, backbone=name) for name in ("gcn", "gat") for seed in (0, 1, 2)]
    runs[-1]["config"]["train"]["threads"] = 8
    results, notes = read_results([write(tmp_path / "r.json", *runs)])
    (data,) = data_sets(results)
    found = {(group.label, group.backbone): len(group.results) for group in data.groups}
    assert found == {
        ("ftf-er-det · β 0.0", "gcn"): 2,
        ("ftf-er-det · β 0.5", "gcn"): 2,
        ("ssm", "gcn"): 3,
        ("ssm", "gat"): 3,
    }
    assert notes == []


def test_a_setting_that_most_rows_share_is_not_named(tmp_path: Path) -> None:
    runs = [small("a", settings={"k": k, "score": "x"}) for k in range(4)] + [
        small("a", settings={"k": 9, "score": "y"})
    ]
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert {group.settings for group in data.groups} == {"k 0", "k 1", "k 2", "k 3", "k 9, score y"}


def test_a_run_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", small(), small(seed=1))
    results, notes = read_results([file, file])
    assert len(results) == 2
    assert notes == ["2 runs left out: the same settings and seeds were there already"]


def test_strings_of_users_are_harmless(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    run = small(evil, settings={"note": evil}, backbone=evil, versions={evil: evil})
    run["data"] |= {"name": evil, "remarks": [evil], "class_order": list(range(6)), "class_names": [evil] * 6}
    other = small(evil, settings={"note": "x"}, backbone=evil)
    other["data"] |= {"name": evil, "remarks": [evil, evil + "2"]}
    text = made(tmp_path, run, other)
    reader = Reader(text)
    assert reader.count("script") == Reader(made(tmp_path, small())).count("script")
    assert reader.count("img") == 0
    assert evil in reader.text
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert "<img" not in text


def test_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    text = made(tmp_path, small())
    addresses = set(re.findall(r"https?://[^\s\"']+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"@import|url\(", text)
    assert all("src" not in attributes for _, attributes in Reader(text).tags)
    assert all((attributes.get("href") or "#").startswith("#") for _, attributes in Reader(text).tags)


def test_remarks_stand_once_by_the_data_and_else_by_the_rows_they_concern(tmp_path: Path) -> None:
    runs = [small("a"), small("b")]
    for run in runs:
        run["data"]["remarks"] = ["a stand-in for others"]
    runs[1]["data"]["remarks"] = ["a stand-in for others", "a class was dropped"]
    reader = Reader(made(tmp_path, *runs))
    assert reader.text.count("a stand-in for others") == 1  # once for all, by the name of the data
    rows = [row[0] for row in reader.rows if "a class was dropped" in "".join(row[:1])]
    assert len(rows) == 2  # results and cost
    assert all(row.startswith("b") for row in rows)
    assert reader.text.count("a class was dropped") == 2


def test_sections_without_data_are_left_out(tmp_path: Path) -> None:
    text = made(tmp_path, small())
    assert "Sensitivity to β" not in text
    runs = [small("ftf-er-det", 70 + 10 * beta, settings={"beta": beta}) for beta in (0.0, 0.5, 1.0)]
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    (table,) = beta(data)
    (line,) = table.lines
    assert table.positions == ["0", "0.5", "1"]
    assert [point and point.mean for point in line.values] == [70, 75, 80]
    assert line.name == "ftf-er-det"
    assert "Sensitivity to β" in made(tmp_path, *runs)


def test_a_test_that_has_a_mean_and_no_matrix_has_no_curve(tmp_path: Path) -> None:
    text = made(tmp_path, small(aa_local=90.0, aa_global=70.0))
    assert "Accuracy after each task, global test" not in text
    assert "70.0" in text


def test_cost_classes_settings_and_versions(tmp_path: Path) -> None:
    reader = Reader(made(tmp_path, small(seconds={"score": 1.0, "load": 9.0, "train": 4.0})))
    assert ["ssm ", "gcn", "5.0", "", "4.0", "1.0", "1,200", "34", "3.15", "524"] in reader.rows
    assert ["ssm ", "80.0", "3.15 MB", "5"] in reader.rows
    assert ["ssm", *["80"] * 6] in reader.rows
    assert ["records.json, run 1", "0", "0", "0", "80.00", "-20.00", "80.00", "–", "0.1.0", "2.9"] in reader.rows
    assert "train.epochs200" in reader.text


def test_what_a_bound_keeps_is_all_data_in_every_table(tmp_path: Path) -> None:
    nothing = {"nodes": 0, "edges": 0, "bytes": 0}
    reader = Reader(made(tmp_path, small("joint", memory=nothing), small("lwf", memory=nothing)))
    cost = {row[0]: row[-4:] for row in reader.table("Kept, MB")[1:]}
    assert cost["joint"] == ["all data", "all data", "all data", "524"]
    assert cost["lwf"] == ["0", "0", "0.00", "524"]
    assert ["joint ", "80.0", "all data", "5"] in reader.rows


def test_which_time_is_shown_is_said_once(tmp_path: Path) -> None:
    assert Reader(made(tmp_path, small())).text.count("Times are seconds") == 1


def test_what_local_beside_global_means_depends_on_when_classes_arrive(tmp_path: Path) -> None:
    both = small("ssm", aa_local=90.0, aa_global=80.0, matrix_local=small()["matrix"])
    both["config"]["stream"] = {"inter_task_edges": True}
    by_class, by_time = (Reader(made(tmp_path, run)).text for run in (both, coming_back(60.0, 51.0, 0)))
    words = ("the labels of test nodes decide there which edges they keep", "the other edges help")
    assert [word in by_class for word in words] == [True, False]
    assert [word in by_time for word in words] == [False, True]


def test_classes_are_matched_by_label_whatever_their_order(tmp_path: Path) -> None:
    runs = [small(seed=seed, per_class=values) for seed, values in ((0, [10, 20, 30]), (1, [30, 20, 10]))]
    for run, order in zip(runs, ([4, 5, 6], [6, 5, 4]), strict=True):
        run["data"] |= {"class_order": order, "class_names": [f"class{label}" for label in order]}
    reader = Reader(made(tmp_path, *runs))
    assert ["Method", "class4", "class5", "class6"] in reader.rows
    assert ["ssm", "10", "20", "30"] in reader.rows


def test_tables_have_real_headers(tmp_path: Path) -> None:
    reader = Reader(made(tmp_path, small()))
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in reader.tags if tag == "th")
    assert [attributes["aria-sort"] for _, attributes in reader.tags if "aria-sort" in attributes] == [
        "descending"
    ] * 3  # methods, results, cost


def test_a_large_grid_is_a_small_page(tmp_path: Path) -> None:
    runs = [small(settings={"beta": k / 21}, seed=seed, tasks=5) for k in range(21) for seed in range(5)]
    assert len(made(tmp_path, *runs).encode()) < 500_000
    long = [small(f"m{k}", seed=seed, tasks=35) for k in range(13) for seed in range(3)]
    assert len(made(tmp_path, *long).encode()) < 2_000_000


def run_folder(path: Path, content: object) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}", encoding="utf-8")
    if content is not None:
        (path / "record.json").write_text(json.dumps(content), encoding="utf-8")
    return path


def test_runs_folders_of_runs_and_folders_of_records(tmp_path: Path) -> None:
    whole = record(versions={"torch": "2"}, finished="2026-01-01")
    run_folder(tmp_path / "runs" / "a", whole)
    run_folder(tmp_path / "runs" / "b", None)
    for path in (tmp_path / "runs", tmp_path / "runs" / "a"):
        (result,), notes = read_results([path])
        assert result.measures["aa"] == pytest.approx(200 / 3)
        assert result.remarks == ("a remark", "a message")
        assert notes == (["1 unfinished run left out"] if path.name == "runs" else [])
    (tmp_path / "results").mkdir()
    write(tmp_path / "results" / "r.json", small(), small(seed=1))
    assert len(read_results([tmp_path / "results", tmp_path / "runs"])[0]) == 3


MALFORMED = [
    ("", "Expecting value"),
    ("[]", "no list of runs"),
    ("{}", "no list of runs"),
    ('{"runs": []}', "which has none"),
    ('{"runs": 3}', "no list of runs"),
    ('{"runs": [3]}', "no list of runs"),
    (
        '{"runs": [{"config": {}}]}',
        "r.json, run 1 must hold a finished run: config: the name of the dataset is wanted",
    ),
    (small(aa=float("nan")), "aa: input should be a finite number, got nan"),
    (small(matrix=[["x"]]), "matrix.0.0: input should be a valid number, got 'x'"),
    (small(matrix=[[1.0, 2.0]]), "matrix: 1 columns are wanted"),
    (small(matrix=[]), "matrix: list should have at least 1 item"),
    (small(matrix=[[1.0, None], [None, 1.0]]), "matrix: an accuracy on every task learned so far is wanted"),
    (small(config={"dataset": {"name": "x", "features": None}}), "config: the name of the backbone is wanted"),
    (small(per_class=None), "per_class: input should be a valid array, got None"),
    (small(per_class=[1.0, float("inf")]), "per_class.1: input should be a finite number, got inf"),
    (
        small(data={**small()["data"], "class_order": [1]}),
        "per_class: 1 are wanted, as in data.class_order",
    ),
    (small(seconds=[1.0]), "seconds: input should be an object"),
]
"""Files, or runs in one, and what is said of them."""


@pytest.mark.parametrize(("content", "words"), MALFORMED)
def test_a_malformed_file_is_told_in_one_sentence_and_a_sound_one_is_shown(
    tmp_path: Path, content: str | dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = write(tmp_path / "r.json", small()), tmp_path / "page.html"
    assert run_main(["report", str(file), "--out", str(out)]) == 0
    assert capsys.readouterr().err == ""
    out.unlink()
    file.write_text(content if isinstance(content, str) else json.dumps({"runs": [content]}), encoding="utf-8")
    assert run_main(["report", str(file), "--out", str(out)]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert not out.exists()


def leaves(value: Any, *path: str | int) -> list[tuple[str | int, ...]]:
    """The ways to all values inside others, and to these."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(way for key, entry in inner for way in leaves(entry, *path, key))]


def with_junk(whole: dict[str, Any], junk: Any) -> list[tuple[str, dict[str, Any]]]:
    """The dotted name of each value in a record, and the record with junk in its place."""
    found = []
    for *way, last in leaves(whole)[1:]:
        run = json.loads(json.dumps(whole))
        place = run
        for key in way:
            place = place[key]
        place[last] = junk
        found.append((".".join(map(str, (*way, last))), run))
    return found


def shown_with_junk(path: Path, whole: dict[str, Any], junk: Any) -> dict[str, bool]:
    """Whether a record is shown with junk at each key; where it is refused, the sentence names the key."""
    shown = {}
    for key, run in with_junk(whole, junk):
        try:
            text, sentence = made(path, run, small("other")), ""
        except StoreError as error:
            text, sentence = "", str(error)
        shown[key] = not sentence
        assert not re.search(r'class="num[^>]*"-?(nan|inf)', text)
        if sentence:
            named = sentence.partition("run 1 must hold a finished run: ")[2].partition(":")[0]
            assert named, sentence
            assert key.startswith(named) or named.startswith(key), sentence
    return shown


@pytest.mark.parametrize("junk", [None, "x", -1, 1e400, float("nan"), [], {}, [[]], {"a": 1}])
def test_junk_in_a_record_is_shown_where_it_is_not_read_and_else_refused_by_its_name(
    tmp_path: Path, junk: Any
) -> None:
    whole = small(tasks=2)
    whole["data"] |= {"class_order": [0, 1, 2, 3], "class_names": ["a", "b", "c", "d"]}
    assert made(tmp_path, whole, small("other"))
    shown = shown_with_junk(tmp_path, whole, junk)
    assert all(shown[key] for key in ("config.train.epochs", "config.seeds.init"))
    read = ("config", "config.method", "data", "matrix", "matrix.1", "per_class", "plain", "val", "memory")
    assert not any(shown[key] for key in read)


def test_empty_unfinished_and_corrupt_runs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run_folder(tmp_path / "runs" / "a", None)
    run_folder(tmp_path / "corrupt", {**record(), "total": {}})
    for path, words in {
        "empty": "which has none",
        "runs": "only 1 unfinished",
        "runs/a": "holds an unfinished run",
        "corrupt": "must hold what a run has written",
        "absent": "absent",
    }.items():
        with pytest.raises(StoreError, match=words):
            read_results([tmp_path / path])


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "r.json", small(aa=90.0), small(aa=94.0, seed=1))
    out = tmp_path / "new" / "page.html"
    assert run_main(["report", str(file), "--out", str(out), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["page"] == str(out)
    assert facts["bytes"] == out.stat().st_size
    assert facts["runs"] == 2
    (row,) = facts["results"]
    assert row["aa"] == {"mean": 92.0, "std": pytest.approx(2.828427)}
    assert row["paper"] == {"aa": 93.6, "af": -6.5}
    (tmp_path / "folder.html").mkdir()
    assert run_main(["report", str(file), "--out", str(tmp_path / "folder.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_command_needs_no_package_of_a_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("evergraph.cli.report.find_spec", lambda name: None)
    file, out = write(tmp_path / "r.json", small()), tmp_path / "page.html"
    assert run_main(["report", str(file), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["paper"] is None
    assert "AA, paper" not in out.read_text(encoding="utf-8")


def test_every_row_says_how_its_settings_were_chosen(tmp_path: Path) -> None:
    runs = [
        small("ftf-er-det", aa, seed, settings={"beta": beta}, val={"aa": val, "af": 0.0})
        for beta, aa, val in ((0.0, 70.0, 90.0), (0.5, 80.0, 60.0))
        for seed in (0, 1)
    ]
    runs += [small("ftf-er-det", 99.0, settings={"beta": 1.0}), small("ssm", 50.0)]
    said = {row[0]: row[-1] for row in Reader(made(tmp_path, *runs)).table("AA, val.")[1:]}
    assert said == {
        "ftf-er-det β 0.0": "chosen",
        "ftf-er-det β 0.5": "not chosen",
        "ftf-er-det β 1.0": "not compared",
        "ssm": "fixed",
    }


def coming_back(aa: float, area: float, seed: int) -> dict[str, Any]:
    """A small record of a run by time in the whole graph."""
    content = small("ssm", aa, seed, so_far_global=so_far(area), so_far_local=so_far(1.0), aa_local=aa + 5)
    content["config"]["stream"] = {"arrival": "time", "steps": 4, "inter_task_edges": True, "inductive": True}
    return content


def so_far(area: float) -> dict[str, Any]:
    return {
        "plain": [area],
        "balanced": [area],
        "area_plain": area,
        "area_balanced": area,
        "class_forgetting": [-3.0],
        "forgetting": -3.0,
    }


def test_runs_in_the_whole_graph_stand_apart_and_show_both_tests(tmp_path: Path) -> None:
    runs = [coming_back(60.0, 51.0, 0), coming_back(62.0, 53.0, 1), small("ssm", 90.0)]
    whole, local = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert (whole.title, local.title) == (
        "amazon-computers, whole graph, by time in 4 steps, inductive",
        "amazon-computers",
    )
    assert str(whole.groups[0].tested("global")) == "61.0 ± 1.4"
    assert str(whole.groups[0].tested("local")) == "66.0 ± 1.4"
    assert str(whole.groups[0].so_far("area_plain")) == "52.0 ± 1.4"
    assert local.groups[0].tested("global") is None
    assert local.groups[0].so_far("area_plain") is None
    headings = [[heading.text for heading in results_table(part, None).headings] for part in (whole, local)]
    assert {"AA global, %", "AA local, %", "All nodes so far, area", "Forgetting from best"} <= set(headings[0])
    assert not {"AA local, %", "All nodes so far, area"} & set(headings[1])
    assert [heading.key for heading in overview_table(whole).headings] == [
        "main-global",
        "main-local",
        "kept",
        "seconds",
    ]
    (row,) = overview_table(whole).rows
    assert [cell.key for cell in row.cells[:2]] == [52.0, 1.0]  # classes come back: all nodes so far, not AA
    assert [table.test for table in curves(whole)] == ["global", "local"]


def test_where_classes_come_back_the_page_has_what_each_class_forgot(tmp_path: Path) -> None:
    first, second = coming_back(60.0, 51.0, 0), coming_back(62.0, 53.0, 1)
    for run, lost in ((first, [-70.0, -0.2, None]), (second, [-74.0, 0.0, None])):
        run["per_class"] = [50.0] * 3
        run["so_far_global"]["class_forgetting"] = lost
        run["data"] |= {"class_order": [4, 5, 6], "class_names": ["a", "b", "c"]}
    text = made(tmp_path, first, second)
    assert "Forgetting of each class from its best, %" in text
    assert ["ssm", "−72", "0", "–"] in Reader(text).rows
    assert 'class="heat deep" style="--p:72%" data-v="-72.0"' in text
    assert "Forgetting of each class" not in made(tmp_path, small())


def test_published_values_stand_beside_runs_of_the_same_protocol_only(tmp_path: Path) -> None:
    published = PublishedResults("us, 2026", "a note", lambda method, dataset: (Stat(1.0, None), Stat(2.0, None)))
    runs = [coming_back(60.0, 51.0, 0), small("ssm", 90.0)]
    whole, local = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert published.of(whole.groups[0]) is None
    assert published.of(local.groups[0]) == (Stat(1.0, None), Stat(2.0, None))


def test_data_sets_of_one_name_are_told_apart_by_their_size(tmp_path: Path) -> None:
    runs = [small(), small("joint")]
    runs[1]["data"] |= {"nodes": 200}
    results, _ = read_results([write(tmp_path / "r.json", *runs)])
    assert titles(data_sets(results)) == [
        f"amazon-computers ({nodes} nodes · 400 edges · 7 features · 3 tasks)" for nodes in (100, 200)
    ]
    ids = [attributes["id"] for tag, attributes in Reader(page(data_sets(results))).tags if tag == "article"]
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (999, "999 B"), (41_200, "41.2 kB"), (2.14e6, "2.14 MB"), (3.2e9, "3.2 GB")]
)
def test_bytes_are_read_by_people(count: float, text: str) -> None:
    assert bytes_text(count) == text


def test_values_for_the_script_are_not_rounded(tmp_path: Path) -> None:
    runs = [small("ssm", 90.123456, seed) for seed in (0, 1)] + [small("joint", 200 / 3)]
    text = made(tmp_path, *runs)
    assert 'data-v="66.66666666666667"' in text
    assert 'data-v="90.123456" data-s="0.0"' in text
    assert "90.123456 90.123456" in text  # the matrices


def test_all_is_reachable_without_the_script(tmp_path: Path) -> None:
    """What only the script fills in is marked; tables, settings and matrices are not."""
    runs = [small("ssm"), small("joint", backbone="gat")]
    runs[1]["data"] |= {"name": "other"}
    reader = Reader(made(tmp_path, *runs))
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    articles = [attributes["id"] for tag, attributes in reader.tags if tag == "article"]
    assert [f"#{name}" for name in articles] == links[1:]
    assert not any(
        "hidden" in attributes for tag, attributes in reader.tags if tag in ("article", "section", "tr", "table")
    )
    figures = [str(attributes.get("class")) for tag, attributes in reader.tags if tag == "figure"]
    assert figures
    assert all("js-only" in kind for kind in figures)
