"""The contract of every backend, clause by clause, on the real CLIs behind a whole daemon: what a person gets."""

import base64
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

import anyio
import pytest
from anyio import to_thread

from kai.model.turns import DeliveryKind
from tests.real.agents import CLAUDE, CLAUDE_ACP, CODEX, COPILOT, GEMINI, HERMES, PI, RealAgent
from tests.real.talking import Talk, talk
from tests.real.test_failing import GOES_ON, KNOWN
from tests.stub_model import StubModel

pytestmark = pytest.mark.anyio
clause = pytest.mark.clause
Record = Callable[[str, object], None]

QUIET_S = 10  # what kai waits for a sign of life here; 180 s by default
LIMITS = f"limits: {{first_output_s: {QUIET_S}, silence_s: {QUIET_S}}}\n"
TELL_RESETS = (CLAUDE, CLAUDE_ACP, CODEX, COPILOT, PI)


def word(agent: RealAgent, name: str, value: str) -> str:
    return f"STUB:{name}={value};;" if agent.has_model else {"slow": f"slow {value}", "say": f"echo {value}"}[name]


@clause("second message")
async def test_a_second_message_waits_for_the_first_and_has_an_answer_of_its_own(
    agent: RealAgent, model: StubModel
) -> None:
    async with talk(agent, model) as person:
        first = await person.say(word(agent, "slow", "8"))
        second = await person.say(word(agent, "say", "the second"))
        assert second.queued_before == 1
        turns = [await person.ended(one) for one in (first, second)]
        assert [turn["state"] for turn in turns] == ["done", "done"]
        assert "second" not in turns[0]["answer_text"]
        assert turns[1]["answer_text"].strip() == "the second"
        assert turns[0]["ended_at"] <= turns[1]["started_at"]
        assert len({turn["dispatches"][0]["session"] for turn in turns}) == 1


@clause("question expired")
async def test_a_question_that_nobody_answers_is_denied_and_the_turn_goes_on(
    agent: RealAgent, model: StubModel
) -> None:
    async with talk(agent, model, "permissions: ask\nlimits: {ask_s: 3}\n") as person:
        (home,) = (person.household.root / "state/homes").iterdir()
        made = home / "made.txt"
        turn = await person.ask(f"STUB:write={made};;" if agent.has_model else "ask")
        assert turn["state"] == "done"
        assert not made.exists()
        kinds = [one.kind for one in person.owed]
        assert DeliveryKind.QUESTION in kinds
        assert any("Nobody answered" in one.text for one in person.owed)
        after = await person.ask(word(agent, "say", "and on"))
        assert after["answer_text"].strip() == "and on"


@clause("poisoned message", needs="model")
async def test_what_the_provider_refuses_poisons_no_later_turn(agent: RealAgent, model: StubModel) -> None:
    manifest = await to_thread.run_sync(lambda: agent.manifest)
    image = b"\x89PNG\r\n\x1a\n" + b"no image " * 40
    async with talk(agent, model, LIMITS) as person:

        async def poison(thread: str, message: str, attachments: tuple[str, ...]) -> None:
            assert (await person.ask("STUB:say=well;;", thread))["state"] == "done"
            refused = await person.ended(await person.say(message, thread, attachments))
            assert refused["state"] == "failed", refused
            after = await person.ask("STUB:say=fine;;", thread)
            assert (after["state"], after["answer_text"].strip()) == ("done", "fine")
            sent = [one for one in model.turns() if one.places("STUB:say=fine;;")]
            assert not sent[-1].places(base64.b64encode(image).decode()[:200]), "the refused image is not sent again"

        stored: tuple[str, ...] = ()
        if manifest.can.images:
            stored = ((await person.client.attach(image, "broken.png", "image/png"))["ref"],)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(poison, "too much", "STUB:err=413", ())
            tasks.start_soon(poison, "refused", "STUB:refuse", stored)


async def fate(person: Talk, name: str, text: str, record: Record) -> tuple[str, str]:
    """How a message fares: the kind of its failure, or "held", and the sentence that the person gets."""
    began = time.monotonic()
    accepted = await person.say(text, name)
    said = await person.told(accepted)
    seconds = round(time.monotonic() - began, 1)
    turn = await person.client.turn(accepted.turn or "")
    kind = turn["failure"] or turn["state"]
    record("fate", {"trouble": name, "kind": kind, "seconds": seconds, "sentence": said})
    if turn["state"] == "held":
        await person.client.stop(accepted.turn or "")
    return kind, said


def fits(agent: RealAgent, kind: str, *kinds: str) -> bool:
    """Agents that try again for minutes without a word are ended by kai's own limit: it can say no more than that."""
    return kind in kinds or (kind == "silent" and (agent not in KNOWN or agent is GEMINI))


@clause("held model, told", needs="model")
async def test_a_held_model_request_is_told(agent: RealAgent, model: StubModel, record_property: Record) -> None:
    async with talk(agent, model, LIMITS) as person:
        kind, said = await fate(person, "held request", "STUB:hang", record_property)
    assert kind == "silent"
    assert f"{QUIET_S} s" in said


@clause("401, told", needs="model")
async def test_a_login_that_is_refused_is_told(agent: RealAgent, model: StubModel, record_property: Record) -> None:
    async with talk(agent, model, LIMITS) as person:
        kind, said = await fate(person, "401", "STUB:err=401", record_property)
    assert kind == "login"
    assert "backend login" in said


@clause("429 with reset, told", needs="model")
async def test_a_usage_limit_holds_the_turn_until_it_resets(
    agent: RealAgent, model: StubModel, record_property: Record
) -> None:
    resets_at = int(time.time()) + 3600
    async with talk(agent, model, LIMITS, is_subscribed=True) as person:
        kind, said = await fate(person, "429 with reset", f"STUB:limit={resets_at}", record_property)
    assert fits(agent, kind, "held")
    if agent in TELL_RESETS:
        told = re.search(r"held until (\S+ \S+) UTC", said)
        assert told
        at = datetime.strptime(told[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        assert abs(at.timestamp() - resets_at) < 150, "some tell a span from when they were asked"


@clause("cut stream, told", needs="model")
async def test_a_stream_that_is_cut_is_told(agent: RealAgent, model: StubModel, record_property: Record) -> None:
    if agent is HERMES:
        pytest.skip(GOES_ON)
    async with talk(agent, model, LIMITS) as person:
        kind, _ = await fate(person, "cut stream", "STUB:drop", record_property)
    assert fits(agent, kind, "provider", "empty")


@clause("refused connection, told", needs="model")
async def test_a_connection_that_is_refused_is_told(
    agent: RealAgent, model: StubModel, dead_url: str, record_property: Record
) -> None:
    async with talk(agent, model, LIMITS, url=dead_url) as person:
        kind, _ = await fate(person, "refused connection", "hello", record_property)
    assert fits(agent, kind, "provider")
