"""Ctrl-C, in every order."""

import pytest

from kai.bridges.interrupts import AGAIN_S, Interrupts


def deeds(*given: tuple[float, str, bool] | None) -> list[str]:
    now = [0.0]
    interrupts = Interrupts(lambda: now[0])
    done: list[str] = []
    for one in given:
        if one is None:
            interrupts.forget()
        else:
            now[0] = one[0]
            done.append(interrupts.deed(one[1], has_text=one[2]))
    return done


@pytest.mark.parametrize(
    ("given", "done"),
    [
        ([(0, "t-1", False), (1, "t-1", False)], ["stop", "leave"]),
        ([(0, "t-1", False), (1, "", False)], ["stop", "leave"]),  # it had ended in between
        ([(0, "t-1", False), (99, "t-1", False)], ["stop", "leave"]),  # it does not end: leave it
        ([(0, "t-1", False), (1 + AGAIN_S, "", False)], ["stop", "hint"]),  # long since over: this is a first one
        ([(0, "t-1", False), (1, "t-2", False)], ["stop", "stop"]),  # the next in the queue runs by now
        ([(0, "t-1", False), None, (1, "t-2", False)], ["stop", "stop"]),
        ([(0, "", False), (50, "", False)], ["hint", "leave"]),
        ([(0, "", False), None, (1, "", False)], ["hint", "hint"]),
        ([(0, "", False), (1, "", True), (2, "", False)], ["hint", "clear", "hint"]),
        ([(0, "", True), (1, "", False), (2, "", False)], ["clear", "hint", "leave"]),
        ([(0, "t-1", True), (1, "t-1", True)], ["stop", "leave"]),
        ([(0, "", False), (1, "t-1", False), (2, "t-1", False)], ["hint", "stop", "leave"]),
    ],
)
def test_once_stops_twice_leaves_and_an_empty_prompt_says_how(
    given: list[tuple[float, str, bool] | None], done: list[str]
) -> None:
    assert deeds(*given) == done
