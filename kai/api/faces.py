"""The two faces: the people's, and the agents', which share neither a route nor a credential."""

from collections.abc import Iterable

from starlette.routing import Route as PathRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from kai.api.answers import fault, refuse
from kai.api.callers import run_of_peer
from kai.api.endpoint import Call, Endpoint, Methods, Parts, Route
from kai.api.routes import ROUTES
from kai.model.errors import ApiError, DeniedError, KaiError


async def whoami(call: Call) -> dict[str, str]:
    return {"run": str(call.scope["kai.peer"].run)}


AGENT_ROUTES = (Route("GET", "/v1/agent/whoami", whoami, "The run that the asking process is of.", is_open=True),)


def people_face(parts: Parts) -> ASGIApp:
    """For bridges, operators and a person's own shell. A process of a run is refused, whoever its user is."""
    return _face(parts, ROUTES, for_runs=False)


def agents_face(parts: Parts) -> ASGIApp:
    """For processes of a run, and nobody else."""
    return _face(parts, AGENT_ROUTES, for_runs=True)


def _face(parts: Parts, routes: Iterable[Route], *, for_runs: bool) -> ASGIApp:
    router = router_of(parts, routes)

    async def face(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            _admit(await run_of_peer(scope["kai.peer"], parts.run_of), for_runs=for_runs)
        except KaiError as error:
            await refuse(send, error)
        except Exception as error:  # noqa: BLE001 - the boundary of a request; whoever is not known to be outside stays out
            await refuse(send, fault(error))
        else:
            await router(scope, receive, send)

    return face


def _admit(run: str | None, *, for_runs: bool) -> None:
    if for_runs and run is None:
        raise DeniedError("this socket is for agents that kai has started", "People use people.sock.")
    if not for_runs and run is not None:
        raise DeniedError(f"a process of run {run} is no person", "Agents use the socket named in $KAI_SOCKET.")


def router_of(parts: Parts, routes: Iterable[Route]) -> Router:
    """Starlette's router over a table."""
    by_path: dict[str, Methods] = {}
    for route in routes:
        by_path.setdefault(route.path, Methods()).endpoints[route.method] = Endpoint(route, parts)
    paths = [PathRoute(path, methods) for path, methods in by_path.items()]
    return Router(paths, redirect_slashes=False, default=_nowhere)


async def _nowhere(scope: Scope, _: Receive, send: Send) -> None:
    await refuse(send, ApiError(404, "No route", f"There is no {scope['method']} {scope['path'][:200]} here."))
