"""Live turns: every listener gets every row once, in order."""

import anyio
import pytest

from kai.model.ids import TurnId
from kai.model.states import TurnState
from kai.turns.live import ENDED_KEPT, Bell, LiveTurns

pytestmark = pytest.mark.anyio
TURN = TurnId("t-1")


async def test_two_listeners_get_the_same_rows_whenever_they_join() -> None:
    turns = LiveTurns()
    live = turns.begin(TURN, "terminal")
    heard: dict[str, list[str]] = {"early": [], "late": []}

    async def listen(name: str) -> None:
        async for row in live.listen():
            heard[name].append(row.get("text") or row["type"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen, "early")
        await anyio.lowlevel.checkpoint()
        live.become(TurnState.RUNNING)
        live.become(TurnState.RUNNING)
        live.add("text", text="one ")
        tasks.start_soon(listen, "late")
        live.add("text", text="two")
        turns.end(live, state="done")
    assert heard["early"] == heard["late"] == ["state", "one ", "two", "end"]


async def test_a_ring_between_two_waits_is_not_lost() -> None:
    bell = Bell()
    seen = bell.count
    bell.ring()
    with anyio.fail_after(1):
        assert await bell.wait(seen) == seen + 1


async def test_a_wait_ends_at_its_limit() -> None:
    bell = Bell()
    with anyio.fail_after(1):
        assert await bell.wait(0, limit_s=0.01) == 0


async def test_who_waits_for_something_owed_is_not_woken_by_every_ring() -> None:
    bell, woken = Bell(), anyio.Event()

    async def wait() -> None:
        await bell.wait_owed(bell.owed, limit_s=10)
        woken.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        bell.ring()
        await anyio.wait_all_tasks_blocked()
        assert not woken.is_set()
        bell.owe()
        await anyio.wait_all_tasks_blocked()
        assert woken.is_set()
    with anyio.fail_after(1):
        await bell.wait_owed(bell.owed - 1, limit_s=10)  # owed before it waited
        await bell.wait_owed(bell.owed, limit_s=0.01)


async def test_a_bridge_sees_only_its_own_running_turns() -> None:
    turns = LiveTurns()
    mine, other = turns.begin(TURN, "telegram"), turns.begin(TurnId("t-2"), "matrix")
    assert turns.of_bridge("telegram") == [mine]
    turns.end(other, state="done")
    assert turns.of_bridge("matrix") == []
    assert turns.running == 1


async def test_logs_of_ended_turns_do_not_pile_up() -> None:
    turns = LiveTurns()
    for n in range(1000):
        turns.end(turns.begin(TurnId(f"t-{n}"), "terminal"), state="done")
    assert sum(turns.get(TurnId(f"t-{n}")) is not None for n in range(1000)) == ENDED_KEPT
