"""What is owed at the end of a turn."""

from datetime import UTC, datetime

import pytest

from kai.model.errors import FailureKind
from kai.model.ids import AddressId, TurnId
from kai.model.states import ENDED_TURNS, TurnState
from kai.model.turns import DeliveryKind, Outcome
from kai.turns.outbox import REMEDIES, deliveries, ending, session_notice

TURN, PLACE = TurnId("t-1"), AddressId("a-1")


@pytest.mark.parametrize("state", sorted(ENDED_TURNS))
@pytest.mark.parametrize("text", ["", "some words"])
def test_every_end_is_owed_at_least_once_and_the_last_names_the_state(state: TurnState, text: str) -> None:
    failure = FailureKind.CRASH if state is TurnState.FAILED else None
    owed = deliveries(TURN, PLACE, Outcome(state, text, failure=failure, incomplete=bool(text)), backend="claude")
    assert owed
    assert [one.state for one in owed] == [None] * (len(owed) - 1) + [state]
    assert all(one.text.strip() for one in owed)
    assert (owed[0].kind is DeliveryKind.ANSWER) == (bool(text) or state is TurnState.DONE)


def test_tools_without_words_are_told() -> None:
    (owed,) = deliveries(TURN, PLACE, Outcome(TurnState.DONE, tool_lines=("Bash make: ok",)), backend="claude")
    assert "Bash make: ok" in owed.text


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_failure_kind_has_a_sentence_and_a_remedy(kind: FailureKind) -> None:
    assert kind in REMEDIES
    sentence = ending(Outcome(TurnState.FAILED, failure=kind, reason="It went wrong."), turn=TURN, backend="claude")
    assert sentence.startswith("It went wrong.")
    assert "{" not in sentence


def test_a_reset_time_is_told() -> None:
    outcome = Outcome(
        TurnState.FAILED, failure=FailureKind.QUOTA, reason="Limit.", resets_at=datetime(2026, 12, 1, 3, tzinfo=UTC)
    )
    assert "2026-12-01 03:00 UTC" in ending(outcome, turn=TURN, backend="claude")


def test_a_new_session_says_what_went_along() -> None:
    assert session_notice("codex", why="changed", carried=12, total=340) == (
        "New session with codex (changed); 12 of 340 earlier messages went along."
    )
    assert session_notice("codex", why="first", carried=0, total=0) == ""


@pytest.mark.parametrize(
    ("detail", "tools", "more"),
    [("", (), False), ("no API", (), False), ("HTTP 502 from 10.0.0.1", (), True), ("", ("Bash make: ok",), True)],
)
def test_turn_show_is_named_only_when_it_tells_more(detail: str, tools: tuple[str, ...], more: bool) -> None:
    outcome = Outcome(
        TurnState.FAILED, failure=FailureKind.PROTOCOL, reason="It failed (no API).", detail=detail, tool_lines=tools
    )
    said = ending(outcome, turn=TURN, backend="claude")
    assert ("kai turn show" in said, "Send it again" in said) == (more, not more)
