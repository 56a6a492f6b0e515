"""kai's own tools with the real CLIs: the model asks for one, it runs, its answer is in the model's next request."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from kai.model.people import Preference
from kai.model.turns import Delivery, DeliveryKind
from tests.real.agents import CLAUDE, CLAUDE_ACP, CODEX, GEMINI, HERMES, OPENCODE, RealAgent
from tests.real.driving import until
from tests.real.talking import LIMIT_S, Talk, talk
from tests.stub_model import StubModel

pytestmark = pytest.mark.anyio
FACT = "the bins go out on Monday"
# What each CLI makes of the tool of an MCP server. Codex has them in the code that it lets the model write.
NAMES = {CLAUDE: "mcp__kai__{}", CLAUDE_ACP: "mcp__kai__{}", GEMINI: "mcp_kai_{}", OPENCODE: "kai_{}"}


def asked(agent: RealAgent, tool: str, /, **arguments: Any) -> str:
    """Words that make the model ask for the tool: over MCP where the CLI has that, else as a command."""
    given = json.dumps(arguments)
    if agent is CODEX:
        code = json.dumps({"freeform": f"text(JSON.stringify(await tools.mcp__kai__{tool}({given})))"})
        return f"STUB:tool=functions/exec {code};;"
    if agent in NAMES:
        return f"STUB:tool={NAMES[agent].format(tool)} {given};;"
    options = " ".join(f"--{name} '{value}'" for name, value in arguments.items())
    # Hermes looks for programs where a login does.
    kai = f"{Path(sys.executable).parent}/kai" if agent is HERMES else "kai"
    return f"STUB:bash={kai} tool {tool} {options};;"


async def questions(person: Talk) -> list[Delivery]:
    return [one for one in person.owed if one.kind is DeliveryKind.QUESTION]


@pytest.mark.clause("kai's tools", needs="model")
async def test_what_looks_runs_unasked_what_changes_asks_and_the_receipt_is_in_the_next_request(
    agent: RealAgent, model: StubModel
) -> None:
    over_mcp = (await to_thread.run_sync(lambda: agent.manifest)).can.mcp
    assert over_mcp == (agent in NAMES or agent is CODEX)
    async with talk(agent, model, f"permissions: {'ask' if over_mcp else 'bypass'}\n") as person:
        assert (await person.ask("STUB:say=noted, a quince;;"))["state"] == "done"
        found = await person.ask(asked(agent, "history_search", query="quince"))
        assert (found["state"], await questions(person)) == ("done", [])
        assert re.search('"found":[1-9]', _newest(model))
        accepted = await person.say(asked(agent, "memory_save", text=FACT))
        if over_mcp:
            await until(lambda: any(one.kind is DeliveryKind.QUESTION for one in person.owed), LIMIT_S)
            (question,) = await questions(person)
            choice = next(one for one in question.choices if one.kind.value == "allow_once")
            await person.client.answer(question.ask or "", choice.key)
        turn = await person.ended(accepted)
        assert turn["state"] == "done", turn
        (kept,) = await person.client.memory("records", {})
        assert kept["text"] == FACT
        (receipt,) = await person.client.memory("receipts", {})
        assert (receipt["way"], receipt["turn"], receipt["record"]) == ("tool", turn["turn"], kept["record"])
        assert kept["record"] in _newest(model)
        told = await person.told(accepted)
        assert f"— Saved ({kept['record']})." in told


def _newest(model: StubModel) -> str:
    """The newest request of a turn, however often what stands in it was put into quotes."""
    return json.dumps(model.turns()[-1].body).replace("\\", "").replace('": ', '":')


TURNS, FILLING = 120, "lorem ipsum dolor sit amet " * 50


async def test_after_120_turns_and_300_kb_another_agent_finds_what_was_said_in_the_third(model: StubModel) -> None:
    """The block of the new agent has the newest messages, 50 at most; what is older, its tool finds."""
    if not CLAUDE.is_installed:
        pytest.skip("claude is not installed: run scripts/install-agents")
    async with talk(CLAUDE, model) as person:
        await person.client.use(Preference(backend="offline"))
        size = 0
        for number in range(1, TURNS):
            fact = "the number of my meter is QX4711. " if number == 3 else ""
            turn = await person.ask(f"echo {fact}{number} {FILLING}")
            assert turn["state"] == "done"
            size += 2 * len(turn["answer_text"])
        await person.client.use(Preference(backend="claude"))
        last = await person.ask(asked(CLAUDE, "history_search", query="number of the meter"))
        assert (last["state"], last["backend"]) == ("done", "claude")
        block = (await person.client.context(last["turn"]))["text"]
    assert size > 300_000
    assert "QX4711" not in block
    assert "lorem ipsum" in block
    first, second = model.turns()
    assert not first.places("QX4711")
    assert second.places("QX4711"), "it is in the tool's answer"
