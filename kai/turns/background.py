"""What happens outside any turn: words of an agent that nobody waits for, and notes."""

from collections.abc import Callable
from dataclasses import replace

from kai.log import log
from kai.model.ids import ChannelId
from kai.model.messages import Author
from kai.model.turns import DeliveryKind, NewDelivery
from kai.store import channels, deliveries, messages, turns
from kai.store.binding import Connection
from kai.turns.parts import Parts


class Background:
    """Tells the channel's people at the place where they last wrote."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._told: set[tuple[ChannelId, str]] = set()

    def listener(self, channel: ChannelId, name: str, temporary: bool) -> Callable[[str], None]:
        """Takes what an agent says when no turn runs. Returns at once; it never answers the next message."""

        def unsolicited(text: str) -> None:
            if text.strip():
                log.info("session.unsolicited", channel=channel, chars=len(text))
                self._parts.pool.later(self._tell, channel, name, text, temporary)

        return unsolicited

    async def note(self, channel: ChannelId, text: str) -> None:
        """Say something about how a session was started, once for each channel."""
        if (channel, text) not in self._told:
            self._told.add((channel, text))
            await self._tell(channel, "", text)

    async def _tell(self, channel: ChannelId, name: str, text: str, temporary: bool = False) -> None:
        bridge = await self._parts.store.write(self._owe, channel, name, text, temporary)
        if bridge:
            self._parts.live.bell(bridge).owe()

    def _owe(self, db: Connection, channel: ChannelId, name: str, text: str, temporary: bool) -> str:
        last = turns.of_channel(db, channel, 1)
        if not last or (temporary and not last[0].temporary):
            return ""
        now = self._parts.clock.now()
        turn = last[0].turn if temporary else None  # along with which it is erased
        if name:  # an agent's own words are part of the conversation, so that the next session knows of them
            said = messages.draft(channel, Author.AGENT, None, name, text, now)
            messages.keep(db, replace(said, turn=turn, temporary=temporary))
            text = f"{name}, in the background: {text}"
        deliveries.owe(db, NewDelivery(last[0].address, DeliveryKind.NOTICE, text, turn), now)
        return channels.address_of(db, last[0].address).bridge
