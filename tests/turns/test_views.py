"""What one person may see of another: nothing."""

import pytest

from kai.client import Client
from kai.model.errors import ApiError, DeniedError, UnknownThingError
from kai.model.ids import ChannelId, PrincipalId, TurnId
from kai.store.binding import Connection
from kai.turns import views
from kai.turns.door import Caller
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def bob_of(kai: Kai) -> Caller:
    """Bob at a shell of his own: no operator."""
    bob = await kai.client.add_person("Bob")
    return Caller(PrincipalId(bob["principal"]), "terminal", operator=False, os_user="bob")


async def test_anothers_turn_channel_and_block_do_not_exist(kai: Kai) -> None:
    turn = await kai.ask("a secret")
    bob, read = await bob_of(kai), kai.daemon.parts.store.read
    for look in (views.turn_view, views.own_turn, views.allowed_turn):
        with pytest.raises(UnknownThingError):
            await read(look, bob, TurnId(turn["turn"]))
    for refused in (views.channel_view, views.allowed_channel):
        with pytest.raises(UnknownThingError):
            await read(refused, bob, ChannelId(turn["channel"]))
    with pytest.raises(UnknownThingError):
        await read(views.history, bob, ChannelId(turn["channel"]), None, 10)
    with pytest.raises(UnknownThingError):
        await read(views.found, bob, ChannelId(turn["channel"]), "secret", 10)
    assert await read(views.turn_views, bob, None, 10) == []


async def test_nobody_but_an_operator_does_an_operators_work(kai: Kai) -> None:
    bob, door = await bob_of(kai), kai.daemon.door
    with pytest.raises(DeniedError):
        await door.add_person(bob, "Eve", "")
    with pytest.raises(DeniedError):
        await door.reload(bob)
    assert bob.principal is not None
    with pytest.raises(DeniedError):
        await door.change_person(bob, bob.principal, {"os_user": "root"})
    assert (await door.change_person(bob, bob.principal, {"zone": "Europe/Berlin"}))["zone"] == "Europe/Berlin"
    assert [one["name"] for one in await door.people(bob)] == ["Bob"]


async def test_in_a_shared_channel_only_the_asker_sees_the_block_and_stops_the_turn(kai: Kai) -> None:
    bob = await bob_of(kai)
    turn = await kai.ask("hello", thread="garden")
    store, now = kai.daemon.parts.store, kai.daemon.parts.clock.now()

    def join(db: Connection) -> None:
        from kai.store import channels

        assert bob.principal is not None
        channels.join(db, ChannelId(turn["channel"]), bob.principal, now)

    await store.write(join)
    assert (await store.read(views.turn_view, bob, TurnId(turn["turn"])))["answer_text"] == "echo: hello"
    with pytest.raises(DeniedError):
        await kai.daemon.door.stop(bob, TurnId(turn["turn"]))
    with pytest.raises(DeniedError):
        await kai.daemon.door.context(bob, TurnId(turn["turn"]))


async def test_a_shared_channel_carries_nothing_private(kai: Kai) -> None:
    bob = await bob_of(kai)
    turn = await kai.ask("hello", thread="garden")
    from kai.store import channels

    assert bob.principal is not None
    store, now = kai.daemon.parts.store, kai.daemon.parts.clock.now()
    await store.write(channels.join, ChannelId(turn["channel"]), bob.principal, now)
    shared = await kai.ask("and now, @/etc/hostname?", thread="garden")
    text = (await kai.client.context(shared["turn"]))["text"]
    assert "unavailable in shared channels" in text
    assert "preferences" not in text.lower().split("[agent:")[0]
    assert "MEMORY.md" not in text
    assert "@\u200b/etc/hostname" in text
    assert shared["dispatches"][0]["session"] != turn["dispatches"][0]["session"]


async def test_a_file_is_shown_to_whom_it_was_said(kai: Kai) -> None:
    stored = await kai.client.attach(b"bytes", "a.txt", "text/plain")
    assert await kai.client.attachment(stored["ref"]) == b"bytes"
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        with pytest.raises(ApiError):
            await bob.attachment(stored["ref"])


async def test_nobody_but_an_operator_sees_what_others_do(kai: Kai) -> None:
    bob, door = await bob_of(kai), kai.daemon.door
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    seen = await door.status(bob)
    assert (seen["running"], seen["sessions"], seen["counts"]) == ([], [], {})
    for refused in (door.doctor(bob), door.check_backend(bob, "fake")):
        with pytest.raises(DeniedError):
            await refused
    await kai.client.stop(running.turn or "")


@pytest.mark.parametrize("name", ["a/b", "../..", "x" * 300, "a\u202eb", " "])
async def test_a_name_that_could_be_taken_for_something_else_is_refused(kai: Kai, name: str) -> None:
    with pytest.raises(ApiError) as caught:
        await kai.client.add_person(name)
    assert caught.value.field == "name"
    assert len(await kai.client.people()) == 1


async def test_a_zone_that_is_none_is_refused(kai: Kai) -> None:
    (person,) = await kai.client.people()
    with pytest.raises(ApiError) as caught:
        await kai.client.change_person(person["principal"], {"zone": "Mars/X"})
    assert caught.value.field == "zone"


async def test_a_person_gets_no_os_user_that_the_machine_does_not_have(kai: Kai) -> None:
    with pytest.raises(ApiError) as caught:
        await kai.client.add_person("Eve", "nosuchuser")
    assert (caught.value.status, caught.value.field) == (422, "os_user")
    assert "no user 'nosuchuser'" in caught.value.sentence
    with pytest.raises(ApiError) as caught:
        await kai.client.add_person("Eve", "daemon")
    assert "a user of the system's" in caught.value.sentence
    eve = await kai.client.add_person("Eve")
    for name in ("nosuchuser", "", "\0"):
        with pytest.raises(ApiError) as caught:
            await kai.client.change_person(eve["principal"], {"os_user": name})
        assert caught.value.field == "os_user"
    own = kai.daemon.door._checks.own_user
    assert (await kai.client.change_person(eve["principal"], {"os_user": own}))["os_user"] == own


async def test_who_joins_later_reads_nothing_of_before_and_the_others_all(kai: Kai) -> None:
    bob, read = await bob_of(kai), kai.daemon.parts.store.read
    me = (await kai.client.people())[0]["name"]
    room = ChannelId((await kai.client.add_channel("kitchen", members=[me]))["channel"])
    await kai.client.bind(room, "terminal", "shell", "kitchen")
    await kai.ask("a quince, before", thread="kitchen")
    await kai.client.member(room, "Bob")
    await kai.ask("a quince, after", thread="kitchen")

    async def said(caller: Caller) -> list[list[str]]:
        shown = await read(views.history, caller, room, None, 1), await read(views.history, caller, room, None, 50)
        every = [*shown, await read(views.found, caller, room, "quince", 50)]
        return [sorted({one["text"] for one in rows if one["author"] == "person"}) for rows in every]

    own = (await kai.client.people())[0]["principal"]
    mine = Caller(PrincipalId(own), "terminal", operator=False, os_user="me")
    assert (await said(bob))[1:] == [["a quince, after"]] * 2
    assert (await said(mine))[1:] == [["a quince, after", "a quince, before"]] * 2
