"""Every move that the tables of states do not hold is refused, and changes nothing."""

import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kai.model.errors import UnknownThingError, WrongMoveError
from kai.model.states import (
    ASK_MOVES,
    DELIVERY_MOVES,
    DISPATCH_MOVES,
    TURN_MOVES,
    AskState,
    DeliveryState,
    DispatchState,
    TurnState,
)
from kai.store import deliveries, moves
from tests.store.house import House

KINDS: dict[type[StrEnum], tuple[str, str, Mapping[Any, frozenset[Any]]]] = {
    TurnState: ("turn", "turn", TURN_MOVES),
    DispatchState: ("dispatch", "dispatch", DISPATCH_MOVES),
    DeliveryState: ("delivery", "delivery", DELIVERY_MOVES),
    AskState: ("question", "ask", ASK_MOVES),
}
PAIRS = [(kind, before, after) for kind in KINDS for before, after in product(kind, kind)]


@pytest.fixture
def keys(house: House) -> dict[type[StrEnum], str]:
    """One thing of each kind."""
    turn = house.queued()
    dispatch = house.sent(turn)
    ask = house.ask(turn, dispatch)
    (delivery,) = deliveries.of_turn(house.db, turn)
    return {TurnState: turn, DispatchState: dispatch, DeliveryState: delivery.delivery, AskState: ask}


@pytest.mark.parametrize(("kind", "before", "after"), PAIRS, ids=str)
def test_only_the_moves_of_the_tables_are_made(
    house: House, keys: dict[type[StrEnum], str], kind: type[StrEnum], before: Any, after: Any
) -> None:
    table, column, allowed = KINDS[kind]
    key = keys[kind]
    house.db.execute(f"UPDATE {table} SET state = ? WHERE {column} = ?", (before, key))
    if after in allowed[before]:
        moves.move(house.db, key, after)
    else:
        with pytest.raises(WrongMoveError) as refused:
            moves.move(house.db, key, after)
        assert (refused.value.now, refused.value.to) == (before, after)
    (state,) = house.db.execute(f"SELECT state FROM {table} WHERE {column} = ?", (key,)).fetchone()
    assert state == (after if after in allowed[before] else before)


def test_a_move_can_be_narrowed_to_where_it_comes_from(house: House) -> None:
    turn = house.queued()
    with pytest.raises(WrongMoveError):
        moves.move(house.db, turn, TurnState.RUNNING, only=(TurnState.HELD,))


def test_what_is_not_there_cannot_move(house: House) -> None:
    with pytest.raises(UnknownThingError):
        moves.move(house.db, "t-nothing", TurnState.RUNNING)


def test_no_other_module_writes_a_state_column() -> None:
    writing = re.compile(r"UPDATE (turn|dispatch|delivery|question) SET[^\"]*\bstate\s*=", re.DOTALL)
    package = Path(moves.__file__).parent
    assert [path.name for path in package.glob("*.py") if writing.search(path.read_text(encoding="utf-8"))] == []
