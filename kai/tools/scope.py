"""What a run may see and do at this moment, looked up at every call; nothing that was sent has a part in it."""

from dataclasses import dataclass, replace
from typing import Any

from kai.catalog.tools import Right, Tool, tools_of
from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import MessageId
from kai.model.memory import Scope, Way
from kai.model.messages import Author, Message
from kai.model.people import Channel, Person
from kai.model.turns import Turn
from kai.store import channels, messages, people, sessions, turns
from kai.store.binding import Connection
from kai.turns.runs import LiveRun


@dataclass(frozen=True, slots=True)
class RunScope:
    """`person` is whom the agent answers now, else for whom its session was begun; `turn` the one that runs.

    `message` is that person's own in this turn. What an agent says or was made to ask for is nobody's wish without it.
    """

    run: LiveRun
    person: Person
    channel: Channel
    turn: Turn | None
    backend: str
    tools: tuple[Tool, ...]
    message: MessageId | None = None

    @property
    def memory(self) -> Scope:
        """For whom and where memory is read and written, and who does it."""
        run, turn = self.run, self.turn.turn if self.turn else None
        who = Scope(self.person.principal, self.channel.channel, run.agent.name, Way.TOOL, f"run:{run.run}")
        return replace(who, turn=turn, message=self.message)

    def tool(self, name: str) -> Tool:
        """Raises `UnknownThingError` for one that this run may not call: to it there is no such tool."""
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise UnknownThingError("tool", name, "", tuple(tool.name for tool in self.tools))


def scope_of(db: Connection, run: LiveRun, rights: frozenset[Right] = frozenset()) -> RunScope:
    """Raises `DeniedError` when what the run was started for is no more: its session, its person, their membership."""
    try:
        channel, session = channels.get(db, run.channel), sessions.get(db, run.session)
        turn = turns.live(db, run.channel)
        if channel.parent is not None:  # delegated work sits where who asked for it sits
            channel = channels.get(db, channel.parent)
        principal = turn.principal if turn else run.principal
        person = people.get(db, principal)
        people.get(db, run.principal)
    except UnknownThingError:
        raise DeniedError("whom this run was started for is not here any more") from None
    # A session that was shown what is forgotten meanwhile is used for no other turn; the one that runs is finished.
    is_over = session is None or session.state not in (("live", "retired") if turn else ("live",))
    if session is None or is_over or not {principal, run.principal} <= set(channel.members):
        raise DeniedError("what this run was started for is over")
    said = messages.get(db, turn.message) if turn else None
    own = said is not None and said.author is Author.PERSON and said.principal == principal
    return RunScope(
        run, person, channel, turn, session.backend, tools_of(rights), said.message if said and own else None
    )


def may_be_shown(db: Connection, scope: RunScope, found: tuple[Message, ...]) -> tuple[Message, ...]:
    """Those of `found` at which everybody was present who reads along now."""
    return channels.heard(db, found, scope.channel.members)


def told(message: Message, chars: int) -> dict[str, Any]:
    """A message as an agent is told it: no ids of people, no paths."""
    return {
        "number": message.number,
        "at": message.created_at,
        "by": message.name,
        "author": message.author.value,
        "text": message.text[:chars],
        "is_cut": len(message.text) > chars,
        "tool_lines": list(message.tool_lines),
        "files": [one.name for one in message.attachments],
    }
