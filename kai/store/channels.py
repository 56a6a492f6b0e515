"""Channels, who is in them and since when, the addresses bound to them, and the seats in them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import AddressId, ChannelId, MessageId, PrincipalId, SeatId, fresh
from kai.model.messages import Message
from kai.model.people import Address, Channel, ChannelKind, Seat
from kai.store.binding import Connection
from kai.store.columns import insert, maybe, read_all, stamp, the

MAIN_TITLE = "main"
# A channel that was made private is shared while it has a second member.
_CHANNEL = """
SELECT c.channel, c.title, c.owner, c.created_at, c.os_user, c.temporary, c.parent,
  CASE WHEN (SELECT count(*) FROM membership p WHERE p.channel = c.channel AND p.to_at IS NULL) > 1
    THEN 'shared' ELSE c.kind END AS kind,
  (SELECT json_group_array(principal) FROM (SELECT principal FROM membership p WHERE p.channel = c.channel
    AND p.to_at IS NULL ORDER BY from_at, principal)) AS members
FROM channel c"""


def private_of(db: Connection, principal: PrincipalId, now: datetime) -> Channel:
    """The person's own conversation, the same on every bridge; made at the first call."""
    row = db.execute("SELECT channel FROM channel WHERE main_of = ?", (principal,)).fetchone()
    if row:
        return get(db, ChannelId(row[0]))
    made = create(db, ChannelKind.PRIVATE, MAIN_TITLE, principal, (principal,), now)
    db.execute("UPDATE channel SET main_of = ? WHERE channel = ?", (principal, made.channel))
    return made


def create(
    db: Connection,
    kind: ChannelKind,
    title: str,
    owner: PrincipalId | None,
    members: Sequence[PrincipalId],
    now: datetime,
) -> Channel:
    """A channel with its first members, the owner among them."""
    channel = ChannelId(fresh("c"))
    insert(db, "channel", channel=channel, kind=kind, title=title, owner=owner, created_at=now)
    for principal in dict.fromkeys([owner, *members] if owner else members):
        join(db, channel, principal, now)
    return get(db, channel)


def get(db: Connection, channel: ChannelId) -> Channel:
    """Raises `UnknownThingError`."""
    return the(db, Channel, "channel", f"{_CHANNEL} WHERE c.channel = ?", channel)


def by_title(db: Connection, principal: PrincipalId, title: str) -> Channel | None:
    """The oldest of the person's channels with this title, whatever its case."""
    wanted = title.casefold()
    return next((channel for channel in of(db, principal) if channel.title.casefold() == wanted), None)


def titled(db: Connection, principal: PrincipalId, title: str, now: datetime) -> Channel:
    """The person's channel with this title; a title that they have not used yet begins a private one."""
    return by_title(db, principal, title) or create(db, ChannelKind.PRIVATE, title, principal, (principal,), now)


def of(db: Connection, principal: PrincipalId) -> tuple[Channel, ...]:
    """The channels a person is in now, oldest first."""
    rows = db.execute(
        f"{_CHANNEL} JOIN membership m USING (channel) WHERE m.principal = ? AND m.to_at IS NULL "
        "AND c.parent IS NULL ORDER BY c.seq",
        (principal,),
    )
    return read_all(Channel, rows)


def every(db: Connection) -> tuple[Channel, ...]:
    return read_all(Channel, db.execute(f"{_CHANNEL} WHERE c.parent IS NULL ORDER BY c.seq"))


def shared(db: Connection) -> tuple[Channel, ...]:
    """Those that several people talk in, or that were made for that."""
    return tuple(one for one in every(db) if one.kind is ChannelKind.SHARED)


def change(db: Connection, channel: ChannelId, *, title: str = "", os_user: str | None = None) -> Channel:
    """Another title, or another OS user for the seat of a shared channel; what is left out stays."""
    db.execute(
        "UPDATE channel SET title = ifnull(nullif(?, ''), title), os_user = ifnull(?, os_user) WHERE channel = ?",
        (title, os_user, channel),
    )
    return get(db, channel)


