"""The door, open: rights first, then the part of kai that does it."""

import pwd
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict, replace
from zoneinfo import available_timezones

from anyio import to_thread

from kai.model.errors import BadInputError, DeniedError, UnknownThingError
from kai.model.ids import AskId, AttachmentRef, ChannelId, DeliveryId, PrincipalId, TurnId, fresh
from kai.model.messages import Accepted, AttachmentInfo, InboundMessage
from kai.model.people import Person, Preference
from kai.model.turns import Delivery, Progress, Receipt, ReceiptOutcome
from kai.store import attachments, deliveries, people, questions, turns
from kai.store.binding import Connection
from kai.turns import views
from kai.turns.checks import Checks
from kai.turns.commands import Commands
from kai.turns.door import Caller
from kai.turns.evidence import Evidence
from kai.turns.inbox import Inbox
from kai.turns.lanes import Lanes
from kai.turns.parts import Parts
from kai.turns.retention import Retention
from kai.turns.route import Next
from kai.turns.runner import Runner
from kai.turns.stopping import Stopping
from kai.turns.streams import Streams
from kai.turns.views import View, principal_of

_CHANGEABLE = ("name", "os_user", "zone", "email", "permissions")
_OWN = frozenset({"zone", "email"})  # what a person may change about themselves; the rest is the operator's
NAME_CHARS = 64
SHELL = "terminal"  # the bridge of whoever calls from a shell of their own


