"""Memory of an idle daemon against that of a bare server, and what a person adds who says nothing at the moment."""

import json
from pathlib import Path

from kai.bench.figures import Figure, paired
from kai.bench.processes import House, bare_server, daemon, pss_bytes
from kai.bench.raw import Connection

_MIB = 1024 * 1024
_LIMIT_KIB = 64.0
_PEOPLE, _QUICK_PEOPLE = 500, 100


def measure_idle(root: Path, *, quick: bool) -> Figure:
    """Fresh processes for each pair, both there while both are measured: what they share counts alike."""
    house = House(root)
    house.prepare()
    pairs = []
    for _ in range(2 if quick else 7):
        with daemon(house) as ours, bare_server(root) as (theirs, _):
            pairs.append((pss_bytes(ours.pid) / _MIB, pss_bytes(theirs.pid) / _MIB))
    return paired(
        "idle_memory", pairs, to_reach=2.0, unit="MiB", against="an idle bare Starlette and uvicorn process (PSS)"
    )


def measure_person(root: Path, *, quick: bool) -> Figure:
    """People who are known, have a channel, and have once been answered by kai. The baseline is the limit itself."""
    house = House(root)
    house.prepare()
    count, rounds = (_QUICK_PEOPLE, 1) if quick else (_PEOPLE, 3)
    pairs = []
    with daemon(house) as child:
        _meet(house, range(20))  # what the first few need is needed once
        for number in range(rounds):
            before = pss_bytes(child.pid)
            first = 20 + number * count
            _meet(house, range(first, first + count))
            pairs.append(((pss_bytes(child.pid) - before) / count / 1024, _LIMIT_KIB))
    against = f"the limit of {_LIMIT_KIB:g} KiB itself: {count} people more in each of {rounds} rounds"
    return paired("idle_person", pairs, to_reach=1.0, unit="KiB", against=against)


def _meet(house: House, numbers: range) -> None:
    with Connection(house.socket) as operator:
        for number in numbers:
            operator.ask("POST", "/v1/people", json.dumps({"name": f"Person {number}"}).encode())
    for number in numbers:
        with Connection(house.socket, headers=f"kai-as: Person {number}\r\n".encode()) as person:
            body = {"chat": "bench", "external_id": f"first-{number}", "text": "/help"}
            person.ask("POST", "/v1/messages", json.dumps(body).encode())
