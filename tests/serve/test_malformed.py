"""Requests that cannot be answered: a proper status and one sentence each, and the server lives on."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .serving import TestClient, request

JSON = {"content-type": "application/json"}
Change = Callable[[dict[str, Any]], Any]


def with_nodes(**changes: Any) -> Change:
    """The first node changed."""
    return lambda question: {
        **question,
        "nodes": [{**question["nodes"][0], **changes}, *question["nodes"][1:]],
    }


def without(name: str) -> Change:
    return lambda question: {
        **question,
        "nodes": [{key: value for key, value in node.items() if key != name} for node in question["nodes"]],
    }


def given_as(**changes: Any) -> Change:
    return lambda question: {**question, **changes}


def edge(*entries: Any) -> Change:
    return lambda question: {**question, "edges": [list(entries), *question["edges"]]}


HEADER = "id,size,revenue,colour,old\n"
ROW = "a,1,2000,red,0\n"

QUESTIONS: dict[str, tuple[Change, str]] = {
    "a list": (lambda question: [question], r"an object with \"nodes\" and \"edges\" is wanted, got a list"),
    "text": (lambda question: "nodes", "got text instead"),
    "a number": (lambda question: 3, "got a number instead"),
    "null": (lambda question: None, "got null instead"),
    "truth": (lambda question: True, "got true or false instead"),
    "empty": (lambda question: {}, "request.nodes: field required"),
    "no nodes": (lambda question: {"edges": question["edges"]}, "request.nodes: field required"),
    "an unknown key": (
        given_as(node=[]),
        "request.node is not a setting; the settings of request are: nodes, edges",
    ),
    "nodes null": (given_as(nodes=None), "nodes must be a list of objects or CSV text, got null"),
    "nodes a number": (given_as(nodes=7), "got a number instead"),
    "nodes an object": (given_as(nodes={"id": 1}), "got an object instead"),
    "nodes none": (given_as(nodes=[]), "nodes must have at least one node, got none"),
    "nodes lists": (given_as(nodes=[["id", 1]]), "nodes row 1 must be an object such as"),
    "nodes text": (given_as(nodes=["id"]), "nodes row 1 must be an object such as .* got text"),
    "nodes null inside": (lambda q: {**q, "nodes": [*q["nodes"], None]}, "nodes row 13 must be an object"),
    "edges null": (given_as(edges=None), "edges must be a list of pairs or CSV text, got null"),
    "edges a number": (given_as(edges=1.5), "edges must be a list of pairs or CSV text, got a number"),
    "edges an object": (given_as(edges={"source": 1}), "edges must be a list of pairs or CSV text, got an object"),
    "edges flat": (given_as(edges=["a", "b"]), r"edges row 1 must be \[source, target\], got text"),
    "edges objects": (given_as(edges=[{"source": 1, "target": 2}]), "edges row 1 must be .* got an object"),
    "edges empty": (given_as(edges=[[]]), "edges row 1 must be .* got 0 entries"),
    "edges single": (given_as(edges=[["s1-0"]]), "edges row 1 must be .* got 1 entries"),
    "edges of four": (given_as(edges=[[1, 2, 3, 4]]), "edges row 1 must be .* got 4 entries"),
    "edges mixed": (edge("s1-0", "s1-1", 2), r"edges row 2 must be \[source, target, weight\], got 2 entries"),
    "edge to a stranger": (edge("s1-0", "nobody"), "edges row 1 must have a target from nodes, got 'nobody'"),
    "edge from a stranger": (edge(99, "s1-0"), "edges row 1 must have a source from nodes, got '?99'?"),
    "edge of null": (edge(None, "s1-0"), "edges row 1 must have a source, got ''"),
    "edge of blank": (edge("", "s1-0"), "edges row 1 must have a source, got ''"),
    "edge of truth": (edge(True, "s1-0"), "edges row 1, column 'source', must be text or a whole number"),
    "edge of a fraction": (edge("s1-0", 1.5), "edges row 1, column 'target', must be text or a whole number"),
    "edge of a list": (edge(["s1-0"], "s1-1"), "edges row 1, column 'source', must be text or a whole number"),
    "edge twice": (lambda q: {**q, "edges": [*q["edges"], q["edges"][0]]}, "edges row"),
    "weight of text": (
        lambda q: {**q, "edges": [[*pair, "heavy"] for pair in q["edges"]], "weight_column": "weight"},
        "column 'weight', must be a finite number, got 'heavy'",
    ),
    "weight below 0": (
        lambda q: {**q, "edges": [[*pair, -1] for pair in q["edges"]], "weight_column": "weight"},
        "must be finite and not negative, got -1",
    ),
    "weight of a list": (
        lambda q: {**q, "edges": [[*pair, [1]] for pair in q["edges"]]},
        "column 'weight', must be text, a number, true, false or null, got a list",
    ),
    "no such weight": (given_as(weight_column="weight"), "edges must have a column 'weight'"),
    "weight is source": (
        lambda q: {**q, "edges": [[*pair, 1] for pair in q["edges"]], "weight_column": "source"},
        "weight_column must differ from those of the ids",
    ),
    "ends alike": (given_as(source_column="x", target_column="x"), "source_column and target_column must differ"),
    "no ids": (without("id"), "nodes must have a column 'id'"),
    "id null": (with_nodes(id=None), "nodes row 1 must have an id, got ''"),
    "id blank": (with_nodes(id="  "), "nodes row 1 must have an id, got ''"),
    "id of truth": (with_nodes(id=False), "nodes row 1, column 'id', must be text or a whole number, got true or"),
    "id a fraction": (with_nodes(id=0.5), "nodes row 1, column 'id', must be text or a whole number, got a number"),
    "id a list": (with_nodes(id=[1]), "nodes row 1, column 'id', must be text, a number"),
    "id twice": (with_nodes(id="s1-3"), "nodes row 4 must have an id of its own, got 's1-3' of nodes row 1"),
    "other id column": (given_as(id_column="name"), "nodes must have a column 'name'"),
    "no size": (without("size"), "nodes must have the columns of the first batch, got none called 'size'"),
    "no colour": (without("colour"), "got none called 'colour'"),
    "only ids": (
        given_as(nodes=[{"id": 1}], edges=[]),
        "the columns 'size', 'revenue', 'colour', 'old' are wanted",
    ),
    "size null": (with_nodes(size=None), "nodes row 1, column 'size', must be filled in"),
    "size text": (with_nodes(size="large"), "nodes row 1, column 'size', must be a number as in the first batch"),
    "size infinite": (with_nodes(size="inf"), "nodes row 1, column 'size', must be"),
    "size too large": (with_nodes(size=10**60), "nodes row 1, column 'size', must be a finite number"),
    "size of 500 digits": (with_nodes(size=10**500), "nodes row 1, column 'size', must be a finite number"),
    "size a list": (with_nodes(size=[1, 2]), "nodes row 1, column 'size', must be text, a number, .* got a list"),
    "size an object": (with_nodes(size={"cm": 2}), "column 'size', must be text, .* got an object"),
    "old a number": (with_nodes(old=2), "nodes row 1, column 'old', must be 0 or 1"),
    "old text": (with_nodes(old="perhaps"), "nodes row 1, column 'old', must be 0 or 1"),
    "unknown text": (given_as(unknown="0.5"), "request.unknown: input should be a valid number, got '0.5'"),
    "unknown above 1": (given_as(unknown=1.5), "request.unknown: input should be less than or equal to 1"),
    "unknown below 0": (given_as(unknown=-0.1), "request.unknown: input should be greater than or equal to 0"),
    "drawing text": (given_as(drawing="yes"), "request.drawing: input should be a valid boolean, got 'yes'"),
    "probabilities 1": (given_as(probabilities=1), "request.probabilities: input should be a valid boolean, got 1"),
    "directed null": (given_as(directed=None), "request.directed: input should be a valid boolean"),
    "id column a number": (given_as(id_column=3), "request.id_column: input should be a valid string, got 3"),
    "source column null": (given_as(source_column=None), "request.source_column: input should be a valid string"),
    "csv empty": (given_as(nodes=""), "nodes must start with a line of column names, got an empty file"),
    "csv blank": (given_as(nodes="\n\n"), "nodes must"),
    "csv of names alone": (
        given_as(nodes=HEADER),
        "nodes must have at least one row, got none instead; add a row for each",
    ),
    "csv ragged": (given_as(nodes=HEADER + ROW + "b,1\n"), "nodes line 3 must have 5 values, got 2"),
    "csv names twice": (given_as(nodes="id,id\n1,2"), "nodes must name every column once, got id, id"),
    "csv two separators": (given_as(nodes="id,a;b\n1,2"), "nodes must separate its columns by one sign"),
    "csv open quote": (given_as(nodes=HEADER + '"a,1,2\n'), "nodes must be a table in CSV"),
    "csv huge field": (given_as(nodes=HEADER + "x" * 200_000 + ",1,2,red,0"), "nodes must be a table in CSV"),
    "csv id twice": (given_as(nodes=HEADER + ROW + ROW, edges=""), "nodes line 3 must have an id of its own"),
    "csv id missing": (given_as(nodes=HEADER + ",1,2,red,0\n", edges=""), "nodes line 2 must have an id, got ''"),
    "csv number of text": (given_as(nodes=HEADER + "a,big,2,red,0", edges=""), "nodes line 2, column 'size'"),
    "csv edge names": (given_as(nodes=HEADER + ROW, edges="from,to\na,a"), "edges must have a column 'source'"),
    "csv edge stranger": (
        given_as(nodes=HEADER + ROW, edges="source,target\na,b"),
        "edges line 2 must have a target",
    ),
    "csv edges alone": (
        given_as(edges="source,target\n"),
        "edges must have at least one row, got none instead; leave edges",
    ),
}


def checked(answer: Any, status: int) -> str:
    """The only sentence of a refusal."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    sentence: str = answer.json()["error"]
    assert 10 < len(sentence) < 600
    assert "\n" not in sentence
    assert not re.search(r"Traceback|File \"|internal error", sentence)
    return sentence


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_that_cannot_be_answered(client: TestClient, name: str) -> None:
    change, words = QUESTIONS[name]
    body = json.dumps(change(request()))
    assert re.search(words, checked(client.post("/predict", content=body, headers=JSON), 422))


