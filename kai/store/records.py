"""Records: kept, corrected, forgotten, brought back, erased. Every change is one operation with one receipt."""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from kai.model.errors import UnknownThingError
from kai.model.ids import PrincipalId, fresh
from kai.model.memory import Deed, Kind, MemoryReceipt, NewRecord, Origin, Record, Scope, Status, Way
from kai.store import channels, namespaces, people, shelves
from kai.store.binding import Connection
from kai.store.columns import insert, read, read_all, stamp
from kai.store.eligible import RECORDS, Place, place
from kai.store.ledger import Made, keyed, once, own_secret
from kai.text.safe import plain
from kai.text.secrets import secret_in

CONTENT_BYTES = 16 * 1024  # a record is a thing that is remembered, no document
_FREE_NAMES = 128


def save(db: Connection, scope: Scope, new: NewRecord, op: str, now: datetime) -> MemoryReceipt:
    """Keep something of the person's. The receipt names the record, or the reason why nothing was kept."""
    return once(db, scope, "save", op, asdict(new), now, lambda: _save(db, scope, new, op, now))


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What is known of a record that is not being said right now. Without an id it is a record of its own.

    `waits`: it is a candidate. `said_by` is who said it, unless the person.
    """

    record: str = ""
    said_at: datetime | None = None
    origin: Origin = Origin.IMPORT
    said_by: str = ""
    waits: bool = False


def take_in(
    db: Connection, scope: Scope, new: NewRecord, taken: TakenIn, op: str, now: datetime, *, operation: str = "import"
) -> MemoryReceipt:
    """Keep a record of an export, a file, a talk. What was forgotten here stays so, and what was corrected as well."""

    def work() -> Made:
        return _taken_before(db, scope, new, taken) or _save(db, scope, new, op, now, taken)

    return once(db, scope, operation, op, [asdict(new), asdict(taken)], now, work)


def foreseen(db: Connection, scope: Scope, new: NewRecord, taken: TakenIn, now: datetime) -> MemoryReceipt:
    """What `take_in` would come to now. Keeps nothing."""
    kept = Deed.COMMITTED, "", taken.record, 0, 1
    made = _taken_before(db, scope, new, taken) or _judge(db, scope, new, taken.origin)[1] or kept
    outcome, reason, record, base, revision = made
    return MemoryReceipt("", "import", outcome, record, base, revision, reason, scope.principal, scope.way, at=now)


def _taken_before(db: Connection, scope: Scope, new: NewRecord, taken: TakenIn) -> Made | None:
    """Its id is known, or its text is that of any version of something that was not forgotten."""
    if not taken.record:
        text = keyed(db, compared(plain(new.text).strip()))
        row = db.execute(
            "SELECT r.record, r.revision FROM mem_revision v JOIN mem_record r USING (record) WHERE v.digest = ? AND "
            "r.owner = ? AND r.status IN ('active', 'candidate', 'superseded') ORDER BY r.status LIMIT 1",
            (text, scope.principal),
        ).fetchone()
        return (Deed.NOOP, "known", row["record"], row["revision"], row["revision"]) if row else None
    row = db.execute("SELECT owner, status, revision FROM mem_record WHERE record = ?", (taken.record,)).fetchone()
    if row is None:
        return None
    if row["owner"] != scope.principal:
        return Deed.REJECTED, "unknown", "", 0, 0
    if row["status"] == Status.FORGOTTEN:
        return Deed.REJECTED, "tombstoned", taken.record, 0, row["revision"]
    return Deed.NOOP, "known", taken.record, row["revision"], row["revision"]


def correct(
    db: Connection, scope: Scope, record: str, text: str, base: int | None, op: str, now: datetime
) -> MemoryReceipt:
    """Put another text in the place of a record's. `base` is the revision that the caller knows; None: whichever."""

    def work() -> Made:
        known = own(db, scope, record)
        if known is None or known.status is not Status.ACTIVE:
            return _unknown(record)
        if base not in (None, known.revision):
            return Deed.CONFLICT, "stale_base", record, base or 0, known.revision
        content = plain(text).strip()
        if reason := _refused(content):
            return Deed.REJECTED, reason, record, known.revision, known.revision
        if content == known.text:
            return Deed.NOOP, "unchanged", record, known.revision, known.revision
        shelves.drop(db, known.seq)
        _revise(db, scope, known, content, _origin(scope), op, now)
        shelves.add(db, known.seq)
        _withdraw_derived(db, record)
        return Deed.COMMITTED, "", record, known.revision, known.revision + 1

    return once(db, scope, "correct", op, [record, text, base], now, work)


