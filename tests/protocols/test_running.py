"""A turn in flight: its limits in time and its last word."""

from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from kai.model.backends import Limits
from kai.model.errors import FailureKind
from kai.model.events import Ask, BackendEvent, Failed, Finished, Limit, Started, TextDelta
from kai.model.ids import DispatchId
from kai.protocols.running import Running

pytestmark = pytest.mark.anyio

LIMITS = Limits(first_output_s=100, silence_s=400, turn_s=1_000)


Make = Callable[..., Running]


@pytest.fixture
def running() -> Make:
    """Makes turns that begin at 0."""
    return lambda **limits: Running(DispatchId("d"), "n", replace(LIMITS, **limits), 0.0)


def kind(failed: Failed | None) -> FailureKind | None:
    return failed.kind if failed else None


async def test_an_agent_that_says_nothing_at_all_is_given_up_sooner(running: Make) -> None:
    turn = running()
    assert turn.pause_s(0) == 100
    assert turn.overdue(99.9) is None
    assert kind(turn.overdue(100)) is FailureKind.SILENT


async def test_once_it_has_spoken_only_a_long_silence_counts(running: Make) -> None:
    turn = running()
    turn.hears(50)
    assert turn.overdue(449) is None
    assert kind(turn.overdue(450)) is FailureKind.SILENT


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("The provider did not answer (error sending request). Reconnecting... 2/5", FailureKind.PROVIDER),
        ("The provider did not answer (429 Too Many Requests).", FailureKind.QUOTA),
        ("The provider did not answer (unexpected status 401 Unauthorized).", FailureKind.LOGIN),
    ],
)
async def test_a_silence_after_word_of_the_provider_s_trouble_is_that_trouble(
    running: Make, reason: str, expected: FailureKind
) -> None:
    turn = running()
    turn.hears(10)
    turn.put(Limit(reason), process_gone=False)
    failed = turn.overdue(410)
    assert failed is not None
    assert failed.kind is expected
    assert failed.sentence == f"{reason.rstrip('.')}. The agent gave no sign of life for 400 s."
    turn.put(TextDelta("and yet"), process_gone=False)
    assert kind(turn.overdue(410)) is FailureKind.SILENT


async def test_steady_signs_of_life_go_on_until_the_cap_of_the_whole_turn(running: Make) -> None:
    turn = running()
    for second in range(0, 1_000, 10):
        turn.hears(second)
        assert turn.overdue(second) is None
    assert kind(turn.overdue(1_000)) is FailureKind.TIME


async def test_cpu_of_the_tree_counts_as_life_but_an_idle_process_s_timers_do_not(running: Make) -> None:
    turn = running()
    turn.hears(0)
    turn.note_cpu(4.4, 100, 300)  # as measured on Claude while it waits for a provider that hangs
    assert kind(turn.overdue(400)) is FailureKind.SILENT
    turn.note_cpu(30.0, 100, 400)
    assert turn.overdue(400) is None


async def test_cpu_before_the_first_word_is_no_life(running: Make) -> None:
    turn = running()
    turn.note_cpu(50, 50, 50)
    assert kind(turn.overdue(100)) is FailureKind.SILENT


async def test_a_person_who_is_asked_is_no_silence_of_the_agent(running: Make) -> None:
    turn = running()
    turn.hears(0)
    turn.put(Ask("q1", "t", "d", ()), process_gone=False)
    turn.note_cpu(0, 100, 390)
    assert turn.overdue(400) is None
    turn.turn.answered("q1")
    turn.note_cpu(0, 100, 500)
    assert kind(turn.overdue(790)) is FailureKind.SILENT


async def test_limits_that_are_off_do_not_count(running: Make) -> None:
    turn = running(first_output_s=0, turn_s=0)
    assert turn.overdue(399) is None
    assert kind(turn.overdue(400)) is FailureKind.SILENT
    turn.hears(1_000_000)
    assert turn.overdue(1_000_001) is None


async def test_it_looks_often_enough_to_see_work_that_goes_on_in_silence(running: Make) -> None:
    turn = running(first_output_s=0)
    assert turn.pause_s(0) == 100
    assert turn.pause_s(399.999) == 0.01


async def collected(turn: Running) -> list[BackendEvent]:
    with anyio.fail_after(1):
        return [event async for event in turn.events]


@pytest.mark.parametrize(
    ("said", "heard"),
    [(Failed(FailureKind.CRASH, "x"), Finished(stopped=True)), (Finished(), Finished()), (Finished(stopped=True),) * 2],
)
async def test_an_end_after_a_stop_is_a_stop_unless_the_turn_was_done(
    running: Make, said: Finished | Failed, heard: Finished | Failed
) -> None:
    turn = running()
    turn.stopping = True
    turn.put(said, process_gone=True)
    assert await collected(turn) == [Started("n"), heard]


async def test_kai_s_own_reason_stands_whatever_the_agent_says_in_the_end(running: Make) -> None:
    turn = running()
    turn.stopping, turn.verdict = True, Failed(FailureKind.TIME, "too long")
    turn.put(Finished(text="done"), process_gone=False)
    turn.put(Failed(FailureKind.CRASH, "x"), process_gone=True)
    assert await collected(turn) == [Started("n"), Failed(FailureKind.TIME, "too long")]
    gone = running()
    gone.verdict = Failed(FailureKind.TIME, "too long")
    gone.put(Finished(), process_gone=True)
    assert (await collected(gone))[-1] == Failed(FailureKind.TIME, "too long", session_lost=True)


async def test_events_are_had_in_order_whether_they_were_waited_for_or_not(running: Make) -> None:
    turn, heard = running(), list[BackendEvent]()

    async def listen() -> None:
        heard.extend(await collected(turn))

    turn.put(TextDelta("a"), process_gone=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.wait_all_tasks_blocked()
        turn.put(TextDelta("b"), process_gone=False)
        turn.put(Finished(), process_gone=False)
    assert heard == [Started("n"), TextDelta("a"), TextDelta("b"), Finished()]
    assert turn.done.is_set()
