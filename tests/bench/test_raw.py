"""The raw client reads what comes, however it is cut, and takes nothing for an answer that is none."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kai.bench.raw import Connection, RawError

Says = Callable[[bytes], Path]


@pytest.fixture
def says(tmp_path: Path) -> Says:
    """Starts a server that says these bytes one by one to the first who asks, and leaves."""

    def start(words: bytes) -> Path:
        path = tmp_path / "socket"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with listener, connection:
                connection.recv(65_536)
                for at in range(len(words)):
                    connection.sendall(words[at : at + 1])

        threading.Thread(target=serve, daemon=True).start()
        return path

    return start


def test_answers_behind_each_other_are_told_apart(says: Says) -> None:
    path = says(b"HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 204 No Content\r\n\r\n")
    with Connection(path) as connection:
        assert connection.ask("POST", "/x", b"{}") == b"abc"
        assert connection.answer() == b""


def test_a_refusal_is_an_error_with_what_was_said(says: Says) -> None:
    path = says(b"HTTP/1.1 503 Crowded\r\ncontent-length: 4\r\n\r\nfull")
    with Connection(path) as connection, pytest.raises(RawError, match=r"(?s)503.*full"):
        connection.ask("GET", "/x")


def test_an_event_is_whole_and_what_follows_it_stays(says: Says) -> None:
    path = says(b"HTTP/1.1 200 OK\r\n\r\n7\r\n: alive\n\n\r\ndata: {answer}\n\ndata: {other}\n\n")
    with Connection(path) as connection:
        connection.send("GET", "/events")
        connection.until(b"\r\n\r\n")
        assert connection.event(b"{answer}").endswith(b"data: {answer}\n\n")
        assert connection.event(b"{other}") == b"data: {other}\n\n"


def test_an_end_in_the_middle_is_an_error(says: Says) -> None:
    path = says(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")
    with Connection(path) as connection, pytest.raises(RawError, match="ended"):
        connection.ask("GET", "/x")


def test_nobody_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        Connection(tmp_path / "none")
