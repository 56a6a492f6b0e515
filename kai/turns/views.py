"""What may be seen from outside, read in one hop each. Rights are looked up in the same moment as the thing itself."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import ChannelId, PrincipalId, TurnId
from kai.model.messages import Message
from kai.model.people import Channel, Person
from kai.model.turns import Turn
from kai.store import channels, delegations, messages, naming, people, questions, search, snapshots, turns
from kai.store.binding import Connection
from kai.turns.door import Caller

View = dict[str, Any]
NEVER = 2**62  # a message number that no channel reaches
SHELL = "terminal"  # the bridge of whoever calls from a shell of their own


def operators_only(caller: Caller) -> None:
    if not caller.operator:
        raise DeniedError("this is for operators", "Ask whoever runs kai, or run it as the daemon's user.")


def visible_person(db: Connection, caller: Caller, principal: PrincipalId) -> Person:
    """A person by id, its beginning, or name; nobody but an operator sees anyone but themselves."""

    def seen(named: str) -> Person:
        found = people.get(db, PrincipalId(named))
        if not caller.operator and found.principal != caller.principal:
            raise UnknownThingError("person", principal)
        return found

    by_name = people.by_name(db, principal)
    return seen(by_name.principal if by_name else naming.whole(db, "person", principal, seen))


def allowed_channel(db: Connection, caller: Caller, channel: ChannelId) -> Channel:
    """The channel, for its members and for operators. To anybody else it does not exist. A unique beginning will do."""
    channel = ChannelId(naming.whole(db, "channel", channel, lambda one: _seen_channel(db, caller, ChannelId(one))))
    return _seen_channel(db, caller, channel)


def _seen_channel(db: Connection, caller: Caller, channel: ChannelId) -> Channel:
    found = channels.get(db, channel)
    if caller.operator or (caller.principal is not None and caller.principal in found.members):
        return found
    raise UnknownThingError("channel", channel)


def allowed_turn(db: Connection, caller: Caller, turn: TurnId) -> Turn:
    """The turn, for members of its channel and for operators. A unique beginning of its id will do."""
    return _seen_turn(
        db, caller, TurnId(naming.whole(db, "turn", turn, lambda one: _seen_turn(db, caller, TurnId(one))))
    )


def _seen_turn(db: Connection, caller: Caller, turn: TurnId) -> Turn:
    found = turns.get(db, turn)
    try:
        _seen_channel(db, caller, found.channel)
    except UnknownThingError:
        raise UnknownThingError("turn", turn) from None
    return found


def own_turn(db: Connection, caller: Caller, turn: TurnId) -> Turn:
    """The turn, for the person whose message it answers and for operators: they may stop it, and see its block."""
    found = allowed_turn(db, caller, turn)
    if not caller.operator and found.principal != caller.principal:
        raise DeniedError("this turn answers another person")
    return found


def channel_of(
    db: Connection, caller: Caller, channel: ChannelId | None, now: Any, *, begin: bool = False
) -> ChannelId:
    """The channel that was named, by id or by title, or the caller's own conversation. Needs a write transaction.

    With `begin` it is a title, and one that the caller has not used yet begins a conversation.
    """
    if channel is None:
        return channels.private_of(db, principal_of(caller), now).channel
    if begin:
        return channels.titled(db, principal_of(caller), channel, now).channel
    titled = channels.by_title(db, caller.principal, channel) if caller.principal is not None else None
    if titled is None and caller.operator:
        named = (one for one in channels.shared(db) if one.title.casefold() == channel.casefold())
        titled = next(named, None)
    return titled.channel if titled is not None else allowed_channel(db, caller, channel).channel


def principal_of(caller: Caller) -> PrincipalId:
    """Who the caller is. Raises `DeniedError` when the credential names no person."""
    if caller.principal is None:
        raise DeniedError(
            f"no person of kai is yours (OS user {caller.os_user!r})",
            "Make one with 'kai person add NAME' or 'kai init', or name one with --as.",
        )
    return caller.principal


def turn_view(db: Connection, caller: Caller, turn: TurnId) -> View:
    """A turn with its words, its answer, its attempts and its open questions."""
    found = allowed_turn(db, caller, turn)
    answer = messages.get(db, found.answer) if found.answer else None
    return {
        **asdict(found),
        "text": messages.get(db, found.message).text,
        "answer_text": answer.text if answer else "",
        "incomplete": answer.incomplete if answer else False,
        "tool_lines": answer.tool_lines if answer else (),
        "detail": turns.particulars(db, found.turn)[0],
        "dispatches": [asdict(one) for one in snapshots.dispatches(db, found.turn)],
        "questions": [asdict(one) for one in questions.open_of(db, found.turn)],
        "delegations": [asdict(one) for one in delegations.children(db, found.turn)],
    }


def turn_views(db: Connection, caller: Caller, channel: ChannelId | None, limit: int) -> list[View]:
    """Newest first: of a channel, else of the caller; all of them for an operator who is nobody."""
    if channel is not None:
        allowed_channel(db, caller, channel)
        found = turns.listing(db, channel=channel, limit=limit)
    else:
        found = turns.listing(db, principal=caller.principal, limit=limit)
    return [{**asdict(one), "text": messages.get(db, one.message).text} for one in found]


def channel_view(db: Connection, caller: Caller, channel: ChannelId) -> View:
    """A channel with the names of its members and what waits in it."""
    found = allowed_channel(db, caller, channel)
    channel, live = found.channel, turns.live(db, found.channel)
    return {
        **asdict(found),
        "member_names": [people.get(db, member).name for member in found.members],
        "running": live.turn if live else None,
        "queued": turns.queued_count(db, channel),
    }


def channel_views(db: Connection, caller: Caller) -> list[View]:
    """Those that the caller is in; for an operator every shared one as well, and for one who is nobody all."""
    if caller.operator and caller.principal is None:
        found = channels.every(db)
    else:
        own = channels.of(db, principal_of(caller))
        found = (*own, *(one for one in channels.shared(db) if caller.operator and one not in own))
    return [channel_view(db, caller, one.channel) for one in found]


_PAGES = 20  # looked through for what a member has heard, who came later or was away


def history(db: Connection, caller: Caller, channel: ChannelId, before: int | None, limit: int) -> list[View]:
    """Messages of a channel before number `before`, oldest first."""
    heard: list[View] = []
    for _ in range(_PAGES):
        page = messages.recent(db, channel, before or NEVER, limit)
        heard = _heard(db, caller, channel, page) + heard
        if len(page) < limit or len(heard) >= limit:
            break
        before = page[0].number
    return heard[-limit:]


def found(db: Connection, caller: Caller, channel: ChannelId, query: str, limit: int) -> list[View]:
    """Messages of a channel that hold the words of `query`, best first."""
    allowed_channel(db, caller, channel)
    return _heard(db, caller, channel, search.search(db, channel, query, limit))


def _heard(db: Connection, caller: Caller, channel: ChannelId, found: Sequence[Message]) -> list[View]:
    """A member reads what was said while they were there; an operator beside it, all."""
    where = allowed_channel(db, caller, channel)
    present = [one for one in where.members if one == caller.principal]
    return [message_view(one) for one in channels.heard(db, found, present)]


def message_view(message: Message) -> View:
    """A message without the paths of its files."""
    view = asdict(message)
    view["attachments"] = [
        {"ref": one.ref, "name": one.name, "media_type": one.media_type, "size_bytes": one.size_bytes}
        for one in message.attachments
    ]
    return view
