"""Connections that are held open for nothing, and askers who together send more than the server holds."""

import socket
from pathlib import Path

import pytest

from evergraph.serve import connection

from .serving import httpx2, request, running
from .test_server import head, port_of

PATIENCE = 20


def connected(address: str) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port_of(address)))
    made.settimeout(PATIENCE)
    return made


def rest(raw: socket.socket) -> bytes:
    """All that still comes until the server closes."""
    found = b""
    try:
        while more := raw.recv(10_000):
            found += more
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_headers_that_never_end_are_not_waited_for(
    folder: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.3)
    with running(folder) as address, connected(address) as raw:
        raw.sendall(sent)
        assert rest(raw) == b""


def test_nor_are_those_of_a_second_request(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.3)
    with running(folder) as address, connected(address) as raw:
        raw.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while b'"status"' not in answer:
            answer += raw.recv(10_000)
        raw.sendall(b"GET / HT")
        assert rest(raw) == b""  # it would time out


def test_headers_without_end_are_refused(folder: Path) -> None:
    with running(folder) as address, connected(address) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        try:
            for _ in range(100):
                raw.sendall(b"x" * 10_000)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = rest(raw)
        assert not answer or answer.startswith(b"HTTP/1.1 400 ")


def test_more_connections_than_a_few_hundred_are_closed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 2)
    with running(folder) as address, connected(address) as one, connected(address) as other:
        one.sendall(b"G")
        other.sendall(b"G")
        with connected(address) as third:
            assert rest(third) == b""
        one.sendall(b"ET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert one.recv(100).startswith(b"HTTP/1.1 200 ")


def test_all_bodies_together_are_limited(folder: Path) -> None:
    """Each is small enough; without the limit for all, a thousand of them would be a thousand times as much."""
    with running(folder, bytes=20_000, held=20_000) as address:
        with connected(address) as slow:
            slow.sendall(head(19_000) + b" " * 18_900)
            while True:  # until the server has read it
                answer = httpx2.post(address + "predict", json=request(), timeout=PATIENCE)
                if answer.status_code != 200:
                    break
            assert answer.status_code == 503
            assert "busy with large requests" in answer.json()["error"]
        while answer.status_code != 200:  # who left holds nothing
            answer = httpx2.post(address + "predict", json=request(), timeout=PATIENCE)