class FrontDoor:
    """Every method looks up what its caller may do, each time: a right that was taken away is gone at once."""

    def __init__(self, parts: Parts, runner: Runner, lanes: Lanes[Next]) -> None:
        self._parts = parts
        self._runner = runner
        self._lanes = lanes
        self._stopping = Stopping(parts, runner)
        self._commands = Commands(parts, runner, lanes, self._stopping)
        self._inbox = Inbox(parts, runner, lanes, self._commands, self._stopping)
        self._evidence = Evidence(parts)
        self._streams = Streams(parts)
        self._checks = Checks(parts, runner)
        self.retention = Retention(parts)
        self.removals = 0  # of people: whoever keeps what was found of them looks again

    @property
    def listeners(self) -> int:
        """Open streams."""
        return self._streams.listeners

    async def reload_all(self) -> None:
        """What SIGHUP asks for; the log tells how it went."""
        await self._checks.reload()

    # Messages and turns

    async def receive(self, caller: Caller, inbound: InboundMessage) -> Accepted:
        return await self._inbox.receive(replace(inbound, bridge=_bridge(caller)), principal_of(caller))

    async def stop(self, caller: Caller, turn: TurnId) -> View:
        await self._parts.store.read(views.own_turn, caller, turn)
        stopped = await self._stopping.stop(turn)
        return {**asdict(stopped), "sentence": stopped.sentence}

    async def retry(self, caller: Caller, turn: TurnId) -> View:
        await self._parts.store.read(views.own_turn, caller, turn)
        return asdict(await self._commands.retry(turn))

    async def answer(self, caller: Caller, ask: AskId, choice: str, text: str = "") -> View:
        question = await self._parts.store.read(questions.get, ask)
        try:
            await self._parts.store.read(views.allowed_turn, caller, question.turn)
        except UnknownThingError:
            raise UnknownThingError("question", ask) from None
        running = self._runner.get(question.turn)
        return asdict(await self._runner.asking.answer(question, principal_of(caller), choice, text, running))

    async def turn(self, caller: Caller, turn: TurnId) -> View:
        return await self._parts.store.read(views.turn_view, caller, turn)

    async def turns(self, caller: Caller, *, channel: ChannelId | None = None, limit: int = 50) -> list[View]:
        where = None if channel is None else await self._channel(caller, channel)
        return await self._parts.store.read(views.turn_views, caller, where, limit)

    async def events(self, caller: Caller, turn: TurnId) -> AsyncIterator[View]:
        view = await self._parts.store.read(views.turn_view, caller, turn)
        async with aclosing(self._streams.events(view)) as rows:
            async for row in rows:
                yield row

    async def deliveries(
        self, caller: Caller, *, after: int | None = None, idempotent: bool = False
    ) -> AsyncIterator[Delivery | Progress]:
        async with aclosing(self._streams.deliveries(_bridge(caller), after=after, idempotent=idempotent)) as items:
            async for item in items:
                yield item

    async def receipt(self, caller: Caller, delivery: DeliveryId, receipt: Receipt) -> None:
        await self._parts.store.write(deliveries.receipt, delivery, _bridge(caller), receipt, self._parts.clock.now())
        if receipt.outcome is not ReceiptOutcome.SENT:
            self._parts.live.bell(_bridge(caller)).owe()

    # Files

    async def attach(self, caller: Caller, info: AttachmentInfo) -> None:
        await self._parts.store.write(attachments.add, info, principal_of(caller), self._parts.clock.now())

    async def attachment(self, caller: Caller, ref: str) -> AttachmentInfo:
        if caller.operator and caller.principal is None:
            return await self._parts.store.read(attachments.get, AttachmentRef(ref))
        return await self._parts.store.read(attachments.shown_to, AttachmentRef(ref), principal_of(caller))

    # Context

    async def context(self, caller: Caller, turn: TurnId, *, why: bool = False) -> View:
        await self._parts.store.read(views.own_turn, caller, turn)
        return await self._evidence.show(turn, why=why)

    async def preview(self, caller: Caller, text: str, channel: ChannelId | None = None) -> View:
        where = await self._channel(caller, channel)
        return await self._evidence.preview(principal_of(caller), where, text)

    async def verify(self, caller: Caller, turn: TurnId) -> View:
        await self._parts.store.read(views.own_turn, caller, turn)
        return await self._evidence.verify(turn)

    async def diff(self, caller: Caller, a: TurnId, b: TurnId) -> View:
        for turn in (a, b):
            await self._parts.store.read(views.own_turn, caller, turn)
        return await self._evidence.diff(a, b)

    # Channels and history

    async def channels(self, caller: Caller) -> list[View]:
        return await self._parts.store.read(views.channel_views, caller)

    async def channel(self, caller: Caller, channel: ChannelId) -> View:
        return await self._parts.store.read(views.channel_view, caller, await self._channel(caller, channel))

    async def history(
        self, caller: Caller, channel: ChannelId | None, *, before: int | None = None, limit: int = 50
    ) -> list[View]:
        where = await self._channel(caller, channel)
        return await self._parts.store.read(views.history, caller, where, before, limit)

    async def search(self, caller: Caller, channel: ChannelId | None, query: str, limit: int = 20) -> list[View]:
        where = await self._channel(caller, channel)
        return await self._parts.store.read(views.found, caller, where, query, limit)

    async def _channel(self, caller: Caller, channel: ChannelId | None) -> ChannelId:
        return await self._parts.store.write_soft(views.channel_of, caller, channel, self._parts.clock.now())

    # People

    async def people(self, caller: Caller) -> list[View]:
        if not caller.operator:
            return [await self.person(caller, principal_of(caller))]
        everybody = await self._parts.store.read(people.every)
        return [{**asdict(one), "is_you": one.principal == caller.principal} for one in everybody]

    async def person(self, caller: Caller, principal: PrincipalId) -> View:
        person = await self._parts.store.read(_person, caller, principal)
        own = {"is_you": person.principal == caller.principal}
        return {**asdict(person), **own, **await self._checks.files_of(person)}

    async def add_person(self, caller: Caller, name: str, os_user: str) -> View:
        _operators_only(caller)
        _check_name(name)
        await to_thread.run_sync(_check_os_user, os_user or self._checks.own_user)
        person = Person(PrincipalId(fresh("p")), name, os_user or self._checks.own_user)
        await self._parts.store.write(people.add, person, self._parts.clock.now())
        await self._checks.seed(person)
        return asdict(person)

    async def change_person(self, caller: Caller, principal: PrincipalId, fields: dict[str, str]) -> View:
        person = await self._parts.store.read(_person, caller, principal)
        await to_thread.run_sync(_check_changes, fields, caller.operator)
        return asdict(await self._parts.store.write(lambda db: people.change(db, person.principal, **fields)))

    async def remove_person(self, caller: Caller, principal: PrincipalId) -> View:
        _operators_only(caller)
        person = await self._parts.store.read(_person, caller, principal)
        await self._parts.store.write(people.remove, person.principal, self._parts.clock.now())
        self.removals += 1  # at once, not when all is ended that goes on for them
        for turn in await self._parts.store.read(turns.unfinished, person.principal):
            await self._stopping.stop(turn)
        for live in self._parts.pool.every():
            if live.row.principal == person.principal:
                await self._runner.retire(live.row.channel, f"{person.name} was removed")
        shell = f"{SHELL}:{person.principal}"
        await self._parts.store.write(people.nothing_owed, person.principal, shell, self._parts.clock.now())
        return asdict(person)

    async def link(self, caller: Caller, principal: PrincipalId, bridge: str, account: str) -> View:
        _operators_only(caller)
        person = await self._parts.store.read(_person, caller, principal)
        await self._parts.store.write(people.link, bridge, account, person.principal, self._parts.clock.now())
        return {"person": person.name, "bridge": bridge, "account": account}

    # Choices, backends, the daemon itself

    async def use(
        self, caller: Caller, channel: ChannelId | None, choice: Preference, *, wait: bool = False, begin: bool = False
    ) -> View:
        return await self._checks.use(self._commands, caller, channel, choice, wait=wait, begin=begin)

    async def backends(self, caller: Caller) -> list[View]:
        return await self._checks.backends()

    async def check_backend(self, caller: Caller, backend: str) -> View:
        _operators_only(caller)
        return await self._checks.backend(backend)

    async def status(self, caller: Caller) -> View:
        return await self._checks.status(None if caller.operator else principal_of(caller))

    async def doctor(self, caller: Caller) -> list[View]:
        _operators_only(caller)
        return await self._checks.doctor()

    async def backup(self, caller: Caller) -> View:
        _operators_only(caller)
        return await self.retention.back_up()

    async def backups(self, caller: Caller) -> list[View]:
        _operators_only(caller)
        return await self.retention.backups()

    async def config(self, caller: Caller) -> View:
        _operators_only(caller)
        return await self._checks.config()

    async def reload(self, caller: Caller) -> View:
        _operators_only(caller)
        return await self._checks.reload()


