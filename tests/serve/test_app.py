"""What the server answers, and that it changes nothing."""

import json
import os
import time
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

import evergraph
from evergraph.estimator.classifier import ContinualClassifier
from evergraph.models import read_model
from evergraph.serve.answer import answered
from evergraph.serve.served import Served
from evergraph.tables import Table, batch_from_arrays, batch_from_tables
from helpers import tiny_graph

from .serving import EVIL, TestClient, app_module, client_of, learned, make_app, request, tables

FILES = Path(__file__).parents[1] / "fixtures"


def as_csv(rows: list[dict[str, Any]], separator: str = ",") -> str:
    lines: list[list[Any]] = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(separator.join(map(str, line)) for line in lines)


def asked(client: TestClient, **question: Any) -> dict[str, Any]:
    answer = client.post("/predict", json={**request(), **question})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def by_hand(folder: Path, question: dict[str, Any]) -> tuple[list[Any], Any]:
    """Labels and probabilities of the classifier itself."""
    names = list(question["nodes"][0])
    columns = {name: np.array([node[name] for node in question["nodes"]], dtype=object) for name in names}
    ends = np.array(question["edges"], dtype=object).T
    batch = batch_from_tables(Table("nodes", columns), Table("edges", {"source": ends[0], "target": ends[1]}))
    classifier = ContinualClassifier.load(folder)
    return classifier.predict(batch).tolist(), classifier.predict_proba(batch)


def test_predictions_are_those_of_the_classifier(client: TestClient, folder: Path) -> None:
    question = request()
    labels, shares = by_hand(folder, question)
    found = asked(client, probabilities=True)
    assert [entry["id"] for entry in found["predictions"]] == [node["id"] for node in question["nodes"]]
    assert [entry["label"] for entry in found["predictions"]] == labels
    assert len(set(labels)) == 2
    np.testing.assert_allclose([entry["probabilities"] for entry in found["predictions"]], shares, atol=1e-6)
    ordered = np.sort(shares, axis=1)
    margins = [entry["margin"] for entry in found["predictions"]]
    np.testing.assert_allclose(margins, ordered[:, -1] - ordered[:, -2], atol=1e-6)
    np.testing.assert_allclose([entry["probability"] for entry in found["predictions"]], ordered[:, -1], atol=1e-6)
    assert found["classes"] == ContinualClassifier.load(folder).classes_.tolist()
    assert found["checksum"] == read_model(folder).checksum
    assert found["remarks"] == []
    assert "probabilities" not in asked(client)["predictions"][0]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_pasted_tables_are_answered_as_json_is(client: TestClient, separator: str) -> None:
    question = request()
    pairs = [{"source": source, "target": target} for source, target in question["edges"]]
    pasted = asked(client, nodes=as_csv(question["nodes"], separator), edges=as_csv(pairs, separator))
    assert pasted == asked(client)


def test_columns_in_another_order_and_others_beside_them(client: TestClient) -> None:
    nodes = [
        {"note": "x", **dict(reversed(node.items())), "topic": "?", "year": "soon"} for node in request()["nodes"]
    ]
    found = asked(client, nodes=nodes)
    assert found["predictions"] == asked(client)["predictions"]
    assert found["remarks"] == ["nodes: columns that the model does not use: 'note'"]


def test_without_edges_and_with_repeated_ones(client: TestClient) -> None:
    assert asked(client, edges=[])["remarks"] == ["no edges were given, though the model has learned with edges"]
    assert asked(client, edges=" \n")["remarks"] == asked(client, edges=[])["remarks"]
    edges = request()["edges"]
    again = asked(client, edges=[*edges, edges[0], [edges[0][0]] * 2], merge_duplicates=True)
    assert again["predictions"] == asked(client)["predictions"]
    assert again["remarks"] == ["edges: 1 repeated edges merged", "edges: 1 self-loops left out"]


