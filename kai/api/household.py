"""Routes of people, of what they chose, and of the daemon itself."""

from collections.abc import Iterator
from typing import Any

from kai.api.answers import TextAnswer
from kai.api.bodies import LinkBody, NoBody, NoQuery, PersonBody, PersonChange, UseBody
from kai.api.endpoint import Call, Route
from kai.model.errors import BadInputError
from kai.model.ids import ChannelId, PrincipalId
from kai.model.people import Preference


async def people(call: Call[NoBody, NoQuery]) -> list[dict[str, Any]]:
    """The people whom the caller may see: itself; for an operator all."""
    return await call.door.people(call.caller)


async def person(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """One person, with accounts and choices."""
    return await call.door.person(call.caller, _principal(call))


async def add_person(call: Call[PersonBody, NoQuery]) -> dict[str, Any]:
    """Add a person, with private channel and folders. For operators."""
    found = await call.door.add_person(call.caller, call.body.name, call.body.os_user)
    call.parts.callers.forget()
    return found


async def change_person(call: Call[PersonChange, NoQuery]) -> dict[str, Any]:
    """Change settings of a person within the operator's ceilings."""
    fields = call.body.model_dump(exclude_unset=True)
    if empty := next((name for name, value in fields.items() if value is None), ""):
        raise BadInputError(empty, "is null", "Leave it out, or give an empty text to clear it.")
    if not fields:
        raise BadInputError("body", "names nothing to change")
    found = await call.door.change_person(call.caller, _principal(call), fields)
    call.parts.callers.forget()
    return found


async def remove_person(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """Remove a person. For operators."""
    found = await call.door.remove_person(call.caller, _principal(call))
    call.parts.callers.forget()
    return found


async def link(call: Call[LinkBody, NoQuery]) -> dict[str, Any]:
    """Link a chat app's account to a person. For operators."""
    return await call.door.link(call.caller, _principal(call), call.body.bridge, call.body.account)


async def use(call: Call[UseBody, NoQuery]) -> dict[str, Any]:
    """Choose backend, model, effort, workspace or agent for oneself, or for a channel. 409 while a turn runs."""
    body = call.body
    choice = Preference(body.backend, body.model, body.effort, body.workspace, body.agent)
    channel = ChannelId(body.channel) if body.channel else None
    return await call.door.use(call.caller, channel, choice, wait=body.wait)


async def backends(call: Call[NoBody, NoQuery]) -> list[dict[str, Any]]:
    """The agent CLIs that kai knows: whether they are installed and logged in."""
    return await call.door.backends(call.caller)


async def check_backend(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """A live handshake with an agent CLI."""
    return await call.door.check_backend(call.caller, call.id)


async def status(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """What runs, waits and is owed."""
    return await call.door.status(call.caller)


async def doctor(call: Call[NoBody, NoQuery]) -> list[dict[str, Any]]:
    """Named findings, each with what to do."""
    return await call.door.doctor(call.caller)


async def reload(call: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """Read the configuration again; a bad one is refused with its positions, and the last good one stays."""
    try:
        return await call.door.reload(call.caller)
    finally:
        call.parts.callers.forget()


async def healthz(_: Call[NoBody, NoQuery]) -> TextAnswer:
    """The daemon takes requests."""
    return TextAnswer("ok\n")


async def metrics(call: Call[NoBody, NoQuery]) -> TextAnswer:
    """The figures of the status, in Prometheus' text format."""
    figures = _figures("kai", await call.door.status(call.caller))
    return TextAnswer("".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in figures))


def _figures(name: str, value: Any) -> Iterator[tuple[str, float]]:
    match value:
        case bool():
            yield name, int(value)
        case int() | float():
            yield name, value
        case dict():
            for key, inner in value.items():
                if isinstance(key, str) and key.isidentifier():
                    yield from _figures(f"{name}_{key}", inner)


def _principal(call: Call[Any, Any]) -> PrincipalId:
    return PrincipalId(call.id)


ROUTES = (
    Route("GET", "/v1/people", people),
    Route("POST", "/v1/people", add_person, 201),
    Route("GET", "/v1/people/{id}", person),
    Route("PATCH", "/v1/people/{id}", change_person),
    Route("DELETE", "/v1/people/{id}", remove_person),
    Route("POST", "/v1/people/{id}/accounts", link, 201),
    Route("POST", "/v1/use", use),
    Route("GET", "/v1/backends", backends),
    Route("POST", "/v1/backends/{id}/check", check_backend),
    Route("GET", "/v1/status", status),
    Route("GET", "/v1/doctor", doctor),
    Route("POST", "/v1/reload", reload),
    Route("GET", "/healthz", healthz, is_open=True),
    Route("GET", "/metrics", metrics),
)
