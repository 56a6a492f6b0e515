"""Persons and their accounts."""

import pytest

from kai.model.errors import BadInputError, UnknownThingError
from kai.model.ids import PrincipalId
from kai.model.people import Person
from kai.store import channels, people
from tests.store.house import ANN, BOB, House


def test_a_person_is_found_by_every_name_kai_has_for_them(house: House) -> None:
    ann = people.get(house.db, ANN)
    assert ann == Person(ANN, "Ann", "ann")
    assert people.by_name(house.db, "ANN") == ann
    assert people.by_os_user(house.db, "ann") == ann
    assert people.by_name(house.db, "Carl") is None
    assert people.by_os_user(house.db, "root") is None
    assert [person.name for person in people.every(house.db)] == ["Ann", "Bob"]


def test_of_persons_who_share_an_os_user_the_first_is_meant(house: House) -> None:
    people.change(house.db, BOB, os_user="ann")
    found = people.by_os_user(house.db, "ann")
    assert found is not None
    assert found.principal == ANN


def test_two_persons_never_share_a_name_whatever_its_case(house: House) -> None:
    with pytest.raises(BadInputError, match="Ann"):
        people.add(house.db, Person(PrincipalId("p-3"), "aNN", "x"), house.now)
    with pytest.raises(BadInputError, match="Ann"):
        people.change(house.db, BOB, name="ann")
    assert people.change(house.db, ANN, name="ANN").name == "ANN"


def test_fields_are_changed_by_name_and_unknown_ones_are_named(house: House) -> None:
    changed = people.change(house.db, ANN, name="Änne", zone="Europe/Berlin", permissions="bypass")
    assert changed == Person(ANN, "Änne", "ann", zone="Europe/Berlin", permissions="bypass")
    assert people.by_name(house.db, "ÄNNE") == changed
    with pytest.raises(BadInputError) as refused:
        people.change(house.db, ANN, shoe_size="41")
    assert refused.value.field == "shoe_size"


def test_only_a_verified_account_proves_who_it_is(house: House) -> None:
    people.link(house.db, "telegram", "123", ANN, house.now, verified=False)
    assert people.linked(house.db, "telegram", "123") is None
    people.link(house.db, "telegram", "123", ANN, house.now)
    assert people.linked(house.db, "telegram", "123") == ANN
    assert people.linked(house.db, "matrix", "123") is None
    people.link(house.db, "telegram", "123", BOB, house.now)
    assert people.linked(house.db, "telegram", "123") == BOB
    assert people.unlink(house.db, "telegram", "123") is True
    assert people.unlink(house.db, "telegram", "123") is False
    assert people.linked(house.db, "telegram", "123") is None


def test_a_removed_person_is_nobody_and_in_no_channel(house: House) -> None:
    people.link(house.db, "telegram", "123", ANN, house.now)
    people.remove(house.db, ANN, house.now)
    with pytest.raises(UnknownThingError):
        people.get(house.db, ANN)
    assert people.by_name(house.db, "Ann") is None
    assert people.by_os_user(house.db, "ann") is None
    assert people.linked(house.db, "telegram", "123") is None
    assert channels.of(house.db, ANN) == ()
    people.add(house.db, Person(PrincipalId("p-new"), "Ann", "ann"), house.now)


def test_nobody_becomes_the_removed_one_of_a_shared_os_user(house: House) -> None:
    def add(name: str) -> Person:
        person = Person(PrincipalId(f"p-{name}"), name, "sue")
        people.add(house.db, person, house.now)
        return person

    first, _ = add("First"), add("Second")
    assert people.by_os_user(house.db, "sue") == first
    people.remove(house.db, first.principal, house.now)
    assert people.by_os_user(house.db, "sue") is None
    later = add("Later")
    assert people.by_os_user(house.db, "sue") == later
    assert people.by_os_user(house.db, "sue") != add("Sue")
    assert people.by_os_user(house.db, "sue") == people.by_name(house.db, "sue")


@pytest.mark.parametrize("act", [people.remove, people.get])
def test_a_person_who_is_not_there_is_said_to_be_unknown(house: House, act: object) -> None:
    assert callable(act)
    arguments = (house.db, PrincipalId("p-nobody")) + ((house.now,) if act is people.remove else ())
    with pytest.raises(UnknownThingError):
        act(*arguments)
