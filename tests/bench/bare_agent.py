"""A real agent CLI driven by its bare protocol: what a turn costs without kai. Blocking pipes, no checks, no limits."""

import itertools
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kai.model.backends import ProtocolName

Json = dict[str, Any]


class BareAgent:
    """One process of a CLI with one session, as a context manager."""

    def __init__(self, protocol: ProtocolName, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._protocol, self._cwd = protocol, str(cwd)
        self._ids = itertools.count(1)
        self._session = ""
        self._process = subprocess.Popen(
            list(argv), env=dict(env), cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> Self:
        begin: Mapping[ProtocolName, Callable[[], None]] = {
            ProtocolName.ACP: self._begin_acp,
            ProtocolName.APP_SERVER: self._begin_app_server,
        }
        begin.get(self._protocol, lambda: None)()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    @property
    def pid(self) -> int:
        return self._process.pid

    def turn(self, text: str) -> None:
        """Send a prompt; return at the line that ends its turn."""
        match self._protocol:
            case ProtocolName.STREAM_JSON:
                self._send({"type": "user", "message": {"role": "user", "content": text}})
                self._until(lambda line: line.get("type") == "result")
            case ProtocolName.ACP:
                self._call("session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]})
            case ProtocolName.APP_SERVER:
                what = {"threadId": self._session, "input": [{"type": "text", "text": text}]}
                self._send({"id": next(self._ids), "method": "turn/start", "params": what})
                self._until(lambda line: line.get("method") == "turn/completed")
            case ProtocolName.PI_RPC:
                self._send({"id": str(next(self._ids)), "type": "prompt", "message": text})
                self._until(lambda line: line.get("type") == "agent_settled")

    def _begin_acp(self) -> None:
        self._call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        self._session = self._call("session/new", {"cwd": self._cwd, "mcpServers": []})["sessionId"]

    def _begin_app_server(self) -> None:
        about = {"clientInfo": {"name": "bare", "title": "bare", "version": "0"}, "capabilities": {}}
        self._call("initialize", about)
        self._send({"method": "initialized"})
        asked = {"cwd": self._cwd, "approvalPolicy": "never", "sandbox": "danger-full-access"}
        self._session = self._call("thread/start", asked)["thread"]["id"]

    def _call(self, method: str, params: Json) -> Json:
        key = next(self._ids)
        self._send({"jsonrpc": "2.0", "id": key, "method": method, "params": params})
        answer = self._until(lambda line: line.get("id") == key and "method" not in line)
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer}")
        result: Json = answer["result"]
        return result

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _until(self, is_last: Callable[[Json], bool]) -> Json:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found: Json = json.loads(line) if line.startswith(b"{") else {}
            if is_last(found):
                return found
        raise RuntimeError(f"the agent ended in the middle of a turn (exit {self._process.wait()})")


def tree_pss_bytes(pid: int, pss_of: Callable[[int], int]) -> int:
    """Memory of a process and all below it."""
    below: dict[int, list[int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            below.setdefault(parent, []).append(int(place.name))
    todo, total = [pid], 0
    while todo:
        one = todo.pop()
        todo += below.get(one, [])
        with suppress(OSError):  # it ended just now
            total += pss_of(one)
    return total
