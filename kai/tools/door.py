"""The agents' door: a run is admitted, its scope looked up, one tool called."""

from collections.abc import Callable, Mapping
from typing import Any

from kai.catalog.tools import TOOLS
from kai.model.ids import RunId
from kai.store.binding import Connection
from kai.store.database import Store
from kai.tools import history, turn
from kai.tools.scope import scope_of
from kai.turns.runs import LiveRun, Runs

Handler = Callable[..., dict[str, Any]]  # reads the store: (connection, scope, **arguments)
HANDLERS: Mapping[str, Handler] = {
    "turn_show": turn.show,
    "history_search": history.found,
    "history_read": history.read,
}
assert HANDLERS.keys() == {tool.name for tool in TOOLS}


class AgentDoor:
    """Every method looks everything up anew: what was taken away is gone at the next call."""

    def __init__(self, store: Store, runs: Runs) -> None:
        self._store = store
        self._runs = runs

    def admit(self, uid: int, run: RunId | None, token: str) -> LiveRun:
        """Whose run the caller is of: `run` as its process surely tells, else by its `token`. Raises `DeniedError`."""
        return self._runs.of(uid, run, token)

    async def whoami(self, live: LiveRun) -> dict[str, Any]:
        """What kai takes the caller for."""
        scope = await self._store.read(scope_of, live)
        names = [tool.name for tool in scope.tools]
        return {"run": live.run, "person": scope.person.name, "channel": scope.channel.title, "tools": names}

    async def tools(self, live: LiveRun) -> list[dict[str, Any]]:
        """The tools that the run may call, each with the schema of its arguments."""
        scope = await self._store.read(scope_of, live)
        return [{"name": one.name, "summary": one.summary, "arguments": one.schema} for one in scope.tools]

    async def call(self, live: LiveRun, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool. Raises `DeniedError`, `UnknownThingError`, `BadInputError`."""

        def work(db: Connection) -> dict[str, Any]:  # rights and deed in one look at the store
            scope = scope_of(db, live)
            tool = scope.tool(name)
            return HANDLERS[tool.name](db, scope, **tool.checked(arguments))

        return await self._store.read(work)
