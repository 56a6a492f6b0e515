"""``kai egress`` as its own process: what the embedder asks for over the socket is called, with its key."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kai.commands.egress import upstreams_of
from kai.memory.embedding.endpoint import Endpoint
from kai.settings.load import inspect
from kai.settings.problems import ConfigError
from kai.settings.where import Folders

KEYS: list[str] = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        KEYS.append(self.headers["authorization"])
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"model": "small", "data": [{"embedding": [3, 4]}]}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("config", "keys"):
        (tmp_path / name).mkdir()
    return Folders(tmp_path / "config", tmp_path / "state", tmp_path / "runtime")


def listed(folders: Folders, text: str) -> None:
    (folders.config / "egress.yaml").write_text(text)


def test_the_embedder_gets_its_vector_through_the_socket(url: str, folders: Folders, tmp_path: Path) -> None:
    listed(folders, f"embeddings:\n  url: {url}\n  key: house\n")
    (tmp_path / "keys/egress_house").write_text("k-123\n")
    socket = tmp_path / "egress.sock"
    env = {**os.environ, "KAI_CONFIG": str(folders.config), "CREDENTIALS_DIRECTORY": str(tmp_path / "keys")}
    argv = [sys.executable, "-m", "kai", "egress", "--socket", str(socket)]
    with subprocess.Popen(argv, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            give_up_at = time.monotonic() + 15
            while not socket.exists() and process.poll() is None and time.monotonic() < give_up_at:
                time.sleep(0.02)
            embedding = Endpoint(url, "small", 2, unix=str(socket)).embed("query", "hello")
        finally:
            process.terminate()
            said = process.communicate(timeout=10)[1]
    assert (KEYS.pop(), len(embedding.vector), said) == ("Bearer k-123", 8, "")
    assert not socket.exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: {url: ftp://x/y}", "egress.yaml:1:10: a.url: 'ftp://x/y' is not a whole URL"),
        ("a: {url: http://x/y?z}", "not a whole URL"),
        ("a: {url: 'http://me:pw@x/y'}", "a.url: it holds a login"),
        ("a: {url: http://x/y, key: ../k}", "a.key: '../k' is not a file's name"),
        ("a: {url: http://x/y, kye: k}", "kye"),
        ("- http://x/y", "must be a mapping of names"),
        ("a: {url: http://x/y, key: none}", "a.key: the key 'none' cannot be read (No such file or directory)"),
    ],
)
def test_what_is_wrong_with_the_list_is_said_with_its_place(
    folders: Folders, tmp_path: Path, text: str, told: str
) -> None:
    listed(folders, text)
    with pytest.raises(ConfigError) as error:
        upstreams_of(folders, tmp_path / "keys")
    assert told in str(error.value)


def test_the_daemon_checks_the_list_too(folders: Folders) -> None:
    listed(folders, "a: {url: here}")
    assert ["egress.yaml" in one.file for one in inspect(folders).problems] == [True]


def test_without_a_list_there_is_nothing_to_do(folders: Folders, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"egress\.yaml"):
        upstreams_of(folders, tmp_path)