BODIES: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "JSON in UTF-8 is wanted"),
    "blanks": (b"   ", 400, "JSON in UTF-8 is wanted"),
    "half": (b'{"nodes": [', 400, "JSON in UTF-8 is wanted"),
    "two": (b"{} {}", 400, "Extra data"),
    "a comma too many": (b'{"nodes": [1,]}', 400, "JSON in UTF-8 is wanted"),
    "single quotes": (b"{'nodes': []}", 400, "JSON in UTF-8 is wanted"),
    "a comment": (b'{"nodes": [] /* none */}', 400, "JSON in UTF-8 is wanted"),
    "csv": (HEADER.encode(), 400, "JSON in UTF-8 is wanted"),
    "zip": (b"PK\x03\x04" + bytes(range(256)), 400, "JSON in UTF-8 is wanted"),
    "not a number": (b'{"nodes": [{"id": 1, "size": NaN}]}', 400, "NaN in the place of a number"),
    "infinity": (b'{"nodes": [{"id": 1, "size": -Infinity}]}', 400, "-Infinity in the place of a number"),
    "a key twice": (b'{"nodes": [], "nodes": []}', 400, "a key that is repeated"),
    "an id twice in an object": (b'{"nodes": [{"id": 1, "id": 2}]}', 400, "a key that is repeated"),
    "latin": ('{"nodes": "é"}'.encode("latin-1"), 400, "JSON in UTF-8 is wanted"),
    "utf-16": ('{"nodes": []}'.encode("utf-16"), 400, "JSON in UTF-8 is wanted"),
    "a mark": (b'\xef\xbb\xbf{"nodes": []}', 400, "JSON in UTF-8 is wanted"),
    "half a character": (b'{"nodes": [{"id": "\\ud800"}]}', 400, "surrogates not allowed"),
    "half a character as key": (b'{"nodes": [{"\\udfff": 1}]}', 400, "surrogates not allowed"),
    "a control character": (b'{"nodes": "a\x00b"}', 400, "Invalid control character"),
    "ten thousand digits": (b'{"nodes": ' + b"9" * 10_000 + b"}", 400, "JSON in UTF-8 is wanted"),
    "deep lists": (b"[" * 100_000, 400, "at most 6 lists and objects inside each other are wanted"),
    "deep lists that end": (b"[" * 100_000 + b"]" * 100_000, 400, "at most 6 lists and objects"),
    "deep lists that Python can read": (b'{"nodes": ' + b"[" * 50 + b"]" * 50 + b"}", 400, "at most 6 lists"),
    "deep objects": (b'{"a":' * 7 + b"1" + b"}" * 7, 400, "at most 6 lists and objects"),
    "open quotes": (b'"' + b'\\"' * 300_000, 400, "JSON in UTF-8 is wanted"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_no_question(client: TestClient, name: str) -> None:
    body, status, words = BODIES[name]
    assert words in checked(client.post("/predict", content=body, headers=JSON), status)


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "got none instead"),
        ({"content-type": "text/csv"}, "got text/csv instead"),
        ({"content-type": "application/x-www-form-urlencoded"}, "got application/x-www-form-urlencoded"),
        ({"content-type": "multipart/form-data; boundary=x"}, "got multipart/form-data"),
        ({"content-type": "application/jsonp"}, "got application/jsonp"),
        ({**JSON, "content-encoding": "gzip"}, "a body that is not compressed is wanted, got gzip"),
    ],
)
def test_a_body_of_another_type(client: TestClient, headers: dict[str, str], words: str) -> None:
    assert words in checked(client.post("/predict", content=json.dumps(request()), headers=headers), 415)


