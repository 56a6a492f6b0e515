"""The slash commands of kai, the same on every bridge. Each answers in a sentence."""

import shlex
from collections.abc import Awaitable, Callable

from kai.model.backends import Manifest
from kai.model.context import ContextBlock
from kai.model.errors import BadInputError, BusyError, ChoiceGoneError, DeniedError, QueueFullError
from kai.model.ids import ChannelId, MessageId, TurnId
from kai.model.people import Address, ChannelKind, Person, Preference
from kai.model.states import TurnState
from kai.model.turns import Turn
from kai.store import channels, choices, snapshots, turns
from kai.store.binding import Connection
from kai.turns import remembering
from kai.turns.backends import os_user as own_user
from kai.turns.control import Command, help_text
from kai.turns.lanes import Lanes
from kai.turns.parts import Parts
from kai.turns.remembering import Remembering
from kai.turns.route import Next, Route, decide, look
from kai.turns.runner import Runner
from kai.turns.stopping import Stopping

Handler = Callable[[Person, Address, str], Awaitable[str | Turn]]
TEMPORARY_OVER = "the temporary conversation is over"
DEFAULT = "-"  # what a person types to take a choice back


class Commands:
    """Does what a slash command says. Raises `KaiError` with a sentence for whatever cannot be done."""

    def __init__(self, parts: Parts, runner: Runner, lanes: Lanes[Next], stopping: Stopping) -> None:
        self._parts = parts
        self._remembering = Remembering(parts)
        self._runner = runner
        self._lanes = lanes
        self._stopping = stopping
        self._handlers: dict[str, Handler] = {
            "help": self._help,
            "stop": self._stop,
            "steer": self._steer,
            "new": self._new,
            "backend": self._backend,
            "model": self._model,
            "workspace": self._workspace,
            "agent": self._agent,
            "retry": self._retry,
            "status": self._status,
            "context": self._context,
            "temporary": self._temporary,
        }

    async def do(
        self, person: Person, address: Address, command: Command, message: MessageId | None = None
    ) -> str | Turn:
        """The reply to `command`, which stands in `message`, or the turn that it began."""
        if not command.name:
            return f"Did you mean /{command.argument}? Nothing went to the agent: to send it as words, begin with '//'."
        if command.name in remembering.COMMANDS:
            return await self._remembering.do(person, address, command, message)
        handler = self._handlers.get(command.name)
        return await handler(person, address, command.argument) if handler else f"/{command.name} is not built yet."

    async def _help(self, person: Person, address: Address, argument: str) -> str:
        try:
            manifest = (await self._route(person, address.channel)).manifest
        except ChoiceGoneError as gone:  # help is for whoever is stuck: it never fails
            return f"{help_text()}\n{gone.sentence} {gone.hint}"
        return help_text([manifest.native_prefix + name for name in manifest.native_commands])

    async def _stop(self, person: Person, address: Address, argument: str) -> str:
        live = await self._parts.store.read(turns.live, address.channel)
        if live is None:
            return "Nothing is running here."
        report = await self._stopping.stop(live.turn)
        return report.sentence

    async def _steer(self, person: Person, address: Address, argument: str) -> str:
        return "Say what: /steer WORDS."  # with words it is no command but a message, which the inbox keeps as one

    async def _new(self, person: Person, address: Address, argument: str) -> str:
        await self._refuse_while_running(address.channel)
        await self._runner.retire(address.channel, "you asked for a new one")
        return "The next message begins a fresh session. Your messages are kept, and the last of them go along."

    async def _backend(self, person: Person, address: Address, argument: str) -> str:
        if not argument:
            route = await self._route(person, address.channel)
            known = ", ".join(self._parts.config.manifests)
            return f"You talk to {_name(route.manifest, route.model)}. Known: {known}."
        backend, _, model = argument.partition(" ")
        if backend == DEFAULT:
            choice = Preference(backend=DEFAULT, model=DEFAULT, effort=DEFAULT)
        else:
            self._parts.config.manifest(backend)
            choice = Preference(backend=backend, model=model.strip() or DEFAULT, effort=DEFAULT)
        return await self.prefer(person, address.channel, choice)

    async def _model(self, person: Person, address: Address, argument: str) -> str:
        route = await self._route(person, address.channel)
        if not argument:
            known = ", ".join(route.manifest.models)
            return f"The model is {route.model or 'the default'}." + (f" Known: {known}." if known else "")
        return await self.prefer(person, address.channel, Preference(backend=route.manifest.id, model=argument))

    async def _workspace(self, person: Person, address: Address, argument: str) -> str:
        if not argument:
            route = await self._route(person, address.channel)
            known = ", ".join(workspace.name for workspace in self._parts.config.settings.workspaces)
            return f"The agent works in {route.workspace}." + (f" Known: {known}." if known else "")
        return await self.prefer(person, address.channel, Preference(workspace=argument))

    async def _agent(self, person: Person, address: Address, argument: str) -> str:
        if not argument:
            route = await self._route(person, address.channel)
            return f"The agent is {route.agent.name}. Known: {', '.join(self._parts.config.agents)}."
        if argument != DEFAULT:
            self._parts.config.agent(argument)
        return await self.prefer(person, address.channel, Preference(agent=argument))

    async def prefer(self, person: Person, channel: ChannelId, choice: Preference, *, by_operator: bool = False) -> str:
        """Keep a choice for `channel` and say what holds from the next message on.

        Raises `BusyError` while a turn runs, `UnknownThingError` or `BadInputError` for what is not there; then nothing
        changes.
        """
        if not by_operator:
            await self._refuse_in_shared(person, channel)
        for field, value in (("model", choice.model), ("effort", choice.effort)):
            if value != DEFAULT and (value.startswith("-") or not value.isprintable()):
                raise BadInputError(field, f"{value!r} is none", "Name it as the backend does; '-' is the default.")
        if choice.workspace and choice.workspace != DEFAULT:
            self._parts.config.workspace(choice.workspace)
        if choice.agent and choice.agent != DEFAULT:
            self._parts.config.agent(choice.agent)
        if choice.backend and choice.backend != DEFAULT:
            self._parts.config.manifest(choice.backend)

        def keep(db: Connection) -> None:
            _refuse_while_running(db, channel)
            choices.prefer(db, "channel", channel, choice)

        await self._parts.store.write(keep)
        self._runner.release(channel)
        try:
            return f"From the next message on: {await self.in_use(person, channel)}"
        except ChoiceGoneError as gone:  # another one than this
            return f"This is kept. But: {gone.sentence} {gone.hint}"

    async def in_use(self, person: Person, channel: ChannelId) -> str:
        """What the next message of `channel` goes to. Raises `ChoiceGoneError`."""
        route = await self._route(person, channel)
        where = "your home" if route.is_home else str(route.workspace)
        engine = _name(route.manifest, route.model) + (f", effort {route.effort}" if route.effort else "")
        found = await self._parts.backends.installed(route.manifest, route.os_user)
        lacking = f" But {found.problem}." if found.problem else ""
        return f"{engine}, agent definition {route.agent.name!r}, in {where}.{lacking}{_lasting(route)}"

    async def _refuse_in_shared(self, person: Person, channel: ChannelId) -> None:
        """What a shared channel's seat works with is the operator's to choose. Raises `DeniedError`."""
        if person.os_user in {own_user(), "root", *self._parts.config.settings.operators}:
            return
        where = await self._parts.store.read(channels.get, channel)
        if where.kind is ChannelKind.SHARED:
            remedy = f"They run 'kai use BACKEND --channel {where.title}'."
            raise DeniedError("in a shared channel the operator chooses, for everybody", remedy)

    async def _temporary(self, person: Person, address: Address, argument: str) -> str:
        if argument not in ("", "on", "off", DEFAULT):
            raise BadInputError("temporary", f"{argument!r} is none", "Say /temporary, or '/temporary off'.")
        return await self.be_temporary(person, address.channel, on=argument in ("", "on"))

    async def be_temporary(self, person: Person, channel: ChannelId, *, on: bool, by_operator: bool = False) -> str:
        """Begin or end a temporary conversation, and say what holds. Raises `BusyError` while a turn runs."""
        if not by_operator:
            await self._refuse_in_shared(person, channel)

        def keep(db: Connection) -> bool:
            _refuse_while_running(db, channel)
            return channels.be_temporary(db, channel, on=on)

        if not await self._parts.store.write(keep):
            return "This conversation is temporary already." if on else "This conversation is not temporary."
        self._runner.release(channel)
        # What its agent has in mind of it ends with it; an earlier session may be taken up again.
        await self._parts.pool.close(channel, "the conversation became temporary" if on else TEMPORARY_OVER)
        if not on:
            return "The temporary conversation is over: what was said in it is erased. The next message is kept again."
        route = await self._route(person, channel)
        said = (
            "From the next message on nothing is kept: no memory, no history, no transcript. '/temporary off' ends it."
        )
        return said + _lasting(route)

    async def _retry(self, person: Person, address: Address, argument: str) -> str | Turn:
        turn = await self._parts.store.read(_last_unfinished, address.channel)
        if turn is None:
            return "The last turn here ended well: there is nothing to run again."
        return await self.retry(turn.turn)

    async def retry(self, turn: TurnId) -> Turn:
        """A new turn for the message of `turn`. Raises `WrongMoveError` while it has not ended."""
        again = await self._parts.store.write(self._queue_again, turn)
        self._lanes.wake(again.channel)
        return again

    def _queue_again(self, db: Connection, turn: TurnId) -> Turn:
        bound, channel = self._parts.config.settings.queue.per_channel, turns.get(db, turn).channel
        if turns.queued_count(db, channel) >= bound:
            raise QueueFullError(channel, bound)
        return turns.retry(db, turn, self._parts.clock.now())

    async def _status(self, person: Person, address: Address, argument: str) -> str:
        waiting = await self._parts.store.read(turns.queued_count, address.channel)
        live = await self._parts.store.read(turns.live, address.channel)
        try:
            route = await self._route(person, address.channel)
            engine = f"Backend: {_name(route.manifest, route.model)}."
        except ChoiceGoneError as gone:
            engine = f"{gone.sentence} {gone.hint}"
        now = f"Turn {live.turn} is {live.state.value}." if live else "Nothing is running here."
        where = await self._parts.store.read(channels.get, address.channel)
        return f"{now} {waiting} waiting. {engine}{' This conversation is temporary.' if where.temporary else ''}"

    async def _context(self, person: Person, address: Address, argument: str) -> str:
        sent = await self._parts.store.read(_last_block, address.channel)
        if sent is None:
            return "No message was sent to an agent from here yet."
        turn, block = sent
        if block.bare:
            return "Nothing went before your last message: a command of the backend goes bare."
        parts = [f"- {part.name}: {len(part.text):,} characters" for part in block.sections]
        state = self._parts.store.path.parent
        whole = f"All of it, word for word: kai --state {shlex.quote(str(state))} context show {turn}"
        return "\n".join(["Before your last message went:", *parts, whole])

    async def _route(self, person: Person, channel: ChannelId) -> Route:
        looked = await self._parts.store.read(look, person.principal, channel)
        return await decide(looked, self._parts.config, self._parts.backends, self._parts.folders)

    async def _refuse_while_running(self, channel: ChannelId) -> None:
        await self._parts.store.read(_refuse_while_running, channel)


