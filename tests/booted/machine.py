"""The booted machine, seen from inside as root: standard library only, run by the machine's own Python."""

import http.client
import json
import os
import signal
import socket
import sqlite3  # noqa: TID251 - the machine's own
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

KAI = "/opt/kai/bin/kai"
SOCKET = "/run/kai/people.sock"
FAKE = "/shared/tests/fake_agent/__main__.py"
LIMIT_S = 20.0
_chats: "list[subprocess.Popen[bytes]]" = []
BACKEND = f"""\
title: Fake agent
protocol: stream_json
launch:
  program: "{{python}}"
  argv: ["-I", "-S", {FAKE}, "--protocol", stream_json, "--log", /dev/null, "--state", /tmp]
  resume: ["--resume", "{{session}}"]
can: {{resume: true, interrupt: true}}
version_argv: [{FAKE}, "--version"]
limits: {{stop_s: 2.0, eof_s: 0.5, term_s: 0.5}}
"""


def run(*argv: str, check: bool = False) -> subprocess.CompletedProcess[str]:
    """A program of the machine."""
    done = subprocess.run(argv, capture_output=True, text=True, cwd="/", timeout=180)
    assert not check or done.returncode == 0, f"{' '.join(argv)}: {done.stdout}{done.stderr}"
    return done


def kai(*args: str, who: str = "root", check: bool = False) -> subprocess.CompletedProcess[str]:
    """The command of the service as one OS user, in a clean login of theirs."""
    return run("runuser", "-u", who, "--", "env", "-i", f"HOME=/home/{who}", "PATH=/usr/local/bin:/usr/bin:/bin", "kai", *args, check=check)  # fmt: skip # noqa: E501


def start_chat(text: str, who: str = "alice") -> "subprocess.Popen[bytes]":
    """A message of `who`, whose answer is still to come."""
    argv = ["runuser", "-u", who, "--", "kai", "chat", text]
    _chats.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"))
    return _chats[-1]


def tidy() -> None:
    """After a row that broke: nothing of it goes on."""
    for chat in _chats:
        chat.kill()
        chat.wait()
    run("systemctl", "restart", "kai")


def show(unit: str, name: str) -> str:
    """A property of a unit."""
    return run("systemctl", "show", "-P", name, unit).stdout.strip()


def main_pid(unit: str = "kai") -> int:
    """Never 0: that would be ourselves."""
    pid = int(show(unit, "MainPID"))
    assert pid > 1, f"{unit} does not run"
    return pid


class _Connection(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(LIMIT_S)
        self.sock.connect(SOCKET)


def _asked(
    method: str, path: str, body: Any = None, person: str = "Alice"
) -> tuple[_Connection, http.client.HTTPResponse]:
    connection = _Connection("kai")
    headers = {"content-type": "application/json", "kai-as": person}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection, connection.getresponse()


def api(method: str, path: str, body: Any = None, person: str = "Alice") -> Any:
    """A question of root, asked for a person."""
    connection, answer = _asked(method, path, body, person)
    found = json.loads(answer.read() or b"null")
    connection.close()
    assert answer.status < 300, found
    return found


def until(what: Callable[[], Any], limit_s: float = LIMIT_S, every_s: float = 0.02) -> Any:
    """What `what` gives as soon as it gives something."""
    end = time.monotonic() + limit_s
    while not (found := quietly(what)):
        assert time.monotonic() < end, (
            f"not within {limit_s:g} s: {what.__name__ if hasattr(what, '__name__') else what}"
        )
        time.sleep(every_s)
    return found


def quietly(what: Callable[[], Any]) -> Any:
    try:
        return what()
    except (OSError, http.client.HTTPException, AssertionError):
        return None


def agents() -> dict[int, int]:
    """Processes of the fake agent and of what it started: uid by pid."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and (FAKE.encode() in words or words[:2] == [b"sleep", b"1000"]):
                found[int(entry.name)] = entry.stat().st_uid
        except OSError:
            continue
    return found


def newest(person: str = "Alice") -> Any:
    """The newest turn of a person."""
    found = api("GET", "/v1/turns?limit=1", person=person)
    return found[0] if found else None


def running(text: str) -> Any:
    """Say something slow, and wait until the agent speaks; gives (the chat's process, the turn)."""
    chat = start_chat(text)
    turn = until(lambda: (found := newest()) and found["text"] == text and found["state"] == "running" and found)
    connection, answer = _asked("GET", f"/v1/turns/{turn['turn']}/events")
    for line in answer:
        if b"chunk" in line:
            break
    connection.close()
    assert agents(), "it speaks, but no process of it is seen"
    return chat, turn


def end_of(turn: str) -> Any:
    """A turn, once it is over."""

    def over() -> Any:
        found = api("GET", f"/v1/turns/{turn}")
        return found if found["state"] not in ("queued", "running", "asking", "held") else None

    return until(over)


def told(turn: str) -> int:
    """How many deliveries speak of a turn."""
    with closing(sqlite3.connect("file:/var/lib/kai/kai.db?mode=ro", uri=True)) as db:
        sql = "SELECT count(*) FROM delivery WHERE turn = ? AND turn_state IS NOT NULL"
        return int(db.execute(sql, (turn,)).fetchone()[0])


@contextmanager
def drop_in(unit: str, text: str) -> Iterator[None]:
    """A changed unit, for as long as the context holds. It is felt at the next start."""
    path = Path(f"/etc/systemd/system/{unit}.d/booted.conf")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"[Service]\n{text}\n")
    run("systemctl", "daemon-reload", check=True)
    try:
        yield
    finally:
        path.unlink()
        run("systemctl", "daemon-reload", check=True)


def restart() -> None:
    """From the ground up, with a clean count of starts."""
    run("systemctl", "reset-failed", "kai")
    run("systemctl", "restart", "kai", check=True)


def plain_start_s() -> float:
    """How long a start of the daemon takes on this machine as it is now, busy or not."""
    run("systemctl", "reset-failed", "kai")
    run("systemctl", "stop", "kai", check=True)
    at = time.monotonic()
    run("systemctl", "start", "kai", check=True)
    return time.monotonic() - at


def kill(pid: int, number: int = signal.SIGKILL) -> float:
    """Send a signal; the moment of it."""
    assert pid > 1
    os.kill(pid, number)
    return time.monotonic()