def forget(db: Connection, scope: Scope, record: str, base: int | None, op: str, now: datetime) -> MemoryReceipt:
    """Use a record no more, by no way. Its text stays for `restore` until it is collected; sessions that saw it end."""

    def work() -> Made:
        known = own(db, scope, record)
        if known is None:
            return _unknown(record)
        if known.status is Status.FORGOTTEN:
            return Deed.NOOP, "forgotten", record, known.revision, known.revision
        if base not in (None, known.revision):
            return Deed.CONFLICT, "stale_base", record, base or 0, known.revision
        bury(db, known, now)
        return Deed.COMMITTED, "", record, known.revision, known.revision

    return once(db, scope, "forget", op, [record, base], now, work)


def restore(db: Connection, scope: Scope, record: str, op: str, now: datetime) -> MemoryReceipt:
    """Use a forgotten or expired record again, as it was, while its text is still there."""

    def work() -> Made:
        known = own(db, scope, record)
        if known is None or not known.text:
            return _unknown(record)
        if known.status is Status.ACTIVE:
            return Deed.NOOP, "active", record, known.revision, known.revision
        db.execute("UPDATE mem_tombstone SET lifted_at = ? WHERE record = ?", (stamp(now), record))
        db.execute(
            "UPDATE mem_revision SET expires_at = NULL WHERE record = ? AND revision = ?", (record, known.revision)
        )
        supersede(db, known.owner, known.namespace, known.family, now)
        put(db, known, Status.ACTIVE, now)
        shelves.add(db, known.seq)
        return Deed.COMMITTED, "", record, known.revision, known.revision

    return once(db, scope, "restore", op, [record], now, work)


def get(db: Connection, scope: Scope, record: str) -> Record:
    """One of the person's own, whatever its status. Raises `UnknownThingError`, for somebody else's too."""
    known = own(db, scope, record)
    if known is None:
        raise UnknownThingError("record", record)
    return known


def listing(
    db: Connection, scope: Scope, *, status: Status | None = Status.ACTIVE, limit: int = 50
) -> tuple[Record, ...]:
    """The person's own, the last changed first; in a shared channel those of this channel alone."""
    here = place(db, scope)
    rows = db.execute(
        f"{RECORDS} WHERE r.owner = ?1 AND (?2 IS NULL OR r.status = ?2) AND (NOT ?3 OR r.namespace LIKE ?4) "
        "ORDER BY r.changed_at DESC, r.seq DESC LIMIT ?5",
        (scope.principal, status, here.is_shared, f"channel/{scope.channel}/%", limit),
    )
    return read_all(Record, rows)


def revisions(db: Connection, scope: Scope, record: str) -> list[dict[str, object]]:
    """Every version of one of the person's own records, the oldest first."""
    get(db, scope, record)
    rows = db.execute(
        "SELECT revision, content, origin, said_by, said_at, message, op, supersedes, valid_from, valid_to, expires_at "
        "FROM mem_revision WHERE record = ? ORDER BY revision",
        (record,),
    )
    return [dict(row) for row in rows]


def said(db: Connection, scope: Scope, text: str) -> tuple[Record, ...]:
    """The person's active records with exactly this text, as texts are compared."""
    rows = db.execute(
        f"{RECORDS} WHERE v.digest = ? AND r.owner = ? AND r.status = 'active'",
        (keyed(db, compared(plain(text))), scope.principal),
    )
    return tuple(one for one in read_all(Record, rows) if own(db, scope, one.record))