def be_temporary(db: Connection, channel: ChannelId, *, on: bool) -> bool:
    """Whether what is said from now on is temporary. Tells whether that is a change."""
    query = "UPDATE channel SET temporary = ?1 WHERE channel = ?2 AND temporary <> ?1"
    return db.execute(query, (int(on), channel)).rowcount > 0


def join(db: Connection, channel: ChannelId, principal: PrincipalId, now: datetime) -> None:
    """Begin a membership interval, unless one is open. Raises `DeniedError` for another person's own conversation."""
    row = db.execute("SELECT last_number, main_of FROM channel WHERE channel = ?", (channel,)).fetchone()
    if row is None:
        raise UnknownThingError("channel", channel)
    if row["main_of"] not in (None, principal):
        raise DeniedError(
            "this is a person's own conversation, which nobody else joins", "Make a shared channel for several people."
        )
    db.execute(
        "INSERT INTO membership (channel, principal, from_at, from_number) SELECT ?, ?, "
        # Never two intervals of one begin, even when somebody leaves and comes back within a microsecond.
        "max(?, ifnull((SELECT max(from_at) + 1 FROM membership WHERE channel = ?1 AND principal = ?2), 0)), ? "
        "WHERE NOT EXISTS (SELECT 1 FROM membership WHERE channel = ?1 AND principal = ?2 AND to_at IS NULL)",
        (channel, principal, stamp(now), row["last_number"]),
    )


def leave(db: Connection, channel: ChannelId, principal: PrincipalId, now: datetime) -> None:
    """End the open membership interval, if there is one."""
    db.execute(
        "UPDATE membership SET to_at = max(from_at, ?), to_number = "
        "(SELECT last_number FROM channel WHERE channel = ?2) WHERE channel = ?2 AND principal = ?3 AND to_at IS NULL",
        (stamp(now), channel, principal),
    )


def audience(db: Connection, message: MessageId) -> frozenset[PrincipalId]:
    """Who was present when a message was said. By message numbers, so that no jump of the clock changes it."""
    rows = db.execute(
        "SELECT s.principal FROM message m JOIN membership s ON s.channel = m.channel AND s.from_number < m.number "
        "AND (s.to_number IS NULL OR s.to_number >= m.number) WHERE m.message = ?",
        (message,),
    )
    return frozenset(PrincipalId(row[0]) for row in rows)


def heard(db: Connection, found: Iterable[Message], present: Collection[PrincipalId]) -> tuple[Message, ...]:
    """Those of `found` at which everybody in `present` was there: someone joining is silence, someone leaving fine."""
    wanted = set(present)
    return tuple(one for one in found if wanted <= audience(db, one.message))


def address(db: Connection, bridge: str, chat: str, thread: str) -> Address | None:
    row = db.execute(
        "SELECT * FROM address WHERE bridge = ? AND chat = ? AND thread = ?", (bridge, chat, thread)
    ).fetchone()
    return maybe(Address, row)


def address_of(db: Connection, address: AddressId) -> Address:
    """Raises `UnknownThingError`."""
    return the(db, Address, "address", "SELECT * FROM address WHERE address = ?", address)


def bind(db: Connection, bridge: str, chat: str, thread: str, channel: ChannelId) -> Address:
    """Let a place in a chat app lead to a channel; what was said there before stays in the channel of that time."""
    db.execute(
        "INSERT INTO address VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (bridge, chat, thread) DO UPDATE SET channel = excluded.channel",
        (fresh("x"), bridge, chat, thread, channel),
    )
    bound = address(db, bridge, chat, thread)
    assert bound is not None
    return bound


def seat(db: Connection, os_user: str, channel: ChannelId, workspace: str, agent: str, now: datetime) -> Seat:
    """The seat of that place, made at the first call."""
    db.execute(
        "INSERT INTO seat VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (os_user, channel, workspace, agent) DO NOTHING",
        (fresh("s"), os_user, channel, workspace, agent, stamp(now)),
    )
    row = db.execute(
        "SELECT seat FROM seat WHERE os_user = ? AND channel = ? AND workspace = ? AND agent = ?",
        (os_user, channel, workspace, agent),
    ).fetchone()
    return Seat(SeatId(row[0]), os_user, channel, workspace, agent)
