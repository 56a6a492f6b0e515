"""Steering: words that reach the agent while it works. What it does not take waits as any message does."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from kai.context.assemble import assemble
from kai.log import log
from kai.model.context import Prompt
from kai.model.events import Steered
from kai.model.ids import AddressId, ChannelId, DispatchId, fresh
from kai.model.messages import Message
from kai.model.states import DispatchState
from kai.model.turns import DeliveryKind, Dispatch, NewDelivery, Turn
from kai.protocols.classify import short
from kai.store import deliveries, turns
from kai.turns.facts import facts_for, media_for
from kai.turns.parts import Parts

if TYPE_CHECKING:
    from kai.turns.runner import Running


class Steering:
    """A dispatch of its own beside the attempt that is open: its snapshot is committed before a byte goes out."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.wake: Callable[[ChannelId], None] = _nobody

    async def steer(self, running: "Running | None", message: Message) -> str:
        """Hand the words of `message` to `running`, and say so. Empty: nobody can take them now; nothing was sent."""
        if running is None or running.route is None or running.held is None or running.dispatch is None:
            return ""
        parts, route, held, dispatch = self._parts, running.route, running.held, running.dispatch
        if not (running.conversing and route.manifest.can.steer and message.principal == running.turn.principal):
            return ""
        block = assemble(await facts_for(parts, route, message, running.turn.turn, fresh=False, steered=True))
        prompt = Prompt(DispatchId(fresh("d")), block.text, await media_for(route.manifest, message))
        running.tries += 1
        row = Dispatch(
            dispatch=prompt.dispatch,
            turn=running.turn.turn,
            attempt=running.turn.attempts + running.tries,
            state=DispatchState.SETTLED,
            backend=route.manifest.id,
            model=route.model,
            session=held.row.session,
            run=held.run,
            epoch=held.row.epoch,
            fresh=False,
            prepared_at=parts.clock.now(),
            steered=True,
        )
        await parts.store.write(turns.steer, row, block)
        running.steered[prompt.dispatch] = message
        if not held.session.steer(prompt, dispatch):
            running.steered.pop(prompt.dispatch, None)
            return ""
        log.info("turn.steered", turn=running.turn.turn, dispatch=prompt.dispatch)
        return f"Handed to {route.manifest.title}, which is at work."

    async def was_steered(self, running: "Running", event: Steered) -> None:
        """The backend said what became of the words."""
        message = running.steered.pop(event.dispatch, None)
        if message is not None and not event.taken:
            await self.queue(message, running.turn.address)

    async def queue(self, message: Message, address: AddressId) -> Turn:
        """A turn of its own for a message that could not be steered."""
        turn = await self._parts.store.write(turns.queue, message, address, self._parts.clock.now())
        self.wake(message.channel)
        return turn

    async def own_up(self, running: "Running") -> None:
        """`running` is over and nothing was said of these words: they may have been heard, and are not sent again."""
        for message in running.steered.values():
            text = f"It is not known whether the agent heard “{short(message.text, 60)}”. Say it again if it did not."
            owed = NewDelivery(running.turn.address, DeliveryKind.NOTICE, text, running.turn.turn)
            await self._parts.store.write(deliveries.owe, owed, self._parts.clock.now())
            self._parts.live.bell(running.live.bridge).owe()


def _nobody(_: ChannelId) -> None:
    """No lane is there yet."""
