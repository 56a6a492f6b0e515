"""What was chosen for a person or a channel."""

import pytest

from kai.model.people import Preference
from kai.store import choices
from tests.store.house import ANN, House


def test_nothing_chosen_says_nothing(house: House) -> None:
    assert choices.preference(house.db, "person", ANN) == Preference()


def test_only_what_is_given_overwrites_and_a_dash_clears(house: House) -> None:
    choices.prefer(house.db, "person", ANN, Preference(backend="claude", model="opus"))
    choices.prefer(house.db, "person", ANN, Preference(model="sonnet", effort="high"))
    assert choices.preference(house.db, "person", ANN) == Preference("claude", "sonnet", "high")
    assert choices.prefer(house.db, "person", ANN, Preference(model="-")) == Preference("claude", "", "high")


@pytest.mark.parametrize("backend", ["codex", "-"])
def test_another_backend_takes_no_model_and_no_effort_over(house: House, backend: str) -> None:
    before = Preference("claude", "opus", "high", "garden", "cook")
    choices.prefer(house.db, "person", ANN, before)
    assert choices.prefer(house.db, "person", ANN, Preference(backend="claude")) == before
    expected = Preference("" if backend == "-" else backend, "", "", "garden", "cook")
    assert choices.prefer(house.db, "person", ANN, Preference(backend=backend)) == expected
    both = choices.prefer(house.db, "person", ANN, Preference(backend="gemini", model="flash"))
    assert (both.backend, both.model) == ("gemini", "flash")


def test_a_persons_choice_is_not_a_channels(house: House) -> None:
    choices.prefer(house.db, "person", "same-id", Preference(backend="claude"))
    assert choices.preference(house.db, "channel", "same-id") == Preference()


def test_both_are_found_at_once(house: House) -> None:
    assert choices.preferences(house.db, ANN, house.main.channel) == (Preference(), Preference())
    choices.prefer(house.db, "person", ANN, Preference(backend="claude"))
    choices.prefer(house.db, "channel", house.main.channel, Preference(model="opus"))
    found = choices.preferences(house.db, ANN, house.main.channel)
    assert found == (Preference(backend="claude"), Preference(model="opus"))
