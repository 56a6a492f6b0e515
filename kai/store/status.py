"""How much there is of everything. No figure costs more the more there is, but for what waits or is open."""

from kai.store.binding import Connection

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
