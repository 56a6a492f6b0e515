"""A talk that changes its agent again and again: what was said at its beginning reaches the last one."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.real.agents import CLAUDE, CODEX, GEMINI, PI
from tests.real.household import Household
from tests.stub_model import Place, Request, StubModel

TALK = (CLAUDE, CODEX, PI, GEMINI, CLAUDE)
SAID = (
    "the number of my meter is 4711 STUB:say=noted, a meter;;",
    "it stands in the cellar STUB:say=noted, the cellar;;",
    "the cellar is dry STUB:say=noted, no water;;",
    "the key hangs upstairs STUB:say=noted, the key;;",
    "and what is its number? STUB:recall=the number of my meter is;;",
)
ANSWERS = ("noted, a meter", "noted, the cellar", "noted, no water", "noted, the key", "4711")


@pytest.fixture
def household(model: StubModel) -> Iterator[Household]:
    with TemporaryDirectory(prefix="kai-") as folder:  # pytest's own are too deep for a socket
        yield Household(Path(folder), model)


def test_a_question_that_needs_the_first_turn_is_answered_four_changes_of_the_agent_later(household: Household) -> None:
    for agent in TALK:
        if not agent.is_installed:
            pytest.skip(f"{agent.program} is not installed: run scripts/install-agents")
    with household.daemon():
        told, requests = [], []
        for agent, words in zip(TALK, SAID, strict=True):
            told.append(household.chat(words, "--backend", agent.backend))
            requests.append(household.model.turns()[-1])
        shown = [household.json("context", "show", answer["turn_id"]) for answer in told]
        printed = household.kai("context", "show", told[-1]["turn_id"])
    assert [(answer["state"], answer["text"]) for answer in told] == [("done", answer) for answer in ANSWERS]
    assert len({_api(request) for request in requests}) == 4
    for count, (document, request) in enumerate(zip(shown, requests, strict=True)):
        block = document["text"]
        (place,) = request.places(block)
        assert place == Place(place.path, count=1, others=0), "once, contiguous, byte for byte"
        _holds_the_talk(block, count)
        former = [each["dispatch"] for each in shown[:count] if each["dispatch"]["backend"] != TALK[count].backend]
        marks = {each[name] for each in former for name in ("native_id", "session", "run", "dispatch", "turn")} - {""}
        assert [mark for mark in marks if request.places(mark)] == [], "nothing of another agent's own"
    assert shown[-1]["text"] in printed
    assert household.agents_left == ()


def _holds_the_talk(block: str, count: int) -> None:
    """Every earlier question and answer in order, each under the name of who said it."""
    place = 0
    for agent, words, answer in zip(TALK[:count], SAID[:count], ANSWERS[:count], strict=True):
        for line in (f": {words}\n", f" kai (via {agent.backend}): {answer}\n"):
            place = block.index(line, place) + len(line)


def _api(request: Request) -> str:
    return request.path.partition("?")[0].rpartition("/")[2]
