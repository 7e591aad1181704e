"""The server on a real socket: slow senders, many askers at once, people who leave."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from .serving import httpx2, request, running


def port_of(address: str) -> int:
    port = urlsplit(address).port
    assert port is not None
    return port


def head(size: int) -> bytes:
    lines = (
        "POST /predict HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {size}",
    )
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize("sent", [b"", b'{"nodes": [', b" " * 99])
def test_a_request_that_does_not_end_is_given_up(folder: Path, sent: bytes) -> None:
    with running(folder, seconds=0.3) as address, socket.create_connection(("127.0.0.1", port_of(address))) as raw:
        raw.settimeout(20)
        raw.sendall(head(100) + sent)
        answer = b""
        while b"}" not in answer:
            more = raw.recv(10_000)
            assert more, answer
            answer += more
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"a whole request within 0.3 s is wanted, got a part" in answer


def test_who_leaves_does_no_harm(folder: Path) -> None:
    body = json.dumps(request()).encode()
    with running(folder) as address:
        for part in (body[:10], body):
            with socket.create_connection(("127.0.0.1", port_of(address))) as raw:
                raw.sendall(head(len(body)) + part)
        assert httpx2.post(address + "predict", json=request()).status_code == 200


def test_many_at_once_get_the_same_answers_as_one_by_one(folder: Path) -> None:
    questions = [request(6 + size, seed=size) for size in range(12)]
    with running(folder) as address:

        def asked(question: object) -> object:
            answer = httpx2.post(address + "predict", json=question, timeout=60)
            assert answer.status_code == 200, answer.text
            return answer.json()

        alone = [asked(question) for question in questions]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(asked, questions * 2)) == alone * 2


def test_more_than_may_wait_are_told_so(folder: Path) -> None:
    with running(folder, waiting=1) as address:

        def status(_: int) -> int:
            return httpx2.post(address + "predict", json=request(400), timeout=60).status_code

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(status, range(24)))
        assert set(found) == {200, 503}
        assert status(0) == 200
