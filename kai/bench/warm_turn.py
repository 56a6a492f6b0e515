"""A warm turn, at the client: from the first byte of the POST to the whole event that delivers the answer."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kai.bench.figures import Figure, paired, percentile
from kai.bench.processes import House, bare_server, daemon
from kai.bench.raw import Connection

_ANSWER = b'"kind":"answer"'
_DELIVERIES = "/v1/deliveries"
_WARM_UP = 30
_AGAINST = "bare Starlette app, its own process: POST, 3 FULL commits, the same bytes to the same agent, 1 event"


class Side:
    """One of the two servers, with a connection for requests and one for events."""

    def __init__(self, requests: Connection, events: Connection) -> None:
        self._requests = requests
        self._events = events
        self._sent = 0
        events.send("GET", _DELIVERIES)
        events.until(b"\r\n\r\n")

    def turn(self) -> tuple[float, bytes]:
        """Seconds of one turn, and the event that ended it."""
        self._sent += 1
        text = f"echo The kettle is on, and number {self._sent:06} is ready."
        body = json.dumps({"chat": "bench", "external_id": f"x-{self._sent}", "text": text}).encode()
        began = time.perf_counter()
        self._requests.send("POST", "/v1/messages", body)
        self._requests.answer()
        event = self._events.event(_ANSWER)
        return time.perf_counter() - began, event


def measure(root: Path, *, quick: bool) -> Figure:
    """Turns of both in turn, the first of a pair now one and now the other."""
    house = House(root)
    house.prepare()
    pairs: list[tuple[float, float]] = []
    with daemon(house), Connection(house.socket) as requests, Connection(house.socket) as events:
        kai = Side(requests, events)

        def one_of_kai() -> float:
            seconds, event = kai.turn()
            requests.ask("POST", f"/v1/deliveries/{delivery(event)['delivery']}/receipt", b'{"outcome": "sent"}')
            return seconds

        for _ in range(_WARM_UP):
            one_of_kai()
        prompt = root / "prompt"
        prompt.write_text(_prompt_of(requests, kai))
        with (
            bare_server(root, str(root / "bare.db"), str(prompt)) as (_, socket),
            Connection(socket) as bare_requests,
            Connection(socket) as bare_events,
        ):
            bare = Side(bare_requests, bare_events)
            one_of_bare: Callable[[], float] = lambda: bare.turn()[0]  # noqa: E731
            for _ in range(_WARM_UP):
                one_of_bare()
            for number in range(60 if quick else 300):
                if number % 2:
                    theirs = one_of_bare()
                    pairs.append((one_of_kai(), theirs))
                else:
                    ours = one_of_kai()
                    pairs.append((ours, one_of_bare()))
    milliseconds = [(ours * 1000, theirs * 1000) for ours, theirs in pairs]
    return paired(
        "warm_turn",
        milliseconds,
        to_reach=2.0,
        unit="ms",
        against=_AGAINST,
        more={
            "p99": percentile([ours for ours, _ in milliseconds], 99),
            "baseline_p99": percentile([theirs for _, theirs in milliseconds], 99),
            "prompt_bytes": prompt.stat().st_size,
        },
    )


def delivery(event: bytes) -> dict[str, Any]:
    """What an event of the stream of deliveries holds."""
    line = next(line for line in event.split(b"\n") if line.startswith(b"data: ") and _ANSWER in line)
    found: dict[str, Any] = json.loads(line[6:])
    return found


def _prompt_of(requests: Connection, kai: Side) -> str:
    """The exact text of one more turn, from its snapshot."""
    owed = delivery(kai.turn()[1])
    requests.ask("POST", f"/v1/deliveries/{owed['delivery']}/receipt", b'{"outcome": "sent"}')
    text: str = json.loads(requests.ask("GET", f"/v1/turns/{owed['turn']}/context"))["text"]
    return text
