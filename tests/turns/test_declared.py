"""Whom the configuration names is there at the start, once, and what was set by hand stays."""

from pathlib import Path

import pytest

from kai.turns.backends import os_user
from tests.e2e.house import House

pytestmark = pytest.mark.anyio
TWO = "Ann: {zone: Europe/Berlin, accounts: {telegram: [4711]}}\nBen: {email: ben@example.org}\n"


async def test_who_is_named_is_there_once_however_often_it_starts(tmp_path: Path) -> None:
    house = House(tmp_path, people=TWO)
    seen = []
    for _ in range(2):
        async with house.open() as kai:
            seen.append([(one["name"], one["principal"], one["zone"]) for one in await kai.client.people()])
    assert seen[0] == seen[1]
    assert [(name, zone) for name, _, zone in seen[0]] == [("Ann", "Europe/Berlin"), ("Ben", "")]


async def test_what_the_file_says_anew_holds_from_the_next_start_and_what_it_does_not_say_stays(tmp_path: Path) -> None:
    house = House(tmp_path, people=TWO)
    async with house.open() as kai:
        ann = (await kai.client.people())[0]["principal"]
        await kai.client.change_person(ann, {"email": "ann@example.org"})
    (house.folders.config / "people.yaml").write_text(TWO.replace("Berlin", "Paris"))
    async with house.open() as kai:
        found = await kai.client.person(ann)
        assert (found["zone"], found["email"]) == ("Europe/Paris", "ann@example.org")


async def test_where_nobody_is_named_who_runs_it_is_the_first_person(tmp_path: Path) -> None:
    async with House(tmp_path).open() as kai:
        assert [one["name"] for one in await kai.client.people()] == [os_user()]
