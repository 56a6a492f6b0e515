"""How values stand in columns: times as microseconds, lists and choices as JSON."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import overload

from kai.model.events import Choice, ChoiceKind

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def stamp(moment: datetime) -> int:
    """Microseconds since 1970 of an aware time."""
    return (moment - _EPOCH) // _MICROSECOND


@overload
def moment(stamp: int) -> datetime: ...
@overload
def moment(stamp: int | None) -> datetime | None: ...
def moment(stamp: int | None) -> datetime | None:
    """The aware UTC time of a stamp; None stays None."""
    return None if stamp is None else _EPOCH + timedelta(microseconds=stamp)


def pack_lines(lines: Sequence[str]) -> str:
    return json.dumps(list(lines), ensure_ascii=False) if lines else "[]"


def lines(packed: str) -> tuple[str, ...]:
    return () if packed == "[]" else tuple(json.loads(packed))


def pack_choices(choices: Sequence[Choice]) -> str:
    return json.dumps([[choice.key, choice.label, choice.kind] for choice in choices], ensure_ascii=False)


def choices(packed: str | None) -> tuple[Choice, ...]:
    return tuple(Choice(key, label, ChoiceKind(kind)) for key, label, kind in json.loads(packed or "[]"))
