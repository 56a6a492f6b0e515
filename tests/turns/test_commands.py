"""The slash commands, the same on every bridge."""

import shutil
from pathlib import Path

import pytest

from kai.model.errors import ApiError
from kai.model.people import Preference
from kai.turns.control import COMMANDS
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def reply(kai: Kai, text: str) -> str:
    said = await kai.say(text)
    assert said.turn is None
    return said.reply


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"retry"}))
async def test_every_command_answers_in_words_and_sends_nothing_to_an_agent(kai: Kai, name: str) -> None:
    assert (await reply(kai, f"/{name}")).strip()
    assert await kai.client.turns() == []
    (delivery,) = await kai.deliveries(1)
    assert delivery.text.strip()


async def test_a_command_is_done_once(kai: Kai) -> None:
    first = await kai.say("/backend fake-acp", external_id="once")
    await kai.say("/backend fake")
    again = await kai.say("/backend fake-acp", external_id="once")
    assert (again.duplicate, again.message) == (True, first.message)
    assert "Fake agent (stream_json)" in await reply(kai, "/backend")


async def test_help_names_what_passes_on_to_the_backend(kai: Kai) -> None:
    assert "/compact" in await reply(kai, "/help")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/backend clauda", "'claude'"),
        ("/agent hose", "'house'"),
        ("/workspace nowhere", "no workspace"),
        ("/model --dangerous", "model"),
    ],
)
async def test_a_wrong_name_is_told_with_the_nearest_and_changes_nothing(kai: Kai, text: str, expected: str) -> None:
    before = await reply(kai, "/status")
    assert expected in await reply(kai, text)
    assert await reply(kai, "/status") == before
    assert (await kai.ask("still works"))["state"] == "done"