def test_weights_count_where_they_are_named(client: TestClient) -> None:
    edges = [[*edge, 1 + 9 * (row % 2)] for row, edge in enumerate(request()["edges"])]
    unweighted = asked(client, edges=edges)
    assert unweighted["predictions"] == asked(client)["predictions"]
    assert "edge weights are not used" in unweighted["remarks"][0]
    weighted = asked(client, edges=edges, weight_column="weight")
    assert weighted["remarks"] == ["these edges have weights, though the model has learned without them"]
    assert weighted["predictions"] != unweighted["predictions"]


def test_the_answer_is_unknown_below_a_probability(client: TestClient) -> None:
    assert {entry["label"] for entry in asked(client, unknown=1)["predictions"]} == {"unknown"}
    assert "unknown" not in {entry["label"] for entry in asked(client, unknown=0)["predictions"]}


def test_ids_keep_their_kind_and_their_digits(client: TestClient) -> None:
    nodes = request()["nodes"][:3]

    def ids(*names: Any) -> list[Any]:
        given = [{**node, "id": name} for node, name in zip(nodes, names, strict=True)]
        return [entry["id"] for entry in asked(client, nodes=given, edges=[[names[0], names[1]]])["predictions"]]

    assert ids(1, 2, 3) == [1, 2, 3]
    assert ids(2**53 + 1, 2**62, -1) == [str(2**53 + 1), str(2**62), -1]
    assert ids("a", 2**80, 10**300) == ["a", str(2**80), str(10**300)]
    assert ids("9" * 5000, EVIL, "ü 🦔") == ["9" * 5000, EVIL, "ü 🦔"]


def test_a_drawing_has_a_place_for_each_node(client: TestClient) -> None:
    found = asked(client, drawing=True)
    drawn = found["drawing"]
    assert drawn["nodes"] == list(range(12))
    assert len(drawn["edges"]) == len(request()["edges"])
    assert all(0 <= place <= 1 for axis in "xy" for place in drawn[axis])
    assert len(set(zip(drawn["x"], drawn["y"], strict=True))) == 12
    assert asked(client, drawing=True)["drawing"] == drawn
    assert "drawing" not in asked(client)


def test_health_and_schema(client: TestClient, folder: Path) -> None:
    health = client.get("/health").json()
    assert health == {
        "status": "ok",
        "model": "shop",
        "method": "analytic",
        "classes": sorted(["plant", EVIL]),
        "batches": 1,
        "accuracy": ContinualClassifier.load(folder).history_[-1].accuracy,
        "version": evergraph.__version__,
        "checksum": read_model(folder).checksum,
        "loads": 1,
        "remark": None,
    }
    schema = client.get("/schema").json()
    kinds = {column["name"]: column["kind"] for column in schema["columns"]}
    assert kinds == {"size": "number", "revenue": "number", "colour": "category", "old": "flag"}
    assert schema["id_column"] == "id"
    assert {entry["name"]: entry["why"] for entry in schema["left_out"]} == {
        "id": "the ids",
        "topic": "the labels",
        "year": "the times",
    }
    answer = client.post("/predict", json=schema["example"])
    assert answer.status_code == 200
    assert answer.json()["remarks"] == []