def test_brackets_inside_of_text_are_no_depth(client: TestClient) -> None:
    question = with_nodes(id='[[[[[[[[{{{{{{{{"\\')({"nodes": request()["nodes"], "edges": []})
    answer = client.post("/predict", content=json.dumps(question), headers=JSON)
    assert answer.status_code == 200
    assert answer.json()["predictions"][0]["id"] == '[[[[[[[[{{{{{{{{"\\'


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/predict", 405),
        ("POST", "/health", 405),
        ("DELETE", "/schema", 405),
        ("GET", "/Predict", 404),
        ("GET", "/predict/../../etc/passwd", 404),
        ("GET", "/%2e%2e/model.json", 404),
        ("GET", "/page.css", 404),
        ("GET", "/favicon.ico", 404),
    ],
)
def test_other_paths_and_methods(client: TestClient, method: str, path: str, status: int) -> None:
    checked(client.request(method, path), status)


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(["id", "size", "revenue", "colour", "old", "label", "time", "x"])
questions = st.fixed_dictionaries(
    {"nodes": st.lists(st.dictionaries(names, anything, max_size=8), max_size=4) | anything},
    optional={
        "edges": st.lists(st.lists(plain, max_size=3), max_size=4) | anything,
        "unknown": plain,
        "drawing": plain,
        "directed": st.booleans(),
        "merge_duplicates": st.booleans(),
        "probabilities": st.booleans(),
        "id_column": plain,
        "weight_column": plain,
    },
)
LIGHT = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def judged(client: TestClient, body: bytes) -> None:
    """Whatever was sent: an answer, or a refusal in one sentence."""
    answer = client.post("/predict", content=body, headers=JSON)
    if answer.status_code == 200:
        assert all(0 <= entry["probability"] <= 1 for entry in answer.json()["predictions"])
    else:
        assert answer.status_code in (400, 422)
        checked(answer, answer.status_code)


@LIGHT
@given(questions)
def test_any_question_gets_an_answer_or_a_sentence(client: TestClient, question: Any) -> None:
    judged(client, json.dumps(question).encode())


@LIGHT
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=3))
def test_any_damage_gets_an_answer_or_a_sentence(client: TestClient, place: int, bytes_: bytes) -> None:
    body = json.dumps({**request(), "drawing": True}).encode()
    place %= len(body)
    judged(client, body[:place] + bytes_ + body[place + len(bytes_) :])


@LIGHT
@given(st.text(alphabet='ab1,;\t\n" .-', max_size=60), st.text(alphabet='a1,;\t\n"', max_size=40))
def test_any_pasted_text_gets_an_answer_or_a_sentence(client: TestClient, nodes: str, edges: str) -> None:
    judged(client, json.dumps({"nodes": HEADER + ROW + nodes, "edges": "source,target\n" + edges}).encode())
