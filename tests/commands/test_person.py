"""``kai person``."""

import getpass
import json

import pytest

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

ANN = {"principal": "p-ann", "name": "Ann", "os_user": "ann", "zone": "Europe/Berlin", "email": ""}


def test_a_person_is_added_with_the_daemons_own_os_user(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/people"] = (201, ANN)
    status, out, _ = kai("person", "add", "Ann", "--os-user", getpass.getuser())
    assert (status, fake.asked[-1].body) == (0, {"name": "Ann", "os_user": getpass.getuser()})
    assert "zone       Europe/Berlin\n" in out
    assert "email" not in out


def test_people_are_listed(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people"] = (200, [ANN])
    assert kai("person", "list")[1].splitlines()[1].split() == ["Ann", "ann", "Europe/Berlin", "-", "p-ann"]
    assert json.loads(kai("person", "list", "--json")[1]) == [ANN]


def test_a_person_is_shown_by_name(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people/Ann"] = (200, ANN)
    assert kai("person", "show", "Ann")[0] == 0
    status, _, err = kai("person", "show", "Bob")
    assert (status, err) == (1, "kai: There is no GET /v1/people/Bob.\n")


def test_only_what_is_given_is_changed_and_empty_clears(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["PATCH", "/v1/people/Ann"] = (200, ANN)
    assert kai("person", "set", "Ann", "--name", "Anna", "--zone", "")[0] == 0
    assert fake.asked[-1].body == {"name": "Anna", "zone": ""}
    assert kai("person", "set", "Ann")[0] == 2
    assert kai("person", "set", "Ann", "--permissions", "always")[0] == 2


def test_a_person_is_removed_and_an_account_linked(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people"] = (200, [ANN])
    own = {"os_user": getpass.getuser(), "home": "/x", "legacy_chat_id": ""}
    fake.canned["GET", "/v1/people/Ann"] = (200, {**ANN, **own, "is_you": False})
    fake.canned["DELETE", "/v1/people/p-ann"] = (200, ANN)
    fake.canned["POST", "/v1/people/Ann/accounts"] = (201, {"person": "Ann", "bridge": "telegram", "account": "7"})
    assert kai("person", "remove", "Ann") == (0, "Removed Ann; their messages and files are kept.\n", "")
    assert kai("person", "link", "Ann", "telegram", "7", "--json")[0] == 0
    assert fake.asked[-1].body == {"bridge": "telegram", "account": "7"}


@pytest.mark.parametrize(
    ("others", "is_you", "why"), [(["Bo"], True, "is yourself"), ([], False, "is the last person with your OS user")]
)
def test_who_would_be_nobody_afterwards_has_to_say_yes(
    kai: Kai, fake: FakeDaemon, others: list[str], is_you: bool, why: str
) -> None:
    everybody = [{**ANN, "name": name, "os_user": getpass.getuser(), "principal": name} for name in ["Ann", *others]]
    fake.canned["GET", "/v1/people"] = (200, everybody)
    fake.canned["GET", "/v1/people/Ann"] = (200, {**everybody[0], "is_you": is_you})
    fake.canned["DELETE", "/v1/people/Ann"] = (200, ANN)
    status, out, err = kai("person", "remove", "Ann")
    assert (status, out) == (1, "")
    assert why in err
    assert "--yes" in err
    assert not [one for one in fake.asked if one.method == "DELETE"]
    assert kai("person", "remove", "Ann", "--yes")[0] == 0
