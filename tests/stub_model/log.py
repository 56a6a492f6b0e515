"""Every request that reached the stub, kept in memory and, where asked, in a file of JSON lines."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

_SECRET = frozenset({"authorization", "x-api-key", "x-goog-api-key"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands in a request body: in which JSON string, how often, beside how many other characters."""

    path: str
    count: int
    others: int


@dataclass(frozen=True)
class Request:
    """One request. `headers` have lower-case names and no secrets; `body` is its JSON, None where it has none."""

    number: int
    at_s: float  # since the stub began
    method: str
    path: str
    headers: dict[str, str]
    body: Any = None
    plan: str = ""  # what the stub decided to do

    @property
    def offers_tools(self) -> bool:
        """True for a turn proper; side requests (titles, summaries, checks) offer none."""
        if not isinstance(self.body, dict):
            return False
        given = self.body.get("input")
        added = (item.get("type") for item in (given if isinstance(given, list) else ()))
        return bool(self.body.get("tools")) or "additional_tools" in added

    def places(self, text: str) -> tuple[Place, ...]:
        """Every string of the body that contains `text`, character for character."""
        return tuple(
            Place(path, value.count(text), len(value) - len(text))
            for path, value in strings(self.body)
            if text in value
        )


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a JSON value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, f"{path}[{index}]")


@dataclass
class RequestLog:
    """Thread-safe. `file` gets one JSON line a request, flushed at once."""

    file: Path | None = None
    _requests: list[Request] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _started: float = field(default_factory=time.monotonic)
    _stream: TextIO | None = None

    def open(self) -> None:
        if self.file is not None:
            self._stream = self.file.open("a", encoding="utf-8")

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def add(self, method: str, path: str, headers: dict[str, str], body: Any, plan: str) -> Request:
        kept = {name: "…" if name in _SECRET else value for name, value in headers.items()}
        with self._changed:
            at_s = round(time.monotonic() - self._started, 3)
            request = Request(len(self._requests) + 1, at_s, method, path, kept, body, plan)
            self._requests.append(request)
            if self._stream is not None:
                # Lone surrogates may come in as JSON escapes; they go out the same way.
                self._stream.write(json.dumps(vars(request)) + "\n")
                self._stream.flush()
            self._changed.notify_all()
        return request

    def all(self) -> tuple[Request, ...]:
        with self._changed:
            return tuple(self._requests)

    def wait(self, wanted: Callable[[Request], bool], limit_s: float) -> Request:
        """The first request that is `wanted`, waiting for it. Raises `TimeoutError`."""
        end = time.monotonic() + limit_s
        seen = 0
        with self._changed:
            while True:
                for request in self._requests[seen:]:
                    if wanted(request):
                        return request
                seen = len(self._requests)
                left_s = end - time.monotonic()
                if left_s <= 0 or not self._changed.wait(left_s):
                    raise TimeoutError(f"no such request within {limit_s} s; {seen} others came")
