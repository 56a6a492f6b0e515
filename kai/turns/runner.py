"""Runs one turn: decide its way, assemble its block, commit the snapshot, dispatch, fold the answer, finish."""

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from kai.context.assemble import assemble
from kai.log import log
from kai.model.context import HistoryFacts, Prompt
from kai.model.errors import (
    FailureKind,
    KaiError,
    LaunchError,
    MemoryMovedError,
    SessionBrokenError,
    SessionLostError,
    StoreError,
    errors_in,
)
from kai.model.events import Ask, AskWithdrawn, BackendEvent, Limit, Steered, TextDelta, ToolCall, ToolResult
from kai.model.ids import ChannelId, DispatchId, RunId, TurnId, fresh
from kai.model.messages import Message
from kai.model.states import DispatchState, TurnState
from kai.model.turns import DeliveryKind, Dispatch, NewDelivery, Outcome, SessionRow, Turn
from kai.protocols.child import StopReport
from kai.store import deliveries, delivering, exposures, sessions, turns
from kai.turns import outbox
from kai.turns.asking import Asking
from kai.turns.attempts import failed, mark_sent, prepare
from kai.turns.facts import facts_for, media_for, sending_of, without_memory
from kai.turns.fold import Fold
from kai.turns.holding import Holding, held_until
from kai.turns.learning import below
from kai.turns.live import Bell, LiveTurn
from kai.turns.opening import Opening, may_go_on
from kai.turns.parts import Parts
from kai.turns.pool import Live
from kai.turns.route import Begun, Looked, Next, Route, decide, look, look_at_next
from kai.turns.steering import Steering
from kai.turns.survivors import Survivor

PARTIAL_EVERY_S = 1.0  # how much of a running answer a killed daemon may forget
FINISH_TRIES = 600
FINISH_RETRY_S = 1.0


@dataclass(eq=False)
class Running:
    """A turn in the hands of the runner: what `stop` and `answer` need to reach it."""

    turn: Turn
    live: LiveTurn
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)  # its end is stored, or `unstored` says why not yet
    ended: anyio.Event = field(default_factory=anyio.Event)
    unstored: str = ""
    route: Route | None = None
    held: Live | None = None
    dispatch: DispatchId | None = None
    tries: int = 0  # attempts of this daemon, and what was steered into them
    steered: dict[DispatchId, Message] = field(default_factory=dict)  # of these the agent has not said that it has them
    conversing: bool = False  # the prompt is (being) handed over: only the protocol can end the turn now
    handed: anyio.Event = field(default_factory=anyio.Event)  # it was, or never will be
    stop_asked: bool = False
    cut: str = ""  # why kai itself ends the turn
    saved_at: float = 0.0  # monotonic: when there was last something to save, or its begin
    tasks: TaskGroup | None = None
    released: anyio.Event | None = None  # there while the turn is held: set, it goes on at once
    is_left: bool = False  # kai itself ends while the turn is held: it is the next daemon's

    def hand_over(self, held: Live) -> None:
        """From here on the session counts as told: a stop waits for that, and then goes through the protocol."""
        self.held, self.conversing = held, True
        if self.handed.is_set():  # whoever waits already waits for this one
            self.handed = anyio.Event()

    async def interrupt(self) -> StopReport:
        """Stop the session's turn as soon as it has its prompt."""
        await self.handed.wait()
        return await self.held.session.interrupt(self.dispatch) if self.held else StopReport("idle", 0.0, True)


# What a CLI without a login may come to instead of saying so: it calls a provider that it has no key for.
_KINDS = ("provider", "model", "protocol", "crash", "silent", "time", "empty")
_MAY_BE_LOGIN = frozenset(map(FailureKind, _KINDS))


