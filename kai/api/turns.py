"""Routes of turns: what happens in them, what was put before their words, what a person does to them."""

from typing import Any

from kai.api.answers import Event, Stream
from kai.api.bodies import AnswerBody, ContextQuery, DiffQuery, NoBody, NoQuery, PreviewBody, TurnsQuery
from kai.api.endpoint import Call, Route
from kai.model.errors import BadInputError, UnknownThingError
from kai.model.ids import AskId, ChannelId, TurnId


async def turns(call: Call[NoBody, TurnsQuery]) -> list[dict[str, Any]]:
    """Turns, the newest first."""
    channel = ChannelId(call.query.channel) if call.query.channel else None
    return await call.door.turns(call.caller, channel=channel, limit=call.query.limit)


async def turn(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """A turn with its message, its answer, its attempts, its open questions and the reason of its end."""
    return await call.door.turn(call.caller, _turn(call))


async def events(call: Call[NoBody, NoQuery]) -> Stream:
    """What happens in a turn: all so far, then as it comes; `end` is the last event."""
    await call.door.turn(call.caller, _turn(call))  # an unknown one is a status here; in a stream it would be an event
    return Stream(call.door.events(call.caller, _turn(call)), _happened)


def _happened(row: dict[str, Any]) -> Event:
    return Event(str(row["type"]), row)


async def stop(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """End a turn and keep its session; answers within a fixed bound, with the step that it took."""
    return await call.door.stop(call.caller, _turn(call))


async def retry(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """Queue a new turn for the message of one that has ended."""
    return await call.door.retry(call.caller, _turn(call))


async def answer(call: Call[AnswerBody, NoQuery]) -> dict[str, Any]:
    """Answer a question."""
    return await call.door.answer(call.caller, AskId(call.id), call.body.choice, call.body.text)


async def answer_turn(call: Call[AnswerBody, NoQuery]) -> dict[str, Any]:
    """Answer the one question that a turn has open."""
    found = await call.door.turn(call.caller, _turn(call))
    asks = [question["ask"] for question in found["questions"] if question["state"] == "open"]
    if not asks:
        raise UnknownThingError("open question in turn", _turn(call))
    if len(asks) > 1:
        raise BadInputError(
            "id", f"{len(asks)} questions are open in this turn", f"Answer one of them by its id: {', '.join(asks)}."
        )
    return await call.door.answer(call.caller, AskId(asks[0]), call.body.choice, call.body.text)


async def context(call: Call[NoBody, ContextQuery]) -> dict[str, Any]:
    """The exact text that was put before a turn's words, from its snapshot."""
    return await call.door.context(call.caller, _turn(call), why=call.query.why)


async def verify(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """Whether the snapshot gives the very bytes that were written to the agent."""
    return await call.door.verify(call.caller, _turn(call))


async def preview(call: Call[PreviewBody, NoQuery]) -> dict[str, Any]:
    """What would be put before a message now; nothing is sent."""
    channel = ChannelId(call.body.channel) if call.body.channel else None
    return await call.door.preview(call.caller, call.body.text, channel)


async def diff(call: Call[NoBody, DiffQuery]) -> dict[str, Any]:
    """What differs between the contexts of two turns."""
    return await call.door.diff(call.caller, TurnId(call.query.a), TurnId(call.query.b))


def _turn(call: Call[Any, Any]) -> TurnId:
    return TurnId(call.id)


ROUTES = (
    Route("GET", "/v1/turns", turns),
    Route("GET", "/v1/turns/{id}", turn),
    Route("GET", "/v1/turns/{id}/events", events),
    Route("POST", "/v1/turns/{id}/stop", stop),
    Route("POST", "/v1/turns/{id}/retry", retry, 202),
    Route("POST", "/v1/turns/{id}/answer", answer_turn),
    Route("POST", "/v1/questions/{id}/answer", answer),
    Route("GET", "/v1/turns/{id}/context", context),
    Route("GET", "/v1/turns/{id}/context/verify", verify),
    Route("POST", "/v1/context/preview", preview),
    Route("GET", "/v1/context/diff", diff),
)
