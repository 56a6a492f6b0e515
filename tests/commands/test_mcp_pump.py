"""The pump carries lines to the socket and answers back, whatever is at the other end."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kai.resources import module_file

PUMP = [sys.executable, "-I", "-S", str(module_file("commands/mcp_pump.py"))]
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


def pump(where: Path, *lines: bytes, **env: str) -> list[Any]:
    """What comes out when these lines go in."""
    done = subprocess.run(
        PUMP, input=b"".join(line + b"\n" for line in lines), capture_output=True, env={"KAI_SOCKET": str(where), **env}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def answering(where: Path, answer: Callable[[bytes], bytes]) -> Iterator[list[bytes]]:
    """A socket that gives each connection its answer; the requests it got."""
    got: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(where))
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    link, _ = listener.accept()
                except OSError:
                    return
                with link:
                    request = b""
                    while b"\r\n\r\n" not in request or len(request) < _whole(request):
                        request += link.recv(65_536)
                    got.append(request)
                    link.sendall(answer(request))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield got
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _whole(request: bytes) -> int:
    head, _, _ = request.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return len(head) + 4 + length


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n\r\n" + body


def test_a_line_goes_as_it_is_and_its_answer_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    line = b'{"jsonrpc": "2.0",  "id": 1, "method": "x", "params": {"text": "\xe2\x80\xa8"}}'
    with answering(tmp_path / "s", lambda _: ok(b'{"jsonrpc":"2.0",\n"id":1,"result":{}}')) as got:
        (said,) = pump(tmp_path / "s", line, b"", KAI_RUN_FILE=str(tmp_path / "token"))
    assert said["id"] == 1
    (request,) = got
    head, _, body = request.partition(b"\r\n\r\n")
    assert body == line + b"\n"
    assert b"authorization: Bearer s3cret" in head
    assert b"s3cret" not in body


def test_a_notification_gets_no_line(tmp_path: Path) -> None:
    with answering(tmp_path / "s", lambda _: b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"):
        assert pump(tmp_path / "s", b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == []


def test_a_refusal_is_an_error_of_the_request_in_kais_own_words(tmp_path: Path) -> None:
    refusal = b'HTTP/1.1 403 x\r\n\r\n{"detail": "Not allowed: this is another run\'s.", "hint": "Ask."}'
    with answering(tmp_path / "s", lambda _: refusal):
        (said,) = pump(tmp_path / "s", json.dumps(PING).encode())
    assert (said["id"], said["error"]["message"]) == (7, "Not allowed: this is another run's. Ask.")


def test_a_daemon_that_goes_in_mid_call_is_told_as_such(tmp_path: Path) -> None:
    with answering(tmp_path / "s", lambda _: b""):
        said = pump(tmp_path / "s", json.dumps(PING).encode(), b"no json", b'{"jsonrpc":"2.0","method":"n"}')
    assert [one["id"] for one in said] == [7]
    assert "may or may not have been done" in said[0]["error"]["message"]


def test_a_slow_call_holds_up_no_other_one(tmp_path: Path) -> None:
    def answer(request: bytes) -> bytes:
        number = json.loads(request.partition(b"\r\n\r\n")[2])["id"]
        return ok(b'{"jsonrpc":"2.0","id":%d,"result":{}}' % number)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        process = subprocess.Popen(
            PUMP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"KAI_SOCKET": str(tmp_path / "s")}
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            links = []
            for number in (1, 2):
                process.stdin.write(json.dumps({**PING, "id": number}).encode() + b"\n")
                process.stdin.flush()
                links.append(listener.accept()[0])  # the second comes while the first waits
            for link in reversed(links):
                with link:
                    link.sendall(answer(link.recv(65_536)))
                json.loads(process.stdout.readline())
            process.stdin.close()


def test_a_daemon_that_is_started_anew_is_waited_for(tmp_path: Path) -> None:
    """A run outlives its daemon: the socket is gone for a moment."""
    process = subprocess.Popen(
        PUMP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"KAI_SOCKET": str(tmp_path / "s")}
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(json.dumps(PING).encode() + b"\n")
        process.stdin.flush()
        with answering(tmp_path / "s", lambda _: ok(b'{"jsonrpc":"2.0","id":7,"result":{}}')):
            assert json.loads(process.stdout.readline())["id"] == 7
        process.stdin.close()


def test_it_loads_nothing_but_what_it_needs() -> None:
    code = "import runpy, sys; sys.argv = ['x']; import os; os.environ.pop('KAI_SOCKET', None)\n"
    code += f"try:\n runpy.run_path({PUMP[-1]!r}, run_name='__main__')\nexcept SystemExit:\n pass\n"
    code += "print([m for m in ('json', 'http', 'email', 'ssl', 'pathlib', 'kai', 'asyncio') if m in sys.modules])"
    done = subprocess.run([*PUMP[:3], "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout == "[]\n", done.stderr


def test_outside_of_a_run_it_says_for_whom_it_is() -> None:
    done = subprocess.run(PUMP, input=b"", capture_output=True, env={})
    assert done.returncode == 2
    assert b"for agents that kai has started" in done.stderr


@pytest.mark.parametrize("answer", [b"HTTP/1.1 500 x\r\n\r\nsome text", b"HTTP/1.1 413 x\r\n\r\n{}", b"garbage"])
def test_whatever_is_no_answer_is_an_error(tmp_path: Path, answer: bytes) -> None:
    with answering(tmp_path / "s", lambda _: answer):
        (said,) = pump(tmp_path / "s", json.dumps(PING).encode())
    assert said["error"]["code"] == -32000
