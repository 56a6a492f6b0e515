"""What is kept of sessions so that they can be resumed, and of the runs that were their processes."""

from collections.abc import Collection
from datetime import datetime
from typing import Literal

from kai.model.ids import ChannelId, PrincipalId, RunId, SessionId
from kai.model.turns import Outcome, SessionRow
from kai.store.binding import Connection
from kai.store.columns import insert, maybe, stamp, values


def open(db: Connection, session: SessionRow) -> None:  # noqa: A001 said as sessions.open
    """Keep a session. A row that is there already keeps what only a worked turn may set."""
    known = db.execute(
        "UPDATE session SET state = ?, used_at = ?, model = ?, effort = ? WHERE session = ?",
        (session.state, stamp(session.used_at), session.model, session.effort, session.session),
    ).rowcount
    if not known:
        insert(db, "session", **values(session))


def get(db: Connection, session: SessionId) -> SessionRow | None:
    row = db.execute("SELECT * FROM session WHERE session = ?", (session,)).fetchone()
    return maybe(SessionRow, row)


def latest(
    db: Connection, channel: ChannelId, principal: PrincipalId, backend: str, epoch: str, workspace: str
) -> SessionRow | None:
    """The session that may be resumed here: of this person, channel, backend, epoch and folder, and known to work."""
    row = db.execute(
        "SELECT * FROM session WHERE channel = ? AND principal = ? AND backend = ? AND epoch = ? AND workspace = ? "
        "AND native_id <> '' AND state <> 'retired' ORDER BY used_at DESC LIMIT 1",
        (channel, principal, backend, epoch, workspace),
    ).fetchone()
    return maybe(SessionRow, row)


def touch(db: Connection, session: SessionId, now: datetime) -> None:
    """The session was used."""
    db.execute("UPDATE session SET used_at = ? WHERE session = ?", (stamp(now), session))


def skill_given(db: Connection, session: SessionId, skill: str, now: datetime) -> None:
    """The session was given the body of a skill."""
    db.execute("INSERT OR REPLACE INTO session_skill VALUES (?, ?, ?)", (session, skill, stamp(now)))


def skills_of(db: Connection, session: SessionId) -> tuple[str, ...]:
    """The skills whose bodies a session was given, the last one last."""
    rows = db.execute("SELECT skill FROM session_skill WHERE session = ? ORDER BY at, skill", (session,))
    return tuple(row[0] for row in rows)


def end(db: Connection, session: SessionId, state: Literal["ended", "retired"]) -> None:
    """Its process is gone (``ended``: it may be resumed) or it must not be used again (``retired``, for good)."""
    db.execute("UPDATE session SET state = ? WHERE session = ? AND state <> 'retired'", (state, session))


def retire_all(db: Connection, channel: ChannelId) -> int:
    """Let no session of the channel be resumed (``/new``). How many there were."""
    return db.execute(
        "UPDATE session SET state = 'retired' WHERE channel = ? AND state <> 'retired'", (channel,)
    ).rowcount


def retire_every(db: Connection) -> None:
    """Let no session at all be resumed."""
    db.execute("UPDATE session SET state = 'retired' WHERE state <> 'retired'")


def after_turn(
    db: Connection, session: SessionId, outcome: Outcome, now: datetime, *, worked: bool, block_went: bool, fresh: bool
) -> None:
    """What a turn's end says of its session.

    Only a turn that `worked` gives a native id, and never an empty one. The session block is owed again after a
    compaction, and when the first message went without one (`block_went` False on a `fresh` session).
    """
    owed = outcome.compacted or (fresh and not block_went)
    paid = worked and block_went
    lost = ", state = 'retired'" if outcome.session_lost else ""  # named at all, its index is written
    db.execute(
        "UPDATE session SET used_at = ?, turns = turns + ?, "
        "native_id = CASE WHEN ? AND ? <> '' THEN ?4 ELSE native_id END, "
        f"compacted = CASE WHEN ? THEN 1 WHEN ? THEN 0 ELSE compacted END{lost} WHERE session = ?",
        (stamp(now), worked, worked, outcome.native_id, owed, paid, session),
    )


def end_all(db: Connection, now: datetime, reason: str, but: Collection[RunId] = ()) -> None:
    """At a start: no process of an earlier daemon is a session of this one, `but` those runs."""
    marks = ", ".join("?" * len(but))
    db.execute(
        "UPDATE session SET state = 'ended' WHERE state = 'live' AND session NOT IN "
        f"(SELECT session FROM run WHERE run IN ({marks}))",
        (*but,),
    )
    db.execute(
        f"UPDATE run SET ended_at = ?, reason = ? WHERE ended_at IS NULL AND run NOT IN ({marks})",
        (stamp(now), reason, *but),
    )


def open_runs(db: Connection) -> tuple[RunId, ...]:
    """Runs whose end was never noted: at a start, those of a daemon that was killed."""
    return tuple(RunId(row[0]) for row in db.execute("SELECT run FROM run WHERE ended_at IS NULL"))


def run_started(
    db: Connection, run: RunId, session: SessionId, now: datetime, *, os_user: str = "", pid: int | None = None
) -> None:
    """A backend process was launched for a session."""
    db.execute(
        "INSERT INTO run (run, session, os_user, pid, started_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (run) "
        "DO UPDATE SET os_user = excluded.os_user, pid = excluded.pid "
        "WHERE (os_user, pid) IS NOT (excluded.os_user, excluded.pid)",
        (run, session, os_user, pid, stamp(now)),
    )


def run_ended(
    db: Connection, run: RunId, now: datetime, *, code: int | None = None, signal: int | None = None, reason: str = ""
) -> None:
    """Its whole process tree is gone. Said twice, the first holds."""
    db.execute(
        "UPDATE run SET ended_at = ?, exit_code = ?, exit_signal = ?, reason = ? WHERE run = ? AND ended_at IS NULL",
        (stamp(now), code, signal, reason, run),
    )
