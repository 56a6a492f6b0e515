"""Which revisions a session was sent: what need not be said again, what has to be taken back, what ends a session."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kai.model.context import ContextBlock, Correction, Verdict
from kai.model.errors import MemoryMovedError
from kai.model.ids import DispatchId, SessionId, TurnId
from kai.model.memory import Scope, Searched, Way
from kai.store import ledger
from kai.store.binding import Connection, Error
from kai.store.eligible import Place, current, place
from kai.store.namespaces import reaches

_SECTIONS = ("memory", "corrections")
_KINDS = ("record", "correction")


def held(db: Connection, session: SessionId) -> dict[str, int]:
    """Record to the newest revision that a live session has in its transcript."""
    rows = db.execute(
        "SELECT record, max(revision) FROM mem_exposure WHERE session = ? AND held = 1 GROUP BY record", (session,)
    )
    return {row[0]: row[1] for row in rows}


def corrections(db: Connection, here: Place, shown: dict[str, int], now: datetime) -> tuple[Correction, ...]:
    """What a session was shown and that holds no more, with what holds now; nothing where that is not for here."""
    found = []
    for record, revision in shown.items():
        row = db.execute("SELECT seq, revision, status FROM mem_record WHERE record = ?", (record,)).fetchone()
        standing = current(db, here, [row["seq"]], now).get(row["seq"])
        if standing is None or standing.revision != revision:
            text = standing.text if standing else ""
            found.append(Correction(record, revision, text, standing.revision if standing else row["revision"]))
    return tuple(found)


def is_retired(db: Connection, session: SessionId) -> bool:
    row = db.execute("SELECT state FROM session WHERE session = ?", (session,)).fetchone()
    return row is not None and row["state"] == "retired"


def recheck(db: Connection, sending: "Sending | None", session: SessionId, block: ContextBlock, now: datetime) -> None:
    """After a session took time to start, right before its first byte: like `check`, and the block still stands."""
    check(db, session)
    if sending is not None:
        _refuse_stale(db, sending, block, now)


def check(db: Connection, session: SessionId) -> None:
    """Right before a dispatch: raises `MemoryMovedError` when something that the session knows was taken back."""
    if is_retired(db, session):
        raise MemoryMovedError("the session was shown what was taken back since", session_gone=True)


@dataclass(frozen=True, slots=True)
class Sending:
    """What a dispatch does with memory: for whom, by which patterns, into which session, and what was searched."""

    scope: Scope
    patterns: tuple[str, ...]
    searched: tuple[Searched, ...]
    fresh: bool


def dispatch(
    db: Connection, sending: Sending, session: SessionId, dispatch: DispatchId, block: ContextBlock, now: datetime
) -> None:
    """In the transaction that commits a block: what it holds still stands, is on record as shown, and is audited.

    Raises `MemoryMovedError` when a record of the block was changed, forgotten or closed to this audience meanwhile.
    """
    scope = sending.scope
    submitted = [
        (row.source_id, row.revision)
        for row in block.dispositions
        if row.section in _SECTIONS and row.source_kind in _KINDS and row.verdict is Verdict.SUBMITTED
    ]
    if sending.fresh:
        db.execute("UPDATE mem_exposure SET held = 0 WHERE session = ? AND held = 1", (session,))
    if submitted:
        _refuse_stale(db, sending, block, now)
        db.executemany(
            "INSERT INTO mem_exposure VALUES (?, ?, ?, ?, 1)",
            [(session, record, revision, dispatch) for record, revision in submitted],
        )
    sent = json.dumps([record for record, _ in submitted])
    query = "SELECT namespace, count(*) FROM mem_record WHERE record IN (SELECT value FROM json_each(?)) GROUP BY 1"
    of = {row[0]: row[1] for row in db.execute(query, (sent,))} if submitted else {}
    try:
        ledger.note(db, replace(scope, way=Way.AUTO), "inject", _with_submitted(sending.searched, of), now)
    except Error as error:  # nobody reads what nobody can be told of
        raise MemoryMovedError(f"the audit cannot be written ({error})", unrecorded=True) from error


def found(db: Connection, session: SessionId, turn: TurnId, shown: Sequence[tuple[str, int]]) -> None:
    """(record, revision) that a tool of this turn's agent was answered: its session has them from now on."""
    row = db.execute(
        "SELECT dispatch FROM dispatch WHERE turn = ? AND session = ? ORDER BY attempt DESC LIMIT 1", (turn, session)
    ).fetchone()
    if row is not None:
        db.executemany(
            "INSERT OR IGNORE INTO mem_exposure VALUES (?, ?, ?, ?, 1)",
            [(session, record, revision, row[0]) for record, revision in shown],
        )


def _with_submitted(searched: Sequence[Searched], of: dict[str, int]) -> list[Searched]:
    """How many went along, told with the first pattern that reaches their namespace."""
    left = dict(of)
    found = []
    for one in searched:
        mine = [name for name in left if reaches((one.namespace,), name) or one.namespace == f"granted:{name}"]
        submitted = sum(left.pop(name) for name in mine)
        lost = one.status == "ok" and one.hits and not submitted
        found.append(replace(one, submitted=submitted, status="omitted_budget" if lost else one.status))
    return found


def _refuse_stale(db: Connection, sending: Sending, block: ContextBlock, now: datetime) -> None:
    shown = {
        row.source_id: row.revision
        for row in block.dispositions
        if row.section == "memory" and row.source_kind == "record" and row.verdict is Verdict.SUBMITTED
    }
    if not shown:
        return
    here = place(db, sending.scope, sending.patterns)
    query = "SELECT seq FROM mem_record WHERE record IN (SELECT value FROM json_each(?))"
    rows = db.execute(query, (json.dumps(list(shown)),)).fetchall()
    standing = {one.record: one.revision for one in current(db, here, [row[0] for row in rows], now).values()}
    if standing != shown:
        raise MemoryMovedError("a record was changed between the search and the dispatch")
