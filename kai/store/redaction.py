"""Redaction: words leave the file for good: from the record, its message, what was sent and what was delivered."""

from datetime import datetime

from kai.model.memory import Deed, MemoryReceipt, Scope, Status
from kai.store import records, snapshots, words
from kai.store.binding import Connection
from kai.store.columns import stamp
from kai.store.ledger import Made, once


def redact(db: Connection, scope: Scope, record: str, op: str, now: datetime) -> MemoryReceipt:
    """Forget a record and erase its text, the messages that it came from, and every snapshot that holds either.

    The receipt's reason tells how many messages and snapshots were erased. There is no way back.
    """

    def work() -> Made:
        known = records.own(db, scope, record)
        if known is None:
            return Deed.REJECTED, "unknown", record, 0, 0
        rows = db.execute("SELECT content, message FROM mem_revision WHERE record = ?", (record,)).fetchall()
        texts = {row["content"] for row in rows if row["content"]}
        if not texts:
            return Deed.NOOP, "erased", record, known.revision, known.revision
        if known.status is not Status.FORGOTTEN:
            records.bury(db, known, now)
        db.execute("PRAGMA secure_delete = ON")
        try:
            said = {row["message"] for row in rows if row["message"]}
            texts |= {text for message in said if (text := _erase_message(db, message, now))}
            shown = db.execute("SELECT DISTINCT dispatch FROM mem_exposure WHERE record = ?", (record,)).fetchall()
            words.purge(db)
            sent = snapshots.holding(db, [row[0] for row in shown], scope.principal, texts)
            snapshots.erase(db, sent)
            records.erase(db, record)
            for text in texts:
                db.execute(
                    "UPDATE delivery SET text = '(erased)' WHERE instr(text, ?) > 0 AND state NOT IN ('pending', "
                    "'claimed') AND channel IN (SELECT channel FROM membership WHERE principal = ?)",
                    (text, scope.principal),
                )
        finally:
            db.execute("PRAGMA secure_delete = OFF")
        return Deed.COMMITTED, f"messages={len(said)} snapshots={len(sent)}", record, known.revision, known.revision

    return once(db, scope, "redact", op, [record], now, work)


def _erase_message(db: Connection, message: str, now: datetime) -> str:
    """The text that was erased: of the message and of its edits."""
    row = db.execute(
        "SELECT m.seq, m.aside, c.seq AS channel_seq FROM message m JOIN channel c USING (channel) WHERE m.message = ?",
        (message,),
    ).fetchone()
    edits = db.execute(
        "SELECT text FROM message WHERE message = ?1 OR (edit_of = ?1 AND deleted = 0) ORDER BY seq DESC LIMIT 1",
        (message,),
    )
    text = str(edits.fetchone()[0])
    if not row["aside"]:
        words.drop(db, row["channel_seq"], row["seq"], text)
    db.execute(
        "UPDATE message SET text = '', redacted_at = ? WHERE (message = ?2 OR edit_of = ?2) AND redacted_at IS NULL",
        (stamp(now), message),
    )
    return text
