"""The messages of the run's own conversation, under the audience rule."""

from datetime import datetime
from typing import Any

from kai.model.messages import Message
from kai.model.work import Result
from kai.store import delegations, messages, results, search, tasks
from kai.store.binding import Connection
from kai.tools.scope import RunScope, may_be_shown, told
from kai.turns.parts import Parts

ANSWER_CHARS = 60_000  # of all messages of one answer
_LOOKED_AT = 500  # found by one search, before those are left out that not everybody present may be shown


async def found(parts: Parts, scope: RunScope, query: str, limit: int) -> dict[str, Any]:
    """Messages that hold words of `query`, best first; those beyond `limit` are read on as a result."""
    every = await parts.store.read(_found, scope, query)
    items = [told(one, ANSWER_CHARS // limit) for one in every]
    answer = {"messages": items[:limit], "found": len(items)}
    if len(items) <= limit:
        return answer
    made = await parts.store.write_soft(_kept, scope, query, items, limit, parts.clock.now())
    return {**answer, "result": made.ref, "next": limit + 1}


def _found(db: Connection, scope: RunScope, query: str) -> tuple[Message, ...]:
    return may_be_shown(db, scope, search.search(db, scope.channel.channel, query, _LOOKED_AT))


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
