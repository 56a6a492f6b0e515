"""Delegated work and temporary talk with the real CLIs."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread

from kai.model.people import Preference
from tests.real.agents import CLAUDE, CODEX, PI, RealAgent
from tests.real.talking import talk
from tests.real.test_tools import _newest, asked
from tests.stub_model import StubModel

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("agent", [CLAUDE, CODEX, PI], ids=lambda agent: agent.backend)
async def test_what_another_definition_finds_is_in_the_next_request_of_who_asked(
    agent: RealAgent, model: StubModel
) -> None:
    if not agent.is_installed:
        pytest.skip(f"{agent.program} is not installed: run scripts/install-agents")
    async with talk(agent, model, "permissions: bypass\n") as person:
        turn = await person.ask(asked(agent, "delegate", task="count the quinces", agent="research"))
        assert turn["state"] == "done", turn
        (child,) = [one for one in await person.client.turns() if one["delegated"]]
        assert (child["state"], child["backend"]) == ("done", agent.backend)
        found = (await person.client.turn(child["turn"]))["answer_text"]
        assert found
        newest = _newest(model)
        assert '"state":"done"' in newest
        assert '"agent":"research"' in newest
        block = (await person.client.context(child["turn"]))["text"]
        assert block.endswith("count the quinces")
        assert any(request.places("the agent house hands you (research)") for request in model.turns())


@pytest.mark.clause("temporary", needs="temporary model")
async def test_a_temporary_talk_leaves_no_word_with_the_agent_or_with_kai(agent: RealAgent, model: StubModel) -> None:
    async with talk(agent, model) as person:
        await person.client.use(Preference(), temporary="on")
        accepted = await person.say("STUB:say=the word is pomegranate;;")
        turn = await person.ended(accepted)
        assert (turn["state"], turn["temporary"]) == ("done", True)
        assert "pomegranate" in await person.told(accepted)
        await person.client.use(Preference(), temporary="off")
        with anyio.fail_after(20):
            while (await person.client.turn(turn["turn"]))["text"]:
                await anyio.lowlevel.checkpoint()
        home = person.household.home
        assert await to_thread.run_sync(_holding, home, b"pomegranate") == []
        after = await person.ask("STUB:say=hello again;;")
        assert "pomegranate" not in (await person.client.context(after["turn"]))["text"]
        assert not model.turns()[-1].places("pomegranate")


def _holding(root: Path, word: bytes) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file() and word in path.read_bytes()]
