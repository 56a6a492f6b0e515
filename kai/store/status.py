"""How much there is of everything. No figure costs more the more there is, but for what waits or is open."""

from datetime import datetime

from kai.store.binding import Connection
from kai.store.columns import moment

_FIGURES = {
    "people": "SELECT count(*) FROM person WHERE removed_at IS NULL",
    "channels": "SELECT count(*) FROM channel",
    "messages": "SELECT ifnull(sum(last_number), 0) FROM channel",
    "turns": "SELECT ifnull(max(seq), 0) FROM turn",
    "turns_queued": "SELECT count(*) FROM turn WHERE state = 'queued'",
    "turns_live": "SELECT count(*) FROM turn WHERE state IN ('running', 'asking', 'held')",
    "questions_open": "SELECT count(*) FROM question WHERE state = 'open'",
    "deliveries_pending": "SELECT count(*) FROM delivery WHERE state = 'pending'",
    "deliveries_claimed": "SELECT count(*) FROM delivery WHERE state = 'claimed'",
    "deliveries_unknown": "SELECT count(*) FROM delivery WHERE state = 'unknown'",
    "sessions_live": "SELECT count(*) FROM session WHERE state = 'live'",
    "runs_open": "SELECT count(*) FROM run WHERE ended_at IS NULL",
    "bytes": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
}


def counts(db: Connection) -> dict[str, int]:
    """Figures for `kai status` by name."""
    return {name: db.execute(sql).fetchone()[0] for name, sql in _FIGURES.items()}


def is_left(db: Connection) -> bool:
    """Whether there is something to go on with, or to own up to: turns that have not ended, runs without an end."""
    row = db.execute(
        "SELECT EXISTS (SELECT 1 FROM turn WHERE state IN ('queued', 'running', 'asking', 'held')) "
        "OR EXISTS (SELECT 1 FROM run WHERE ended_at IS NULL) OR EXISTS (SELECT 1 FROM session WHERE state = 'live')"
    ).fetchone()
    return bool(row[0])


def is_new(db: Connection) -> bool:
    """Nobody was ever added."""
    return db.execute("SELECT 1 FROM person LIMIT 1").fetchone() is None


def newest(db: Connection) -> datetime | None:
    """When the newest message was kept."""
    row = db.execute("SELECT created_at FROM message ORDER BY seq DESC LIMIT 1").fetchone()
    return moment(row[0]) if row else None


def waiting(db: Connection) -> tuple[tuple[str, int, datetime], ...]:
    """(bridge, how many, since when) of the deliveries that nobody has fetched."""
    rows = db.execute("SELECT bridge, count(*), min(created_at) FROM delivery WHERE state = 'pending' GROUP BY bridge")
    return tuple((row[0], row[1], moment(row[2])) for row in rows)