def test_the_description_is_that_of_the_server_and_asks_nobody(client: TestClient) -> None:
    about = client.get("/openapi.json").json()
    assert set(about["paths"]) == {"/predict", "/health", "/schema"}
    body = about["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["nodes"]
    for path in ("/", "/docs", "/style.css", "/page.js"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "https://" not in answer.text
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert EVIL not in client.get("/").text
    assert "&lt;script&gt;" in client.get("/").text


def test_every_reply_is_as_described(client: TestClient) -> None:
    from evergraph.serve import replies

    for path, kind in (("/health", replies.HealthReply), ("/schema", replies.SchemaReply)):
        found = client.get(path).json()
        assert kind.model_validate(found).model_dump(exclude_unset=True) == found
    found = asked(client, drawing=True, probabilities=True)
    assert replies.PredictReply.model_validate(found).model_dump(exclude_unset=True) == found
    error = client.get("/nowhere").json()
    assert replies.ErrorReply.model_validate(error).model_dump() == error


def test_a_model_of_columns_without_names(tmp_path: Path) -> None:
    graph = tiny_graph((9, 9), width=5)
    model = ContinualClassifier("ncm", holdout=0.0)
    model.partial_fit(batch_from_arrays(graph.adjacency, graph.features), graph.labels + 7).save(tmp_path / "plain")
    client = client_of(tmp_path / "plain")
    features = np.asarray(graph.features)
    nodes = [{"id": row, **{str(at): float(value) for at, value in enumerate(features[row])}} for row in range(18)]
    ends = np.stack(graph.adjacency.nonzero(), axis=1)
    edges = ends[ends[:, 0] < ends[:, 1]].tolist()
    found = client.post("/predict", json={"nodes": nodes, "edges": edges}).json()
    wanted = model.predict((graph.adjacency, graph.features)).tolist()
    assert [entry["label"] for entry in found["predictions"]] == wanted
    assert client.post("/predict", json=client.get("/schema").json()["example"]).status_code == 200
    refused = client.post("/predict", json={"nodes": [{"id": 1, "0": 1}]})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("nodes must have the columns '0' to '4', got none called '1'")


def test_the_id_column_of_learning_is_the_one_that_is_looked_for(tmp_path: Path) -> None:
    nodes, edges = tables()
    columns = {"shop": nodes.columns["id"], **{key: nodes.columns[key] for key in ("size", "colour", "topic")}}
    batch = batch_from_tables(Table("nodes", columns), edges, id_column="shop", label_column="topic")
    ContinualClassifier("ncm", holdout=0.0).partial_fit(batch).save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    assert client.get("/schema").json()["id_column"] == "shop"
    assert client.post("/predict", json={"nodes": "shop,size,colour\na,1,red"}).status_code == 200
    refused = client.post("/predict", json={"nodes": "id,size,colour\na,1,red"})
    assert "must have a column 'shop'" in refused.json()["error"]
    assert client.post("/predict", json={"nodes": "id,size,colour\na,1,red", "id_column": "id"}).status_code == 200


# the model on disk


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    copy = Path(copytree(folder, tmp_path / "model"))
    before = state(copy)
    os.chmod(copy, 0o555)
    try:
        with client_of(copy) as client:
            asked(client, drawing=True)
            for path in ("/", "/health", "/schema", "/docs", "/openapi.json"):
                assert client.get(path).status_code == 200
            for method in ("PUT", "PATCH", "DELETE", "POST"):
                for path in ("/", "/health", "/schema", "/predict", "/model", "/learn"):
                    if (method, path) != ("POST", "/predict"):
                        assert client.request(method, path).status_code in (404, 405)
        assert state(copy) == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    finally:
        os.chmod(copy, 0o755)


def test_a_model_that_learned_on_answers_from_the_next_request_on(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    model = learned()
    model.save(folder)
    client = client_of(folder)
    first = client.get("/health").json()
    learned(seed=5, model=model, classes=("plant", "animal")).save(folder)
    second = client.get("/health").json()
    assert (first["loads"], second["loads"]) == (1, 2)
    assert second["classes"] == [*first["classes"], "animal"]
    assert second["batches"] == 2
    assert second["checksum"] == read_model(folder).checksum != first["checksum"]
    assert asked(client)["checksum"] == second["checksum"]


def test_the_same_model_written_again_is_not_loaded_again(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    model = learned()
    model.save(folder)
    client = client_of(folder)
    model.save(folder)
    assert client.get("/health").json()["loads"] == 1


@pytest.mark.parametrize("harm", ["broken", "gone", "new"])
def test_a_model_that_cannot_be_read_leaves_the_last_one(tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "model"
    model = learned()
    model.save(folder)
    client = client_of(folder)
    before = asked(client)
    if harm == "broken":
        (folder / "model.json").write_text("{}", encoding="utf-8")
    elif harm == "gone":
        (folder / "model.json").unlink()
    else:
        ContinualClassifier("ncm").save(folder)
    after = asked(client)
    assert after["predictions"] == before["predictions"]
    assert len(after["remarks"]) == 1
    assert after["remarks"][0].startswith("the model on disk is not used, the last one answers: ")
    assert client.get("/health").json()["remark"] == after["remarks"][0]
    if harm != "new":
        (folder / "model.json").unlink(missing_ok=True)
    learned(seed=3, model=model).save(folder)
    assert client.get("/health").json()["remark"] is None
    assert client.get("/health").json()["loads"] == 2


def test_folders_of_earlier_versions_are_served() -> None:
    old = [path.parent for path in FILES.rglob("classifier.json")]
    assert old
    for folder in old:
        health = client_of(folder).get("/health").json()
        assert (health["status"], health["checksum"]) == ("ok", "")


# limits


def test_a_large_request_is_refused_before_it_is_read(folder: Path) -> None:
    client = client_of(folder, bytes=1000)
    answer = client.post("/predict", json=request(60))
    assert answer.status_code == 413
    assert answer.json()["error"] == "at most 0.000954 MB are wanted, got more; ask for fewer nodes at a time"
    pulled = []

    def endless() -> Any:
        for part in range(10_000):
            pulled.append(part)
            yield b" " * 500

    unsized = client.post("/predict", content=endless(), headers={"content-type": "application/json"})
    assert unsized.status_code == 413


def test_many_nodes_or_edges_are_refused(folder: Path) -> None:
    client = client_of(folder, nodes=11, edges=10)
    for question in (request(), {**request(), "nodes": as_csv(request()["nodes"])}):
        answer = client.post("/predict", json=question)
        assert answer.status_code == 413
        assert answer.json()["error"] == "at most 11 nodes are wanted, got 12 instead; ask for fewer at a time"
    small = {"nodes": request()["nodes"][:11], "edges": request()["edges"] * 2}
    assert len(small["edges"]) > 10
    pairs = as_csv([{"source": source, "target": target} for source, target in small["edges"]])
    for edges in (small["edges"], pairs):
        answer = client.post("/predict", json={**small, "edges": edges})
        assert answer.status_code == 413
        assert "at most 10 edges are wanted" in answer.json()["error"]


def test_an_answer_that_takes_too_long_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*arguments: Any) -> Any:
        time.sleep(0.6)
        return answered(*arguments)

    monkeypatch.setattr(app_module, "answered", slow)
    with client_of(folder, seconds=0.2) as client:
        answer = client.post("/predict", json=request())
        assert answer.status_code == 504
        assert answer.json()["error"] == "no answer was found within 0.2 s; ask for fewer nodes at a time"
        assert client.get("/health").status_code == 200
        monkeypatch.undo()
        time.sleep(0.6)
        assert client.post("/predict", json=request()).status_code == 200


def test_a_busy_server_says_so(folder: Path) -> None:
    answer = client_of(folder, waiting=0).post("/predict", json=request())
    assert answer.status_code == 503
    assert answer.json()["error"] == "the server is busy with 0 requests, got one more; ask again later"


def test_a_bug_of_ours_is_one_sentence(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Any:
        raise RuntimeError("secret")

    for name in ("answered", "health", "main_page"):
        monkeypatch.setattr(app_module, name, broken)
    answers = [client.post("/predict", json=request()), client.get("/health"), client.get("/")]
    for answer in answers:
        assert answer.status_code == 500
        assert answer.json()["error"].startswith("internal error: RuntimeError (this is a bug of evergraph")
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text


def test_too_little_memory_is_a_large_request(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*arguments: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(app_module, "answered", greedy)
    assert client.post("/predict", json=request()).status_code == 413


def test_a_local_server_answers_to_its_own_names_only(folder: Path) -> None:
    app = make_app(Served(folder), hosts=frozenset({"127.0.0.1", "localhost"}))
    assert TestClient(app, base_url="http://localhost:8000").get("/health").status_code == 200
    stranger = TestClient(app, base_url="http://evil.example").get("/health")
    assert stranger.status_code == 421
    assert stranger.json()["error"] == "one of the names 127.0.0.1, localhost is wanted as host, got another"


def test_answers_are_plain_json(client: TestClient) -> None:
    answer = client.post("/predict", json=request())
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.content) == answer.json()
    assert answer.headers["cache-control"] == "no-store"
