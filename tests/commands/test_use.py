"""``kai use``."""

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


def test_a_choice_goes_to_the_daemon_and_its_sentence_is_printed(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/use"] = (200, {"channel": "c-1", "sentence": "From the next message on: Claude."})
    assert kai("use", "claude", "--model", "opus", "--channel", "garden", "--wait") == (
        0, "From the next message on: Claude.\n", "",
    )  # fmt: skip
    assert fake.asked[-1].body == {"backend": "claude", "model": "opus", "channel": "garden", "wait": True}
    assert kai("use", "--agent", "-", "--json")[0] == 0


def test_a_running_turn_refuses_it_with_what_to_do(kai: Kai, fake: FakeDaemon) -> None:
    problem = {"title": "Busy", "detail": "Turn t-1 is still running in this channel.", "hint": "Add --wait."}
    fake.canned["POST", "/v1/use"] = (409, problem)
    assert kai("use", "claude") == (1, "", "kai: Turn t-1 is still running in this channel.\n     Add --wait.\n")


def test_bare_it_says_what_is_in_use(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/use"] = (200, {"channel": "c-1", "sentence": "In use: Claude."})
    assert kai("use") == (0, "In use: Claude.\n", "")
    assert fake.asked[-1].body == {"channel": None, "wait": False}
