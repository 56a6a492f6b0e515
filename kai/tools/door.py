"""The agents' door: a run is admitted, its scope looked up, one tool called."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from kai.catalog.tools import FROM_THE_RUN, TOOLS, Tool
from kai.model.ids import RunId
from kai.model.memory import Searched
from kai.store import ledger
from kai.store.binding import Connection
from kai.tools import history, memory, turn, work
from kai.tools.scope import RunScope, scope_of
from kai.turns.entitled import Entitled
from kai.turns.parts import Parts
from kai.turns.runs import LiveRun

# One that only looks is a plain function, (connection, scope, **arguments): rights and look are of one moment. One that
# does something is a coroutine, (parts, scope, **arguments), and looks again at what it must not take from before.
Handler = Callable[..., dict[str, Any]] | Callable[..., Awaitable[dict[str, Any]]]
HANDLERS: Mapping[str, Handler] = {
    "turn_show": turn.show,
    "memory_search": memory.search,
    "memory_save": memory.save,
    "memory_correct": memory.correct,
    "memory_forget": memory.forget,
    "history_search": history.found,
    "history_read": history.read,
    "result_read": work.result_read,
    "skill_read": work.skill_read,
    "delegate": work.delegate,
    "delegation_wait": work.delegation_wait,
    "agents": work.agents,
    "task_show": work.task_show,
    "task_note": work.task_note,
    "task_status": work.task_status,
    "task_withdraw": work.task_withdraw,
}
assert HANDLERS.keys() == {tool.name for tool in TOOLS}


class AgentDoor:
    """Every method looks everything up anew: what was taken away is gone at the next call."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def admit(self, uid: int, run: RunId | None, token: str) -> LiveRun:
        """Whose run the caller is of: `run` as its process surely tells, else by its `token`. Raises `DeniedError`."""
        return self._parts.live_runs.of(uid, run, token)

    async def whoami(self, live: LiveRun) -> dict[str, Any]:
        """What kai takes the caller for."""
        scope = await self._parts.store.read(self._scope, live)
        names = [tool.name for tool in scope.tools]
        return {"run": live.run, "person": scope.person.name, "channel": scope.channel.title, "tools": names}

    async def rows(self, live: LiveRun) -> tuple[Tool, ...]:
        """The rows of the table that the run may call."""
        return (await self._parts.store.read(self._scope, live)).tools

    async def tools(self, live: LiveRun) -> list[dict[str, Any]]:
        """The tools that the run may call, each with the schema of its arguments."""
        rows = await self.rows(live)
        return [
            {"name": one.name, "summary": one.summary, "changes": one.changes, "arguments": one.schema} for one in rows
        ]

    async def call(self, live: LiveRun, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool. Raises `DeniedError`, `UnknownThingError`, `BadInputError`; nothing was done then."""

        def work(db: Connection) -> tuple[RunScope, Tool, dict[str, Any], Any]:
            scope = self._scope(db, live)
            tool = scope.tool(name)
            checked, handler = tool.checked(arguments), HANDLERS[name]
            return scope, tool, checked, None if iscoroutinefunction(handler) else handler(db, scope, **checked)

        scope, tool, checked, answer = await self._parts.store.read(work)
        if (claimed := sorted(FROM_THE_RUN & arguments.keys())) and not live.temporary:
            # It has no effect; that an agent was made to try is worth a row.
            row = Searched("", "denied", f"claimed: {', '.join(claimed)}")
            now = self._parts.clock.now()
            await self._parts.store.write_soft(ledger.note, scope.memory, tool.name, [row], now)
        does: Callable[..., Any] = HANDLERS[name]
        result: dict[str, Any] = await does(self._parts, scope, **checked) if answer is None else answer
        return result

    def _scope(self, db: Connection, live: LiveRun) -> RunScope:
        entitled = Entitled(live.agent, live.temporary, live.depth, is_shared=live.is_shared)
        return scope_of(db, live, entitled.rights(self._parts.config))
