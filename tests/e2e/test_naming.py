"""What a person types for a thing: the beginning of its id."""

import pytest

from kai.client import Client
from kai.model.errors import ApiError
from kai.model.people import Preference
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_a_turn_a_channel_and_a_person_are_found_by_the_beginning_of_their_ids(kai: Kai) -> None:
    turn = await kai.ask("hello")
    short = turn["turn"][:8]
    assert (await kai.client.turn(short))["turn"] == turn["turn"]
    assert (await kai.client.context(short))["text"].endswith("hello")
    assert (await kai.client.verify(short))["ok"]
    assert (await kai.client.diff(short, turn["turn"])) is not None
    assert (await kai.client.retry(short))["message"] == turn["message"]
    assert (await kai.client.channel(turn["channel"][:8]))["channel"] == turn["channel"]
    assert (await kai.client.history(turn["channel"][:8]))[0]["text"] == "hello"
    assert (await kai.client.person(turn["principal"][:8]))["principal"] == turn["principal"]


async def test_what_is_another_persons_is_not_found_by_its_beginning(kai: Kai) -> None:
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        bobs = await kai.end(await kai.say("hi", client=bob, external_id="b"))
    assert (await kai.client.turn(bobs["turn"][:8]))["turn"] == bobs["turn"], "this caller is an operator"
    with pytest.raises(ApiError) as caught:
        await kai.client.turn(bobs["turn"][:2] + "zz")
    assert caught.value.status == 404


async def test_a_choice_of_nothing_says_what_is_in_use_and_changes_nothing(kai: Kai) -> None:
    await kai.client.use(Preference(model="model-7", effort="high"))
    said = (await kai.client.use(Preference()))["sentence"]
    assert said.startswith("In use: Fake agent (stream_json)")
    assert "model-7" in said
    assert "effort high" in said
    running = await kai.say("FAKE:slow=100")
    await kai.until(running, "text")
    assert (await kai.client.use(Preference()))["sentence"] == said, "also while a turn runs"
    await kai.client.stop(running.turn or "")
