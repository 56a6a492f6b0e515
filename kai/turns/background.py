"""What happens outside any turn: words of an agent that nobody waits for, and notes."""

from kai.log import log
from kai.model.ids import ChannelId, MessageId, fresh
from kai.model.messages import Author, Message
from kai.model.turns import DeliveryKind, NewDelivery
from kai.store import channels, deliveries, messages, turns
from kai.store.binding import Connection
from kai.turns.parts import Parts


class Background:
    """Tells the channel's people at the place where they last wrote."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._told: set[tuple[ChannelId, str]] = set()

    def unsolicited(self, channel: ChannelId, name: str, text: str) -> None:
        """An agent said something when no turn ran. Returns at once; it never answers the next message."""
        if text.strip():
            log.info("session.unsolicited", channel=channel, chars=len(text))
            self._parts.pool.later(self._tell, channel, name, text)

    async def note(self, channel: ChannelId, text: str) -> None:
        """Say something about how a session was started, once for each channel."""
        if (channel, text) not in self._told:
            self._told.add((channel, text))
            await self._tell(channel, "", text)

    async def _tell(self, channel: ChannelId, name: str, text: str) -> None:
        bridge = await self._parts.store.write(self._owe, channel, name, text)
        if bridge:
            self._parts.live.bell(bridge).owe()

    def _owe(self, db: Connection, channel: ChannelId, name: str, text: str) -> str:
        last = turns.of_channel(db, channel, 1)
        if not last:
            return ""
        now = self._parts.clock.now()
        if name:  # an agent's own words are part of the conversation, so that the next session knows of them
            messages.keep(db, Message(MessageId(fresh("m")), channel, 0, Author.AGENT, None, name, text, now))
            text = f"{name}, in the background: {text}"
        deliveries.owe(db, NewDelivery(last[0].address, DeliveryKind.NOTICE, text), now)
        return channels.address_of(db, last[0].address).bridge
