"""Routes of what is said: attachments, messages in, deliveries out, channels, history."""

import os
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from kai.api.answers import Event, FileAnswer, Stream
from kai.api.bodies import (
    AttachmentQuery,
    DeliveriesQuery,
    MessageBody,
    MessagesQuery,
    NoBody,
    NoQuery,
    ReceiptBody,
    SearchBody,
    checked,
)
from kai.api.endpoint import Call, Route
from kai.api.problems import TooLargeError
from kai.api.requests import header, media_type, pieces
from kai.model.errors import UnknownThingError
from kai.model.ids import AttachmentRef, ChannelId, DeliveryId
from kai.model.messages import Accepted, InboundMessage
from kai.model.turns import Delivery, Progress, Receipt


async def post_message(call: Call[MessageBody, NoQuery]) -> Accepted:
    """Hand in a message; it and its turn are on the disk when the answer comes. A repeat gives the same ids."""
    body = call.body
    inbound = InboundMessage(
        bridge=call.caller.bridge,
        chat=body.chat,
        thread=body.thread,
        sender=body.sender,
        external_id=body.external_id,
        text=body.text,
        attachments=tuple(AttachmentRef(ref) for ref in body.attachments),
        reply_to=body.reply_to,
        edit_of=body.edit_of,
        deleted=body.deleted,
        sent_at=body.sent_at,
    )
    return await call.door.receive(call.caller, inbound)


async def deliveries(call: Call[NoBody, DeliveriesQuery]) -> Stream:
    """What is owed to this bridge, oldest first, then as it comes: events `delivery`, and `progress` without an id.

    `Last-Event-ID` goes before `after`. Progress carries the whole text so far and may be skipped.
    """
    after = call.query.after
    if last := header(call.scope, b"last-event-id"):
        after = checked(DeliveriesQuery, {"after": last}, "last-event-id").after
    return Stream(call.door.deliveries(call.caller, after=after, idempotent=call.query.idempotent), _owed)


def _owed(item: Delivery | Progress) -> Event:
    if isinstance(item, Delivery):
        return Event("delivery", item, item.number)
    return Event("progress", item)


async def post_receipt(call: Call[ReceiptBody, NoQuery]) -> None:
    """Say what became of a delivery. Saying the same again does no harm."""
    body = call.body
    receipt = Receipt(body.outcome, tuple(body.external_ids), body.problem)
    await call.door.receipt(call.caller, DeliveryId(call.id), receipt)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What is said of a file outside: where it lies is nobody's business."""

    ref: AttachmentRef
    name: str
    media_type: str
    size_bytes: int
    sha256: str


async def post_attachment(call: Call[None, AttachmentQuery]) -> StoredFile:
    """Store a file: its raw bytes as the body, its type as the content-type. Answers the reference for a message."""
    parts = call.parts
    too_large = TooLargeError("file", parts.max_attachment_bytes(), "attachments.max_bytes")
    body = pieces(call.scope, call.receive, too_large, parts.limits.body_s)
    info = await parts.attachments.keep(body, call.query.name, media_type(call.scope))
    await call.door.attach(call.caller, info)
    return StoredFile(info.ref, info.name, info.media_type, info.size_bytes, info.sha256)


async def get_attachment(call: Call[NoBody, NoQuery]) -> FileAnswer:
    """The bytes of a stored file."""
    info = await call.door.attachment(call.caller, call.id)
    if not await to_thread.run_sync(os.path.exists, info.path):
        raise UnknownThingError("stored file of attachment", info.ref)
    return FileAnswer(info)


async def channels(call: Call[NoBody, NoQuery]) -> list[dict[str, Any]]:
    """The channels that the caller is in."""
    return await call.door.channels(call.caller)


async def channel(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """One channel, its members and its addresses."""
    return await call.door.channel(call.caller, ChannelId(call.id))


async def channel_messages(call: Call[NoBody, MessagesQuery]) -> list[dict[str, Any]]:
    """Messages of a channel, oldest first: the newest of those before `before`."""
    channel_id = ChannelId(call.id)
    return await call.door.history(call.caller, channel_id, before=call.query.before, limit=call.query.limit)


async def search(call: Call[SearchBody, NoQuery]) -> list[dict[str, Any]]:
    """Messages of a channel that hold the words, the best first."""
    channel_id = ChannelId(call.body.channel) if call.body.channel else None
    return await call.door.search(call.caller, channel_id, call.body.query, call.body.limit)


ROUTES = (
    Route("POST", "/v1/messages", post_message, 202),
    Route("GET", "/v1/deliveries", deliveries),
    Route("POST", "/v1/deliveries/{id}/receipt", post_receipt, 204),
    Route("POST", "/v1/attachments", post_attachment, 201),
    Route("GET", "/v1/attachments/{id}", get_attachment),
    Route("GET", "/v1/channels", channels),
    Route("GET", "/v1/channels/{id}", channel),
    Route("GET", "/v1/channels/{id}/messages", channel_messages),
    Route("POST", "/v1/history/search", search),
)
