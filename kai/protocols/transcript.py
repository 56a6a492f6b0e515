"""A wire file as a transcript: a JSON object a line, as ``tests/transcripts`` holds them, and what was answered."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kai.wire import record
from kai.wire.lines import LineFramer, Overlong
from kai.wire.record import Kind

Entry = dict[str, Any]


def entries(wire: Path, line_bytes: int) -> Iterator[Entry]:
    """Calls of the driver (``call``), frames to the agent (``in``) and lines from it (``out``). Blocks."""
    framer = LineFramer(line_bytes)
    with wire.open("rb") as stream:
        for kind, payload in record.decode(stream):
            if kind is Kind.CALL:
                yield {"dir": "call", "call": json.loads(payload)}
                continue
            lines = [payload] if kind is Kind.WRITTEN else framer.feed(payload)
            for line in lines:
                if not isinstance(line, Overlong) and line.strip():
                    yield {"dir": "in" if kind is Kind.WRITTEN else "out", "msg": _message(line)}


def answers(found: list[Entry]) -> dict[str, Any]:
    """What the agent answered to each JSON-RPC request, by its method; errors are left out."""
    said = [(one["dir"], one["msg"]) for one in found if isinstance(one.get("msg"), dict)]
    asked = {msg.get("id"): msg.get("method") for way, msg in said if way == "in"}
    told = [msg for way, msg in said if way == "out" and "result" in msg]
    return {asked[msg["id"]]: msg["result"] for msg in told if asked.get(msg.get("id"))}


def text(found: list[Entry], hidden: Mapping[str, str]) -> str:
    """The transcript. Each value of `hidden`, such as a key or a home, is replaced by its name, the longest first."""
    whole = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in found)
    for name in sorted(filter(hidden.get, hidden), key=lambda name: -len(hidden[name])):
        whole = whole.replace(json.dumps(hidden[name], ensure_ascii=False)[1:-1], f"${name}")
    return whole


def _message(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line.decode(errors="replace")
