"""The messages of the run's own conversation, under the audience rule."""

from typing import Any

from kai.store import messages, search
from kai.store.binding import Connection
from kai.tools.scope import RunScope, may_be_shown, told

ANSWER_CHARS = 60_000  # of all messages of one answer
_LOOKED_AT = 500  # found by one search, before those are left out that not everybody present may be shown


def found(db: Connection, scope: RunScope, query: str, limit: int) -> dict[str, Any]:
    """Messages that hold words of `query`, best first."""
    every = may_be_shown(db, scope, search.search(db, scope.channel.channel, query, _LOOKED_AT))
    return {"messages": [told(one, ANSWER_CHARS // limit) for one in every[:limit]], "found": len(every)}


def read(db: Connection, scope: RunScope, before: int, limit: int) -> dict[str, Any]:
    """The newest messages with a smaller number than `before`, oldest first; what not all may be shown ends it."""
    kept = may_be_shown(db, scope, messages.recent(db, scope.channel.channel, before, limit))
    first = kept[0].number if len(kept) == limit else None
    return {"messages": [told(one, ANSWER_CHARS // limit) for one in kept], "earlier": first}
