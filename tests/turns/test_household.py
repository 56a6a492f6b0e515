"""People and shared channels, changed through the door on a single-user kai."""

import pytest

from kai.client import Client
from kai.model.errors import ApiError
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_a_shared_channel_has_a_home_and_no_preferences_of_its_own(kai: Kai) -> None:
    await kai.client.add_person("Ann")
    family = await kai.client.add_channel("family", members=["Ann"])
    assert (family["kind"], family["member_names"], family["os_user"]) == ("shared", ["Ann"], "")
    state = kai.house.folders.state
    assert (state / "homes" / family["channel"] / "AGENTS.md").read_text().startswith("# ")
    assert not (state / "preferences" / family["channel"]).exists()


async def test_two_people_talk_in_a_shared_channel_and_one_who_left_does_not(kai: Kai) -> None:
    for name in ("Ann", "Bob"):
        await kai.client.add_person(name)
    await kai.client.add_channel("family", members=["Ann", "Bob"])
    async with Client(kai.daemon.socket, as_person="Ann") as ann, Client(kai.daemon.socket, as_person="Bob") as bob:
        first = await kai.ask("the pump is loud", thread="family", client=ann)
        second = await kai.ask("and now?", thread="family", client=bob)
        assert first["channel"] == second["channel"]
        assert first["dispatches"][0]["session"] == second["dispatches"][0]["session"]
        assert "from Bob" in (await bob.context(second["turn"]))["text"]
        assert [one["title"] for one in await bob.channels()] == ["family"]
        assert (await kai.client.member("family", "Bob", present=False))["member_names"] == ["Ann"]
        with pytest.raises(ApiError):
            await kai.say("still here?", thread="family", client=bob)


async def test_a_group_chat_leads_to_the_channel_that_it_is_bound_to(kai: Kai) -> None:
    made = await kai.client.add_channel("club", members=[])
    await kai.client.bind("club", "telegram", "-100", "7")
    bound = await kai.daemon.parts.store.read(lambda db: _address(db, "telegram", "-100", "7"))
    assert bound == made["channel"]


def _address(db: object, bridge: str, chat: str, thread: str) -> str:
    from kai.store import channels

    found = channels.address(db, bridge, chat, thread)  # type: ignore[arg-type]
    return found.channel if found else ""


@pytest.mark.parametrize(
    ("title", "members", "why"),
    [("a/b", [], "is no name"), ("family", ["Nobody"], "no person"), ("FAMILY", [], "shared channel 'FAMILY' already")],
)
async def test_a_shared_channel_that_cannot_be_is_refused(kai: Kai, title: str, members: list[str], why: str) -> None:
    if title == "FAMILY":
        await kai.client.add_channel("family")
    with pytest.raises(ApiError) as caught:
        await kai.client.add_channel(title, members=members)
    assert why in caught.value.sentence


async def test_a_title_and_the_seat_are_changed_by_operators_and_only_of_shared_channels(kai: Kai) -> None:
    await kai.client.add_channel("family")
    assert (await kai.client.change_channel("family", {"title": "house"}))["title"] == "house"
    private = (await kai.ask("hello"))["channel"]
    for change in ({"title": "mine"}, {"os_user": ""}):
        with pytest.raises(ApiError) as caught:
            await kai.client.change_channel(private, change)
        assert "own conversation" in caught.value.sentence


async def test_an_operator_who_is_nobody_chooses_for_a_shared_channel(kai: Kai) -> None:
    from kai.model.people import Preference
    from kai.turns.door import Caller

    await kai.client.add_person("Ann")
    family = await kai.client.add_channel("family", members=["Ann"])
    nobody = Caller(None, "terminal", operator=True, os_user="root")
    chosen = await kai.daemon.door.use(nobody, family["channel"], Preference(backend="fake-acp"))
    assert "Fake agent (acp)" in chosen["sentence"]
