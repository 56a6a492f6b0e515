"""Grants: an owner lets a channel or a person see a record or a namespace; from private, and revocable."""

from datetime import datetime

from kai.model.errors import UnknownThingError
from kai.model.ids import ChannelId, PrincipalId, fresh
from kai.model.memory import Deed, MemoryReceipt, Scope
from kai.store import channels, namespaces, people, records, shelves
from kai.store.binding import Connection
from kai.store.columns import insert, stamp
from kai.store.eligible import place
from kai.store.ledger import Made, once


def grant(
    db: Connection,
    scope: Scope,
    what: str,
    to: str,
    until: datetime | None,
    op: str,
    now: datetime,
) -> MemoryReceipt:
    """Open `what`, a record's id or one of the person's namespaces, to a channel they are in or to a person."""

    def work() -> Made:
        here = place(db, scope)
        if here.is_shared:
            return Deed.REJECTED, "not_in_private", "", 0, 0
        is_place = "/" in what
        known = None if is_place else records.own(db, scope, what)
        own = f"person/{scope.principal}/"
        if (is_place and not (namespaces.is_sound(what) and what.startswith(own))) or (not is_place and known is None):
            return Deed.REJECTED, "unknown", what if not is_place else "", 0, 0
        channel, principal = _to(db, scope, to)
        if channel is None and principal is None:
            return Deed.REJECTED, "unknown_grantee", "", 0, 0
        given = {"channel": channel, "principal": principal, "from_at": now, "until": until}
        target = {"namespace": what} if is_place else {"record": what}
        insert(db, "mem_grant", grant_id=(made := fresh("g")), owner=scope.principal, **target, **given)
        _index(db, scope.principal, what, is_place=is_place)
        return Deed.COMMITTED, made, "" if is_place else what, 0, known.revision if known else 0

    return once(db, scope, "grant", op, [what, to, until], now, work)


def revoke(db: Connection, scope: Scope, grant_id: str, op: str, now: datetime) -> MemoryReceipt:
    """Take a grant back: what it opened is excluded from now on, and sessions that were shown it end."""

    def work() -> Made:
        row = db.execute(
            "SELECT * FROM mem_grant WHERE grant_id = ? AND owner = ?", (grant_id, scope.principal)
        ).fetchone()
        if row is None:
            return Deed.REJECTED, "unknown", "", 0, 0
        if row["revoked_at"] is not None:
            return Deed.NOOP, grant_id, row["record"] or "", 0, 0
        db.execute("UPDATE mem_grant SET revoked_at = ? WHERE grant_id = ?", (stamp(now), grant_id))
        for seq, record in _meant(db, scope.principal, row["record"] or row["namespace"], is_place=not row["record"]):
            shelves.drop(db, seq)
            shelves.add(db, seq)
            records.retire_exposed(db, record)
        return Deed.COMMITTED, grant_id, row["record"] or "", 0, 0

    return once(db, scope, "revoke", op, [grant_id], now, work)


def of(db: Connection, scope: Scope) -> list[dict[str, object]]:
    """The person's own grants, the newest first."""
    rows = db.execute("SELECT * FROM mem_grant WHERE owner = ? ORDER BY from_at DESC, grant_id", (scope.principal,))
    return [dict(row) for row in rows]


def _to(db: Connection, scope: Scope, to: str) -> tuple[ChannelId | None, PrincipalId | None]:
    """A channel only for its members: a grant to strangers would tell them that there is something."""
    titled = channels.by_title(db, scope.principal, to)
    channel = titled.channel if titled else ChannelId(to)
    try:
        if scope.principal in channels.get(db, channel).members:
            return channel, None
    except UnknownThingError:
        person = people.by_name(db, to)
        return None, person.principal if person else None
    return None, None


def _index(db: Connection, owner: PrincipalId, what: str, *, is_place: bool) -> None:
    for seq, _ in _meant(db, owner, what, is_place=is_place):
        shelves.add(db, seq)


def _meant(db: Connection, owner: PrincipalId, what: str, *, is_place: bool) -> list[tuple[int, str]]:
    column = "namespace" if is_place else "record"
    rows = db.execute(
        f"SELECT seq, record FROM mem_record WHERE owner = ? AND {column} = ? AND status = 'active'", (owner, what)
    )
    return [(row[0], row[1]) for row in rows]
