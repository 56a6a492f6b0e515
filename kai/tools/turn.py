"""The facts of the turn that the run answers."""

from typing import Any

from kai.store import messages, people
from kai.store.binding import Connection
from kai.tools.scope import RunScope


def show(db: Connection, scope: RunScope) -> dict[str, Any]:
    """Who asks, where, who reads along; `turn` is null between two turns."""
    said = messages.get(db, scope.turn.message) if scope.turn else None
    return {
        "person": scope.person.name,
        "channel": scope.channel.title,
        "kind": scope.channel.kind.value,
        "present": [people.get(db, member).name for member in scope.channel.members],
        "backend": scope.backend,
        "turn": None
        if scope.turn is None or said is None
        else {
            "state": scope.turn.state.value,
            "started_at": scope.turn.started_at,
            "number": said.number,
            "said_at": said.created_at,
            "files": [{"name": one.name, "path": one.path, "size_bytes": one.size_bytes} for one in said.attachments],
        },
    }
