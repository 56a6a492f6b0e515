"""Agent definitions as they were: every version that was in force, so that what a run was bound to can be read."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kai.model.context import AgentDefinition
from kai.model.errors import UnknownThingError
from kai.store.binding import Connection
from kai.store.columns import moment, stamp


def note(db: Connection, definitions: Iterable[AgentDefinition], now: datetime) -> None:
    """These are in force now. A version that was there before keeps the time at which it was seen first."""
    rows = [(one.name, one.revision, json.dumps(asdict(one), ensure_ascii=False), stamp(now)) for one in definitions]
    db.executemany("INSERT OR IGNORE INTO agent_revision VALUES (?, ?, ?, ?)", rows)


def revisions(db: Connection, name: str) -> list[dict[str, Any]]:
    """Every version of a definition, the newest first: `revision`, `seen_at`."""
    query = "SELECT revision, seen_at FROM agent_revision WHERE name = ? ORDER BY seen_at DESC, revision"
    return [{"revision": row[0], "seen_at": moment(row[1])} for row in db.execute(query, (name,))]


def content(db: Connection, name: str, revision: str) -> dict[str, Any]:
    """A version as it read; the beginning of its revision will do. Raises `UnknownThingError`."""
    found = db.execute(
        "SELECT content FROM agent_revision WHERE name = ? AND substr(revision, 1, length(?2)) = ?2 LIMIT 2",
        (name, revision),
    ).fetchall()
    if len(found) != 1 or not revision:
        raise UnknownThingError(f"revision of {name}", revision, "", tuple(r["revision"] for r in revisions(db, name)))
    read: dict[str, Any] = json.loads(found[0][0])
    return read
