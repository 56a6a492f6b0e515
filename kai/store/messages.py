"""Messages: append-only, numbered within their channel. Edits and deletions are messages that name another."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from kai.model.errors import QueueFullError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, PrincipalId, TurnId, fresh
from kai.model.messages import Accepted, Author, InboundMessage, Message
from kai.model.people import Address
from kai.model.states import TurnState
from kai.model.turns import Turn
from kai.store import attachments, words
from kai.store.binding import Connection, Row
from kai.store.columns import insert, read, values

# A message as it stands now. Only its author edits it; whom the chat app lets delete it has deleted it.
_GONE = "EXISTS (SELECT 1 FROM message d WHERE d.edit_of = m.message AND d.deleted = 1)"
_STANDING = f"""
SELECT m.message, m.channel, m.number, m.author, m.principal, m.name, m.created_at, m.turn, m.backend, m.tool_lines,
  m.incomplete, '[]' AS attachments, m.reply_to, m.edit_of, ifnull(m.external_id, '') AS external_id, m.seq, m.aside,
  m.temporary, m.redacted_at IS NOT NULL AS is_erased,
  {_GONE} AS gone,
  CASE WHEN {_GONE} THEN '' ELSE ifnull((SELECT e.text FROM message e WHERE e.edit_of = m.message AND e.deleted = 0
    AND e.principal IS m.principal ORDER BY e.seq DESC LIMIT 1), m.text) END AS text
