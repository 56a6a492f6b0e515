"""An embeddings endpoint, over real sockets."""

import json
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kai.memory.embedding.embedder import floats
from kai.memory.embedding.endpoint import Endpoint

SOUND = {"object": "list", "model": "m", "data": [{"index": 0, "embedding": [3.0, 4.0]}]}


class UnixServer(socketserver.UnixStreamServer):
    """A server on a Unix socket, for a handler that wants to know a name and a port."""

    def get_request(self) -> tuple[Any, Any]:
        return super().get_request()[0], ("local", 0)


@contextmanager
def serving(answer: object, status: int = 200, unix: Path | None = None) -> Iterator[tuple[str, list[Any]]]:
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        def log_message(self, *_: Any) -> None:
            pass

    made = UnixServer(str(unix), Handler) if unix else HTTPServer(("127.0.0.1", 0), Handler)
    with made as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            url = "http://local" if isinstance(server, UnixServer) else f"http://127.0.0.1:{server.server_port}"
            yield url, asked
        finally:
            server.shutdown()
            thread.join()


def test_a_vector_is_brought_to_length_1_and_prefixes_go_before_the_text() -> None:
    with serving(SOUND) as (url, asked):
        model = Endpoint(f"{url}/v1/embeddings", "m", 2, ("query: ", "passage: "))
        assert list(floats(model.embed("query", "hello").vector)) == pytest.approx([0.6, 0.8])
        model.embed("passage", "there")
    assert asked == [{"model": "m", "input": "query: hello"}, {"model": "m", "input": "passage: there"}]


def test_it_is_reached_through_a_unix_socket_where_one_is_named(tmp_path: Path) -> None:
    with serving(SOUND, unix=tmp_path / "s") as (url, asked):
        Endpoint(url, "m", 2, unix=str(tmp_path / "s")).embed("query", "hello")
    assert asked == [{"model": "m", "input": "hello"}]


@pytest.mark.parametrize(
    "answer",
    [
        {**SOUND, "model": "another"},
        {},
        [],
        {"data": []},
        {"model": "m", "data": [{}]},
        {"model": "m", "data": [{"embedding": ["x"]}]},
        b"<html>",
    ],
)
def test_an_answer_that_is_none_or_of_another_model_is_refused(answer: object) -> None:
    with serving(answer) as (url, _), pytest.raises((ValueError, TypeError, LookupError)):
        Endpoint(url, "m", 2).embed("query", "hello")


def test_an_error_and_a_closed_door_are_refused() -> None:
    with serving(SOUND, status=500) as (url, _), pytest.raises(ValueError, match="500"):
        Endpoint(url, "m", 2).embed("query", "hello")
    with pytest.raises(OSError, match="refused"):
        Endpoint(url, "m", 2).embed("query", "hello")


def test_ollamas_name_for_the_newest_is_the_same_model() -> None:
    with serving({**SOUND, "model": "m:latest"}) as (url, _):
        Endpoint(url, "m", 2).embed("query", "hello")
