"""A message for a session that only waits for it. What its turn needs is known already, so that the message, the turn
and its exact block are one transaction, and the agent has its prompt at once.

All of it runs in the store's writer: it reads what the loop keeps, changes none of it, and whatever it finds may be
over a moment later. Then the prompt finds no session, and the runner goes the long way.
"""

from dataclasses import dataclass, replace

from kai.context.assemble import assemble
from kai.model.context import ContextBlock, Prompt
from kai.model.errors import ChoiceGoneError, ContextBudgetError
from kai.model.ids import DispatchId, fresh
from kai.model.messages import Message
from kai.model.states import DispatchState, TurnState
from kai.model.turns import Dispatch, Turn
from kai.store import exposures, turns
from kai.store.binding import Connection, Error
from kai.store.exposures import Sending
from kai.turns.facts import facts_at_once, sending_of
from kai.turns.opening import Opening
from kai.turns.parts import Parts
from kai.turns.pool import Live
from kai.turns.route import Begun, Looked, Route, known_way


@dataclass
class Beginning:
    """One accept: asked for the turn that it keeps, then for the attempt that goes with it."""

    parts: Parts
    db: Connection
    route: Route
    held: Live
    begun: Begun | None = None
    block: ContextBlock | None = None
    sending: Sending | None = None

    def begin(self, turn: Turn, message: Message) -> Turn:
        """The turn as it is to be kept: running, when this session can be given it at once."""
        held = self.held
        if message.attachments or exposures.is_retired(self.db, held.row.session):
            return turn
        try:
            facts = facts_at_once(self.parts, self.db, self.route, message, turn.turn, held.row.session)
            if facts is None:
                return turn
            self.block, self.sending = assemble(facts), sending_of(facts)
        except (ContextBudgetError, Error):  # the turn fails by it, not the accept
            return turn
        prompt = Prompt(DispatchId(fresh("d")), self.block.text, bare=self.block.bare)
        now, backend, model = turn.queued_at, self.route.manifest.id, self.route.model
        dispatch = Dispatch(
            dispatch=prompt.dispatch,
            turn=turn.turn,
            attempt=1,
            state=DispatchState.SENT,
            backend=backend,
            model=model,
            session=held.row.session,
            run=held.run,
            epoch=held.row.epoch,
            fresh=False,
            prepared_at=now,
            sent_at=now,
            frame_sha256=held.session.digest(prompt),
            native_id=held.session.native_id,
        )
        self.begun = Begun(self.route, held, prompt, dispatch)
        return replace(turn, state=TurnState.RUNNING, started_at=now, attempts=1, backend=backend, model=model)

    def keep(self) -> Begun | None:
        """Keep the attempt and its block, if the turn runs. That its bytes go next is committed along with them."""
        if self.begun is None or self.block is None:
            return None
        dispatch = self.begun.dispatch
        turns.keep(self.db, dispatch, self.block)
        if self.sending is not None:
            at = dispatch.session, dispatch.dispatch, self.block, dispatch.prepared_at
            exposures.dispatch(self.db, self.sending, *at)
        return self.begun


def beginning(parts: Parts, opening: Opening, db: Connection, looked: Looked) -> Beginning | None:
    """What could take a turn of `looked` at once: a live session that is started under what holds now."""
    held = parts.pool.get(looked.channel.channel)
    if held is None or held.busy or held.owes_session_block:
        return None
    try:
        route = known_way(looked, parts.config, parts.backends, parts.folders)
    except ChoiceGoneError:
        return None
    if route is None or (held.row.model, held.row.effort) != (route.model, route.effort):
        return None
    return Beginning(parts, db, route, held) if opening.known_epoch(route) == held.row.epoch else None
