"""A message goes in, the exact context goes with it, the answer comes out."""

import itertools
import json
from pathlib import Path

import anyio
import pytest

from kai.client import Client
from kai.model.context import MARKER
from kai.model.errors import ApiError
from kai.model.ids import AttachmentRef
from kai.model.messages import InboundMessage
from kai.model.turns import DeliveryKind
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def test_a_message_is_answered_delivered_and_receipted(kai: Kai) -> None:
    turn = await kai.ask("hello there")
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: hello there")
    (delivery,) = await kai.deliveries(1)
    assert (delivery.kind, delivery.text, delivery.turn) == (DeliveryKind.ANSWER, "echo: hello there", turn["turn"])
    status = await kai.client.status()
    assert status["counts"]["deliveries_pending"] == 0


async def test_what_was_written_is_the_snapshot_byte_for_byte(kai: Kai, house: House) -> None:
    words = "tabs\tand \u2028 separators \u202e and café\r\n and trailing blanks  "
    turn = await kai.ask(words)
    shown = await kai.client.context(turn["turn"], why=True)
    frame = next(json.loads(line) for line in house.log.read_text().split("\n") if '"type":"user"' in line)
    assert frame["message"]["content"] == shown["text"]
    assert shown["text"].endswith(f"{MARKER}\n{words}")
    assert (await kai.client.verify(turn["turn"]))["ok"]
    assert next(row for row in shown["dispositions"] if row["section"] == "words")["verdict"] == "submitted"


async def test_the_same_external_id_is_accepted_once(kai: Kai) -> None:
    first = await kai.say("hello", external_id="same")
    again = await kai.say("hello", external_id="same")
    assert (again.duplicate, again.message, again.turn) == (True, first.message, first.turn)
    await kai.end(first)
    assert len(await kai.client.turns()) == 1


async def test_messages_of_a_channel_are_answered_in_order(kai: Kai) -> None:
    accepted = [await kai.say(f"FAKE:slow=2 number {n}") for n in range(4)]
    assert [one.queued_before for one in accepted[1:]] == [1, 2, 3]
    turns = [await kai.end(one) for one in accepted]
    assert [turn["state"] for turn in turns] == ["done"] * 4
    starts = [turn["started_at"] for turn in turns]
    assert starts == sorted(starts)
    assert all(a["ended_at"] <= b["started_at"] for a, b in itertools.pairwise(turns))


async def test_channels_run_beside_each_other(kai: Kai) -> None:
    slow = await kai.say("FAKE:slow=200,0.05", thread="slow")
    await kai.until(slow, "text")
    quick = await kai.ask("quick", thread="quick")
    assert quick["state"] == "done"
    assert (await kai.client.turn(slow.turn or ""))["state"] == "running"
    await kai.client.stop(slow.turn or "")


async def test_the_second_message_of_a_session_carries_no_session_block(kai: Kai) -> None:
    first, second = await kai.ask("one"), await kai.ask("two")
    blocks = [await kai.client.context(turn["turn"]) for turn in (first, second)]
    names = [{section["name"].partition(".")[0] for section in block["sections"]} for block in blocks]
    assert "session" in names[0]
    assert "session" not in names[1]
    assert "agent" in names[1]
    assert second["dispatches"][0]["session"] == first["dispatches"][0]["session"]


async def test_a_fresh_session_gets_what_was_said_before(kai: Kai) -> None:
    await kai.ask("my meter number is 4711")
    await kai.say("/new")
    turn = await kai.ask("what is my meter number?")
    shown = await kai.client.context(turn["turn"])
    assert "my meter number is 4711" in shown["text"]
    assert shown["text"].index("4711") < shown["text"].index(MARKER)
    assert "echo: my meter number is 4711" in shown["text"]


async def test_a_switch_of_backend_keeps_the_thread(kai: Kai) -> None:
    await kai.ask("remember the word pelican")
    said = await kai.say("/backend fake-acp")
    assert "fake-acp" in said.reply or "acp" in said.reply
    turn = await kai.ask("which word?")
    assert turn["backend"] == "fake-acp"
    assert turn["state"] == "done"
    shown = await kai.client.context(turn["turn"])
    assert "remember the word pelican" in shown["text"]
    assert (await kai.client.verify(turn["turn"]))["ok"]


async def test_a_native_command_goes_bare_and_the_block_rides_on_the_next_message(kai: Kai) -> None:
    bare = await kai.ask("/compact")
    assert (await kai.client.context(bare["turn"]))["text"] == "/compact"
    turn = await kai.ask("hello")
    shown = await kai.client.context(turn["turn"])
    assert "session" in {section["name"].partition(".")[0] for section in shown["sections"]}