def expire(db: Connection, now: datetime, keep_days: int) -> tuple[int, int]:
    """What is over is taken out of use; what was forgotten `keep_days` ago loses its text. How many of each."""
    over = db.execute(
        f"{RECORDS} WHERE r.status = 'active' AND v.expires_at <= ? ORDER BY r.seq LIMIT 500", (stamp(now),)
    )
    gone = read_all(Record, over)
    for record in gone:
        shelves.drop(db, record.seq)
        put(db, record, Status.EXPIRED, now)
    old = db.execute(
        f"{RECORDS} WHERE r.status IN ('forgotten', 'superseded') AND r.changed_at < ? AND EXISTS (SELECT 1 FROM "
        "mem_revision x WHERE x.record = r.record AND x.content <> '') ORDER BY r.seq LIMIT 500",
        (stamp(now - timedelta(days=keep_days)),),
    )
    erased = read_all(Record, old)
    for record in erased:
        erase(db, record.record)
    return len(gone), len(erased)


def erase(db: Connection, record: str) -> None:
    """Take the text of every version out of the file; digests stay."""
    db.execute("UPDATE mem_revision SET content = '' WHERE record = ?", (record,))


def retire_exposed(db: Connection, record: str) -> None:
    """No session that was sent this record, or what was made from it, is used or resumed again."""
    db.execute(
        "WITH RECURSIVE made (record) AS (SELECT ?1 UNION SELECT e.derived FROM mem_edge e JOIN made m "
        "ON e.source = m.record) UPDATE session SET state = 'retired' WHERE state <> 'retired' AND session IN "
        "(SELECT x.session FROM mem_exposure x JOIN made USING (record))",
        (record,),
    )


