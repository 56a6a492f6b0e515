"""What of a Codex turn is shown, and what it comes to, whatever is begun and not completed."""

from hypothesis import given
from hypothesis import strategies as st

from kai.protocols.app_server_answer import Answer


def shown(deltas: list[object]) -> str:
    return "".join(delta.text for delta in deltas)  # type: ignore[attr-defined]


words = st.text("ab \n", max_size=6)
# A message: attempts that were cut (each in pieces), then its text, which its last attempt says.
messages = st.lists(
    st.tuples(st.lists(st.lists(words, max_size=4), max_size=3), st.lists(words, max_size=4)), max_size=3
)


@given(messages)
def test_the_text_at_the_end_is_that_of_the_completed_messages(
    said: list[tuple[list[list[str]], list[str]]],
) -> None:
    answer, out = Answer(), list[object]()
    for number, (cut, whole) in enumerate(said):
        for attempt, pieces in enumerate([*cut, whole]):
            for piece in pieces:
                out += answer.delta(f"{number}-{attempt}", piece)
        out += answer.complete(f"{number}-{len(cut)}", "".join(whole))
    texts = ["".join(whole) for _, whole in said]
    kept = "\n\n".join(text for text in texts if text)
    # Nothing at all cannot be told as the whole text; what was shown stands then.
    assert (answer.corrected or shown(out)) == kept or not kept


@given(st.text("ab", min_size=1, max_size=12), st.lists(st.integers(0, 12), max_size=5), st.data())
def test_a_message_that_is_begun_again_and_again_is_shown_once(text: str, cuts: list[int], data: st.DataObject) -> None:
    answer, out = Answer(), list[object]()
    for attempt, cut in enumerate(cuts):
        rest = text[:cut]
        while rest:
            size = data.draw(st.integers(1, len(rest)))
            out += answer.delta(str(attempt), rest[:size])
            rest = rest[size:]
    out += answer.complete("last", text)
    assert shown(out) == text
    assert answer.corrected == ""


def test_an_attempt_that_says_something_else_is_shown_below_and_alone_is_kept() -> None:
    answer = Answer()
    answer.delta("1", "partial answ")
    assert answer.delta("2", "part") == []
    assert shown([*answer.delta("2", "y time")]) == "\n\nparty time"
    assert answer.corrected == "party time"
    assert shown([*answer.complete("2", "party time!")]) == "!"
    assert answer.corrected == "party time!"


def test_a_shorter_attempt_is_the_text_although_more_was_shown() -> None:
    answer = Answer()
    answer.delta("1", "one two")
    assert answer.complete("2", "one") == []
    assert answer.corrected == "one"


def test_a_text_that_differs_from_its_own_deltas_stands() -> None:
    answer = Answer()
    answer.delta("1", "raw")
    assert answer.complete("1", "RAW") == []
    assert answer.corrected == "RAW"


def test_a_completed_message_is_not_said_again() -> None:
    answer = Answer()
    answer.complete("1", "one")
    assert answer.complete("1", "one") == []
    assert answer.delta("1", "more") == []
    assert answer.delta("2", "") == []
    assert not answer.is_empty
    assert Answer().is_empty
