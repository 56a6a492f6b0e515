"""Ids as people type them: whole, or by a beginning that only one of them has."""

from collections.abc import Callable

from kai.model.errors import BadInputError, UnknownThingError
from kai.store.binding import Connection

LEAST = 3  # signs of a beginning: the kind and one more
_MOST = 50  # looked at
_TABLES = {"turn": "turn", "channel": "channel", "person": "principal", "question": "ask"}


def whole(db: Connection, table: str, given: str, may: Callable[[str], object]) -> str:
    """The id that `given` is, or begins, among those that `may` does not refuse by `UnknownThingError`.

    Gives back what is no beginning of any. Raises `BadInputError` when several begin so.
    """
    column = _TABLES[table]
    if len(given) < LEAST or given[1] != "-":
        return given
    if db.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (given,)).fetchone():
        return given
    query = f"SELECT {column} FROM {table} WHERE {column} >= ? AND {column} < ? LIMIT {_MOST}"
    found = [row[0] for row in db.execute(query, (given, given + "\U0010ffff")) if _is_allowed(may, row[0])]
    if len(found) > 1:
        raise BadInputError(table, f"{len(found)} begin with {given!r}", f"Say more of it: {', '.join(found[:5])}.")
    return found[0] if found else given


def _is_allowed(may: Callable[[str], object], thing: str) -> bool:
    try:
        may(thing)
    except UnknownThingError:
        return False
    return True
