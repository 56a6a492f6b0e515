"""Temporary talk leaves the file: its words, its answers, its files and the text that was sent of it; hashes stay."""

from dataclasses import dataclass
from datetime import datetime

from kai.model.ids import TurnId
from kai.store import snapshots
from kai.store.binding import Connection
from kai.store.columns import stamp

SINCE = 9  # the migration with which there are temporary talks
ERASED = "(erased: this was temporary)"
_A_DAY = 86_400_000_000  # microseconds: no clock is set back further than that
_LEFT = "FROM message m WHERE m.temporary = 1 AND m.redacted_at IS NULL"
_OF = "(t.temporary = 1 AND (t.turn = m.turn OR t.message = m.message))"
# A turn that goes on, or something of it that nobody has a receipt for.
_OPEN = (
    "(t.ended_at IS NULL OR EXISTS (SELECT 1 FROM delivery d WHERE d.turn = t.turn AND d.state = 'pending') "
    "OR EXISTS (SELECT 1 FROM delivery d WHERE d.turn = t.turn AND d.state = 'claimed'))"
)


@dataclass(frozen=True, slots=True)
class Erased:
    """Turns whose words are gone, and files that nobody has any more: to be removed once this is committed."""

    turns: tuple[TurnId, ...] = ()
    paths: tuple[str, ...] = ()


def erase(db: Connection, now: datetime, *, everything: bool = False) -> Erased:
    """Erase what is temporary and over: its turns have ended and the last receipt is in. Cheap when there is nothing.

    `everything`: also what goes on, for a copy that is kept.
    """
    if db.execute(f"SELECT 1 {_LEFT} LIMIT 1").fetchone() is None:
        return Erased()
    over = "" if everything else f" AND NOT EXISTS (SELECT 1 FROM turn t WHERE {_OF} AND {_OPEN})"
    said = db.execute(f"SELECT m.message, m.channel, m.number {_LEFT}{over}").fetchall()
    if not said:
        return Erased()
    db.execute("PRAGMA secure_delete = ON")
    try:
        turns: dict[TurnId, None] = {}
        paths: list[str] = []
        for message, channel, number in said:
            rows = db.execute(f"SELECT t.turn FROM message m JOIN turn t ON {_OF} WHERE m.message = ?", (message,))
            turns |= {TurnId(row[0]): None for row in rows.fetchall()}
            paths += _files(db, channel, number)
            db.execute(
                "UPDATE message SET text = '', tool_lines = '[]', redacted_at = ? "
                "WHERE (message = ?2 OR edit_of = ?2) AND redacted_at IS NULL",
                (stamp(now), message),
            )
        for turn in turns:
            _turn(db, turn)
    finally:
        db.execute("PRAGMA secure_delete = OFF")
    return Erased(tuple(turns), tuple(paths))


def is_temporary(db: Connection, turn: str | None) -> bool:
    row = db.execute("SELECT temporary FROM turn WHERE turn = ?", (turn,)).fetchone() if turn else None
    return bool(row and row[0])


def _turn(db: Connection, turn: TurnId) -> None:
    # What a provider said of a failure may quote the words.
    db.execute(
        "UPDATE turn SET detail = '', reason = CASE reason WHEN '' THEN '' ELSE ? END WHERE turn = ?", (ERASED, turn)
    )
    for number in _told(db, turn):
        db.execute("UPDATE delivery SET text = ? WHERE number = ?", (ERASED, number))
    db.execute("UPDATE question SET title = ?, detail = '', choice = '' WHERE turn = ?", (ERASED, turn))
    db.execute("DELETE FROM partial WHERE turn = ?", (turn,))
    db.execute("UPDATE delegation SET result = NULL, reason = '' WHERE root = ?", (turn,))
    db.execute("DELETE FROM result WHERE turn = ? AND temporary = 1", (turn,))
    sent = db.execute("SELECT dispatch FROM dispatch WHERE turn = ?", (turn,)).fetchall()
    snapshots.blank(db, [row[0] for row in sent])


def _told(db: Connection, turn: TurnId) -> list[int]:
    """What was delivered because of a turn. From the newest backwards: an index would cost every other turn."""
    queued_at = db.execute("SELECT queued_at FROM turn WHERE turn = ?", (turn,)).fetchone()[0]
    found = []
    for number, of, at in db.execute("SELECT number, turn, created_at FROM delivery ORDER BY number DESC"):
        if at < queued_at - _A_DAY:
            break
        if of == turn:
            found.append(number)
    return found


def _files(db: Connection, channel: str, number: int) -> list[str]:
    """Let go of the files of a message; gives the paths that no other row names."""
    rows = db.execute(
        "SELECT a.ref, a.path FROM message_attachment l JOIN attachment a ON a.ref = l.ref "
        "WHERE l.channel = ? AND l.number = ?",
        (channel, number),
    ).fetchall()
    db.execute("DELETE FROM message_attachment WHERE channel = ? AND number = ?", (channel, number))
    gone = []
    for ref, path in rows:
        if db.execute("SELECT 1 FROM message_attachment WHERE ref = ?", (ref,)).fetchone() is None:
            db.execute("DELETE FROM attachment WHERE ref = ?", (ref,))
            if db.execute("SELECT 1 FROM attachment WHERE path = ?", (path,)).fetchone() is None:
                gone.append(str(path))
    return gone
