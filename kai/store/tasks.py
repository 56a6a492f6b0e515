"""Tasks: what was asked, what they work on, what was noted. Nothing is deleted: it becomes historical, or withdrawn."""

from dataclasses import replace
from datetime import datetime

from kai.model.errors import BadInputError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, PrincipalId, fresh
from kai.model.work import Task, TaskItem
from kai.store.binding import Connection
from kai.store.columns import insert, read_all, stamp, the, values
from kai.text.secrets import secret_in

OPEN = ("open", "blocked")
KINDS = ("note", "requirement", "restriction", "input")
ITEMS = 200  # of one task
TITLE_CHARS = 120
_TASK = "SELECT *, '[]' AS items FROM task"


def open_in(db: Connection, channel: ChannelId) -> Task | None:
    """The open task of a channel, with its items."""
    row = db.execute("SELECT task FROM task WHERE channel = ? AND status IN ('open', 'blocked')", (channel,)).fetchone()
    return get(db, row[0]) if row else None


def open_channels(db: Connection) -> tuple[ChannelId, ...]:
    """Those that have an open task."""
    rows = db.execute("SELECT channel FROM task WHERE status IN ('open', 'blocked')")
    return tuple(ChannelId(row[0]) for row in rows)


def get(db: Connection, task: str) -> Task:
    """Raises `UnknownThingError`."""
    found = the(db, Task, "task", f"{_TASK} WHERE task = ?", task)
    rows = db.execute("SELECT * FROM task_item WHERE task = ? ORDER BY at, item", (task,))
    return replace(found, items=read_all(TaskItem, rows))


def add(  # noqa: PLR0913 - what is said, by whom, citing what
    db: Connection,
    channel: ChannelId,
    principal: PrincipalId,
    now: datetime,
    *,
    kind: str,
    text: str,
    replaces: str = "",
    message: MessageId | None = None,
    agent: str = "",
) -> tuple[Task, TaskItem]:
    """Add to the open task of a channel; what is said first begins one. Raises `BadInputError`, `UnknownThingError`.

    `replaces` names an item of the same kind, which becomes historical. All but notes need the message that they cite.
    """
    if found := secret_in(text):
        raise BadInputError("text", f"holds what looks like a secret ({found})", "Leave it out.")
    if kind != "note" and message is None:
        raise BadInputError("kind", f"{kind!r} cites a message of the person's, and there is none now", "Note it.")
    known = open_in(db, channel)
    if known is None:
        title = " ".join(text.split())[:TITLE_CHARS]
        begun = Task(fresh("k"), channel, principal, title, "open", now, now)
        insert(db, "task", **values(begun, "items"))
        known = begun
    if len(known.items) >= ITEMS:
        raise BadInputError(
            "text", f"the task has {ITEMS} items already", "End it with task_status, and begin another."
        )
    if replaces:
        old = next((one for one in known.items if one.item == replaces), None)
        if old is None or old.kind != kind or old.status != "active":
            raise UnknownThingError(f"active {kind} of this task", replaces)
        db.execute("UPDATE task_item SET status = 'historical' WHERE item = ?", (replaces,))
    item = TaskItem(fresh("i"), known.task, kind, text, "active", replaces or None, message, agent, now)
    insert(db, "task_item", **values(item))
    db.execute("UPDATE task SET changed_at = ? WHERE task = ?", (stamp(now), known.task))
    return get(db, known.task), item


def withdraw(db: Connection, channel: ChannelId, item: str, now: datetime) -> Task:
    """Take a note back; what was asked stays. Raises `UnknownThingError`."""
    known = open_in(db, channel)
    if known is None or not any(one.item == item and one.kind == "note" for one in known.items):
        raise UnknownThingError("note of the open task", item)
    db.execute("UPDATE task_item SET status = 'withdrawn' WHERE item = ?", (item,))
    db.execute("UPDATE task SET changed_at = ? WHERE task = ?", (stamp(now), known.task))
    return get(db, known.task)


def set_status(db: Connection, channel: ChannelId, status: str, now: datetime) -> Task:
    """Open, blocked, done or dropped. Raises `UnknownThingError` when none is open."""
    known = open_in(db, channel)
    if known is None:
        raise UnknownThingError("open task", "here")
    db.execute("UPDATE task SET status = ?, changed_at = ? WHERE task = ?", (status, stamp(now), known.task))
    return get(db, known.task)


def inputs_of(db: Connection, channel: ChannelId) -> tuple[str, ...]:
    """The active inputs of the open task: what is found now is made from these."""
    known = open_in(db, channel)
    return tuple(one.item for one in known.items if (one.kind, one.status) == ("input", "active")) if known else ()
