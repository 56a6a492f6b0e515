"""Who is in the house: people with their OS users, and shared channels with their members and their seat."""

import pwd
from collections.abc import Sequence
from dataclasses import asdict
from zoneinfo import available_timezones

from anyio import to_thread

from kai.log import log
from kai.model.errors import BadInputError, DeniedError, KaiError
from kai.model.ids import ChannelId, PrincipalId, fresh
from kai.model.people import Channel, ChannelKind, Person
from kai.people.os_users import unfit
from kai.store import channels, people, turns
from kai.store.binding import Connection
from kai.turns import views
from kai.turns.backends import os_user as own_user
from kai.turns.door import Caller
from kai.turns.parts import Parts
from kai.turns.runner import Runner
from kai.turns.stopping import Stopping
from kai.turns.uploads import seed
from kai.turns.views import SHELL, View

_CHANGEABLE = ("name", "os_user", "zone", "email", "permissions")
_OWN = frozenset({"zone", "email"})  # what a person may change about themselves; the rest is the operator's
NAME_CHARS = 64


class Household:
    """Changes people and shared channels. Who may ask for it, the door has looked up."""

    def __init__(self, parts: Parts, runner: Runner, stopping: Stopping) -> None:
        self._parts = parts
        self._runner = runner
        self._stopping = stopping

    async def add(self, name: str, os_user: str) -> View:
        """A new person; of those whose OS user is another than the daemon's, root makes the folders."""
        _check_name("name", name)
        user = os_user or own_user()
        await to_thread.run_sync(check_os_user, user)
        person = Person(PrincipalId(fresh("p")), name, user)

        def adding(db: Connection) -> None:
            _refuse_shared(db, user, person.principal)
            people.add(db, person, self._parts.clock.now())

        await self._parts.store.write(adding)
        await self._seed(person.principal, user)
        return asdict(person)

    async def change(self, person: Person, fields: dict[str, str], *, by_operator: bool) -> View:
        await to_thread.run_sync(_check_changes, fields, by_operator)

        def changing(db: Connection) -> Person:
            if user := fields.get("os_user"):
                _refuse_shared(db, user, person.principal)
            return people.change(db, person.principal, **fields)

        changed = await self._parts.store.write(changing)
        view = asdict(changed)
        if "os_user" in fields:
            view["problem"] = await self._seed(person.principal, changed.os_user, person.legacy_chat_id)
        return view

    async def remove(self, person: Person) -> None:
        """They are known no more; what was said stays in its channels, their files stay."""
        await self._parts.store.write(people.remove, person.principal, self._parts.clock.now())

    async def end_all_of(self, person: Person) -> None:
        """What goes on for somebody who was removed: turns are stopped, sessions ended, nothing is owed any more."""
        for turn in await self._parts.store.read(turns.unfinished, person.principal):
            await self._stopping.stop(turn)
        for live in self._parts.pool.every():
            if live.row.principal == person.principal:
                await self._runner.retire(live.row.channel, f"{person.name} was removed")
        shell = f"{SHELL}:{person.principal}"
        await self._parts.store.write(people.nothing_owed, person.principal, shell, self._parts.clock.now())

    async def add_channel(self, caller: Caller, title: str, os_user: str, members: Sequence[str]) -> View:
        """A new shared channel with a seat of its own: home, AGENTS.md, and the OS user that its agents run as."""
        _check_name("title", title)
        if os_user:
            await to_thread.run_sync(check_os_user, os_user)

        def adding(db: Connection) -> Channel:
            if any(one.title.casefold() == title.casefold() for one in channels.shared(db)):
                raise BadInputError("title", f"there is a shared channel {title!r} already", "Choose another title.")
            _refuse_shared(db, os_user, "")
            who = [_named(db, member).principal for member in members]
            made = channels.create(db, ChannelKind.SHARED, title, None, who, self._parts.clock.now())
            return channels.change(db, made.channel, os_user=os_user)

        made = await self._parts.store.write(adding)
        await self._seed(made.channel, made.os_user, shared=True)
        return await self._parts.store.read(views.channel_view, caller, made.channel)

    async def change_channel(self, caller: Caller, channel: ChannelId, fields: dict[str, str]) -> View:
        if title := fields.get("title"):
            _check_name("title", title)
        if os_user := fields.get("os_user"):
            await to_thread.run_sync(check_os_user, os_user)

        def changing(db: Connection) -> Channel:
            _only_shared(channels.get(db, channel))
            _refuse_shared(db, fields.get("os_user", ""), channel)
            return channels.change(db, channel, **fields)

        changed = await self._parts.store.write(changing)
        problem = await self._seed(channel, changed.os_user, shared=True) if "os_user" in fields else ""
        return {**await self._parts.store.read(views.channel_view, caller, channel), "problem": problem}

    async def member(self, caller: Caller, channel: ChannelId, member: str, *, present: bool) -> View:
        """Somebody joins a shared channel, and sees what is said from now on; or leaves it."""

        def changing(db: Connection) -> None:
            _only_shared(channels.get(db, channel))
            change = channels.join if present else channels.leave
            change(db, channel, _named(db, member).principal, self._parts.clock.now())

        await self._parts.store.write(changing)
        return await self._parts.store.read(views.channel_view, caller, channel)

    async def bind(self, caller: Caller, channel: ChannelId, bridge: str, chat: str, thread: str) -> View:
        """A place in a chat app leads to a shared channel from now on."""

        def binding(db: Connection) -> None:
            _only_shared(channels.get(db, channel))
            channels.bind(db, bridge, chat, thread, channel)

        await self._parts.store.write(binding)
        return await self._parts.store.read(views.channel_view, caller, channel)

    async def _seed(self, whose: str, os_user: str, legacy: str = "", *, shared: bool = False) -> str:
        """Make first files; why they could not be made: another OS user's folders are root's to make, afterwards."""
        user = os_user or own_user()
        try:
            await seed(self._parts, whose, user, legacy, shared=shared)
        except KaiError as error:
            log.warning("person.not_seeded", principal=whose, problem=str(error))
            return str(error)
        return ""