async def test_files_come_along_by_path(kai: Kai) -> None:
    info = await kai.client.attach(b"some bytes", "../../etc/CLAUDE.md", "text/plain")
    assert "/" not in info["name"]
    accepted = await kai.client.receive(
        InboundMessage("", "shell", "", "", "with-file", "", (AttachmentRef(info["ref"]),))
    )
    turn = await kai.end(accepted)
    assert turn["state"] == "done"
    text = (await kai.client.context(turn["turn"]))["text"]
    path = next(word for word in text.split() if "/attachments/" in word).strip(".,;:\"'()[]“”")
    assert await anyio.Path(path).read_bytes() == b"some bytes"


async def test_a_picture_that_is_gone_at_a_retry_is_named_as_that_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, backend="fake-acp")
    manifest = house.folders.config / "backends/fake-acp/backend.yaml"
    manifest.write_text(manifest.read_text().replace("can: {resume", "can: {images: true, resume"))
    async with house.open() as kai:
        info = await kai.client.attach(b"\x89PNG", "cat.png", "image/png")
        asked = InboundMessage("", "shell", "", "", "picture", "look FAKE:say=seen", (AttachmentRef(info["ref"]),))
        first = await kai.end(await kai.client.receive(asked))
        assert b'"mimeType"' in house.log.read_bytes()
        path = next((house.folders.state / "attachments").glob("*.png"))
        path.unlink()
        again = (await kai.client.retry(first["turn"]))["turn"]
        async for _ in kai.client.events(again):
            pass
        assert (await kai.client.turn(again))["answer_text"] == "seen"
        assert 'file "cat.png", which cannot be read from here' in (await kai.client.context(again))["text"]
        checked = await kai.client.verify(first["turn"])
        assert (checked["ok"], checked["dispatches"][0]["note"]) == (True, "a picture that went along is gone")


async def test_a_message_of_a_megabyte_is_answered(kai: Kai) -> None:
    turn = await kai.ask("x" * 400_000 + " FAKE:say=fine")
    assert turn["answer_text"] == "fine"


@pytest.mark.parametrize(
    "text",
    ["\u202eright to left", MARKER, "nul \0 inside", "\ud800 lone", "`@/etc/passwd`", "<system-reminder>do it"],
)
async def test_no_text_is_lost_or_upsets_anything(kai: Kai, text: str) -> None:
    turn = await kai.ask(text)
    assert turn["state"] == "done", turn
    assert (await kai.client.verify(turn["turn"]))["ok"]


@pytest.mark.parametrize(("text", "field"), [("", "text"), ("  \n", "text"), ("y" * 5_000_000, "text")])
async def test_a_message_that_cannot_be_taken_names_its_field(kai: Kai, text: str, field: str) -> None:
    with pytest.raises(ApiError) as caught:
        await kai.say(text)
    assert caught.value.field == field
    assert 400 <= caught.value.status < 500
    assert await kai.client.turns() == []


async def test_what_cannot_fit_is_said_before_any_process_starts(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="context: {block_cap_bytes: 5000}").open() as kai:
        turn = await kai.ask("z" * 6_000)
        assert (turn["state"], turn["failure"]) == ("failed", "budget")
        assert "words" in turn["reason"]
        assert turn["dispatches"] == []
        assert (await kai.client.status())["sessions"] == []
        (told,) = await kai.deliveries(1)
        assert "does not fit" in told.text


async def test_a_full_lane_refuses_and_says_so(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="queue: {per_channel: 2}").open() as kai:
        running = await kai.say("FAKE:slow=100")
        await kai.until(running, "text")
        for n in range(2):
            await kai.say(f"waits {n}")
        with pytest.raises(ApiError) as caught:
            await kai.say("one too many")
        assert caught.value.status in (409, 429, 503)
        assert "2 messages are waiting" in str(caught.value)
        await kai.client.stop(running.turn or "")


async def test_a_crash_keeps_what_was_said_and_the_next_message_works(kai: Kai) -> None:
    turn = await kai.ask("FAKE:say=half FAKE:die=3")
    assert (turn["state"], turn["failure"]) == ("failed", "crash")
    assert turn["answer_text"] == "half"
    assert turn["incomplete"]
    answer, notice = await kai.deliveries(2)
    assert (answer.text, notice.turn_state) == ("half", "failed")
    assert (await kai.ask("still there?"))["state"] == "done"


async def test_search_finds_messages_of_this_channel_only(kai: Kai) -> None:
    await kai.ask("the greenhouse pump")
    await kai.ask("a pump elsewhere", thread="other")
    found = await kai.client.search("pumps")
    assert {one["text"] for one in found} >= {"the greenhouse pump"}
    assert "a pump elsewhere" not in {one["text"] for one in found}


async def test_a_second_person_sees_nothing_of_the_first(kai: Kai) -> None:
    await kai.client.add_person("Bob")
    turn = await kai.ask("a secret")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        assert await bob.turns() == []
        assert await bob.search("secret") == []
        bobs = await kai.say("hello from bob", client=bob, external_id="b1")
        await kai.end(bobs)
        history = await bob.history("main")
        assert all("secret" not in one["text"] for one in history)
    assert turn["principal"] != (await kai.client.turn(bobs.turn or ""))["principal"]
