"""What is committed at a turn's end."""

from functools import partial
from typing import Any

import anyio
import pytest

from kai.model.ids import TurnId
from kai.model.states import DeliveryState
from kai.store import deliveries, turns
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("listens", "left"), [(True, DeliveryState.CLAIMED), (False, DeliveryState.PENDING)])
async def test_an_end_is_claimed_with_it_only_for_one_who_listens(
    kai: Kai, monkeypatch: pytest.MonkeyPatch, listens: bool, left: DeliveryState
) -> None:
    takers: list[object] = []
    finish = turns.finish

    def noted(*args: Any) -> turns.Ended:
        takers.append(args[-1])
        return finish(*args)

    monkeypatch.setattr(turns, "finish", noted)
    async with anyio.create_task_group() as tasks:
        if listens:
            tasks.start_soon(partial(kai.deliveries, 2, receipts=False))
            with anyio.fail_after(5):
                while not kai.daemon.door.listeners:
                    await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
        turn = await kai.ask("one")
        (owed,) = await kai.daemon.parts.store.read(deliveries.of_turn, TurnId(turn["turn"]))
        if listens:
            await kai.ask("two")  # the second that it waits for
    assert (bool(takers[0]), owed.state) == (listens, left)
