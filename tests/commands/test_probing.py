"""The table of a probe and its exit status."""

import pytest

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


def row(what: str, *, may: bool, seen: str, ok: bool) -> dict[str, object]:
    return {"what": what, "how": "read", "path": "/x", "may": may, "seen": seen, "ok": ok}


OWN = row("own memory", may=True, seen="done", ok=True)
SHUT = row("the database", may=False, seen="denied", ok=True)
LEAK = row("Bob's memory", may=False, seen="done", ok=False)
LACK = row("own preferences", may=True, seen="denied", ok=False)


@pytest.mark.parametrize(
    ("rows", "leaks", "lacks", "status", "word"),
    [([OWN, SHUT], 0, 0, 0, "ok"), ([OWN, LEAK], 1, 0, 1, "LEAK"), ([LACK, SHUT], 0, 1, 1, "LACKS")],
)
def test_any_leak_and_any_lack_is_a_failure(
    kai: Kai, fake: FakeDaemon, rows: list[object], leaks: int, lacks: int, status: int, word: str
) -> None:
    found = {"name": "Ann", "os_user": "ann", "launcher": "spawner", "problem": "", "rows": rows}
    for path in ("/v1/people/Ann/probe", "/v1/channels/family/probe"):
        fake.canned["POST", path] = (200, {**found, "leaks": leaks, "lacks": lacks})
    for args in (("person", "probe", "Ann"), ("channel", "probe", "family")):
        got, out, _ = kai(*args)
        assert (got, word in out) == (status, True)
        assert out.endswith(f"launcher spawner): 2 tried, {leaks} leaks, {lacks} lacking.\n")
    assert kai("person", "probe", "Ann", "--json")[0] == status


def test_a_probe_that_could_not_be_made_says_why(kai: Kai, fake: FakeDaemon) -> None:
    found = {"name": "Ann", "os_user": "ann", "launcher": "direct", "rows": [], "leaks": 0, "lacks": 0}
    fake.canned["POST", "/v1/people/Ann/probe"] = (200, {**found, "problem": "It cannot start programs as ann."})
    assert kai("person", "probe", "Ann")[:2] == (1, "Ann: It cannot start programs as ann.\n")
