"""Longer work for agents: delegation, results by reference, tasks, skills. A refusal is an answer; the turn goes on."""

from dataclasses import asdict
from typing import Any

from kai.catalog.agents import resolved
from kai.model.context import AgentDefinition
from kai.model.errors import DelegationError, UnknownThingError
from kai.model.ids import TurnId
from kai.model.work import Delegation, Task
from kai.settings.problems import nearest
from kai.store import delegations, results, sessions, tasks, turns
from kai.store.binding import Connection
from kai.store.delegations import Wanted
from kai.tools.scope import RunScope
from kai.turns.parts import Parts

TOLD_CHARS = delegations.TOLD_CHARS  # of a result that comes back at once


async def delegate(
    parts: Parts,
    scope: RunScope,
    task: str,
    agent: str,
    constraints: str,
    references: str,
    history: str,
    seconds: int,
) -> dict[str, Any]:
    """What came of it, or that it goes on; ``refused`` with the reason when it was not begun."""
    if scope.turn is None:
        return _refused(DelegationError("over", "no turn runs for which it could be"))
    chosen = resolved(parts.config.agents, agent)
    if chosen is None:
        known = tuple(parts.config.agents)
        raise UnknownThingError("agent definition", agent, nearest(agent, known), known)
    wanted = Wanted(
        agent=chosen.name,
        revision=chosen.revision,
        caller=scope.run.agent.name,
        task=task,
        constraints=constraints,
        refs=tuple(dict.fromkeys(filter(None, (one.strip() for one in references.split(","))))),
        history=history or parts.config.settings.delegate.history,
    )
    try:
        made = await parts.delegating.begin(parts, scope.turn.turn, wanted)
    except DelegationError as error:
        return _refused(error)
    await parts.delegating.wait(made.turn, seconds)
    return await parts.store.read(_told, made.delegation, made.parent)


async def delegation_wait(parts: Parts, scope: RunScope, delegation: str, seconds: int) -> dict[str, Any]:
    """As `delegate` answers. Only what this turn asked for can be waited for."""
    if scope.turn is None:
        raise UnknownThingError("delegation", delegation)
    known = await parts.store.read(delegations.get, delegation, scope.turn.turn)
    await parts.delegating.wait(known.turn, seconds)
    return await parts.store.read(_told, delegation, scope.turn.turn)


async def agents(parts: Parts, scope: RunScope) -> dict[str, Any]:
    """Every definition but the one that asks."""
    others = [one for one in parts.config.agents.values() if one.name != scope.run.agent.name]
    return {"agents": [{"agent": one.name, "purpose": one.purpose, "aliases": list(one.aliases)} for one in others]}


def result_read(db: Connection, scope: RunScope, ref: str, start: int, limit: int) -> dict[str, Any]:
    """A part of a result, and where the next one begins."""
    found = results.get(db, ref, scope.channel)
    part, after = results.part(found, start, limit)
    names = ("ref", "producer", "source", "as_of", "unit", "total", "is_whole", "previous")
    about = {name: getattr(found, name) for name in names}
    known = tasks.open_in(db, scope.channel.channel)
    old = [item.item for item in known.items if item.item in found.inputs and item.status != "active"] if known else []
    more = {"made_from_historical": old} if old else {}
    return {**about, **more, "start": start, "next": after, found.unit: part}


async def skill_read(parts: Parts, scope: RunScope, name: str) -> dict[str, Any]:
    """The body; that this session has it is noted, so that it has it again after a compaction."""
    agent: AgentDefinition = scope.run.agent
    skill = next((one for one in agent.skills if one.name == name.strip().casefold()), None)
    if skill is None:
        known = tuple(one.name for one in agent.skills)
        raise UnknownThingError("skill", name, nearest(name, known), known)
    await parts.store.write_soft(sessions.skill_given, scope.run.session, skill.name, parts.clock.now())
    return {"skill": skill.name, "body": skill.body}


def task_show(db: Connection, scope: RunScope) -> dict[str, Any]:
    """The open task, whole; null when there is none."""
    known = tasks.open_in(db, scope.channel.channel)
    return {"task": None if known is None else _task(known)}


async def task_note(parts: Parts, scope: RunScope, text: str, kind: str, replaces: str) -> dict[str, Any]:
    """What was kept. All but notes cite the person's message of this turn."""

    def keep(db: Connection) -> tuple[Task, Any]:
        return tasks.add(
            db, scope.channel.channel, scope.person.principal, parts.clock.now(), kind=kind, text=text,
            replaces=replaces, message=scope.message, agent=scope.run.agent.name,
        )  # fmt: skip

    known, item = await parts.store.write(keep)
    parts.open_tasks.add(known.channel)
    return {"task": known.task, "status": known.status, "item": item.item, "kind": kind, "replaces": item.replaces}


async def task_status(parts: Parts, scope: RunScope, status: str) -> dict[str, Any]:
    known = await parts.store.write(tasks.set_status, scope.channel.channel, status, parts.clock.now())
    if known.status not in tasks.OPEN:
        parts.open_tasks.discard(known.channel)
    return {"task": known.task, "status": known.status}


async def task_withdraw(parts: Parts, scope: RunScope, item: str) -> dict[str, Any]:
    known = await parts.store.write(tasks.withdraw, scope.channel.channel, item, parts.clock.now())
    return {"task": known.task, "item": item, "status": "withdrawn"}


def _task(known: Task) -> dict[str, Any]:
    """A task as an agent is told it: no ids of people."""
    view = asdict(known)
    del view["principal"], view["channel"]
    view["items"] = [{name: one[name] for name in one if name not in ("task", "message")} for one in view["items"]]
    return view


def _refused(error: DelegationError) -> dict[str, Any]:
    return {"state": "refused", "reason": error.reason, "sentence": f"{error.sentence} {error.hint}"}


def _told(db: Connection, delegation: str, parent: TurnId) -> dict[str, Any]:
    known: Delegation = delegations.get(db, delegation, parent)
    turn = turns.get(db, known.turn)
    about = {"delegation": known.delegation, "agent": known.agent, "depth": known.depth, "state": turn.state.value}
    if known.ended_at is None:
        return {**about, "hint": "It goes on: delegation_wait waits for it. It ends with your turn."}
    why = ". ".join(part.rstrip(".") for part in (known.reason, turn.reason) if part)
    answer: dict[str, Any] = {**about, "reason": why, "result": known.result}
    if known.result is None:
        return answer
    row = results.whole(db, known.result)
    part, after = results.part(row, 1, TOLD_CHARS)
    return {**answer, "is_whole": row.is_whole, "findings": part, "total": row.total, "next": after}