def compared(text: str) -> str:
    """What makes two texts the same: letters and order, not case, width, spaces or the sign at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .,;:!?'\"")


def is_buried(db: Connection, owner: PrincipalId, text: str) -> bool:
    """Whether the person had this text forgotten and did not say it again since."""
    secrets = db.execute("SELECT DISTINCT secret FROM mem_tombstone WHERE owner = ?", (owner,)).fetchall()
    return any(
        db.execute(
            "SELECT 1 FROM mem_tombstone WHERE owner = ? AND secret = ? AND digest = ? AND lifted_at IS NULL",
            (owner, secret, keyed(db, compared(text), secret)),
        ).fetchone()
        for (secret,) in secrets
    )


def _save(db: Connection, scope: Scope, new: NewRecord, op: str, now: datetime, taken: "TakenIn | None" = None) -> Made:
    origin = taken.origin if taken else _origin(scope)
    (content, namespace, audience), settled = _judge(db, scope, new, origin)
    if settled:
        return settled
    if origin is Origin.EXPLICIT_USER:
        _lift(db, scope.principal, content, now)
    is_candidate = taken.waits if taken else origin in (Origin.AGENT_NOTE, Origin.LEARNED)
    if not is_candidate:
        supersede(db, scope.principal, namespace, new.family, now)
    record = (taken.record if taken else "") or fresh("rec")
    seq = insert(
        db,
        "mem_record",
        record=record,
        owner=scope.principal,
        namespace=namespace,
        family=new.family,
        kind=new.kind,
        status=Status.CANDIDATE if is_candidate else Status.ACTIVE,
        revision=1,
        channel=scope.channel,
        audience=audience,
        sensitivity=new.sensitivity,
        agent=scope.agent,
        pinned=new.pinned if new.pinned is not None else new.kind is Kind.PREFERENCE,
        created_at=now,
        changed_at=now,
    )
    until = now + timedelta(seconds=new.ttl_s) if new.ttl_s else None
    said_at, by = ((taken.said_at or now), taken.said_by) if taken else (now, "")
    _put(db, scope, record, 1, content, origin, op, (said_at, until, by))
    for source, revision in new.sources:
        db.execute("INSERT OR IGNORE INTO mem_edge VALUES (?, ?, ?)", (record, source, revision))
    if not is_candidate:
        shelves.add(db, seq)
    return Deed.COMMITTED, "candidate" if is_candidate else "", record, 0, 1


def _judge(
    db: Connection, scope: Scope, new: NewRecord, origin: Origin
) -> tuple[tuple[str, str, str | None], Made | None]:
    """The text as it would be kept, where, and for whom; and what it comes to, unless it may be kept."""
    here = place(db, scope)
    content = plain(new.text).strip()
    namespace = new.namespace or namespaces.of_kind(scope, new.kind, shared=here.is_shared)
    audience = _audience(db, here, namespace, new.sources)
    kept = content, namespace, audience
    reason = _refused(content) or _out_of_place(here, namespace, new, origin)
    if not reason and origin is not Origin.EXPLICIT_USER and is_buried(db, scope.principal, content):
        reason = "tombstoned"
    if reason:
        return kept, (Deed.REJECTED, reason, "", 0, 0)
    same = db.execute(
        "SELECT r.record, r.revision FROM mem_revision v JOIN mem_record r USING (record, revision) WHERE v.digest = ? "
        "AND r.owner = ? AND r.namespace = ? AND r.status = 'active' AND r.audience IS ?",
        (keyed(db, compared(content)), scope.principal, namespace, audience),
    ).fetchone()
    return kept, (Deed.NOOP, "known", same["record"], same["revision"], same["revision"]) if same else None


def _out_of_place(here: Place, namespace: str, new: NewRecord, origin: Origin) -> str:
    """Why it may not live there: a person's own things are kept in private, a channel's in that channel."""
    scope = here.scope
    if not namespaces.is_sound(namespace):
        return "unknown_namespace"
    home = f"channel/{scope.channel}/" if here.is_shared else f"person/{scope.principal}/"
    is_for_all = namespace.startswith("global/") and origin is Origin.ADMIN and not here.is_shared
    if not namespace.startswith(home) and not is_for_all:
        return "not_granted"
    named = (new.family, new.sensitivity)
    is_long = any(len(name) > _FREE_NAMES or not name.isprintable() for name in named)
    return "bad_name" if is_long or not 0 <= new.ttl_s < 1e10 else ""


def _audience(db: Connection, here: Place, namespace: str, sources: Sequence[tuple[str, int]]) -> str | None:
    """Who was there when it was said; of what is made from others, who may see all of those. None: nobody may."""
    scope = here.scope
    if sources:
        return _in_common(db, scope, sources)
    if namespace.startswith("global/"):
        return json.dumps([namespaces.EVERYBODY])
    present = channels.audience(db, scope.message) if scope.message is not None else frozenset(here.present)
    return json.dumps(sorted(present)) if present else None


def _in_common(db: Connection, scope: Scope, sources: Sequence[tuple[str, int]]) -> str | None:
    common: set[str] | None = None
    for source, _ in sources:
        row = db.execute("SELECT audience, owner FROM mem_record WHERE record = ?", (source,)).fetchone()
        if row is None or row["audience"] is None or row["owner"] != scope.principal:
            return None
        if row["audience"] != '["*"]':
            theirs = set(json.loads(row["audience"]))
            common = theirs if common is None else common & theirs
    return json.dumps([namespaces.EVERYBODY] if common is None else sorted(common)) if common != set() else None


def _refused(content: str) -> str:
    if not content:
        return "empty"
    if len(content.encode()) > CONTENT_BYTES:
        return "too_long"
    return f"secret:{kind}" if (kind := secret_in(content)) else ""


def _origin(scope: Scope) -> Origin:
    """From the way alone. What an agent asks for is the person's wish only with their own message behind it."""
    match scope.way:
        case Way.API:
            return Origin.EXPLICIT_USER
        case Way.ADMIN:
            return Origin.ADMIN
        case Way.TOOL:
            return Origin.EXPLICIT_USER if scope.message is not None else Origin.AGENT_NOTE
        case Way.JOB | Way.AUTO:
            return Origin.LEARNED