def _refuse_while_running(db: Connection, channel: ChannelId) -> None:
    live = turns.live(db, channel)
    if live is not None and live.state is not TurnState.HELD:  # a held one has nothing in flight
        raise BusyError(channel, live.turn)


def _lasting(route: Route) -> str:
    """That a message would be refused: the backend of a temporary conversation would keep it."""
    if not route.temporary or route.manifest.can.temporary:
        return ""
    return f" But {route.manifest.title} cannot switch off its own memory and transcript: choose another with /backend."


def _last_unfinished(db: Connection, channel: ChannelId) -> Turn | None:
    last = turns.of_channel(db, channel, 1)
    bad = {TurnState.FAILED, TurnState.STOPPED, TurnState.INTERRUPTED}
    return last[0] if last and last[0].state in bad else None


def _last_block(db: Connection, channel: ChannelId) -> tuple[TurnId, ContextBlock] | None:
    """What went before the newest message of a channel that was sent to an agent."""
    for turn in turns.of_channel(db, channel, 20):
        for dispatch in reversed(snapshots.dispatches(db, turn.turn)):
            if not dispatch.steered:
                return turn.turn, snapshots.snapshot(db, dispatch.dispatch)
    return None


def _name(manifest: Manifest, model: str) -> str:
    return f"{manifest.title} ({model})" if model else manifest.title