FROM message m"""
_EXTERNAL = "bridge = ? AND chat = ? AND external_id = ?"


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
    return take(db, inbound, address, principal, name, now, queue_bound=queue_bound)[0]


def take(
    db: Connection,
    inbound: InboundMessage,
    address: Address,
    principal: PrincipalId,
    name: str,
    now: datetime,
    *,
    queue_bound: int,
    begin: Callable[[Turn, Message], Turn] | None = None,
) -> tuple[Accepted, tuple[Turn, Message] | None]:
    """Like `accept`; gives the new turn and its message with it, where there is one.

    `begin` is asked when nothing is before the turn, and gives it as it shall be kept: queued, or running already.
    """
    if known := _known(db, inbound):
        return Accepted(known["message"], known["turn"], known["channel"], duplicate=True), None
    said = draft(address.channel, Author.PERSON, principal, name, inbound.text, now)
    said = replace(said, turn=TurnId(fresh("t")), temporary=inbound.temporary)
    if inbound.edit_of or inbound.deleted:
        return Accepted(_keep_change(db, said, inbound).message, None, said.channel), None
    waiting, live = db.execute(
        "SELECT (SELECT count(*) FROM turn WHERE channel = ?1 AND state = 'queued'), "
        "(SELECT count(*) FROM turn WHERE channel = ?1 AND state IN ('running', 'asking', 'held'))",
        (said.channel,),
    ).fetchone()
    if waiting >= queue_bound:
        raise QueueFullError(said.channel, queue_bound)
    said = keep(db, said, inbound)
    assert said.turn is not None
    turn = Turn(said.turn, said.channel, said.message, principal, address.address, TurnState.QUEUED, now)
    turn = replace(turn, temporary=said.temporary)
    if begin is not None and not waiting + live:
        turn = begin(turn, said)
    insert(db, "turn", **values(turn))
    return Accepted(said.message, turn.turn, said.channel, queued_before=waiting + live), (turn, said)


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
        return get(db, known["message"])
    return keep(db, draft(channel, author, principal, name, text, now), inbound, aside=True)


def draft(
    channel: ChannelId, author: Author, principal: PrincipalId | None, name: str, text: str, now: datetime
) -> Message:
    """A message that `keep` gives its number."""
    return Message(MessageId(fresh("m")), channel, 0, author, principal, name, text, now)


def keep(
    db: Connection,
    message: Message,
    inbound: InboundMessage | None = None,
    *,
    aside: bool = False,
    deleted: bool = False,
) -> Message:
    """Append a message: its number, what `inbound` says beside the text, its files, its words in the index.

    A temporary one stands aside: it is in no history and no index.
    """
    aside = aside or message.temporary
    counted = db.execute(
        "UPDATE channel SET last_number = last_number + 1 WHERE channel = ? RETURNING last_number, seq",
        (message.channel,),
    ).fetchall()
    if not counted:
        raise UnknownThingError("channel", message.channel)
    number, channel_seq = counted[0]
    came, more = dict[str, Any](), dict[str, Any](number=number)
    if inbound:
        came = {"bridge": inbound.bridge, "chat": inbound.chat, "sent_at": inbound.sent_at}
        more |= {"reply_to": _named(db, inbound, inbound.reply_to), "external_id": inbound.external_id}
    message = replace(message, **more)
    columns = values(message, "attachments", "external_id")
    external_id = message.external_id or None
    seq = insert(db, "message", **columns, **came, external_id=external_id, aside=aside, deleted=deleted)
    if not aside:
        words.add(db, channel_seq, seq, message.text)
    if inbound and inbound.attachments:
        files = attachments.link(db, inbound.attachments, message.channel, number, message.principal)
        return replace(message, attachments=files)
    return message


def get(db: Connection, message: MessageId) -> Message:
    """The message as it stands now: edited, or with an empty text when it was deleted. Raises `UnknownThingError`."""
    row = db.execute(f"{_STANDING} WHERE m.message = ?", (message,)).fetchone()
    if row is None:
        raise UnknownThingError("message", message)
    return _messages(db, [row])[0]


def by_external(db: Connection, bridge: str, chat: str, external_id: str) -> Message | None:
    row = db.execute(f"SELECT message FROM message WHERE {_EXTERNAL}", (bridge, chat, external_id)).fetchone()
    return get(db, row[0]) if row else None


def recent(
    db: Connection, channel: ChannelId, before_number: int, limit: int, *, asides: bool = False
) -> tuple[Message, ...]:
    """The newest `limit` messages with a smaller number, oldest first, as they stand now; deleted ones are left out.

    The cost does not grow with the channel. `asides`: control messages and notices too.
    """
    part = "m.edit_of IS NULL AND m.deleted = 0" if asides else "m.aside = 0"
    query = f"{_STANDING} WHERE m.channel = ? AND m.number < ? AND {part} ORDER BY m.number DESC LIMIT {int(limit)}"
    found: list[Row] = []
    while len(found) < limit and (page := db.execute(query, (channel, before_number)).fetchall()):
        before_number = page[-1]["number"]
        found += [row for row in page if not row["gone"]]
    return _messages(db, found[:limit][::-1])


def of_turn(db: Connection, turn: TurnId) -> tuple[Message, ...]:
    """What was asked, then what was said because of it. Raises `UnknownThingError`."""
    asked = db.execute("SELECT message FROM turn WHERE turn = ?", (turn,)).fetchone()
    if asked is None:
        raise UnknownThingError("turn", turn)
    said = db.execute("SELECT message FROM message WHERE turn = ? AND message <> ? ORDER BY seq", (turn, asked[0]))
    return tuple(get(db, row[0]) for row in [asked, *said.fetchall()])


def at(db: Connection, seqs: Iterable[int]) -> tuple[Message, ...]:
    """The messages in these rows, in this order."""
    rows = [db.execute(f"{_STANDING} WHERE m.seq = ?", (seq,)).fetchone() for seq in seqs]
    return tuple(message for row in rows if row for message in _messages(db, [row]))


def every_said(db: Connection) -> Iterator[tuple[int, int, str]]:
    """(row of the channel, row, text) of all that the search finds."""
    found = db.execute(
        f"SELECT c.seq, s.seq, s.text FROM ({_STANDING} WHERE m.aside = 0) s JOIN channel c USING (channel)"
    )
    yield from (tuple(row) for row in found)


def _keep_change(db: Connection, change: Message, inbound: InboundMessage) -> Message:
    """Keep an edit or a deletion, and bring the index in step with it.

    One of what was said before kai was there, or elsewhere, changes nothing.
    """
    target = _named(db, inbound, inbound.edit_of)
    change = replace(change, turn=None, edit_of=target, text="" if inbound.deleted else inbound.text)
    before = db.execute(f"{_STANDING} WHERE m.message = ?", (target,)).fetchone()
    change = replace(change, temporary=bool(before["temporary"]) if before else change.temporary)
    if change.temporary and (before is None or before["is_erased"]):  # it came when nothing of it was kept any more
        change = replace(change, text="")
    kept = keep(db, change, inbound, aside=True, deleted=inbound.deleted)
    if before and not before["aside"]:
        channel_seq = db.execute("SELECT seq FROM channel WHERE channel = ?", (before["channel"],)).fetchone()[0]
        words.drop(db, channel_seq, before["seq"], before["text"])
        words.add(db, channel_seq, before["seq"], get(db, before["message"]).text)
    return kept


def _known(db: Connection, inbound: InboundMessage) -> Row | None:
    row: Row | None = db.execute(
        f"SELECT message, turn, channel FROM message WHERE {_EXTERNAL}",
        (inbound.bridge, inbound.chat, inbound.external_id),
    ).fetchone()
    return row


def _named(db: Connection, inbound: InboundMessage, external_id: str) -> MessageId | None:
    """The message of the same chat that an external id names; for an edit, what it is an edit of."""
    if not external_id:
        return None
    row = db.execute(
        f"SELECT ifnull(edit_of, message) FROM message WHERE {_EXTERNAL}", (inbound.bridge, inbound.chat, external_id)
    ).fetchone()
    return MessageId(row[0]) if row else None


def _messages(db: Connection, rows: list[Row]) -> tuple[Message, ...]:
    """Messages of one channel, by rising number, with their files."""
    if not rows:
        return ()
    files = attachments.between(db, rows[0]["channel"], rows[0]["number"], rows[-1]["number"])
    read_ = (read(Message, row) for row in rows)
    return tuple(replace(said, attachments=files[said.number]) if said.number in files else said for said in read_)
