"""The whole path of a message with a real agent at its end: command line, daemon, context, CLI, model, and back."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.real.agents import CLAUDE, GEMINI, RealAgent
from tests.real.household import Household, kill, wait_for
from tests.stub_model import Place, StubModel


@pytest.fixture
def household(model: StubModel) -> Iterator[Household]:
    with TemporaryDirectory(prefix="kai-") as folder:  # pytest's own are too deep for a socket
        yield Household(Path(folder), model)


@pytest.mark.clause("block shown is block sent", needs="model")
def test_the_block_that_kai_shows_is_the_block_that_the_model_got(agent: RealAgent, household: Household) -> None:
    with household.daemon():
        words = ("STUB:say=the first answer;;", "STUB:say=the second answer;;")
        answers = [household.chat(word, "--backend", agent.backend) for word in words]
        first, second = (household.json("context", "show", answer["turn_id"]) for answer in answers)
        assert [answer["text"] for answer in answers] == ["the first answer", "the second answer"]
        assert [answer["state"] for answer in answers] == ["done", "done"]
        for shown, word in zip((first, second), words, strict=True):
            assert shown["text"].endswith(f"[User's current message - respond to this:]\n{word}")
        requests = household.model.turns()
        assert len(requests) == 2
        (place,) = requests[0].places(first["text"])
        assert place == Place(place.path, count=1, others=place.others if agent.adds else 0)
        # The second turn is the same session: the first block is in its transcript, the second stands after it.
        assert [place.count for place in requests[1].places(second["text"])] == [1]
        assert [place.count for place in requests[1].places(first["text"])] == [1]
        assert "session.history" in [section["name"] for section in first["sections"]]
        assert "session.history" not in [section["name"] for section in second["sections"]]
        for answer in answers:
            assert household.kai("context", "verify", answer["turn_id"])
        turn = household.json("turn", "show", answers[0]["turn_id"])
        assert turn["backend"] == agent.backend
    assert household.agents_left == ()


def test_a_change_of_the_agent_in_mid_talk_takes_the_conversation_along(household: Household) -> None:
    for agent in (CLAUDE, GEMINI):
        if not agent.is_installed:
            pytest.skip(f"{agent.program} is not installed: run scripts/install-agents")
    with household.daemon():
        household.chat("the plant is a quince STUB:say=a quince, noted;;", "--backend", "claude")
        answer = household.chat("STUB:say=as you said;;", "--backend", "gemini")
        assert answer["text"] == "as you said"
        request = household.model.turns()[-1]
        assert "streamGenerateContent" in request.path
        shown = household.json("context", "show", answer["turn_id"])["text"]
        assert "the plant is a quince" in shown
        assert "a quince, noted" in shown
        (place,) = request.places(shown)
        assert place == Place(place.path, count=1, others=0)


def test_a_daemon_that_is_killed_in_mid_tool_leaves_no_agent_and_owns_up_to_the_turn(household: Household) -> None:
    if not CLAUDE.is_installed:
        pytest.skip("claude is not installed: run scripts/install-agents")
    (household.root / "config/kai.yaml").write_text("permissions: bypass\nbackend: claude\n")
    begun = household.root / "begun"
    with household.daemon() as process, household.talking(f"STUB:bash=touch {begun} && sleep 300;;"):
        wait_for(begun.exists)
        assert any("sleep" in line for line in household.agents_left)
        kill(process)
    wait_for(lambda: household.agents_left == ())
    with household.daemon():
        (cut,) = household.json("turn", "list")
        assert cut["state"] == "interrupted"
        assert cut["reason"]
