"""Results: kept once, never changed, read on by ranges; for whoever may see the channel and all who are there now."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kai.model.errors import BadInputError, UnknownThingError
from kai.model.ids import PrincipalId, TurnId, fresh
from kai.model.people import Channel
from kai.model.work import Result
from kai.store.binding import Connection
from kai.store.columns import insert, maybe, read_all, stamp, the, values

TEXT_BYTES = 8 * 1024 * 1024  # of one result
ITEMS, CHARACTERS = "items", "characters"
NAMED = 5  # results that a block names


def keep(  # noqa: PLR0913 - what a result says of itself
    db: Connection,
    where: Channel,
    owner: PrincipalId,
    turn: TurnId | None,
    now: datetime,
    *,
    producer: str,
    source: str,
    body: str | Sequence[Any],
    returned: int | None = None,
    is_whole: bool = True,
    temporary: bool = False,
    inputs: tuple[str, ...] = (),
    previous: str | None = None,
) -> Result:
    """Keep an answer: one text, or a list of JSON-ready items. `returned`: how much of it is told at once.

    Everybody in `where` is its audience. Raises `BadInputError` when it is too large to keep.
    """
    text = body if isinstance(body, str) else None
    items = json.dumps(text if text is not None else list(body), ensure_ascii=False, default=str)
    if len(items.encode(errors="replace")) > TEXT_BYTES:
        raise BadInputError("result", f"is larger than {TEXT_BYTES // 1024**2} MB", "Ask for less at once.")
    total = len(body)
    made = Result(
        ref=fresh("res"),
        owner=owner,
        channel=where.channel,
        turn=turn,
        producer=producer,
        source=source[:1_000],
        unit=CHARACTERS if text is not None else ITEMS,
        items=items,
        returned=total if returned is None else min(returned, total),
        total=total,
        is_whole=is_whole,
        audience=tuple(sorted(where.members)),
        as_of=now,
        inputs=inputs,
        previous=previous or _previous(db, where, producer, source[:1_000]),
        temporary=temporary,
    )
    insert(db, "result", **values(made))
    return made


def get(db: Connection, ref: str, here: Channel) -> Result:
    """Raises `UnknownThingError`, also for one of another place, and when somebody is here who was not there then."""
    found = maybe(Result, db.execute("SELECT * FROM result WHERE ref = ?", (ref,)).fetchone())
    if found is None or found.channel != here.channel or not set(here.members) <= set(found.audience):
        raise UnknownThingError("result", ref)
    return found


def whole(db: Connection, ref: str) -> Result:
    """One that the caller is known to have made. Raises `UnknownThingError`."""
    return the(db, Result, "result", "SELECT * FROM result WHERE ref = ?", ref)


def part(result: Result, start: int, limit: int) -> tuple[Any, int | None]:
    """From number `start` (1 is the first) up to `limit` items or characters; and where the next part begins."""
    whole = json.loads(result.items)
    end = start - 1 + limit
    return whole[start - 1 : end], end + 1 if end < result.total else None


def recent(db: Connection, here: Channel, limit: int = NAMED) -> tuple[Result, ...]:
    """The newest of a channel of which there is more than was told, that may be seen here."""
    rows = db.execute(
        "SELECT * FROM result WHERE channel = ? AND temporary = 0 AND returned < total ORDER BY as_of DESC LIMIT ?",
        (here.channel, limit),
    )
    return tuple(one for one in read_all(Result, rows) if set(here.members) <= set(one.audience))


def drop_old(db: Connection, before: datetime) -> int:
    """Drop those that were made earlier, and that no other and no work names."""
    return db.execute(
        "DELETE FROM result WHERE as_of < ? AND NOT EXISTS (SELECT 1 FROM delegation d WHERE d.result = result.ref) "
        "AND NOT EXISTS (SELECT 1 FROM result n WHERE n.previous = result.ref)",
        (stamp(before),),
    ).rowcount


def _previous(db: Connection, where: Channel, producer: str, source: str) -> str | None:
    row = db.execute(
        "SELECT ref FROM result WHERE channel = ? AND producer = ? AND source = ? AND temporary = 0 "
        "ORDER BY as_of DESC LIMIT 1",
        (where.channel, producer, source),
    ).fetchone()
    return str(row[0]) if row else None
