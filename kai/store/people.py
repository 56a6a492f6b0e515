"""Persons and their accounts in chat apps."""

from dataclasses import fields
from datetime import datetime

from kai.model.errors import BadInputError
from kai.model.ids import DeliveryId, PrincipalId
from kai.model.people import Person
from kai.store import deliveries
from kai.store.binding import Connection
from kai.store.columns import insert, maybe, read_all, stamp, the, values

_FIELDS = tuple(field.name for field in fields(Person) if field.name != "principal")
_PRESENT = "SELECT * FROM person WHERE removed_at IS NULL"


def add(db: Connection, person: Person, now: datetime) -> None:
    """Raises `BadInputError` when the name is taken, whatever its case."""
    _refuse_taken(db, person.name, person.principal)
    insert(db, "person", **values(person), name_key=person.name.casefold(), added_at=now)


def get(db: Connection, principal: PrincipalId) -> Person:
    """Raises `UnknownThingError`, also for a person that was removed."""
    return the(db, Person, "person", f"{_PRESENT} AND principal = ?", principal)


def by_name(db: Connection, name: str) -> Person | None:
    row = db.execute(f"{_PRESENT} AND name_key = ?", (name.casefold(),)).fetchone()
    return maybe(Person, row)


def by_os_user(db: Connection, os_user: str) -> Person | None:
    """Whose OS user this is; of several that share it, the one named like it, else the one who was there first.

    Nobody once that one was removed: the others did not become them. Whoever is added after that does.
    """
    first = None
    for row in db.execute("SELECT * FROM person WHERE os_user = ? ORDER BY seq", (os_user,)):
        if row["removed_at"] is None and row["name_key"] == os_user.casefold():
            return maybe(Person, row)
        if first is None or (first["removed_at"] is not None and first["removed_at"] <= row["added_at"]):
            first = row
    return maybe(Person, first) if first is not None and first["removed_at"] is None else None


def owners_of(db: Connection, os_user: str) -> list[str]:
    """The names of the persons, and titles of the shared channels, whose agents run as this OS user."""
    rows = db.execute(
        "SELECT name FROM person WHERE os_user = ?1 AND removed_at IS NULL "
        "UNION ALL SELECT title FROM channel WHERE os_user = ?1",
        (os_user,),
    )
    return [str(row[0]) for row in rows]


def every(db: Connection, *, removed: bool = False) -> tuple[Person, ...]:
    """In the order in which they came; `removed` ones too, if asked for."""
    return read_all(Person, db.execute(f"{'SELECT * FROM person' if removed else _PRESENT} ORDER BY seq"))


def change(db: Connection, principal: PrincipalId, **fields: str) -> Person:
    """Set fields of `Person` other than its id. Raises `BadInputError` naming the field, `UnknownThingError`."""
    person = get(db, principal)
    for field, value in fields.items():
        if field not in _FIELDS:
            raise BadInputError(field, "a person has no such field", f"It may be one of {', '.join(_FIELDS)}.")
        if field == "name":
            _refuse_taken(db, value, principal)
            db.execute("UPDATE person SET name_key = ? WHERE principal = ?", (value.casefold(), principal))
        db.execute(f"UPDATE person SET {field} = ? WHERE principal = ?", (value, principal))
    return get(db, principal) if fields else person


def remove(db: Connection, principal: PrincipalId, now: datetime) -> None:
    """The person is known no more: accounts unlinked, memberships ended. What was said stays in its channels."""
    get(db, principal)
    db.execute("UPDATE person SET removed_at = ? WHERE principal = ?", (stamp(now), principal))
    db.execute("DELETE FROM account WHERE principal = ?", (principal,))
    db.execute(
        "UPDATE membership SET to_at = ?, to_number = (SELECT last_number FROM channel c WHERE c.channel = "
        "membership.channel) WHERE principal = ? AND to_at IS NULL",
        (stamp(now), principal),
    )


def nothing_owed(db: Connection, principal: PrincipalId, bridge: str, now: datetime) -> None:
    """Drop what nobody will take any more: for `bridge`, the person's own shell, and in channels they left empty."""
    rows = db.execute(
        "SELECT delivery FROM delivery d WHERE state IN ('pending', 'claimed') AND (bridge = ?1 OR EXISTS (SELECT 1 "
        "FROM membership m WHERE m.channel = d.channel AND m.principal = ?2) AND NOT EXISTS (SELECT 1 FROM "
        "membership m WHERE m.channel = d.channel AND m.to_at IS NULL))",
        (bridge, principal),
    ).fetchall()
    deliveries.drop(db, [DeliveryId(row[0]) for row in rows], now)


def link(
    db: Connection, bridge: str, account: str, principal: PrincipalId, now: datetime, *, verified: bool = True
) -> None:
    """Say whose account this is, in place of what was said before. Unverified it proves nothing yet."""
    get(db, principal)
    db.execute(
        "INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?, ?)",
        (bridge, account, principal, stamp(now), stamp(now) if verified else None),
    )


def unlink(db: Connection, bridge: str, account: str) -> bool:
    """Whether there was such a link."""
    return db.execute("DELETE FROM account WHERE bridge = ? AND account = ?", (bridge, account)).rowcount > 0


def linked(db: Connection, bridge: str, account: str) -> PrincipalId | None:
    """The person behind an account, once verified."""
    row = db.execute(
        "SELECT principal FROM account WHERE bridge = ? AND account = ? AND verified_at IS NOT NULL", (bridge, account)
    ).fetchone()
    return PrincipalId(row[0]) if row else None


def _refuse_taken(db: Connection, name: str, principal: PrincipalId) -> None:
    other = by_name(db, name)
    if other and other.principal != principal:
        raise BadInputError("name", f"there is a person named {other.name!r} already", "Choose another name.")
