"""Who calls follows from the peer's uid, and a process of a run is never taken for a person."""

import os

import pytest

from kai.api.callers import Callers
from kai.api.peers import Peer
from kai.model.errors import DeniedError, UnknownThingError
from kai.model.people import Person
from tests.api.fake_door import ANNA, BEN, FakeDirectory

pytestmark = pytest.mark.anyio
NAMES = {1001: "anna", 1002: "ben", 1003: "stranger", 1004: "oscar"}


def callers(directory: FakeDirectory, *, operators: tuple[str, ...] = ("oscar",)) -> Callers:
    return Callers(directory, lambda: operators, trusted_uids=(0, 900), os_user=lambda uid: NAMES.get(uid, ""))


def peer(uid: int) -> Peer:
    return Peer(uid, uid, os.getpid())


async def test_a_person_is_known_by_the_os_user() -> None:
    found = await callers(FakeDirectory(ANNA, BEN)).resolve(peer(1002), "")
    assert (found.principal, found.operator, found.bridge, found.os_user) == ("p-ben", False, "terminal", "ben")


@pytest.mark.parametrize("uid", [1003, 1234])
async def test_a_uid_that_is_nobody_here_is_refused(uid: int) -> None:
    with pytest.raises(DeniedError):
        await callers(FakeDirectory(ANNA)).resolve(peer(uid), "")


async def test_an_empty_list_of_operators_means_nobody() -> None:
    with pytest.raises(DeniedError):
        await callers(FakeDirectory(), operators=()).resolve(peer(1004), "")


async def test_a_uid_without_a_name_is_no_operator_whose_name_is_empty() -> None:
    with pytest.raises(DeniedError):
        await callers(FakeDirectory(), operators=("",)).resolve(peer(1234), "")


@pytest.mark.parametrize("uid", [0, 900, 1004])
async def test_root_the_daemons_own_uid_and_named_users_are_operators(uid: int) -> None:
    found = await callers(FakeDirectory(ANNA)).resolve(peer(uid), "")
    assert found.operator
    assert found.principal is None


async def test_an_operator_may_speak_for_a_person() -> None:
    found = await callers(FakeDirectory(ANNA, BEN)).resolve(peer(1004), "Ben Ö")
    assert (found.principal, found.operator) == ("p-ben", True)


async def test_an_operator_who_names_nobody_known_is_refused() -> None:
    with pytest.raises(UnknownThingError, match="'Carla'"):
        await callers(FakeDirectory(ANNA)).resolve(peer(0), "Carla")


@pytest.mark.parametrize("name", ["Ben Ö", "Anna", "nobody"])
async def test_nobody_else_may_speak_for_anybody_not_even_for_itself(name: str) -> None:
    with pytest.raises(DeniedError, match="only an operator"):
        await callers(FakeDirectory(ANNA, BEN)).resolve(peer(1001), name)


async def test_who_is_an_operator_is_looked_up_at_every_call() -> None:
    """The attack: an operator whose name was taken out of the configuration goes on for as long as they are kept."""
    names = ["anna"]
    known = Callers(FakeDirectory(ANNA), lambda: names, trusted_uids=(), os_user=lambda uid: NAMES.get(uid, ""))
    assert (await known.resolve(peer(1001), "")).operator
    names.clear()
    assert not (await known.resolve(peer(1001), "")).operator


async def test_a_caller_is_looked_up_once_until_it_is_forgotten() -> None:
    directory = FakeDirectory(ANNA)
    known = callers(directory)
    assert await known.resolve(peer(1001), "") == await known.resolve(peer(1001), "")
    assert directory.asked == 1
    directory.people.clear()
    known.forget()
    with pytest.raises(DeniedError):
        await known.resolve(peer(1001), "")


async def test_a_person_removed_while_being_looked_up_is_not_believed_afterwards() -> None:
    directory = FakeDirectory(ANNA)
    known = callers(directory)
    by_os_user = directory.by_os_user

    async def removed_meanwhile(os_user: str) -> Person | None:
        found = await by_os_user(os_user)
        directory.people.clear()
        known.forget()
        return found

    directory.by_os_user = removed_meanwhile  # type: ignore[method-assign]
    assert (await known.resolve(peer(1001), "")).principal == "p-anna"
    with pytest.raises(DeniedError):
        await known.resolve(peer(1001), "")


async def test_a_caller_is_believed_for_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = FakeDirectory(ANNA)
    known = callers(directory)
    await known.resolve(peer(1001), "")
    directory.people.clear()
    monkeypatch.setattr("kai.api.callers._KEPT_S", 0.0)
    known._kept_until = 0.0
    with pytest.raises(DeniedError):
        await known.resolve(peer(1001), "")


async def test_a_refusal_is_not_remembered_once_the_person_is_added() -> None:
    directory = FakeDirectory()
    known = callers(directory)
    with pytest.raises(DeniedError):
        await known.resolve(peer(1001), "")
    directory.people.append(ANNA)
    assert (await known.resolve(peer(1001), "")).principal == "p-anna"


async def test_the_real_os_user_of_this_process_is_found() -> None:
    found = await Callers(FakeDirectory(), lambda: ()).resolve(Peer(os.getuid(), os.getgid(), os.getpid()), "")
    assert found.operator
