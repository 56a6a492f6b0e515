"""A door without a house behind it: remembers what it was asked, and answers what a test put there."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from kai.model.errors import DeniedError, UnknownThingError
from kai.model.events import Choice, ChoiceKind
from kai.model.ids import AddressId, AskId, AttachmentRef, ChannelId, DeliveryId, MessageId, PrincipalId, RunId, TurnId
from kai.model.messages import Accepted, AttachmentInfo, InboundMessage
from kai.model.people import Person, Preference
from kai.model.states import DeliveryState, TurnState
from kai.model.turns import Delivery, DeliveryKind, Progress, Receipt
from kai.turns.door import Caller

ANNA = Person(PrincipalId("p-anna"), "Anna", "anna")
NOW = datetime(2026, 11, 30, 17, 41, tzinfo=UTC)
BEN = Person(PrincipalId("p-ben"), "Ben Ö", "ben")


def delivery(number: int, text: str = "hi") -> Delivery:
    return Delivery(
        DeliveryId(f"d-{number}"),
        number,
        AddressId("a-1"),
        "terminal",
        "1",
        "",
        ChannelId("c-1"),
        DeliveryKind.QUESTION,
        text,
        DeliveryState.CLAIMED,
        NOW,
        turn=TurnId("t-1"),
        ask=AskId("k-1"),
        turn_state=TurnState.DONE,
        choices=(Choice("y", "Yes", ChoiceKind.ALLOW_ONCE),),
    )


class FakeDirectory:
    """The people of a test, by their two names."""

    def __init__(self, *people: Person) -> None:
        self.people = list(people)
        self.asked = 0

    async def by_os_user(self, os_user: str) -> Person | None:
        self.asked += 1
        return next((person for person in self.people if person.os_user == os_user), None)

    async def by_name(self, name: str) -> Person | None:
        return next((person for person in self.people if person.name == name), None)


@dataclass
class FakeDoor:
    """`calls` holds (method, arguments); `fails` maps a method to the error it raises; `owed` feeds deliveries."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    fails: dict[str, Exception] = field(default_factory=dict)
    owed: list[Delivery | Progress] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    views: dict[str, Any] = field(default_factory=dict)
    files: dict[str, AttachmentInfo] = field(default_factory=dict)
    taken: dict[tuple[str, str], Accepted] = field(default_factory=dict)
    callers: list[Caller] = field(default_factory=list)
    released: int = 0  # items that deliveries has handed out
    closed: int = 0  # streams whose source was closed
    hold: anyio.Event | None = None  # a request waits for it

    def _note(self, name: str, caller: Caller, *args: Any) -> Any:
        self.callers.append(caller)
        self.calls.append((name, args))
        if name in self.fails:
            raise self.fails[name]
        return self.views.get(name, {"view": name})

    async def receive(self, caller: Caller, inbound: InboundMessage) -> Accepted:
        self._note("receive", caller, inbound)
        if self.hold is not None:
            await self.hold.wait()
        key = (inbound.chat, inbound.external_id)
        if key in self.taken:
            first = self.taken[key]
            return Accepted(first.message, first.turn, first.channel, duplicate=True)
        number = len(self.taken)
        self.taken[key] = Accepted(MessageId(f"m-{number}"), TurnId(f"t-{number}"), ChannelId("c-1"))
        return self.taken[key]

    async def stop(self, caller: Caller, turn: TurnId) -> dict[str, Any]:
        return self._view("stop", caller, turn)

    async def retry(self, caller: Caller, turn: TurnId) -> dict[str, Any]:
        return self._view("retry", caller, turn)

    async def answer(self, caller: Caller, ask: AskId, choice: str, text: str = "") -> dict[str, Any]:
        return self._view("answer", caller, ask, choice, text)

    async def turn(self, caller: Caller, turn: TurnId) -> dict[str, Any]:
        return self._view("turn", caller, turn)

    async def turns(self, caller: Caller, *, channel: ChannelId | None = None, limit: int = 50) -> list[dict[str, Any]]:
        return self._views("turns", caller, channel, limit)

    async def events(self, caller: Caller, turn: TurnId) -> AsyncIterator[dict[str, Any]]:
        self._note("events", caller, turn)
        for row in self.rows:
            yield row

    async def deliveries(
        self, caller: Caller, *, after: int | None = None, idempotent: bool = False
    ) -> AsyncIterator[Delivery | Progress]:
        self._note("deliveries", caller, after, idempotent)
        try:
            for item in self.owed:
                self.released += 1
                yield item
            if "deliveries_end" in self.fails:
                raise self.fails["deliveries_end"]
            await anyio.sleep_forever()
        finally:
            self.closed += 1

    async def receipt(self, caller: Caller, delivery: DeliveryId, receipt: Receipt) -> None:
        self._note("receipt", caller, delivery, receipt)

    async def attach(self, caller: Caller, info: AttachmentInfo) -> None:
        self._note("attach", caller, info)
        self.files[info.ref] = info

    async def attachment(self, caller: Caller, ref: str) -> AttachmentInfo:
        self._note("attachment", caller, ref)
        if ref not in self.files:
            raise UnknownThingError("attachment", ref)
        return self.files[AttachmentRef(ref)]

    async def context(self, caller: Caller, turn: TurnId, *, why: bool = False) -> dict[str, Any]:
        return self._view("context", caller, turn, why)

    async def preview(self, caller: Caller, text: str, channel: ChannelId | None = None) -> dict[str, Any]:
        return self._view("preview", caller, text, channel)

    async def verify(self, caller: Caller, turn: TurnId) -> dict[str, Any]:
        return self._view("verify", caller, turn)

    async def diff(self, caller: Caller, a: TurnId, b: TurnId) -> dict[str, Any]:
        return self._view("diff", caller, a, b)

    async def channels(self, caller: Caller) -> list[dict[str, Any]]:
        return self._views("channels", caller)

    async def channel(self, caller: Caller, channel: ChannelId) -> dict[str, Any]:
        return self._view("channel", caller, channel)

    async def history(
        self, caller: Caller, channel: ChannelId | None, *, before: int | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        return self._views("history", caller, channel, before, limit)

    async def search(
        self, caller: Caller, channel: ChannelId | None, query: str, limit: int = 20
    ) -> list[dict[str, Any]]:
        return self._views("search", caller, channel, query, limit)

    async def people(self, caller: Caller) -> list[dict[str, Any]]:
        return self._views("people", caller)

    async def person(self, caller: Caller, principal: PrincipalId) -> dict[str, Any]:
        return self._view("person", caller, principal)

    async def add_person(self, caller: Caller, name: str, os_user: str) -> dict[str, Any]:
        return self._view("add_person", caller, name, os_user)

    async def change_person(self, caller: Caller, principal: PrincipalId, fields: dict[str, str]) -> dict[str, Any]:
        return self._view("change_person", caller, principal, fields)

    async def remove_person(self, caller: Caller, principal: PrincipalId) -> dict[str, Any]:
        return self._view("remove_person", caller, principal)

    async def link(self, caller: Caller, principal: PrincipalId, bridge: str, account: str) -> dict[str, Any]:
        return self._view("link", caller, principal, bridge, account)

    async def probe_person(self, caller: Caller, principal: PrincipalId) -> dict[str, Any]:
        return self._view("probe_person", caller, principal)

    async def add_channel(self, caller: Caller, title: str, os_user: str, members: Sequence[str]) -> dict[str, Any]:
        return self._view("add_channel", caller, title, os_user, members)

    async def change_channel(self, caller: Caller, channel: ChannelId, fields: dict[str, str]) -> dict[str, Any]:
        return self._view("change_channel", caller, channel, fields)

    async def member(self, caller: Caller, channel: ChannelId, member: str, present: bool) -> dict[str, Any]:
        return self._view("member", caller, channel, member, present)

    async def bind(self, caller: Caller, channel: ChannelId, bridge: str, chat: str, thread: str) -> dict[str, Any]:
        return self._view("bind", caller, channel, bridge, chat, thread)

    async def probe_channel(self, caller: Caller, channel: ChannelId) -> dict[str, Any]:
        return self._view("probe_channel", caller, channel)

    async def fetch(self, caller: Caller, channel: ChannelId | None, path: str) -> tuple[bytes, str]:
        self._note("fetch", caller, channel, path)
        return b"made by an agent", "made.txt"

    async def use(
        self,
        caller: Caller,
        channel: ChannelId | None,
        choice: Preference,
        *,
        wait: bool = False,
        begin: bool = False,
        temporary: str = "",
    ) -> dict[str, Any]:
        return self._view("use", caller, channel, choice, wait, begin, temporary)

    async def memory(self, caller: Caller, deed: str, fields: Mapping[str, Any]) -> Any:
        return self._note("memory", caller, deed, dict(fields))

    async def backends(self, caller: Caller) -> list[dict[str, Any]]:
        return self._views("backends", caller)

    async def check_backend(self, caller: Caller, backend: str) -> dict[str, Any]:
        return self._view("check_backend", caller, backend)

    async def agents(self, caller: Caller) -> list[dict[str, Any]]:
        return self._views("agents", caller)

    async def agent(self, caller: Caller, name: str, *, revision: str = "") -> dict[str, Any]:
        return self._view("agent", caller, name, revision)

    async def status(self, caller: Caller) -> dict[str, Any]:
        return self._view("status", caller)

    async def doctor(self, caller: Caller) -> list[dict[str, Any]]:
        return self._views("doctor", caller)

    async def backup(self, caller: Caller) -> dict[str, Any]:
        return self._view("backup", caller)

    async def backups(self, caller: Caller) -> list[dict[str, Any]]:
        return self._views("backups", caller)

    async def config(self, caller: Caller) -> dict[str, Any]:
        return self._view("config", caller)

    async def reload(self, caller: Caller) -> dict[str, Any]:
        return self._view("reload", caller)

    def _view(self, name: str, caller: Caller, *args: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._note(name, caller, *args)
        return found

    def _views(self, name: str, caller: Caller, *args: Any) -> list[dict[str, Any]]:
        found = self._note(name, caller, *args)
        return found if isinstance(found, list) else [found]


@dataclass
class FakeAgents:
    """An agents' door that lets in whoever is of a run, and remembers what proved it."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def admit(self, *proof: Any) -> Any:
        self.calls.append(proof)
        if proof[1] is None and not proof[2]:
            raise DeniedError("this socket is for agents that kai has started")
        return proof[1]

    async def whoami(self, run: RunId) -> dict[str, Any]:
        return {"run": run}

    async def tools(self, run: RunId) -> list[dict[str, Any]]:
        return []

    async def call(self, run: RunId, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"tool": name, "arguments": arguments}
