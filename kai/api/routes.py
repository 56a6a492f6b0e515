"""The table of the people's face: every route, what it asks of the door, and what may be sent to it."""

import os
from collections.abc import AsyncIterator, Iterator
from mimetypes import guess_type
from typing import Any

from anyio import to_thread

from kai.api.answers import Event, Stream
from kai.api.bodies import (
    AccountBody,
    AddressBody,
    AgentQuery,
    AnswerBody,
    AttachmentQuery,
    ChannelBody,
    ChannelChange,
    ContextQuery,
    DeliveriesQuery,
    DiffQuery,
    FileBody,
    MemberBody,
    MessageBody,
    MessagesQuery,
    NoBody,
    PersonBody,
    PersonChange,
    PreviewBody,
    ReceiptBody,
    SearchBody,
    TurnsQuery,
    UseBody,
    checked,
)
from kai.api.endpoint import Call, Route, asks
from kai.api.faces import ALIVE
from kai.api.memory_routes import MEMORY_ROUTES
from kai.api.openapi import document
from kai.api.requests import header, media_type, pieces
from kai.model.errors import BadInputError, UnknownThingError
from kai.model.ids import AskId, AttachmentRef, ChannelId, DeliveryId, PrincipalId, TurnId
from kai.model.messages import Accepted, AttachmentInfo, InboundMessage
from kai.model.people import Preference
from kai.model.turns import Delivery, Progress, Receipt
from kai.turns.door import Door


async def receive(call: Call) -> Accepted:
    return await call.door.receive(call.caller, InboundMessage(bridge=call.caller.bridge, **call.fields))


async def deliveries(call: Call) -> Stream:
    if last := header(call.scope, b"last-event-id"):
        call.fields["after"] = checked(DeliveriesQuery, {"after": last}).after
    return Stream(call.door.deliveries(call.caller, **call.fields), _owed)


def _owed(item: Delivery | Progress) -> Event:
    return Event("delivery", item, item.number) if isinstance(item, Delivery) else Event("progress", item)


async def receipt(call: Call) -> None:
    await call.door.receipt(call.caller, DeliveryId(call.id), Receipt(**call.fields))


async def attach(call: Call) -> dict[str, Any]:
    body = pieces(call.scope, call.receive, call.parts.max_attachment_bytes(), "attachments.max_bytes")
    info = await call.parts.attachments.keep(body, call.fields["name"], media_type(call.scope))
    await call.door.attach(call.caller, info)
    return _shown(info)


async def attachment(call: Call) -> AttachmentInfo:
    info = await call.door.attachment(call.caller, AttachmentRef(call.id))
    if not await to_thread.run_sync(os.path.exists, info.path):
        raise UnknownThingError("stored file of attachment", info.ref)
    return info


async def events(call: Call) -> Stream:
    turn = TurnId(call.id)
    await call.door.turn(call.caller, turn)  # an unknown one is a status here; in the stream it would be an event
    return Stream(call.door.events(call.caller, turn), lambda row: Event(str(row["type"]), row))


async def answer_turn(call: Call) -> dict[str, Any]:
    found = await call.door.turn(call.caller, TurnId(call.id))
    asked = [question["ask"] for question in found["questions"] if question["state"] == "open"]
    if not asked:
        raise UnknownThingError("open question in turn", call.id)
    if len(asked) > 1:
        remedy = f"Answer one of them by its id: {', '.join(asked)}."
        raise BadInputError("id", f"{len(asked)} questions are open in this turn", remedy)
    return await call.door.answer(call.caller, AskId(asked[0]), **call.fields)


async def change_person(call: Call) -> dict[str, Any]:
    fields = {name: value for name, value in call.fields.items() if value is not None}
    if not fields:
        raise BadInputError("body", "names nothing to change")
    return await call.door.change_person(call.caller, PrincipalId(call.id), fields)


async def change_channel(call: Call) -> dict[str, Any]:
    fields = {name: value for name, value in call.fields.items() if value is not None}
    if not fields:
        raise BadInputError("body", "names nothing to change")
    return await call.door.change_channel(call.caller, ChannelId(call.id), fields)


async def fetch(call: Call) -> dict[str, Any]:
    data, name = await call.door.fetch(call.caller, ChannelId(call.id), call.fields["path"])

    async def body() -> AsyncIterator[bytes]:
        yield data

    kind = (await to_thread.run_sync(guess_type, name))[0]  # its tables are files
    info = await call.parts.attachments.keep(body(), name, kind or "application/octet-stream")
    await call.door.attach(call.caller, info)
    return _shown(info)


def _shown(info: AttachmentInfo) -> dict[str, Any]:
    """A stored file without the place where it lies, which is nobody's business."""
    return {name: getattr(info, name) for name in ("ref", "name", "media_type", "size_bytes", "sha256")}


async def use(call: Call) -> dict[str, Any]:
    fields = dict(call.fields)
    channel: ChannelId | None = fields.pop("channel")
    how = {name: fields.pop(name) for name in ("wait", "begin", "temporary")}
    return await call.door.use(call.caller, channel, Preference(**fields), **how)


async def healthz(_: Call) -> str:
    return ALIVE.decode()


async def metrics(call: Call) -> str:
    figures = _figures("kai", await call.door.status(call.caller))
    return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in figures)


def _figures(name: str, value: Any) -> Iterator[tuple[str, float]]:
    match value:
        case int() | float():
            yield name, value + 0  # True is 1
        case dict():
            for key, inner in value.items():
                if isinstance(key, str) and key.isidentifier():
                    yield from _figures(f"{name}_{key}", inner)


