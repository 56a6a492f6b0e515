"""The door, open: rights first, then the part of kai that does it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kai.model.errors import UnknownThingError
from kai.model.ids import AskId, AttachmentRef, ChannelId, DeliveryId, PrincipalId, TurnId
from kai.model.messages import Accepted, AttachmentInfo, InboundMessage
from kai.model.people import Preference
from kai.model.turns import Delivery, Progress, Receipt, ReceiptOutcome
from kai.store import attachments, channels, deliveries, people, questions, temporary
from kai.store.binding import Connection
from kai.turns import views
from kai.turns.checks import Checks
from kai.turns.commands import Commands
from kai.turns.door import Caller
from kai.turns.inbox import Inbox
from kai.turns.lanes import Lanes
from kai.turns.parts import Parts
from kai.turns.retention import forget_erased
from kai.turns.route import Next
from kai.turns.runner import Runner
from kai.turns.stopping import Stopping
from kai.turns.streams import Streams
from kai.turns.uploads import fetch
from kai.turns.views import SHELL, View, operators_only, principal_of, visible_person

if TYPE_CHECKING:
    from kai.turns.backups import Backups
    from kai.turns.evidence import Evidence
    from kai.turns.household import Household
    from kai.turns.memory_door import MemoryDoor
    from kai.turns.probing import Prober


class FrontDoor:
    """Every method looks up what its caller may do, each time: a right that was taken away is gone at once."""

    def __init__(self, parts: Parts, runner: Runner, lanes: Lanes[Next]) -> None:
        self._parts = parts
        self._runner = runner
        self._lanes = lanes
        self._stopping = Stopping(parts, runner)
        self._commands = Commands(parts, runner, lanes, self._stopping)
        self._inbox = Inbox(parts, runner, lanes, self._commands, self._stopping)
        self._streams = Streams(parts)
        self._checks = Checks(parts, runner)
        self.removals = 0  # of people: whoever keeps what was found of them looks again

    # What few days see: each is imported when it is asked for.

    @cached_property
    def _evidence(self) -> "Evidence":
        from kai.turns.evidence import Evidence  # noqa: PLC0415

        return Evidence(self._parts)

    @cached_property
    def _memory(self) -> "MemoryDoor":
        from kai.turns.memory_door import MemoryDoor  # noqa: PLC0415

        return MemoryDoor(self._parts)

    @cached_property
    def _household(self) -> "Household":
        from kai.turns.household import Household  # noqa: PLC0415

        return Household(self._parts, self._runner, self._stopping)

    @cached_property
    def _prober(self) -> "Prober":
        from kai.turns.probing import Prober  # noqa: PLC0415

        return Prober(self._parts)

    @cached_property
    def _backups(self) -> "Backups":
        from kai.turns.backups import Backups  # noqa: PLC0415

        return Backups(self._parts)

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
        turn = (await self._parts.store.read(views.own_turn, caller, turn)).turn
        stopped = await self._stopping.stop(turn)
        return {**asdict(stopped), "sentence": stopped.sentence}

    async def retry(self, caller: Caller, turn: TurnId) -> View:
        turn = (await self._parts.store.read(views.own_turn, caller, turn)).turn
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
        erased = await self._parts.store.write(_receipt, delivery, _bridge(caller), receipt, self._parts.clock.now())
        await forget_erased(erased, self._parts.live.forget)
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
        turn = (await self._parts.store.read(views.own_turn, caller, turn)).turn
        return await self._evidence.show(turn, why=why)

    async def preview(self, caller: Caller, text: str, channel: ChannelId | None = None) -> View:
        where = await self._channel(caller, channel)
        return await self._evidence.preview(principal_of(caller), where, text)

    async def verify(self, caller: Caller, turn: TurnId) -> View:
        turn = (await self._parts.store.read(views.own_turn, caller, turn)).turn
        return await self._evidence.verify(turn)

    async def diff(self, caller: Caller, a: TurnId, b: TurnId) -> View:
        a, b = [(await self._parts.store.read(views.own_turn, caller, turn)).turn for turn in (a, b)]
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
        person = await self._parts.store.read(visible_person, caller, principal)
        own = {"is_you": person.principal == caller.principal}
        return {**asdict(person), **own, **await self._checks.files_of(person)}

    async def add_person(self, caller: Caller, name: str, os_user: str) -> View:
        operators_only(caller)
        return await self._household.add(name, os_user)

    async def change_person(self, caller: Caller, principal: PrincipalId, fields: dict[str, str]) -> View:
        person = await self._parts.store.read(visible_person, caller, principal)
        return await self._household.change(person, fields, by_operator=caller.operator)

    async def remove_person(self, caller: Caller, principal: PrincipalId) -> View:
        operators_only(caller)
        person = await self._parts.store.read(visible_person, caller, principal)
        await self._household.remove(person)
        self.removals += 1  # at once, not when all is ended that goes on for them
        await self._household.end_all_of(person)
        return asdict(person)

    async def link(self, caller: Caller, principal: PrincipalId, bridge: str, account: str) -> View:
        operators_only(caller)
        person = await self._parts.store.read(visible_person, caller, principal)
        await self._parts.store.write(people.link, bridge, account, person.principal, self._parts.clock.now())
        return {"person": person.name, "bridge": bridge, "account": account}

    async def probe_person(self, caller: Caller, principal: PrincipalId) -> View:
        operators_only(caller)
        person = await self._parts.store.read(visible_person, caller, principal)
        return await self._prober.person(person)

    # Shared channels: the operator makes them and sets their seat

    async def add_channel(self, caller: Caller, title: str, os_user: str, members: Sequence[str]) -> View:
        operators_only(caller)
        return await self._household.add_channel(caller, title, os_user, members)

    async def change_channel(self, caller: Caller, channel: ChannelId, fields: dict[str, str]) -> View:
        operators_only(caller)
        return await self._household.change_channel(caller, await self._channel(caller, channel), fields)

    async def member(self, caller: Caller, channel: ChannelId, member: str, present: bool) -> View:
        operators_only(caller)
        return await self._household.member(caller, await self._channel(caller, channel), member, present=present)

    async def bind(self, caller: Caller, channel: ChannelId, bridge: str, chat: str, thread: str) -> View:
        operators_only(caller)
        return await self._household.bind(caller, await self._channel(caller, channel), bridge, chat, thread)

    async def probe_channel(self, caller: Caller, channel: ChannelId) -> View:
        operators_only(caller)
        where = await self._channel(caller, channel)
        return await self._prober.channel(await self._parts.store.read(channels.get, where))

    async def fetch(self, caller: Caller, channel: ChannelId | None, path: str) -> tuple[bytes, str]:
        principal = principal_of(caller)
        where = await self._channel(caller, channel)
        return await fetch(self._parts, principal, where, path)

    # Choices, backends, the daemon itself

    async def use(
        self,
        caller: Caller,
        channel: ChannelId | None,
        choice: Preference,
        *,
        wait: bool = False,
        begin: bool = False,
        temporary: str = "",
    ) -> View:
        return await self._checks.use(
            self._commands, caller, channel, choice, wait=wait, begin=begin, temporary=temporary
        )

    async def memory(self, caller: Caller, deed: str, fields: Mapping[str, Any]) -> Any:
        return await self._memory.do(caller, deed, fields)

    async def backends(self, caller: Caller) -> list[View]:
        return await self._checks.backends(await self._checks.user_of(caller))

    async def check_backend(self, caller: Caller, backend: str) -> View:
        operators_only(caller)
        return await self._checks.backend(backend, await self._checks.user_of(caller))

    async def agents(self, caller: Caller) -> list[View]:
        return await self._checks.agents()

    async def agent(self, caller: Caller, name: str, *, revision: str = "") -> View:
        return await self._checks.agent(name, revision)

    async def status(self, caller: Caller) -> View:
        return await self._checks.status(None if caller.operator else principal_of(caller))

    async def doctor(self, caller: Caller) -> list[View]:
        operators_only(caller)
        return await self._checks.doctor()

    async def backup(self, caller: Caller) -> View:
        operators_only(caller)
        return await self._backups.back_up()

    async def backups(self, caller: Caller) -> list[View]:
        operators_only(caller)
        return await self._backups.backups()

    async def config(self, caller: Caller) -> View:
        operators_only(caller)
        return await self._checks.config()

    async def reload(self, caller: Caller) -> View:
        operators_only(caller)
        return await self._checks.reload()


def _receipt(db: Connection, delivery: DeliveryId, bridge: str, receipt: Receipt, now: datetime) -> temporary.Erased:
    """Along with the last receipt of a temporary turn, all of it is erased."""
    deliveries.receipt(db, delivery, bridge, receipt, now)
    return temporary.erase(db, now)


def _bridge(caller: Caller) -> str:
    """The bridge instance of the caller. Every person's own shell is one: nobody's answer comes out at another's."""
    return f"{caller.bridge}:{caller.principal or ''}" if caller.bridge == SHELL else caller.bridge
