"""The life of the fake agent: its threads, its sessions, its turns."""

import argparse
import json
import os
import queue
import re
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, Protocol

MARKER = "[User's current message - respond to this:]\n"
FOR_EVER_S = 3600.0


class InterruptedTurn(Exception):  # noqa: N818
    """The client stopped the turn."""


class Wire:
    """Stdin and stdout as lines of JSON; every line that came in is logged before anything is made of it."""

    def __init__(self, log: str) -> None:
        self._log = open(log, "ab", buffering=0) if log else None  # noqa: PTH123, SIM115
        self._lock = threading.Lock()
        self.deaf = False

    def lines(self) -> Iterator[bytes]:
        """Cut by hand: a reader that reads ahead could not turn deaf."""
        rest = b""
        while chunk := os.read(0, 65_536):
            while self.deaf:
                time.sleep(FOR_EVER_S)
            *found, rest = (rest + chunk).split(b"\n")
            for line in found:
                if self._log:
                    self._log.write(line + b"\n")
                yield line

    def raw(self, data: bytes) -> None:
        with self._lock:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except (BrokenPipeError, ValueError):
                pass  # nobody reads, or stdout was closed on request

    def send(self, value: Any) -> None:
        self.raw(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")


class Face(Protocol):
    """A protocol as the agent speaks it."""

    ids: bool

    def start(self) -> None: ...
    def take(self, msg: dict[str, Any]) -> None: ...
    def begin(self, key: Any) -> None: ...
    def say(self, text: str) -> None: ...
    def piece(self, text: str) -> Any: ...
    def think(self, text: str) -> None: ...
    def tool(self, key: str, name: str, arguments: Any) -> None: ...
    def tool_result(self, key: str, ok: bool, text: str) -> None: ...
    def ask(self, key: str, name: str, arguments: Any) -> Any: ...
    def withdraw(self, request: Any) -> None: ...
    def verdict(self, answer: Any) -> str: ...
    def question(self) -> tuple[str, Any]: ...
    def end(self, text: str, *, stopped: bool = False, turns: int = 1) -> None: ...
    def fail(self, status: int, code: str, text: str) -> None: ...
    def error_text(self, text: str) -> None: ...
    def retry(self, attempt: int, of: int) -> None: ...
    def late(self, text: str) -> None: ...
    def unsolicited(self, text: str) -> None: ...
    def unknown(self) -> None: ...
    def new_id(self) -> None: ...
    def compact(self) -> None: ...
    def usage(self) -> None: ...
    def took(self, words: str) -> None: ...


class Agent:
    """The script and the threads. `said` is the text of the current message so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.wire = Wire(options.log)
        self.prompts: queue.Queue[tuple[Any, str] | None] = queue.Queue()
        self.answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self.interrupted = threading.Event()
        self.turn_runs = threading.Event()
        self.heard: queue.Queue[str] = queue.Queue()  # words that were steered into the turn
        self.nostop = False
        self.stubborn = False
        self.said = ""
        self.whole = ""
        self.tools = 0
        self.count = 0
        self.after: list[tuple[str, float]] = []
        self.memory: dict[str, str] = {}
        self.session = str(uuid.uuid4())
        self.resume, self.known = options.resume, True
        if self.resume:
            self.load(self.resume)
        self.start_error = False
        self.model, self.effort = options.model or "fake-1", options.effort
        self.face: Face
        self.deeds: Any

    # Sessions

    def load(self, session: str) -> None:
        path = Path(self.options.state or "/nonexistent") / session
        self.known = path.exists()
        if self.known:
            self.session, self.memory = session, json.loads(path.read_text())

    def save(self) -> None:
        if self.options.state and not self.options.temporary:
            (Path(self.options.state) / self.session).write_text(json.dumps(self.memory))

    # The life of the process

    def run(self) -> NoReturn:
        for name, value in words(self.options.script, "start:"):
            self.at_start(name, value)
        self.face.start()
        threading.Thread(target=self.listen, daemon=True).start()
        while (prompt := self.prompts.get()) is not None:
            self.turn(*prompt)
        while self.stubborn:
            time.sleep(FOR_EVER_S)
        self.leave(0)

    def leave(self, code: int) -> NoReturn:
        sys.stdout.buffer.flush()
        os._exit(code)

    def at_start(self, name: str, value: str) -> None:
        if name in ("slow", "silent"):
            time.sleep(float(value or FOR_EVER_S))
        elif name == "die":
            print("cannot start: no such option", file=sys.stderr)
            self.leave(int(value or 1))
        elif name == "noise":
            self.wire.raw(b"Welcome to the fake agent!\n\n\r\nloading...\n")
        elif name == "stderr":
            self.deeds.do_stderr(value)
        elif name == "error":
            self.start_error = True

    def listen(self) -> None:
        for line in self.wire.lines():
            if line.strip():
                self.face.take(json.loads(line))
        self.prompts.put(None)

    def prompted(self, key: Any, words: str) -> None:
        """A prompt came in. From here on an interrupt is for it, however late its turn begins."""
        self.interrupted.clear()
        self.turn_runs.set()
        self.prompts.put((key, words))

    def interrupt(self) -> None:
        if self.turn_runs.is_set() and not self.nostop:
            self.interrupted.set()

    # A turn

    def turn(self, key: Any, prompt: str) -> None:
        self.said = self.whole = ""
        self.count += 1
        self.after = []
        mine = prompt.rpartition(MARKER)[2]
        self.face.begin(key)
        steps = words(mine, "FAKE:") or words(self.options.script, "")
        try:
            ended = [self.step(name, value) for name, value in steps]
            if not any(ended):
                if not self.whole and not steps:
                    self.say(f"echo: {mine}")
                self.face.end(self.whole)
        except InterruptedTurn:
            self.face.end(self.whole, stopped=True)
        self.turn_runs.clear()
        self.save()
        for name, delay in self.after:
            deed = getattr(self.deeds, f"later_{name}")
            threading.Timer(delay, deed).start() if delay else deed()

    def step(self, name: str, value: str) -> bool:
        """One word of the script. True: the turn has its end already."""
        return bool(getattr(self.deeds, f"do_{name}")(value))

    def pause(self, seconds: float) -> None:
        if self.interrupted.wait(seconds):
            raise InterruptedTurn

    def listen_in(self, limit_s: float) -> str:
        """What is steered into the turn, or nothing."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            self.pause(0.0)
            with suppress(queue.Empty):
                return self.heard.get(timeout=0.02)
        return ""

    def say(self, text: str) -> None:
        self.face.say(text)
        self.said += text
        self.whole += text

    def call(self, name: str, value: str) -> str:
        self.tools += 1
        key = f"tool-{self.count}-{self.tools}"
        self.face.tool(key, name, {"command": value or "true"})
        return key

    def wait_for_answer(self, request: Any) -> str:
        while True:
            self.pause(0.0)
            try:
                key, answer = self.answers.get(timeout=0.02)
            except queue.Empty:
                continue
            if key == request:
                return self.face.verdict(answer)


def words(script: str, prefix: str) -> list[tuple[str, str]]:
    """The words of a script with this prefix: (name, value). Without a prefix, all that have none."""
    found = re.findall(rf"(?:^|\s){re.escape(prefix)}([a-z]\w*)(?:=(\S+))?(?=\s|$)", script)
    return [(name, value.replace("_", " ")) for name, value in found]
