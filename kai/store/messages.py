"""Messages: append-only, numbered within their channel. Edits and deletions are messages that name another."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from kai.model.errors import QueueFullError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, PrincipalId, TurnId, fresh
from kai.model.messages import Accepted, AttachmentInfo, Author, InboundMessage, Message
from kai.model.people import Address
from kai.model.states import TurnState
from kai.store import attachments, words
from kai.store.binding import Connection, Row
from kai.store.columns import lines, moment, pack_lines, stamp

# A message as it stands now. Only its author edits it; whoever may delete it in the chat app has deleted it.
_STANDING = (
    "SELECT m.*, (SELECT e.text FROM message e WHERE e.edit_of = m.message AND e.deleted = 0 "
    "AND e.principal IS m.principal ORDER BY e.seq DESC LIMIT 1) AS edited, "
    "EXISTS (SELECT 1 FROM message d WHERE d.edit_of = m.message AND d.deleted = 1) AS gone FROM message m"
)
_NOT_GONE = "NOT EXISTS (SELECT 1 FROM message d WHERE d.edit_of = m.message AND d.deleted = 1)"


def accept(
    db: Connection,
    inbound: InboundMessage,
    address: Address,
    principal: PrincipalId,
    name: str,
    now: datetime,
    *,
    queue_bound: int,
) -> Accepted:
    """Keep a message and queue its turn. A repeat of (bridge, chat, external id) gives the same ids and keeps nothing.

    An edit or a deletion is kept without a turn. Raises `QueueFullError` when `queue_bound` turns wait in the channel,
    `UnknownThingError` for an attachment that is not the sender's.
    """
    if known := _known(db, inbound):
        turn = TurnId(known["turn"]) if known["turn"] else None
        return Accepted(MessageId(known["message"]), turn, ChannelId(known["channel"]), duplicate=True)
    channel = address.channel
    if inbound.edit_of or inbound.deleted:
        change = _keep_change(db, inbound, channel, principal, name, now)
        return Accepted(change, None, channel)
    waiting = db.execute("SELECT count(*) FROM turn WHERE channel = ? AND state = 'queued'", (channel,)).fetchone()[0]
    if waiting >= queue_bound:
        raise QueueFullError(channel, queue_bound)
    turn = TurnId(fresh("t"))
    message = keep(db, Entry(channel, Author.PERSON, principal, name, inbound.text, turn=turn, inbound=inbound), now)
    db.execute(
        "INSERT INTO turn (turn, channel, message, principal, address, state, queued_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (turn, channel, message.message, principal, address.address, TurnState.QUEUED, stamp(now)),
    )
    live = db.execute(
        "SELECT 1 FROM turn WHERE channel = ? AND state IN ('running', 'asking', 'held')", (channel,)
    ).fetchone()
    return Accepted(message.message, turn, channel, queued_before=waiting + (1 if live else 0))


def record(
    db: Connection,
    channel: ChannelId,
    author: Author,
    text: str,
    now: datetime,
    *,
    principal: PrincipalId | None = None,
    name: str = "",
    inbound: InboundMessage | None = None,
) -> Message:
    """Keep what is no part of the talk and has no turn: a control message with its `inbound`, a notice.

    The search and, unless asked, `recent` leave it out. A repeat of the same external id gives the message kept first.
    """
    if inbound and (known := _known(db, inbound)):
        return get(db, MessageId(known["message"]))
    return keep(db, Entry(channel, author, principal, name, text, inbound=inbound, aside=True), now)


class Entry(NamedTuple):
    """What `keep` needs to know."""

    channel: ChannelId
    author: Author
    principal: PrincipalId | None
    name: str
    text: str
    turn: TurnId | None = None
    inbound: InboundMessage | None = None
    backend: str = ""
    tool_lines: tuple[str, ...] = ()
    incomplete: bool = False
    aside: bool = False
    edit_of: MessageId | None = None
    deleted: bool = False


def keep(db: Connection, entry: Entry, now: datetime) -> Message:
    """Append a message: its number, its files, its words in the index."""
    message = MessageId(fresh("m"))
    inbound = entry.inbound
    number = db.execute(
        "UPDATE channel SET last_number = last_number + 1 WHERE channel = ? RETURNING last_number", (entry.channel,)
    ).fetchall()
    if not number:
        raise UnknownThingError("channel", entry.channel)
    row = {
        "message": message,
        "channel": entry.channel,
        "number": number[0][0],
        "author": entry.author,
        "principal": entry.principal,
        "name": entry.name,
        "text": entry.text,
        "created_at": stamp(now),
        "sent_at": stamp(inbound.sent_at) if inbound and inbound.sent_at else None,
        "turn": entry.turn,
        "backend": entry.backend,
        "tool_lines": pack_lines(entry.tool_lines),
        "incomplete": entry.incomplete,
        "aside": entry.aside,
        "reply_to": _named(db, inbound, inbound.reply_to) if inbound else None,
        "edit_of": entry.edit_of,
        "deleted": entry.deleted,
        "bridge": inbound.bridge if inbound else None,
        "chat": inbound.chat if inbound else None,
        "external_id": (inbound.external_id or None) if inbound else None,
    }
    columns = ", ".join(row)
    places = ", ".join(f":{column}" for column in row)
    seq = db.execute(f"INSERT INTO message ({columns}) VALUES ({places})", row).lastrowid
    assert seq is not None
    if not entry.aside:
        words.add(db, entry.channel, seq, entry.text)
    if inbound and inbound.attachments and entry.principal:
        attachments.link(db, inbound.attachments, entry.channel, row["number"], entry.principal)
    return get(db, message)


def get(db: Connection, message: MessageId) -> Message:
    """The message as it stands now: edited, or with an empty text when it was deleted. Raises `UnknownThingError`."""
    row = db.execute(f"{_STANDING} WHERE m.message = ?", (message,)).fetchone()
    if row is None:
        raise UnknownThingError("message", message)
    return _messages(db, [row])[0]


def by_external(db: Connection, bridge: str, chat: str, external_id: str) -> Message | None:
    row = db.execute(
        f"{_STANDING} WHERE m.bridge = ? AND m.chat = ? AND m.external_id = ?", (bridge, chat, external_id)
    ).fetchone()
    return _messages(db, [row])[0] if row else None


def recent(
    db: Connection, channel: ChannelId, before_number: int, limit: int, *, asides: bool = False
) -> tuple[Message, ...]:
    """The newest `limit` messages with a smaller number, oldest first, as they stand now; deleted ones are left out.

    The cost does not grow with the channel. `asides`: control messages and notices too.
    """
    part = "m.edit_of IS NULL AND m.deleted = 0" if asides else "m.aside = 0"
    rows = db.execute(
        f"{_STANDING} WHERE m.channel = ? AND m.number < ? AND {part} AND {_NOT_GONE} ORDER BY m.number DESC LIMIT ?",
        (channel, before_number, limit),
    ).fetchall()
    return _messages(db, rows[::-1])


def of_turn(db: Connection, turn: TurnId) -> tuple[Message, ...]:
    """What was asked, then what was said because of it."""
    asked = db.execute("SELECT message FROM turn WHERE turn = ?", (turn,)).fetchone()
    if asked is None:
        raise UnknownThingError("turn", turn)
    rows = db.execute(f"{_STANDING} WHERE m.turn = ? AND m.message <> ? ORDER BY m.seq", (turn, asked[0])).fetchall()
    return (get(db, MessageId(asked[0])), *(_messages(db, [row])[0] for row in rows))


def at(db: Connection, seqs: Iterable[int]) -> tuple[Message, ...]:
    """The messages in these rows, in this order."""
    rows = [db.execute(f"{_STANDING} WHERE m.seq = ?", (seq,)).fetchone() for seq in seqs]
    return tuple(message for row in rows if row for message in _messages(db, [row]))


def every_said(db: Connection) -> Iterator[tuple[ChannelId, int, str]]:
    """(channel, row, text) of all that is to be found by search."""
    for row in db.execute(f"{_STANDING} WHERE m.aside = 0 AND {_NOT_GONE}"):
        yield ChannelId(row["channel"]), row["seq"], _text(row)


def _keep_change(
    db: Connection, inbound: InboundMessage, channel: ChannelId, principal: PrincipalId, name: str, now: datetime
) -> MessageId:
    """Keep an edit or a deletion, and bring the index in step with it."""
    target = _named(db, inbound, inbound.edit_of)
    text = "" if inbound.deleted else inbound.text
    entry = Entry(channel, Author.PERSON, principal, name, text, inbound=inbound, aside=True)
    if target is None:  # said before kai was there, or in another chat: nothing to change
        return keep(db, entry._replace(deleted=inbound.deleted), now).message
    before = db.execute(f"{_STANDING} WHERE m.message = ?", (target,)).fetchone()
    kept = keep(db, entry._replace(edit_of=target, deleted=inbound.deleted), now).message
    after = db.execute(f"{_STANDING} WHERE m.message = ?", (target,)).fetchone()
    if not before["aside"]:
        words.drop(db, before["channel"], before["seq"], _text(before))
        words.add(db, after["channel"], after["seq"], _text(after))
    return kept


def _known(db: Connection, inbound: InboundMessage) -> Row | None:
    row: Row | None = db.execute(
        "SELECT message, turn, channel FROM message WHERE bridge = ? AND chat = ? AND external_id = ?",
        (inbound.bridge, inbound.chat, inbound.external_id),
    ).fetchone()
    return row


def _named(db: Connection, inbound: InboundMessage | None, external_id: str) -> MessageId | None:
    """The message of the same chat that an external id names; for an edit, what it is an edit of."""
    if inbound is None or not external_id:
        return None
    row = db.execute(
        "SELECT ifnull(edit_of, message) FROM message WHERE bridge = ? AND chat = ? AND external_id = ?",
        (inbound.bridge, inbound.chat, external_id),
    ).fetchone()
    return MessageId(row[0]) if row else None


def _text(row: Row) -> str:
    if row["gone"]:
        return ""
    text: str = row["text"] if row["edited"] is None else row["edited"]
    return text


def _messages(db: Connection, rows: list[Row]) -> tuple[Message, ...]:
    """Messages of one channel, by rising number."""
    if not rows:
        return ()
    files = attachments.between(db, rows[0]["channel"], rows[0]["number"], rows[-1]["number"])
    return tuple(_message(row, files.get(row["number"], ())) for row in rows)


def _message(row: Row, files: tuple[AttachmentInfo, ...]) -> Message:
    return Message(
        MessageId(row["message"]),
        ChannelId(row["channel"]),
        row["number"],
        Author(row["author"]),
        PrincipalId(row["principal"]) if row["principal"] else None,
        row["name"],
        _text(row),
        moment(row["created_at"]),
        TurnId(row["turn"]) if row["turn"] else None,
        row["backend"],
        lines(row["tool_lines"]),
        bool(row["incomplete"]),
        files,
        MessageId(row["reply_to"]) if row["reply_to"] else None,
        MessageId(row["edit_of"]) if row["edit_of"] else None,
        row["external_id"] or "",
    )
