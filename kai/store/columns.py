"""How the model's values stand in rows: a column is named as the field it holds.

Times are microseconds since 1970, lists and choices are JSON, all else stands as it is.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from kai.model.errors import UnknownThingError
from kai.store.binding import Connection, Row

if TYPE_CHECKING:
    from kai.model.events import Choice

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PLAIN = frozenset({str, int, float, bytes})  # stand as they are: nearly all


def stamp(moment: datetime) -> int:
    """Microseconds since 1970 of an aware time."""
    return (moment - _EPOCH) // _MICROSECOND


def insert(db: Connection, table: str, /, **columns: object) -> int:
    """Insert one row, each column by name. Gives its row number (of no use in tables without one)."""
    given = {name: value for name, value in columns.items() if value is not None}
    row = [value if type(value) in _PLAIN else packed(value) for value in given.values()]
    return db.execute(_insertion(table, tuple(given)), row).lastrowid or 0


def values(thing: Any, *but: str) -> dict[str, Any]:
    """The fields of a dataclass by name, except those named in `but`."""
    return {name: getattr(thing, name) for name in _names(type(thing)) if name not in but}  # type: ignore[arg-type]


def read(kind: type[T], row: Row) -> T:
    """The dataclass whose fields the row's columns are. The row must have a column for each field."""
    return kind(*[convert(row[name]) if convert else row[name] for name, convert in _readers(kind)])  # type: ignore[arg-type] # a class can be hashed, whatever mypy says


def read_in_order(kind: type[T], row: Iterable[Any]) -> T:
    """The same where the row's first columns are the fields in their order: quicker, for rows by the dozen."""
    return kind(*[convert(value) if convert else value for value, (_, convert) in zip(row, _readers(kind))])  # type: ignore[arg-type]  # noqa: B905 more columns may follow


def read_all(kind: type[T], rows: Iterable[Row]) -> tuple[T, ...]:
    return tuple(read(kind, row) for row in rows)


def maybe(kind: type[T], row: Row | None) -> T | None:
    """Like `read`; no row gives None."""
    return None if row is None else read(kind, row)


def the(db: Connection, kind: type[T], what: str, query: str, key: str) -> T:
    """The one that `query` finds by `key`. Raises `UnknownThingError`, which says `what` there is not."""
    row = db.execute(query, (key,)).fetchone()
    if row is None:
        raise UnknownThingError(what, key)
    return read(kind, row)


def packed(value: object) -> object:
    """What stands in a column for a value."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, StrEnum):
        return value.value  # the driver would ask whether anybody adapts this type
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False, default=_choice_fields) if value else "[]"
    return value


def _choice_fields(choice: "Choice") -> list[str]:
    return [choice.key, choice.label, choice.kind]


@lru_cache(maxsize=256)
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


@lru_cache(maxsize=64)
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@lru_cache(maxsize=64)
def _readers(kind: type) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
    hints = get_type_hints(kind)
    return tuple((name, _reader(hints[name])) for name in _names(kind))


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """What makes a field of this type from a column; None when the column is the field already."""
    args = get_args(hint)
    if type(None) in args:
        inner = _reader(args[0])
        return (lambda value: None if value is None else inner(value)) if inner else None
    if get_origin(hint) is tuple:
        from kai.model.events import Choice  # noqa: PLC0415 - of questions only: a start reads none

        return _choices if args[0] is Choice else unpacked
    if hint is datetime:
        return moment
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return {member.value: member for member in hint}.__getitem__  # a call of the class takes three times as long
    return bool if hint is bool else None


def moment(stamp: int) -> datetime:
    """The aware time of such a stamp."""
    return _EPOCH + timedelta(microseconds=stamp)


def unpacked(packed: str) -> tuple[Any, ...]:
    """The list that a column holds."""
    return () if packed == "[]" else tuple(json.loads(packed))


def _choices(packed: str) -> "tuple[Choice, ...]":
    from kai.model.events import Choice, ChoiceKind  # noqa: PLC0415 - as above

    return tuple(Choice(key, label, ChoiceKind(kind)) for key, label, kind in unpacked(packed))
