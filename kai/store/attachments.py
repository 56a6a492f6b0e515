"""Rows of attachments. The bytes are files, which whoever takes uploads owns."""

from collections.abc import Sequence
from datetime import datetime

from kai.model.errors import UnknownThingError
from kai.model.ids import AttachmentRef, ChannelId, PrincipalId
from kai.model.messages import AttachmentInfo
from kai.store.binding import Connection, Row
from kai.store.columns import stamp


def add(db: Connection, info: AttachmentInfo, principal: PrincipalId | None, now: datetime) -> None:
    """Keep what is known of an uploaded file; `principal` is who sent it, where that is known already."""
    db.execute(
        "INSERT INTO attachment VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (info.ref, info.name, info.media_type, info.size_bytes, info.sha256, info.path, principal, stamp(now)),
    )


def get(db: Connection, ref: AttachmentRef) -> AttachmentInfo:
    """Raises `UnknownThingError`."""
    row = db.execute("SELECT * FROM attachment WHERE attachment = ?", (ref,)).fetchone()
    if row is None:
        raise UnknownThingError("attachment", ref)
    return _info(row)


def link(
    db: Connection, refs: Sequence[AttachmentRef], channel: ChannelId, number: int, principal: PrincipalId
) -> None:
    """Let a message carry uploaded files. A file that another person sent is as unknown as one that never was."""
    for position, ref in enumerate(dict.fromkeys(refs)):
        linked = db.execute(
            "INSERT INTO message_attachment SELECT ?, ?, ?, attachment FROM attachment "
            "WHERE attachment = ? AND (principal IS NULL OR principal = ?)",
            (channel, number, position, ref, principal),
        ).rowcount
        if not linked:
            raise UnknownThingError("attachment", ref)


def between(db: Connection, channel: ChannelId, first: int, last: int) -> dict[int, tuple[AttachmentInfo, ...]]:
    """The files of a channel's messages from number `first` to `last`, by message number."""
    found: dict[int, tuple[AttachmentInfo, ...]] = {}
    for row in db.execute(
        "SELECT l.number, a.* FROM message_attachment l JOIN attachment a ON a.attachment = l.attachment "
        "WHERE l.channel = ? AND l.number BETWEEN ? AND ? ORDER BY l.number, l.position",
        (channel, first, last),
    ):
        found[row["number"]] = (*found.get(row["number"], ()), _info(row))
    return found


def _info(row: Row) -> AttachmentInfo:
    return AttachmentInfo(
        AttachmentRef(row["attachment"]),
        row["name"],
        row["media_type"],
        row["size_bytes"],
        row["sha256"],
        row["path"],
    )