async def openapi(_: Call) -> dict[str, Any]:
    return await to_thread.run_sync(document, ROUTES)


# The order is that of the look-up: what is asked most stands first.
ROUTES = (
    Route("POST", "/v1/messages", receive, "Hand in a message; 202 once it and its turn are stored.", MessageBody, 202),
    Route("GET", "/v1/deliveries", deliveries, "What is owed to this bridge, and progress.", DeliveriesQuery),
    Route("POST", "/v1/deliveries/{id}/receipt", receipt, "Say what became of a delivery.", ReceiptBody, 204),
    Route("POST", "/v1/attachments", attach, "Store a file: its bytes are the body.", AttachmentQuery, 201),
    Route("GET", "/v1/attachments/{id}", attachment, "The bytes of a stored file."),
    Route("GET", "/v1/turns", asks(Door.turns), "Turns, the newest first.", TurnsQuery),
    Route("GET", "/v1/turns/{id}", asks(Door.turn), "A turn with all that is known of it."),
    Route("GET", "/v1/turns/{id}/events", events, "What happens in a turn, from its beginning; `end` is the last."),
    Route("POST", "/v1/turns/{id}/stop", asks(Door.stop), "End a turn and keep its session.", NoBody),
    Route("POST", "/v1/turns/{id}/retry", asks(Door.retry), "Queue a new turn for the same message.", NoBody, 202),
    Route("POST", "/v1/turns/{id}/answer", answer_turn, "Answer the one question that a turn has open.", AnswerBody),
    Route("POST", "/v1/questions/{id}/answer", asks(Door.answer), "Answer a question.", AnswerBody),
    Route("GET", "/v1/turns/{id}/context", asks(Door.context), "What was put before a turn's words.", ContextQuery),
    Route("GET", "/v1/turns/{id}/context/verify", asks(Door.verify), "Whether the snapshot gives the bytes written."),
    Route("POST", "/v1/context/preview", asks(Door.preview), "What would be put before a message.", PreviewBody),
    Route("GET", "/v1/context/diff", asks(Door.diff), "What differs between the contexts of two turns.", DiffQuery),
    Route("GET", "/v1/channels", asks(Door.channels), "The channels that the caller is in."),
    Route("POST", "/v1/channels", asks(Door.add_channel), "Make a shared channel.", ChannelBody, 201),
    Route("GET", "/v1/channels/{id}", asks(Door.channel), "One channel."),
    Route("PATCH", "/v1/channels/{id}", change_channel, "Change a shared channel and its seat.", ChannelChange),
    Route("POST", "/v1/channels/{id}/members", asks(Door.member), "Let somebody in, or out.", MemberBody),
    Route("POST", "/v1/channels/{id}/addresses", asks(Door.bind), "Let a place lead to it.", AddressBody, 201),
    Route("POST", "/v1/channels/{id}/files", fetch, "Fetch a file that an agent made.", FileBody, 201),
    Route("POST", "/v1/channels/{id}/probe", asks(Door.probe_channel), "What its seat can reach.", NoBody),
    Route("GET", "/v1/channels/{id}/messages", asks(Door.history), "Its messages, oldest first.", MessagesQuery),
    Route("POST", "/v1/history/search", asks(Door.search), "Messages that hold the words, best first.", SearchBody),
    Route("GET", "/v1/people", asks(Door.people), "The people whom the caller may see."),
    Route("POST", "/v1/people", asks(Door.add_person), "Add a person.", PersonBody, 201, changes_callers=True),
    Route("GET", "/v1/people/{id}", asks(Door.person), "One person."),
    Route("PATCH", "/v1/people/{id}", change_person, "Change settings.", PersonChange, changes_callers=True),
    Route("DELETE", "/v1/people/{id}", asks(Door.remove_person), "Remove a person.", changes_callers=True),
    Route("POST", "/v1/people/{id}/probe", asks(Door.probe_person), "What their OS user can reach.", NoBody),
    Route("POST", "/v1/people/{id}/accounts", asks(Door.link), "Link an account to a person.", AccountBody, 201),
    Route("POST", "/v1/use", use, "Choose backend, model, effort, workspace or agent.", UseBody),
    Route("GET", "/v1/backends", asks(Door.backends), "The agent CLIs that kai knows."),
    Route("POST", "/v1/backends/{id}/check", asks(Door.check_backend), "A live handshake with one.", NoBody),
    Route("GET", "/v1/agents", asks(Door.agents), "The agent definitions."),
    Route("GET", "/v1/agents/{id}", asks(Door.agent), "One agent definition, with its versions.", AgentQuery),
    *MEMORY_ROUTES,
    Route("GET", "/v1/status", asks(Door.status), "What runs, waits and is owed."),
    Route("GET", "/v1/doctor", asks(Door.doctor), "Findings, each with what to do."),
    Route("POST", "/v1/backups", asks(Door.backup), "Back up the state; answers when it is whole.", NoBody, 201),
    Route("GET", "/v1/backups", asks(Door.backups), "The backups that are there, the newest first."),
    Route("GET", "/v1/config", asks(Door.config), "The settings in force, and whether the files are newer."),
    Route("POST", "/v1/reload", asks(Door.reload), "Read the configuration again.", NoBody, changes_callers=True),
    Route("GET", "/v1/openapi.json", openapi, "This document."),
    Route("GET", "/healthz", healthz, "The daemon takes requests.", is_open=True),
    Route("GET", "/metrics", metrics, "The figures of the status, in Prometheus' text format."),
)