def _bridge(caller: Caller) -> str:
    """The bridge instance of the caller. Every person's own shell is one: nobody's answer comes out at another's."""
    return f"{caller.bridge}:{caller.principal or ''}" if caller.bridge == SHELL else caller.bridge


def _check_changes(fields: dict[str, str], by_operator: bool) -> None:
    """Blocks: the time zones are files."""
    for field, value in fields.items():
        if field not in _CHANGEABLE:
            raise BadInputError(field, "cannot be changed", f"These can: {', '.join(_CHANGEABLE)}.")
        if field not in _OWN and not by_operator:
            raise DeniedError(f"only an operator may change {field}")
        if field == "name":
            _check_name(value)
        if field == "os_user":
            _check_os_user(value)
        if field == "zone" and value and value not in available_timezones():
            raise BadInputError("zone", f"{value!r} is no time zone", "Such as Europe/Berlin.")


def _check_name(name: str) -> None:
    if not name.isprintable() or "/" in name or len(name) > NAME_CHARS or not name.strip():
        raise BadInputError("name", "is no name", f"At most {NAME_CHARS} printable characters, no slash.")


def _check_os_user(name: str) -> None:
    """Blocks: the machine may have to ask for its users."""
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):
        remedy = f"Make it first, such as with 'useradd -m {name}'." if name.isidentifier() else ""
        raise BadInputError("os_user", f"this machine has no user {name!r}", remedy) from None


def _operators_only(caller: Caller) -> None:
    if not caller.operator:
        raise DeniedError("this is for operators", "Ask whoever runs kai, or run it as the daemon's user.")


def _person(db: Connection, caller: Caller, principal: PrincipalId) -> Person:
    """A person by id or by name; nobody but an operator sees anyone but themselves."""
    found = people.by_name(db, principal) or people.get(db, principal)
    if not caller.operator and found.principal != caller.principal:
        raise UnknownThingError("person", principal)
    return found
