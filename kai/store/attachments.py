"""Rows of attachments. The bytes are files, which whoever takes uploads owns."""

from collections.abc import Sequence
from datetime import datetime

from kai.model.errors import UnknownThingError
from kai.model.ids import AttachmentRef, ChannelId, PrincipalId
from kai.model.messages import AttachmentInfo
from kai.store.binding import Connection
from kai.store.columns import insert, read, stamp, the, values


def add(db: Connection, info: AttachmentInfo, principal: PrincipalId | None, now: datetime) -> None:
    """Keep what is known of an uploaded file; `principal` is who sent it, where that is known already."""
    insert(db, "attachment", **values(info), principal=principal, added_at=now)


def get(db: Connection, ref: AttachmentRef) -> AttachmentInfo:
    """Raises `UnknownThingError`."""
    return the(db, AttachmentInfo, "attachment", "SELECT * FROM attachment WHERE ref = ?", ref)


def older(db: Connection, before: datetime) -> tuple[str, ...]:
    """Paths of files that nobody has sent in since `before`, but for those that go along with an unfinished turn."""
    rows = db.execute(
        "SELECT path FROM attachment GROUP BY path HAVING max(added_at) < ? EXCEPT SELECT a.path FROM turn t "
        "JOIN message m ON m.message = t.message JOIN message_attachment l ON l.channel = m.channel "
        "AND l.number = m.number JOIN attachment a ON a.ref = l.ref "
        "WHERE t.state IN ('queued', 'running', 'asking', 'held')",
        (stamp(before),),
    )
    return tuple(row[0] for row in rows)


def shown_to(db: Connection, ref: AttachmentRef, principal: PrincipalId) -> AttachmentInfo:
    """The file, for who sent it and for whoever was there when it was sent and still is; unknown to anybody else."""
    row = db.execute(
        "SELECT 1 FROM attachment WHERE ref = ?1 AND principal = ?2 UNION ALL SELECT 1 FROM message_attachment l "
        "JOIN membership m ON m.channel = l.channel AND m.to_at IS NULL "
        "AND m.from_number < l.number WHERE l.ref = ?1 AND m.principal = ?2",
        (ref, principal),
    ).fetchone()
    if row is None:
        raise UnknownThingError("attachment", ref)
    return get(db, ref)


def link(
    db: Connection, refs: Sequence[AttachmentRef], channel: ChannelId, number: int, principal: PrincipalId | None
) -> tuple[AttachmentInfo, ...]:
    """Let a message carry uploaded files. A file that another person sent is as unknown as one that never was."""
    wanted = tuple(dict.fromkeys(refs))
    for position, ref in enumerate(wanted):
        linked = db.execute(
            "INSERT INTO message_attachment SELECT ?, ?, ?, ref FROM attachment "
            "WHERE ref = ? AND (principal IS NULL OR principal = ?)",
            (channel, number, position, ref, principal),
        ).rowcount
        if not linked:
            raise UnknownThingError("attachment", ref)
    return tuple(get(db, ref) for ref in wanted)


def between(db: Connection, channel: ChannelId, first: int, last: int) -> dict[int, tuple[AttachmentInfo, ...]]:
    """The files of a channel's messages from number `first` to `last`, by message number."""
    found: dict[int, tuple[AttachmentInfo, ...]] = {}
    for row in db.execute(
        "SELECT l.number, a.* FROM message_attachment l JOIN attachment a ON a.ref = l.ref "
        "WHERE l.channel = ? AND l.number BETWEEN ? AND ? ORDER BY l.number, l.position",
        (channel, first, last),
    ):
        found[row["number"]] = (*found.get(row["number"], ()), read(AttachmentInfo, row))
    return found
