"""A person's memory as a document of its own: written out, and read back with all that was forgotten kept so."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kai.model.errors import BadInputError
from kai.model.memory import Deed, Kind, MemoryReceipt, NewRecord, Scope, Searched, Status
from kai.store import ledger, records
from kai.store.binding import Connection
from kai.store.columns import stamp

FORM = 1
_MOST = 200_000


def written(db: Connection, scope: Scope, now: datetime) -> dict[str, Any]:
    """Everything of the person's that is in use, and keyed hashes of what was forgotten."""
    kept = records.listing(db, scope, status=Status.ACTIVE, limit=_MOST)
    stones = db.execute(
        "SELECT secret, digest, record FROM mem_tombstone WHERE owner = ? AND lifted_at IS NULL", (scope.principal,)
    )
    searched = [Searched(f"person/{scope.principal}/*", "ok", "", len(kept), len(kept))]
    ledger.note(db, scope, "export", searched, now)
    return {
        "kai_memory": FORM,
        "written_at": now.isoformat(),
        "records": [
            {
                "record": one.record,
                "namespace": one.namespace.replace(f"person/{scope.principal}/", "person/self/"),
                "family": one.family,
                "kind": one.kind,
                "pinned": one.pinned,
                "sensitivity": one.sensitivity,
                "text": one.text,
                "said_at": one.said_at.isoformat(),
                "expires_at": one.expires_at.isoformat() if one.expires_at else None,
            }
            for one in kept
        ],
        "forgotten": [
            {"secret": row["secret"].hex(), "digest": row["digest"].hex(), "record": row["record"]} for row in stones
        ],
    }


Piece = tuple[NewRecord, records.TakenIn]


def read_back(
    db: Connection, scope: Scope, document: Mapping[str, Any], op: str, now: datetime, *, dry: bool = False
) -> list[MemoryReceipt]:
    """One receipt a record. Raises `BadInputError` for what is no such document; then nothing was kept.

    `dry`: what the receipts would say; nothing is kept.
    """
    if document.get("kai_memory") != FORM:
        raise BadInputError("kai_memory", f"this is no memory that kai wrote in form {FORM}")
    try:
        pieces = [_one(scope, one, now) for one in document["records"]]
        if not dry:
            _bury(db, scope, document.get("forgotten", ()), now)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError("records", f"not as kai writes them ({error!r})") from None
    return take_in(db, scope, pieces, op, now, dry=dry)


def take_in(
    db: Connection, scope: Scope, pieces: Iterable[Piece], op: str, now: datetime, *, dry: bool = False
) -> list[MemoryReceipt]:
    """A receipt each, in their order. What stands in them twice is known the second time."""
    scope, made, texts = replace(scope, message=None), list[MemoryReceipt](), set[str]()
    for number, (new, taken) in enumerate(pieces):
        if dry:
            one = records.foreseen(db, scope, new, taken, now)
            if one.outcome is Deed.COMMITTED and not taken.record and records.compared(new.text) in texts:
                one = replace(one, outcome=Deed.NOOP, reason="known")
            texts.add(records.compared(new.text))
        else:
            one = records.take_in(db, scope, new, taken, f"{op}:{taken.record or number}", now)
        made.append(one)
    return made


def _one(scope: Scope, one: Mapping[str, Any], now: datetime) -> Piece:
    until = datetime.fromisoformat(one["expires_at"]).astimezone(UTC) if one.get("expires_at") else None
    new = NewRecord(
        str(one["text"]),
        Kind(one["kind"]),
        str(one["namespace"]).replace("person/self/", f"person/{scope.principal}/"),
        str(one.get("family", "")),
        bool(one.get("pinned")),
        max(1e-6, (until - now).total_seconds()) if until else 0.0,
        str(one.get("sensitivity", "")),
    )
    record, said_at = str(one["record"]), datetime.fromisoformat(one["said_at"]).astimezone(UTC)
    if not record.isprintable() or not 4 <= len(record) <= 64:
        raise ValueError(record[:64])
    # Said before it was brought here, it holds from then on; a clock that ran ahead must not hide it.
    return new, records.TakenIn(record, min(said_at, now))


def _bury(db: Connection, scope: Scope, stones: Any, now: datetime) -> None:
    """Keep what was forgotten elsewhere forgotten here: by its hash, under the key that came along."""
    for one in stones:
        row = scope.principal, bytes.fromhex(one["secret"]), bytes.fromhex(one["digest"]), one["record"], stamp(now)
        is_new = db.execute("INSERT OR IGNORE INTO mem_tombstone VALUES (?, ?, ?, ?, ?, NULL)", row).rowcount
        known = records.own(db, scope, one["record"]) if is_new else None
        if known is not None and known.status is Status.ACTIVE:  # an older copy of this database was put back
            records.bury(db, known, now)
