"""The one place that changes a state. What is not in the tables of `kai.model.states` is refused."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

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
from kai.store.binding import Connection
from kai.store.columns import packed

State = TurnState | DispatchState | DeliveryState | AskState

# state class → (table, key column, moves)
_KINDS: Mapping[type[StrEnum], tuple[str, str, Mapping[Any, frozenset[Any]]]] = {
    TurnState: ("turn", "turn", TURN_MOVES),
    DispatchState: ("dispatch", "dispatch", DISPATCH_MOVES),
    DeliveryState: ("delivery", "delivery", DELIVERY_MOVES),
    AskState: ("question", "ask", ASK_MOVES),
}


def move(db: Connection, key: str, to: State, *, only: Collection[State] = (), **columns: object) -> None:
    """Bring the thing named `key` into the state `to`, setting `columns` with it.

    `only` narrows the states it may come from. Raises `WrongMoveError`, or `UnknownThingError` when there is no such
    thing; either way nothing has changed.
    """
    table, key_column, moves = _KINDS[type(to)]
    sources = [state for state, after in moves.items() if to in after and (not only or state in only)]
    assignments = "".join(f", {column} = :{column}" for column in columns)
    states = ", ".join(f"'{state}'" for state in sources)
    changed = db.execute(
        f"UPDATE {table} SET state = :state{assignments} WHERE {key_column} = :key AND state IN ({states})",
        {"state": to, "key": key, **{name: packed(value) for name, value in columns.items()}},
    ).rowcount
    if changed == 1:
        return
    row = db.execute(f"SELECT state FROM {table} WHERE {key_column} = ?", (key,)).fetchone()
    if row is None:
        raise UnknownThingError(table, key)
    raise WrongMoveError(table, key, row["state"], to)