def own(db: Connection, scope: Scope, record: str) -> Record | None:
    """A record that this person may change from here: their own, and in a shared channel only what is its own."""
    row = db.execute(f"{RECORDS} WHERE r.record = ? AND r.owner = ?", (record, scope.principal)).fetchone()
    if row is None:
        return None
    here = place(db, scope)
    is_here = not here.is_shared or row["namespace"].startswith(f"channel/{scope.channel}/")
    return read(Record, row) if is_here else None


def _unknown(record: str) -> Made:
    return Deed.REJECTED, "unknown", record, 0, 0


def _revise(db: Connection, scope: Scope, known: Record, content: str, origin: Origin, op: str, now: datetime) -> None:
    db.execute(
        "UPDATE mem_revision SET valid_to = ? WHERE record = ? AND revision = ?",
        (stamp(now), known.record, known.revision),
    )
    _put(db, scope, known.record, known.revision + 1, content, origin, op, (now, known.expires_at, ""))
    db.execute(
        "UPDATE mem_record SET revision = revision + 1, changed_at = ? WHERE record = ?", (stamp(now), known.record)
    )


def _put(
    db: Connection,
    scope: Scope,
    record: str,
    revision: int,
    content: str,
    origin: Origin,
    op: str,
    said: tuple[datetime, datetime | None, str],
) -> None:
    """`said`: from when on it holds, until when, and by whom when not the person."""
    insert(
        db,
        "mem_revision",
        record=record,
        revision=revision,
        content=content,
        digest=keyed(db, compared(content)),
        origin=origin,
        said_by=said[2] or people.get(db, scope.principal).name,
        said_at=said[0],
        message=scope.message,
        op=op,
        supersedes=revision - 1 or None,
        valid_from=said[0],
        expires_at=said[1],
    )


def bury(db: Connection, known: Record, now: datetime) -> None:
    """Out of use, out of every index, with a stone on each of its texts; sessions that saw it are not used again."""
    shelves.drop(db, known.seq)
    put(db, known, Status.FORGOTTEN, now)
    secret = own_secret(db)
    rows = db.execute("SELECT DISTINCT digest FROM mem_revision WHERE record = ?", (known.record,)).fetchall()
    db.executemany(
        "INSERT INTO mem_tombstone VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT (owner, secret, digest) "
        "DO UPDATE SET lifted_at = NULL, record = excluded.record, buried_at = excluded.buried_at",
        [(known.owner, secret, digest, known.record, stamp(now)) for (digest,) in rows],
    )
    retire_exposed(db, known.record)


def _lift(db: Connection, owner: PrincipalId, content: str, now: datetime) -> None:
    for (secret,) in db.execute("SELECT DISTINCT secret FROM mem_tombstone WHERE owner = ?", (owner,)).fetchall():
        db.execute(
            "UPDATE mem_tombstone SET lifted_at = ? WHERE owner = ? AND secret = ? AND digest = ?",
            (stamp(now), owner, secret, keyed(db, compared(content), secret)),
        )


def _withdraw_derived(db: Connection, record: str) -> None:
    """What was made from the old text is withheld by itself; sessions that saw it are not used on."""
    for (derived,) in db.execute("SELECT derived FROM mem_edge WHERE source = ?", (record,)).fetchall():
        retire_exposed(db, derived)


def supersede(db: Connection, owner: PrincipalId, namespace: str, family: str, now: datetime) -> None:
    """A family has one current record: the one before steps back."""
    if not family:
        return
    rows = db.execute(
        f"{RECORDS} WHERE r.owner = ? AND r.namespace = ? AND r.family = ? AND r.status = 'active'",
        (owner, namespace, family),
    )
    for known in read_all(Record, rows):
        shelves.drop(db, known.seq)
        put(db, known, Status.SUPERSEDED, now)


def put(db: Connection, known: Record, status: Status, now: datetime) -> None:
    db.execute("UPDATE mem_record SET status = ?, changed_at = ? WHERE record = ?", (status, stamp(now), known.record))
