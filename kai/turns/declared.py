"""Everybody whom ``people.yaml`` names; who runs a daemon of their own is its first person."""

from datetime import datetime

from kai.model.ids import PrincipalId, fresh
from kai.model.people import Person
from kai.settings.values import Settings
from kai.store import people, status
from kai.store.binding import Connection
from kai.turns.backends import os_user


def declare(db: Connection, settings: Settings, now: datetime, *, is_of_service: bool) -> None:
    """Add whom the settings name, and bring those up to date who are known. Of a service, its own user is nobody."""
    own = os_user()
    for entry in settings.persons:
        known = people.by_name(db, entry.name)
        fields = {
            # What 'kai person add --os-user' has set stays, unless the file says otherwise.
            "os_user": entry.os_user or ("" if known else own),
            "email": entry.email,
            "zone": entry.zone,
            "legacy_chat_id": entry.legacy_chat_id,
        }
        if known is None:
            people.add(db, Person(PrincipalId(fresh("p")), entry.name, **fields), now)
        else:
            people.change(db, known.principal, **{name: value for name, value in fields.items() if value})
        person = people.by_name(db, entry.name)
        assert person is not None
        for bridge, accounts in entry.accounts.items():
            for account in accounts:
                people.link(db, bridge, str(account), person.principal, now)
    if status.is_new(db) and not is_of_service:
        people.add(db, Person(PrincipalId(fresh("p")), own, own), now)
