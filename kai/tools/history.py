"""Earlier messages, under the audience rule: of the run's own conversation, by words of the person's others, too."""

from datetime import datetime
from typing import Any

from kai.model.messages import Message
from kai.model.people import Channel, ChannelKind
from kai.model.work import Result
from kai.store import channels, delegations, messages, results, search, tasks
from kai.store.binding import Connection
from kai.tools.scope import RunScope, may_be_shown, told
from kai.turns.parts import Parts

ANSWER_CHARS = 60_000  # of all messages of one answer
_LOOKED_AT = 500  # found by one search, before those are left out that not everybody present may be shown


async def found(parts: Parts, scope: RunScope, query: str, limit: int) -> dict[str, Any]:
    """Messages that hold words of `query`, best first; those beyond `limit` are read on as a result.

    `channel` is told of what was said in another one.
    """
    every, searched = await parts.store.read(_found, scope, query)
    elsewhere = {one.channel: {"channel": one.title} for one in searched[1:]}
    items = [told(one, ANSWER_CHARS // limit) | elsewhere.get(one.channel, {}) for one in every]
    answer = {"messages": items[:limit], "found": len(items)}
    if len(items) <= limit:
        return answer
    made = await parts.store.write_soft(_kept, scope, query, items, limit, parts.clock.now())
    return {**answer, "result": made.ref, "next": limit + 1}


def _found(db: Connection, scope: RunScope, query: str) -> tuple[tuple[Message, ...], tuple[Channel, ...]]:
    """The messages, and the channels that were searched: in private also the person's other private ones.

    A delegated child and a temporary talk know of their own alone.
    """
    here = scope.channel
    others: tuple[Channel, ...] = ()
    if here.kind is ChannelKind.PRIVATE and not here.parent and not scope.run.temporary:
        every = channels.of(db, scope.person.principal)
        others = tuple(one for one in every if one.kind is ChannelKind.PRIVATE and one.channel != here.channel)
    found = search.search(db, here.channel, query, _LOOKED_AT, [one.channel for one in others])
    return may_be_shown(db, scope, found), (here, *others)


def _kept(
    db: Connection, scope: RunScope, query: str, items: list[dict[str, Any]], told_now: int, now: datetime
) -> Result:
    above = delegations.of_turn(db, scope.turn.turn) if scope.turn else None
    return results.keep(
        db,
        scope.channel,
        scope.person.principal,
        above.root if above else scope.turn.turn if scope.turn else None,
        now,
        producer="history_search",
        source=query,
        body=items,
        returned=told_now,
        is_whole=len(items) < _LOOKED_AT,
        temporary=scope.run.temporary,
        inputs=tasks.inputs_of(db, scope.channel.channel),
    )


def read(db: Connection, scope: RunScope, before: int, limit: int) -> dict[str, Any]:
    """The newest messages with a smaller number than `before`, oldest first; what not all may be shown ends it."""
    kept = may_be_shown(db, scope, messages.recent(db, scope.channel.channel, before, limit))
    first = kept[0].number if len(kept) == limit else None
    return {"messages": [told(one, ANSWER_CHARS // limit) for one in kept], "earlier": first}