@pytest.mark.parametrize(
    ("gone", "named", "mend"),
    [
        (Preference(backend="fake-acp"), "backend 'fake-acp'", "/backend -"),
        (Preference(workspace="attic"), "workspace 'attic'", "/workspace -"),
        (Preference(agent="cook"), "agent definition 'cook'", "/agent -"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_choice_that_left_the_configuration_is_named_with_its_mend_wherever_it_is_in_the_way(
    tmp_path: Path, gone: Preference, named: str, mend: str
) -> None:
    house = House(tmp_path, workspaces=f"attic: {{path: {tmp_path}}}\n")
    (house.folders.config / "agents").mkdir()
    (house.folders.config / "agents" / "cook.yaml").write_text("purpose: cooks\n")
    async with house.open() as kai:
        await kai.client.use(gone)
        (house.folders.config / "agents" / "cook.yaml").unlink()
        (house.folders.config / "workspaces.yaml").unlink()
        shutil.rmtree(house.folders.config / "backends" / "fake-acp")
        assert (await kai.client.reload())["loaded"]
        for command in ("/help", "/status", "/backend", "/model", "/workspace", "/agent"):
            said = await reply(kai, command)
            assert named in said, command
            assert mend in said, command
        assert "/remember" in await reply(kai, "/help")
        turn = await kai.ask("hello")
        assert (turn["state"], turn["failure"]) == ("failed", "choice")
        assert named in turn["reason"]
        assert mend in turn["reason"]
        with pytest.raises(ApiError) as caught:
            await kai.client.preview("hello")
        assert (caught.value.status, mend in caught.value.hint) == (409, True)
        assert named not in await reply(kai, mend)
        assert (await kai.ask("again"))["state"] == "done"


async def test_what_is_kept_is_said_even_where_another_choice_is_gone(tmp_path: Path) -> None:
    house = House(tmp_path, workspaces=f"attic: {{path: {tmp_path}}}\n")
    async with house.open() as kai:
        await reply(kai, "/workspace attic")
        (house.folders.config / "workspaces.yaml").unlink()
        await kai.client.reload()
        said = await reply(kai, "/backend fake-acp")
        assert said.startswith("This is kept.")
        assert "/workspace -" in said
        await reply(kai, "/workspace -")
        assert (await kai.ask("hello"))["backend"] == "fake-acp"


@pytest.mark.parametrize("backend", ["fake", "fake-acp"])
async def test_a_mistyped_command_is_asked_about_and_does_not_reach_the_agent(tmp_path: Path, backend: str) -> None:
    async with House(tmp_path, backend=backend).open() as kai:
        said = await kai.say("/hlep me", external_id="once")
        assert (said.turn, "/help" in said.reply, "'//'" in said.reply) == (None, True, True)
        assert said.message  # it is kept
        assert (await kai.say("/hlep me", external_id="once")).duplicate
        (asked,) = await kai.deliveries(1)
        assert asked.text == said.reply
        assert await kai.client.turns() == []
        assert (await kai.ask("//hlep me"))["state"] == "done"
        assert (await kai.ask("/whatever else"))["state"] == "done"


async def test_a_word_that_the_backend_owns_is_its_own_however_near(tmp_path: Path) -> None:
    house = House(tmp_path)
    manifest = house.folders.config / "backends" / "fake" / "backend.yaml"
    manifest.write_text(manifest.read_text().replace("[compact]", "[compact, models]"))
    async with house.open() as kai:
        assert (await kai.ask("/models"))["state"] == "done"
        await reply(kai, "/backend fake-acp")
        assert "/model?" in await reply(kai, "/models")


async def test_a_wrong_name_is_told_with_all_that_are_known_the_nearest_first(kai: Kai) -> None:
    assert "'house'? Known: house" in await reply(kai, "/agent hose")
    said = await reply(kai, "/backend geminy")
    assert "Known: gemini, claude" in said


async def test_a_switch_during_a_turn_is_refused(kai: Kai) -> None:
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    assert "still running" in await reply(kai, "/backend fake-acp")
    with pytest.raises(ApiError) as caught:
        await kai.client.use(Preference(backend="fake-acp"))
    assert caught.value.status == 409
    await kai.client.stop(running.turn or "")
    assert (await kai.ask("after"))["backend"] == "fake"


async def test_use_waits_for_the_running_turn_when_asked(kai: Kai) -> None:
    running = await kai.say("FAKE:slow=20,0.02")
    await kai.until(running, "text")
    changed = await kai.client.use(Preference(backend="fake-acp"), wait=True)
    assert "Fake agent (acp)" in changed["sentence"]
    assert (await kai.client.turn(running.turn or ""))["state"] == "done"
    assert (await kai.ask("after"))["backend"] == "fake-acp"


async def test_use_that_waited_too_long_is_refused_like_one_that_does_not_wait(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kai.turns.checks.WAIT_S", 0.05)
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    with pytest.raises(ApiError) as caught:
        await kai.client.use(Preference(backend="fake-acp"), wait=True)
    assert (caught.value.status, str(running.turn) in caught.value.sentence) == (409, True)
    await kai.client.stop(running.turn or "")


async def test_a_choice_is_taken_back_with_a_dash(kai: Kai) -> None:
    await reply(kai, "/backend fake-acp")
    await reply(kai, "/backend -")
    assert (await kai.ask("hello"))["backend"] == "fake"


async def test_a_choice_outlives_the_daemon(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        await reply(kai, "/backend fake-acp model-7")
    async with house.open() as kai:
        turn = await kai.ask("hello", external_id="later")
        assert (turn["backend"], turn["model"]) == ("fake-acp", "model-7")


async def test_retry_runs_the_last_turn_again_only_when_it_did_not_end_well(kai: Kai) -> None:
    await kai.ask("fine")
    assert "ended well" in await reply(kai, "/retry")
    broken = await kai.ask("FAKE:die=1")
    assert broken["state"] == "failed"
    retried = await kai.say("/retry")
    again = (await kai.client.turns())[0]
    assert retried.turn == again["turn"]  # so that a chat can show it live
    assert again["retry_of"] == broken["turn"]
    assert again["message"] == broken["message"]


async def test_status_and_stop_say_when_nothing_runs(kai: Kai) -> None:
    assert "Nothing is running" in await reply(kai, "/stop")
    assert "Nothing is running" in await reply(kai, "/status")


@pytest.mark.parametrize("choice", [Preference(agent="nosuch"), Preference(workspace="nosuch"), Preference(model="-x")])
async def test_a_choice_that_is_refused_is_not_kept(kai: Kai, choice: Preference) -> None:
    with pytest.raises(ApiError):
        await kai.client.use(choice)
    assert (await kai.ask("hello"))["state"] == "done"


async def test_retry_does_not_overfill_the_lane(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="queue: {per_channel: 1}").open() as kai:
        ended = await kai.ask("FAKE:die=1")
        running = await kai.say("FAKE:slow=500,0.02")
        await kai.until(running, "text")
        await kai.say("waits")
        with pytest.raises(ApiError):
            await kai.client.retry(ended["turn"])
        await kai.client.stop(running.turn or "")


async def test_context_says_in_the_chat_what_went_before_the_last_message(kai: Kai) -> None:
    assert "yet" in (await kai.say("/context")).reply
    turn = await kai.ask("hello")
    reply = (await kai.say("/context")).reply
    sections = (await kai.client.context(turn["turn"]))["sections"]
    assert [line.split(":")[0] for line in reply.splitlines()[1:-1]] == [f"- {one['name']}" for one in sections]
    assert reply.endswith(f"context show {turn['turn']}")