class Runner:
    """Owns the turns that run in this process."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.opening = Opening(parts)
        self.asking = Asking(parts)
        self.steering = Steering(parts)
        self._holding = Holding(parts)
        self._running: dict[TurnId, Running] = {}
        self._is_leaving = False  # kai itself ends
        self.survivors: dict[TurnId, Survivor] = {}  # turns of a former daemon that go on

    def get(self, turn: TurnId) -> Running | None:
        return self._running.get(turn)

    def every(self) -> list[Running]:
        return list(self._running.values())

    def at_work(self, channel: ChannelId) -> Running | None:
        """The turn that runs in a channel."""
        return next((running for running in self.every() if running.turn.channel == channel), None)

    async def next(self, channel: ChannelId) -> Next | None:
        """The turn to run next in a channel."""
        going_on = next((one.turn for one in self.survivors.values() if one.channel == channel), None)
        return await self._parts.store.read(look_at_next, channel, going_on)

    async def run(self, next_: Next) -> None:
        """Run a turn to its end. Raises only when even the end cannot be stored."""
        turn, started = next_.turn, self._parts.clock.monotonic()
        live = self._parts.live.begin(turn.turn, next_.address.bridge, hidden=turn.delegated)
        running = Running(turn, live, saved_at=started)
        self._running[turn.turn] = running
        try:
            outcome = self._as_asked(running, await self._guarded(running, next_))
            if running.is_left:
                return
            await self._finish(running, outcome)
            await self.steering.own_up(running)
        finally:
            del self._running[turn.turn]
            running.over.set()
            running.ended.set()
            running.handed.set()
            self._parts.delegating.turn_ended(self._parts, turn.turn)
        seconds = round(self._parts.clock.monotonic() - started, 3)
        log.info("turn.finished", turn=turn.turn, state=outcome.state, failure=outcome.failure, seconds=seconds)

    async def _guarded(self, running: Running, next_: Next) -> Outcome:
        try:
            with running.scope:
                if isinstance(next_.found, KaiError):
                    return failed(next_.found)
                return await self._attempts(running, *next_.found, next_.begun)
        except Exception as error:  # noqa: BLE001 - the boundary of a turn: it fails, the daemon goes on
            if known := errors_in(error):
                return self._cut_short(running, known[0])
            log.exception("turn.broke", turn=running.turn.turn)
            return Outcome(TurnState.FAILED, failure=FailureKind.INTERNAL, reason="kai itself failed.")
        return running.live.fold.outcome()  # the scope was cancelled: stopped or cut before anything was sent

    @staticmethod
    def _cut_short(running: Running, error: KaiError) -> Outcome:
        """An error in mid-turn: what was said until then is kept."""
        cut, so_far = failed(error), running.live.fold.outcome()
        return replace(cut, text=so_far.text, tool_lines=so_far.tool_lines, incomplete=bool(so_far.text.strip()))

    async def _attempts(
        self, running: Running, looked: Looked, message: Message, begun: Begun | None = None
    ) -> Outcome:
        parts, blind_tries = self._parts, 0
        while True:
            outcome = await self._try(running, looked, message, begun)
            begun = None
            wait_s = parts.config.settings.limits.hold_s
            until = held_until(outcome, parts.clock.now(), blind_tries=blind_tries, wait_s=wait_s)
            if until is None or running.stop_asked or running.cut or running.turn.delegated:
                return outcome
            blind_tries += outcome.resets_at != until
            running.is_left = self._is_leaving
            await self._holding.hold(running, outcome, until)
            if running.stop_asked or running.is_left:
                return Outcome(TurnState.STOPPED, reason="Given up while it was held.")
            turn = running.turn
            looked = await parts.store.read(look, turn.principal, turn.channel, turn.temporary)

    async def _try(self, running: Running, looked: Looked, message: Message, begun: Begun | None) -> Outcome:
        parts = self._parts
        route = begun.route if begun else await decide(looked, parts.config, parts.backends, parts.folders)
        running.route = route
        if survivor := self.survivors.pop(running.turn.turn, None):
            return await self._go_on(running, route, survivor)
        try:
            running.dispatch = begun.dispatch.dispatch if begun else running.dispatch
            if begun and parts.pool.get(route.channel.channel) is begun.held:
                running.hand_over(begun.held)
                outcome = await self._carry_out(running, begun.held, begun.prompt)
            else:
                outcome = await self._up_to_date(running, route, message)
        except SessionLostError as error:
            if error.kind is not FailureKind.RESUME:
                raise
            outcome = failed(error)
        except SessionBrokenError:  # it died while idle, and was not seen yet: nothing was sent
            outcome = Outcome(TurnState.FAILED, failure=FailureKind.RESUME)
        if outcome.failure is FailureKind.RESUME and not running.stop_asked:
            # One try only: the same block goes to a fresh session, which has all of it from kai's own history.
            log.warning("session.not_resumed", turn=running.turn.turn, backend=route.manifest.id)
            await parts.pool.close(route.channel.channel, "the last one could not be taken up again")
            parts.pool.ended[route.channel.channel] = "the last one could not be taken up again"
            running.live.fold = Fold()
            running.conversing = False
            outcome = await self._up_to_date(running, route, message, resume=False)
        return outcome

    async def _up_to_date(self, running: Running, route: Route, message: Message, *, resume: bool = True) -> Outcome:
        """An attempt whose block holds nothing that was taken back between its making and its first byte."""
        recalls, pool, channel = True, self._parts.pool, route.channel.channel
        for last in (False, False, True):
            try:
                return await self._attempt(running, route, message, resume=resume, recalls=recalls)
            except MemoryMovedError as moved:
                if last:
                    raise
                recalls = recalls and not moved.unrecorded
                if moved.session_gone:
                    await pool.close(channel, "it was shown what was taken back")
                    pool.ended[channel] = "the last one was shown what was taken back"
                running.conversing = False
        raise AssertionError("unreachable")

    async def _attempt(
        self, running: Running, route: Route, message: Message, *, resume: bool, recalls: bool
    ) -> Outcome:
        parts, turn = self._parts, running.turn
        running.tries += 1
        epoch = await self.opening.epoch(route)
        held = await self._same_session(route, epoch)
        owed = held is None or held.owes_session_block
        facts = await facts_for(
            parts, route, message, turn.turn, fresh=owed, session=held.row.session if held is not None else None
        )
        facts = facts if recalls else without_memory(facts)
        block = assemble(facts)
        row = held.row if held else await self.opening.row(route, epoch, resume=resume)
        run = held.run if held else RunId(fresh("r"))
        prompt = Prompt(DispatchId(fresh("d")), block.text, await media_for(route.manifest, message), bare=block.bare)
        dispatch = Dispatch(
            dispatch=prompt.dispatch,
            turn=turn.turn,
            attempt=turn.attempts + running.tries,
            state=DispatchState.PREPARED,
            backend=route.manifest.id,
            model=route.model,
            session=row.session,
            run=run,
            epoch=epoch,
            fresh=facts.fresh,
            prepared_at=parts.clock.now(),
            # A session that is there gets the bytes next: that they go is committed along with them.
            frame_sha256=held.session.digest(prompt) if held else "",
            native_id=held.session.native_id if held else "",
        )
        if held is not None:
            running.hand_over(held)
        new, sending = row if held is None else None, sending_of(facts)
        await parts.store.write_soft(prepare, new, running.dispatch, dispatch, block, sending)
        running.dispatch = dispatch.dispatch
        if held is None:
            self._become(running, TurnState.RUNNING)
            held = await self._open(running, route, row, run, facts.history)
            running.hand_over(held)
        before_sent = None if dispatch.frame_sha256 else partial(exposures.recheck, sending=sending, block=block)
        return await self._carry_out(running, held, prompt, before_sent, owed=owed)

    async def _carry_out(
        self,
        running: Running,
        held: Live,
        prompt: Prompt,
        before_sent: Callable[..., None] | None = None,
        *,
        owed: bool = False,
    ) -> Outcome:
        """What is committed goes out. `owed`: the session was to be told what all of its kind are told first."""
        self._parts.pool.take(held)
        try:
            return await self._converse(running, held, prompt, before_sent)
        finally:
            held.owes_session_block = running.live.fold.outcome().compacted or (owed and prompt.bare)
            self._parts.pool.give_back(held)

    async def _go_on(self, running: Running, route: Route, survivor: Survivor) -> Outcome:
        """The attempt of a daemon that was killed, whose agent works on: take it over where it stands."""
        row, pool = survivor.session, self._parts.pool
        manifest = self._parts.config.manifest(row.backend)
        route = replace(route, manifest=manifest, workspace=Path(row.workspace), model=row.model, effort=row.effort)
        running.route, running.dispatch = route, survivor.dispatch
        self._become(running, TurnState.RUNNING)
        try:
            held = await pool.open(row, survivor.run, self.opening.taker(route, row, survivor), on_wait=checkpoint)
        except (LaunchError, SessionLostError) as error:
            log.warning("turn.interrupted", turn=running.turn.turn, channel=row.channel, problem=error.sentence)
            text, tool_lines = await self._parts.store.read(turns.partial, running.turn.turn)
            return Outcome(TurnState.INTERRUPTED, text, tool_lines, incomplete=True, reason=turns.RESTARTED)
        running.hand_over(held)
        pool.take(held)
        try:
            async with held.session.go_on() as (events, seen):
                await self._fold(running, events, seen)
            return running.live.fold.outcome()
        finally:
            held.owes_session_block = running.live.fold.outcome().compacted
            pool.give_back(held)

    async def _same_session(self, route: Route, epoch: str) -> Live | None:
        held = self._parts.pool.get(route.channel.channel)
        if held is not None and not (held.row.epoch == epoch and may_go_on(held.row, route)):
            before, same = held.row.backend, held.row.backend == route.manifest.id
            await self._parts.pool.close(held.row.channel, "its settings changed" if same else f"changed from {before}")
            return None
        if held is not None and not await self.opening.fit(held, route):  # a new process is told at its start
            await self._parts.pool.close(held.row.channel, "its model changed")
            return None
        return held

    async def _open(self, running: Running, route: Route, row: SessionRow, run: RunId, history: HistoryFacts) -> Live:
        async def tell_waiting() -> None:
            text = "Every place for an agent is taken; this waits for one."
            running.live.add("notice", text=text)
            self._bell(running).ring()

        why = self._parts.pool.ended.pop(route.channel.channel, "none was open")
        held = await self._parts.pool.open(row, run, self.opening.opener(route, row, run), on_wait=tell_waiting)
        carried = 0 if route.delegated else len(history.messages)  # of that nobody is told
        notice = outbox.session_notice(route.manifest.title, why=why, carried=carried, total=history.total)
        if notice:
            owed = NewDelivery(running.turn.address, DeliveryKind.NOTICE, notice, turn=running.turn.turn)
            await self._parts.store.write(deliveries.owe, owed, self._parts.clock.now())
            running.live.add("notice", text=notice)
            self._bell(running).owe()
        return held

    async def _converse(
        self, running: Running, held: Live, prompt: Prompt, before_sent: Callable[..., None] | None
    ) -> Outcome:
        """`before_sent` looks into the store in the transaction that says that it is sent; None: that was said."""

        async def on_sent(sha256: str) -> None:
            if before_sent is not None:
                now, native_id = self._parts.clock.now(), held.session.native_id
                sent = prompt.dispatch, sha256, now, native_id
                await self._parts.store.write_soft(mark_sent, partial(before_sent, session=held.row.session), *sent)

        async with held.session.prompt(prompt, on_sent=on_sent) as events:
            await self._fold(running, events)
        return running.live.fold.outcome()

    async def _fold(self, running: Running, events: AsyncIterator[BackendEvent], seen: int = 0) -> None:
        """The first `seen` events a former daemon has dealt with: what they asked, that one has asked."""
        async with anyio.create_task_group() as tasks:
            running.tasks = tasks
            running.handed.set()
            self._become(running, TurnState.RUNNING)  # once the bytes are on their way: who listens does not delay them
            async for event in events:
                running.live.fold.add(event)
                seen -= 1
                if seen < 0 or not isinstance(event, Ask | AskWithdrawn | Steered):
                    await self._show(running, event)
            running.tasks = None
            tasks.cancel_scope.cancel()

    async def _show(self, running: Running, event: BackendEvent) -> None:
        live = running.live
        if isinstance(event, TextDelta):
            live.add("text", text=event.text)
            await self._save_partial(running)
        elif isinstance(event, ToolCall):
            live.add("tool", id=event.tool_id, name=event.name, target=event.target, ok=None)
        elif isinstance(event, ToolResult):
            live.add("tool", id=event.tool_id, name="", target="", ok=event.ok, detail=event.detail)
        elif isinstance(event, Limit):
            live.add("notice", text=event.reason)
        elif isinstance(event, Steered):
            await self.steering.was_steered(running, event)
        elif isinstance(event, Ask):
            await self.asking.ask(running, event)
        elif isinstance(event, AskWithdrawn):
            await self.asking.withdraw(running, event)
        self._bell(running).ring()

    async def _save_partial(self, running: Running) -> None:
        now = self._parts.clock.monotonic()
        if now - running.saved_at >= PARTIAL_EVERY_S:
            running.saved_at = now
            fold = running.live.fold
            # A convenience for the day of a kill: a full disk costs that, never the running answer.
            with suppress(StoreError):
                await self._parts.store.write_soft(turns.save_partial, running.turn.turn, fold.text, fold.tool_lines())

    def _as_asked(self, running: Running, outcome: Outcome) -> Outcome:
        """A turn that was stopped ends as stopped, one that kai cut as interrupted, however its process took it."""
        if outcome.state is TurnState.DONE or not (running.stop_asked or running.cut):
            return outcome
        state = TurnState.STOPPED if running.stop_asked else TurnState.INTERRUPTED
        lost = outcome.session_lost or outcome.state is TurnState.FAILED
        return replace(outcome, state=state, failure=None, reason=running.cut or "Stopped.", session_lost=lost)

    async def _with_login(self, route: Route | None, outcome: Outcome) -> Outcome:
        """A failure of whatever kind, with the word that no login is there where that is known."""
        if route is None or outcome.failure not in _MAY_BE_LOGIN or not route.manifest.login.command:
            return outcome
        manifest = route.manifest
        if not await self._parts.backends.is_logged_out(manifest, route.os_user):
            return outcome
        said = f"{manifest.title} is not logged in here: 'kai backend login {manifest.id}'."
        return replace(outcome, reason=f"{outcome.reason} {said}")

    async def _finish(self, running: Running, outcome: Outcome) -> None:
        """Store the end; a store that refuses is asked again, so that an answer outlives a full disk."""
        turn, route = running.turn, running.route
        backend = route.manifest.id if route else ""
        name = f"kai (via {backend})" if backend else "kai"
        bell = self._bell(running)
        with anyio.CancelScope(shield=True):
            outcome = await self._with_login(route, outcome)
            told = await below(self._parts, turn, route, outcome)
            owed = outbox.deliveries(turn.turn, turn.address, outcome, backend=backend, below=told)
            for attempt in range(1, FINISH_TRIES + 1):
                now = self._parts.clock.now()
                # Whoever listens and stands still gets what is owed from the same transaction. Any other claims it: the
                # claim stands in line behind the finish.
                taker = running.live.bridge if bell.waiting else ""
                if not taker:
                    bell.owe()
                try:
                    ended = await self._parts.store.write(
                        delivering.finish, turn.turn, running.dispatch, outcome, owed, name, now, taker
                    )
                    break
                except StoreError as error:
                    log.error("turn.unstored", turn=turn.turn, attempt=attempt, problem=str(error))
                    if attempt == FINISH_TRIES or running.cut:
                        raise
                    running.unstored = error.sentence
                    running.over.set()
                    await anyio.sleep(FINISH_RETRY_S)
            told = told if ended.outcome in (None, outcome) else ""  # withheld: nothing of it is told
            outcome = ended.outcome or outcome
            if ended.claimed:
                bell.hand(ended.claimed)
                await checkpoint()  # they go out first
                if len(ended.claimed) == deliveries.CLAIM_LIMIT:
                    bell.owe()  # there may be more
            running.live.state = outcome.state
            self._parts.live.end(
                running.live,
                state=outcome.state.value,
                text=outcome.text,
                below=told,
                reason=outbox.ending(outcome, turn=turn.turn, backend=backend) if outcome.reason else "",
                failure=outcome.failure.value if outcome.failure else None,
            )
            self._bell(running).ring()
            if outcome.session_lost and route is not None:
                await self._parts.pool.close(route.channel.channel, "its last turn broke it")

    def _become(self, running: Running, state: TurnState) -> None:
        running.live.become(state)
        self._bell(running).ring()

    def _bell(self, running: Running) -> Bell:
        return self._parts.live.bell(running.live.bridge)

    def release(self, channel: ChannelId) -> None:
        """A held turn of `channel` goes on at once."""
        running = self.at_work(channel)
        if running is not None and running.released is not None:
            running.released.set()

    def leave_held(self) -> None:
        """Kai itself ends: what is held stays so in the store, and the next daemon goes on with it."""
        self._is_leaving = True
        for running in self.every():
            if running.released is not None:
                running.is_left = True
                running.released.set()

    async def cut(self, why: str) -> None:
        """End every running turn because kai itself ends; each is owned up to with `why`."""
        async with anyio.create_task_group() as cutting:
            for running in self.every():
                cutting.start_soon(self._cut, running, why)

    async def _cut(self, running: Running, why: str) -> None:
        running.cut = why
        if running.conversing and running.held is not None:
            await running.interrupt()
        else:
            running.scope.cancel()
        await running.ended.wait()

    async def retire(self, channel: ChannelId, why: str) -> None:
        """End the channel's session and never resume it."""
        await self._parts.store.write(sessions.retire_all, channel)
        await self._parts.pool.close(channel, why)