def check_os_user(name: str) -> None:
    """Raises `BadInputError` for an OS user that cannot be a person's. Blocks."""
    if name == own_user():
        return
    if problem := unfit(name):
        try:
            pwd.getpwnam(name)
            remedy = "Choose another one; 'kai doctor' checks everybody's."
        except (KeyError, ValueError):
            remedy = "As root, 'kai person add NAME --os-user USER' makes it."
        raise BadInputError("os_user", problem, remedy)


def _refuse_shared(db: Connection, os_user: str, whose: str) -> None:
    """Two of the house with one OS user would read each other's files; with the daemon's own, all do anyway."""
    if not os_user or os_user == own_user():
        return
    owners = [(str(one.principal), one.name, one.os_user) for one in people.every(db)]
    owners += [(str(one.channel), one.title, one.os_user) for one in channels.shared(db)]
    for principal, name, user in owners:
        if user == os_user and principal != whose:
            raise BadInputError("os_user", f"{os_user!r} is {name}'s already", "Everybody has one of their own.")


def _only_shared(channel: Channel) -> None:
    if channel.kind is not ChannelKind.SHARED:
        remedy = "Make one for several people: 'kai channel add TITLE --member PERSON --member PERSON'."
        raise DeniedError(f"{channel.title!r} is a person's own conversation, not a shared channel", remedy)


def _named(db: Connection, name: str) -> Person:
    return people.by_name(db, name) or people.get(db, PrincipalId(name))


def _check_changes(fields: dict[str, str], by_operator: bool) -> None:
    """Blocks: the time zones are files."""
    for field, value in fields.items():
        if field not in _CHANGEABLE:
            raise BadInputError(field, "cannot be changed", f"These can: {', '.join(_CHANGEABLE)}.")
        if field not in _OWN and not by_operator:
            raise DeniedError(f"only an operator may change {field}")
        if field == "name":
            _check_name("name", value)
        if field == "os_user":
            check_os_user(value)
        if field == "zone" and value and value not in available_timezones():
            raise BadInputError("zone", f"{value!r} is no time zone", "Such as Europe/Berlin.")


def _check_name(field: str, name: str) -> None:
    if not name.isprintable() or "/" in name or len(name) > NAME_CHARS or not name.strip():
        raise BadInputError(field, "is no name", f"At most {NAME_CHARS} printable characters, no slash.")
