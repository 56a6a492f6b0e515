"""The way in: an ordinary message becomes a turn, a control message is done at once; both are committed first."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from anyio.lowlevel import checkpoint

from kai.log import log
from kai.model.errors import BadInputError, ChoiceGoneError, DeniedError, KaiError, MemoryMovedError
from kai.model.ids import ChannelId, PrincipalId
from kai.model.memory import Scope
from kai.model.messages import Accepted, Author, InboundMessage
from kai.model.people import Address, Channel, Person
from kai.model.turns import DeliveryKind, NewDelivery, Question, Turn
from kai.store import channels, deliveries, messages, people, questions, turns
from kai.store.binding import Connection
from kai.text.secrets import secret_in
from kai.turns.commands import Commands
from kai.turns.control import Command, Reply, meant, recognise
from kai.turns.facts import is_native
from kai.turns.lanes import Lanes
from kai.turns.parts import Parts
from kai.turns.route import Looked, Next, decide, look, look_around
from kai.turns.runner import Runner
from kai.turns.stopping import Stopping
from kai.turns.warm import beginning

MAX_TEXT_BYTES = 4 * 1024 * 1024
MAIN_THREADS = frozenset({"", "main"})
_CHANNELS = 10_000


@dataclass(frozen=True, slots=True)
class Taken:
    """What the accept transaction came to; `control` or `next` is to be done now that it is committed."""

    accepted: Accepted
    address: Address
    person: Person
    control: Command | Reply | None = None
    next: Next | None = None  # the message's turn, when nothing is before it


class Inbox:
    """Takes messages. Everything that must not be lost is committed before `receive` returns."""

    def __init__(
        self, parts: Parts, runner: Runner, lanes: Lanes[Next], commands: Commands, stopping: Stopping
    ) -> None:
        self._parts = parts
        self._runner = runner
        self._lanes = lanes
        self._commands = commands
        self._stopping = stopping
        self._channels: dict[tuple[str, str, str], ChannelId] = {}  # of addresses, as they were when last heard from

    async def receive(self, inbound: InboundMessage, principal: PrincipalId) -> Accepted:
        """Accept a message of `principal` once: a repeat of its external id gives the same ids.

        Raises `BadInputError`, `DeniedError`, `QueueFullError`; then nothing of it is kept.
        """
        _check(inbound)
        mistyped = await self._mistyped(inbound, principal)
        await self._foresee(inbound, principal)
        try:
            taken = await self._parts.store.write(self._take, inbound, principal, mistyped)
        except MemoryMovedError:  # nobody is to be told what is not on record; the message is accepted all the same
            taken = await self._parts.store.write(self._take, inbound, principal, mistyped, begins=False)
        accepted = taken.accepted
        self._note(inbound, taken)
        if accepted.duplicate:
            return accepted
        if inbound.deleted:
            await self._take_back(inbound)
        if taken.control is None:
            runs = taken.next is not None and taken.next.begun is not None
            self._lanes.wake(accepted.channel, taken.next, runs=runs)
            if runs:
                await checkpoint()  # the agent is at work while the bridge is answered
            log.info("message.accepted", message=accepted.message, turn=accepted.turn, channel=accepted.channel)
            return accepted
        if words_to_steer(taken.control):
            return await self._steer(taken)
        return await self._do(taken)

    def _note(self, inbound: InboundMessage, taken: Taken) -> None:
        """Where an address leads; not to a temporary talk, for which nothing is foreseen."""
        at = inbound.bridge, inbound.chat, inbound.thread
        self._channels.pop(at, None)
        if len(self._channels) >= _CHANNELS:
            self._channels.clear()
        if not (taken.next and taken.next.turn.temporary):
            self._channels[at] = taken.accepted.channel

    async def _foresee(self, inbound: InboundMessage, principal: PrincipalId) -> None:
        """Where the turn may begin as it is accepted, what its search needs is there by then."""
        at = inbound.bridge, inbound.chat, inbound.thread
        channel = None if inbound.temporary else self._channels.get(at)
        held = self._parts.pool.get(channel) if channel else None
        if channel and held and not (held.busy or held.owes_session_block or inbound.text.startswith("/")):
            await self._parts.retriever.foresee(Scope(principal, channel), inbound.text)

    async def _steer(self, taken: Taken) -> Accepted:
        """Hand words to the turn that runs; where nobody can take them now, they wait as any message does."""
        assert taken.accepted.message is not None
        message = await self._parts.store.read(messages.get, taken.accepted.message)
        steering = self._runner.steering
        told = await steering.steer(self._runner.at_work(message.channel), message)
        if told:
            await self._tell(taken.address, told)
            return replace(taken.accepted, reply=told)
        turn = await steering.queue(message, taken.address.address)
        return replace(taken.accepted, turn=turn.turn)

    async def _mistyped(self, inbound: InboundMessage, principal: PrincipalId) -> Command | None:
        """The mistyped command that a message is: near to one of kai's own, and not the backend's."""
        if not (name := meant(inbound.text)) or inbound.edit_of:
            return None

        def look_there(db: Connection) -> Looked:
            address = place_of(db, inbound, people.get(db, principal), self._parts.clock.now())
            return look(db, principal, address.channel)

        looked = await self._parts.store.write_soft(look_there)
        with suppress(ChoiceGoneError):
            route = await decide(looked, self._parts.config, self._parts.backends, self._parts.folders)
            if is_native(route, inbound.text):
                return None
        return Command("", name)

    async def _take_back(self, inbound: InboundMessage) -> None:
        """A message that was deleted while it waited is not answered."""
        deleted = await self._parts.store.read(messages.by_external, inbound.bridge, inbound.chat, inbound.edit_of)
        if deleted is not None and deleted.turn is not None:
            await self._stopping.withdraw(deleted.turn)

    def _take(
        self,
        db: Connection,
        inbound: InboundMessage,
        principal: PrincipalId,
        mistyped: Command | None,
        *,
        begins: bool = True,
    ) -> Taken:
        now = self._parts.clock.now()
        person = people.get(db, principal)
        known = messages.by_external(db, inbound.bridge, inbound.chat, inbound.external_id)
        if known is not None and known.turn is None:  # a control message is done once, too
            address = channels.bind(db, inbound.bridge, inbound.chat, inbound.thread, known.channel)
            return Taken(Accepted(known.message, None, known.channel, duplicate=True), address, person)
        address = place_of(db, inbound, person, now)
        where = channels.get(db, address.channel)
        inbound = replace(inbound, temporary=inbound.temporary or where.temporary)
        if principal not in where.members:
            raise DeniedError(f"{person.name} is not a member of {where.title!r}")
        control = None
        if known is None and not inbound.edit_of and not inbound.deleted:
            control = recognise(inbound.text, _open_for(db, where, principal)) or mistyped
        if control is None:
            bound = self._parts.config.settings.queue.per_channel
            looked = look_around(db, person, where, inbound.temporary)
            warm = beginning(self._parts, self._runner.opening, db, looked) if begins and self._lanes.open else None
            accepted, queued = messages.take(
                db, inbound, address, principal, person.name, now, queue_bound=bound, begin=warm.begin if warm else None
            )
            next_ = None
            if queued is not None and not accepted.queued_before:
                turn, message = queued
                next_ = Next(turn, address, (looked, message), begun=warm.keep() if warm else None)
            return Taken(accepted, address, person, next=next_)
        if words := words_to_steer(control):  # they are part of the talk, wherever the agent hears them
            said = messages.draft(address.channel, Author.PERSON, principal, person.name, words, now)
            live = turns.live(db, address.channel)
            if inbound.temporary or (live and live.temporary):
                said = replace(said, temporary=True, turn=live.turn if live else None)  # it goes along with that
            kept = messages.keep(db, said, inbound)
        else:
            kept = messages.record(
                db,
                address.channel,
                Author.PERSON,
                _kept_text(inbound),
                now,
                principal=principal,
                name=person.name,
                inbound=inbound,
            )
        return Taken(Accepted(kept.message, None, address.channel), address, person, control)

    async def _do(self, taken: Taken) -> Accepted:
        """Do a control message and owe its result to where it came from. An error is a result."""
        try:
            reply: str | Turn
            if isinstance(taken.control, Reply):
                reply = await self._answer(taken, taken.control)
            else:
                assert taken.control is not None
                asked_in = taken.accepted.message
                reply = await self._commands.do(taken.person, taken.address, taken.control, asked_in)
        except KaiError as error:
            reply = f"{error.sentence} {error.hint}".strip()
        if isinstance(reply, Turn):
            return replace(taken.accepted, turn=reply.turn)
        if reply:
            await self._tell(taken.address, reply)
        return replace(taken.accepted, reply=reply)

    async def _tell(self, address: Address, reply: str) -> None:
        owed = NewDelivery(address.address, DeliveryKind.NOTICE, reply)
        await self._parts.store.write(deliveries.owe, owed, self._parts.clock.now())
        self._parts.live.bell(address.bridge).owe()

    async def _answer(self, taken: Taken, reply: Reply) -> str:
        question = await self._parts.store.read(questions.get, reply.ask)
        running = self._runner.get(question.turn)
        await self._runner.asking.answer(question, taken.person.principal, reply.choice, reply.text, running)
        return ""


def _kept_text(inbound: InboundMessage) -> str:
    """A control message as it is kept. What memory refuses for a secret must not stay beside it."""
    text = inbound.text
    if inbound.temporary:  # the command without its words; of an answer to a question nothing
        return text.split(maxsplit=1)[0] if text.startswith("/") else ""
    return f"{text.split(maxsplit=1)[0]} (not kept: it holds what looks like a secret)" if secret_in(text) else text


def words_to_steer(control: Command | Reply | None) -> str:
    """The words that are for the turn that runs; empty for everything else."""
    return control.argument if isinstance(control, Command) and control.name == "steer" else ""


def _check(inbound: InboundMessage) -> None:
    """What no message may be. What UTF-8 cannot carry was replaced at the door; the rest is kept as it came."""
    if not inbound.external_id:
        raise BadInputError(
            "external_id", "is empty", "Give every message a key of its own, so that a repeat is known."
        )
    if inbound.deleted and not inbound.edit_of:
        raise BadInputError("deleted", "says nothing without edit_of", "Name the message that was deleted.")
    if not (inbound.text.strip() or inbound.attachments or inbound.deleted):
        raise BadInputError("text", "is empty", "Write something, or attach a file.")
    size = len(inbound.text.encode())
    if size > MAX_TEXT_BYTES:
        raise BadInputError("text", f"is {size:,} bytes, {MAX_TEXT_BYTES:,} are allowed", "Send it as a file instead.")


def place_of(db: Connection, inbound: InboundMessage, person: Person, now: datetime) -> Address:
    """The address of a message, bound to its channel; a new one is bound to the person's own conversation.

    A thread other than "main" names a channel by its title; a title that this person has not used yet begins one.
    """
    known = channels.address(db, inbound.bridge, inbound.chat, inbound.thread)
    if known is not None:
        return known
    if inbound.thread in MAIN_THREADS:
        channel = channels.private_of(db, person.principal, now)
    else:
        channel = channels.titled(db, person.principal, inbound.thread, now)
    return channels.bind(db, inbound.bridge, inbound.chat, inbound.thread, channel.channel)


def _open_for(db: Connection, channel: Channel, principal: PrincipalId) -> list[Question]:
    """Open questions here that this person may answer: those of their own turns."""
    return [
        question
        for question in questions.open_in_channel(db, channel.channel)
        if turns.get(db, question.turn).principal == principal
    ]
