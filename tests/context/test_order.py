"""The reading order is data."""

from kai.context.order import ORDER, READING_ORDER
from tests.context.examples import enabled, foreign, photo


def test_the_reading_order_is_the_documented_one_and_nothing_follows_the_words() -> None:
    assert READING_ORDER == (
        "reminder",
        "corrections",
        "memory",
        "session.identity",
        "session.memory",
        "session.preferences",
        "session.memory_file",
        "session.workspace",
        "session.history",
        "session.tools",
        "session.skills",
        "agent",
        "delegated",
        "work",
        "now",
        "about",
        "marker",
        "words",
    )


def test_every_section_gives_the_draft_that_its_place_names() -> None:
    made = foreign(enabled(attachments=(photo(),)))
    for place in ORDER:
        draft = place.draft(made)
        assert draft is None or draft.name == place.name


def test_a_live_session_is_given_no_session_part_and_steered_text_only_what_goes_with_it() -> None:
    later, steered = enabled(fresh=False), enabled(steered=True)
    assert not any(place.has_turn(later) for place in ORDER if place.name.startswith("session."))
    assert [place.name for place in ORDER if place.has_turn(steered)] == ["reminder", "agent", "about"]
