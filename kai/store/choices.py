"""What was chosen with ``kai use`` for a person or a channel."""

from dataclasses import fields, replace
from typing import Literal

from kai.model.ids import ChannelId, PrincipalId
from kai.model.people import Preference
from kai.store.binding import Connection

Scope = Literal["person", "channel"]
CLEAR = "-"
_FIELDS = tuple(field.name for field in fields(Preference))


def preference(db: Connection, scope: Scope, id: str) -> Preference:  # noqa: A002 the word of the glossary
    """An empty one when nothing was chosen."""
    row = db.execute(f"SELECT {', '.join(_FIELDS)} FROM preference WHERE scope = ? AND id = ?", (scope, id)).fetchone()
    return Preference(*row) if row else Preference()


def preferences(db: Connection, person: PrincipalId, channel: ChannelId) -> tuple[Preference, Preference]:
    """What was chosen for a person, and for a channel."""
    both = "(scope, id) IN (VALUES ('person', ?), ('channel', ?))"
    found = db.execute(f"SELECT scope, {', '.join(_FIELDS)} FROM preference WHERE {both}", (person, channel))
    chosen = {row[0]: Preference(*row[1:]) for row in found}
    return chosen.get("person", Preference()), chosen.get("channel", Preference())


def prefer(db: Connection, scope: Scope, id: str, choice: Preference) -> Preference:  # noqa: A002
    """Keep the fields of `choice` that are not empty; ``-`` clears one. Gives what holds now.

    Another backend than before takes no model and no effort over: they are names of the backend that was left.
    """
    kept = preference(db, scope, id)
    if choice.backend and choice.backend != kept.backend:
        kept = replace(kept, model="", effort="")
    values = [
        "" if new == CLEAR else new or old
        for new, old in ((getattr(choice, name), getattr(kept, name)) for name in _FIELDS)
    ]
    db.execute(
        f"INSERT OR REPLACE INTO preference (scope, id, {', '.join(_FIELDS)}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (scope, id, *values),
    )
    return Preference(*values)
