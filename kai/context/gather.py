"""All the reading that a block needs: one look into the store, one visit to the files, one search. Gives `Facts`."""

import os
import secrets
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import anyio
from anyio import to_thread

from kai.context.archive import read_archive
from kai.context.sections.privacy import bars_memory, bars_preferences, bars_work
from kai.memory.retrieval import Retriever
from kai.model.agents import AgentDefinition, Skill
from kai.model.context import (
    Budget,
    Correction,
    Facts,
    FileState,
    HistoryBounds,
    HistoryFacts,
    MemoryMode,
    PersonFile,
    Retrieval,
    RetrievalStatus,
    Speaker,
    ToolNotice,
)
from kai.model.errors import KaiError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, SessionId, TurnId
from kai.model.memory import Scope, Searched, Way
from kai.model.messages import AttachmentInfo
from kai.model.people import Channel, Person
from kai.model.work import Delegation
from kai.people.files import OwnerReader, deferred, read
from kai.people.folders import PersonFolders
from kai.store import channels, messages, results, tasks, turns
from kai.store.binding import Connection
from kai.store.database import Store

FILES_S = 5.0  # a person's files on a mount that does not answer
RETRIEVAL_S = 2.0
_NEWEST = 2**62


@dataclass(frozen=True, slots=True)
class Sources:
    """Where facts come from: the same for every turn."""

    store: Store
    folders: PersonFolders
    retriever: Retriever
    as_owner: OwnerReader | None = None
    zones: dict[str, tzinfo] = field(default_factory=dict)  # loaded once each, away from the event loop
    open_tasks: Set[ChannelId] = frozenset()  # channels with one: of any other a live session looks for none


@dataclass(frozen=True, slots=True)
class Asked:
    """The message and who sent it. `person` None: a run that speaks for nobody.

    `number` is the message's own in its channel (history stops before it); None: there is no message yet (preview).
    `canonical` False: the route has no channel of its own, and its past is in the imported archive.
    """

    turn: TurnId
    channel: Channel
    person: Person | None
    words: str
    number: int | None = None
    name: str = ""  # the speaker's name as the chat app shows it; empty: the person's own
    reply_to: MessageId | None = None
    attachments: tuple[AttachmentInfo, ...] = ()
    attachment_paths: tuple[str, ...] = ()
    steered: bool = False
    native_command: bool = False
    canonical: bool = True
    delegated: Delegation | None = None


@dataclass(frozen=True, slots=True)
class Seated:
    """Where the agent sits and what the live session is owed. `owner_uid` is the uid of the person files' owner.

    `workspace_file` is a ``system_prompt_file`` inside a home: it stands in place of `workspace_instructions`.
    `session` is the live one: what it was shown is not said again, unless `repeats`, and is taken back when it changes.
    """

    fresh: bool
    workspace: Path
    home: Path
    agent: AgentDefinition
    owner_uid: int | None = None
    workspace_instructions: str = ""
    workspace_file: Path | None = None
    tools: tuple[ToolNotice, ...] = ()
    skill_bodies: tuple[Skill, ...] = ()
    corrections: tuple[Correction, ...] = ()
    session: SessionId | None = None
    repeats: bool = False

    @property
    def at_home(self) -> bool:
        return self.workspace == self.home


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings say. `memory` is the operator's intent, or ``TEMPORARY`` at the person's wish."""

    files: Literal["inline", "deferred", "as_owner"] = "inline"
    memory: MemoryMode = MemoryMode.DISABLED
    budget: Budget = field(default_factory=lambda: Budget(524_288))
    bounds: HistoryBounds = field(default_factory=HistoryBounds)
    now: str = "minute"
    zone: str = "UTC"  # of whoever has named none


async def gather(
    sources: Sources, asked: Asked, seated: Seated, rules: Rules, *, now: datetime, fence_seed: str = ""
) -> Facts:
    """Everything the assembler may look at for one dispatch.

    `now` is aware. `fence_seed` is drawn at random unless given. Raises only what the store raises: files and memory
    that cannot be had are states in the facts.
    """
    zone = await _zone(sources, _zone_name(asked, rules))
    facts = _given(asked, seated, rules, zone, now, fence_seed)
    facts = await _with_past(facts, sources, asked)
    if (facts.fresh or facts.channel in sources.open_tasks) and not bars_work(facts):
        facts = await sources.store.read(_with_work, facts)
    if facts.fresh:
        facts = await _with_files(facts, sources, asked, seated, rules)
    return await _with_memory(facts, sources, seated)


def gather_at_once(
    db: Connection, sources: Sources, asked: Asked, seated: Seated, rules: Rules, *, now: datetime
) -> Facts | None:
    """The same facts within a transaction: those of a plain message for a live session. None: there is more to it."""
    zone = sources.zones.get(_zone_name(asked, rules))
    if zone is None or asked.reply_to is not None or seated.fresh or seated.repeats:
        return None
    facts = _given(asked, seated, rules, zone, now, "")
    if facts.channel in sources.open_tasks:
        facts = _with_work(db, facts)
    if (known := _without_search(facts, seated.session)) is not None:
        return known
    retrieval = sources.retriever.at_once(db, _scope(facts), facts.words, facts.agent.memory, seated.session)
    return _with_retrieval(facts, retrieval) if retrieval else None


def _with_work(db: Connection, facts: Facts) -> Facts:
    """The open task of a private conversation, and what of recent results was not told."""
    if bars_work(facts):
        return facts
    task = tasks.open_in(db, facts.channel)
    if task is None and not facts.fresh:
        return facts
    return replace(facts, task=task, results=results.recent(db, channels.get(db, facts.channel)))


def _zone_name(asked: Asked, rules: Rules) -> str:
    return (asked.person.zone if asked.person else "") or rules.zone


def _given(asked: Asked, seated: Seated, rules: Rules, zone: tzinfo, now: datetime, fence_seed: str) -> Facts:
    """What is known without a look at anything."""
    person = asked.person
    zone_name = zone.key if isinstance(zone, ZoneInfo) else "UTC"
    speaker = Speaker(
        person.principal if person else None,
        asked.name or (person.name if person else ""),
        person.email if person else "",
        zone_name,
    )
    fresh = seated.fresh and not (asked.steered or asked.native_command)
    return Facts(
        turn=asked.turn,
        channel=asked.channel.channel,
        kind=asked.channel.kind,
        speaker=speaker,
        words=asked.words,
        fresh=fresh,
        home=seated.at_home,
        workspace=str(seated.workspace),
        memory=rules.memory,
        agent=seated.agent,
        history=HistoryFacts(),
        budget=rules.budget,
        now=now.astimezone(zone),
        zone=zone_name,
        fence_seed=fence_seed or secrets.token_hex(16),
        now_setting=rules.now,
        corrections=seated.corrections,
        workspace_instructions=seated.workspace_instructions,
        tools=seated.tools,
        skill_bodies=seated.skill_bodies,
        attachments=asked.attachments,
        attachment_paths=asked.attachment_paths,
        bounds=rules.bounds,
        steered=asked.steered,
        native_command=asked.native_command,
        delegated=asked.delegated,
    )


async def read_file(sources: Sources, rules: Rules, path: Path, *, root: Path, owner_uid: int | None) -> PersonFile:
    """One person file by the rule in force, within `FILES_S` seconds. Never raises for what a person did to it."""
    if rules.files == "deferred":
        return deferred(path)
    with anyio.move_on_after(FILES_S):
        if rules.files == "as_owner" and owner_uid not in (None, os.geteuid()):
            if sources.as_owner is None:
                return PersonFile(str(path), FileState.UNREADABLE, problem="no reader runs as its owner here")
            return await sources.as_owner.read(path, root=root, owner_uid=owner_uid)
        return await to_thread.run_sync(partial(read, path, root=root, owner_uid=owner_uid), abandon_on_cancel=True)
    return PersonFile(str(path), FileState.UNREADABLE, problem=f"no answer within {FILES_S:g} seconds")


async def _with_past(facts: Facts, sources: Sources, asked: Asked) -> Facts:
    """History for a fresh session, and what the message replies to."""
    limit = facts.bounds.messages if facts.fresh else 0
    if not asked.canonical:
        folder = sources.folders.archive(facts.channel)
        archive = partial(read_archive, folder, facts.channel, limit)
        return replace(facts, history=await to_thread.run_sync(archive)) if limit else facts
    if not limit and asked.reply_to is None:
        return facts
    kept_only = facts.memory is not MemoryMode.TEMPORARY
    past, quote = await sources.store.read(_past, facts.channel, asked.number, limit, asked.reply_to, kept_only)
    return replace(facts, history=past, reply_quote=quote)


def _past(
    db: Connection, channel: ChannelId, number: int | None, limit: int, reply_to: MessageId | None, kept_only: bool
) -> tuple[HistoryFacts, str]:
    present = channels.get(db, channel).members
    newest = messages.recent(db, channel, _NEWEST if number is None else number, limit) if limit else ()
    newest = channels.heard(db, newest, present)
    total = number - 1 if number is not None else newest[-1].number if newest else 0
    quote = ""
    if reply_to is not None:
        # Deleted meanwhile, or of a time before kai: the message is answered all the same.
        with suppress(UnknownThingError):
            answered = messages.get(db, reply_to)
            is_kept = not (answered.temporary and kept_only)
            is_for_all = answered.channel == channel and bool(channels.heard(db, [answered], present))
            quote = answered.text if is_for_all and is_kept else ""
    return HistoryFacts(newest, total, refused=turns.refused(db, newest)), quote


async def _with_files(facts: Facts, sources: Sources, asked: Asked, seated: Seated, rules: Rules) -> Facts:
    """The person files that this block may show, and no other: what is kept out is not opened either."""
    folders, owner, person = sources.folders, seated.owner_uid, asked.person
    if not facts.home:
        path = folders.identity(seated.home)
        file = await read_file(sources, rules, path, root=seated.home, owner_uid=owner)
        facts = replace(facts, identity=file)
    if person is not None and not bars_preferences(facts):
        path = await to_thread.run_sync(folders.preferences, person.principal, person.legacy_chat_id)
        file = await read_file(sources, rules, path, root=folders.root, owner_uid=owner)
        facts = replace(facts, preferences=file)
    if not bars_memory(facts) and facts.memory is MemoryMode.DISABLED:
        if person is None:
            path, owner = folders.shared_memory(), None
        else:
            path = await to_thread.run_sync(folders.memory, person.principal, person.legacy_chat_id)
        file = await read_file(sources, rules, path, root=folders.root, owner_uid=owner)
        facts = replace(facts, memory_file=file)
    if seated.workspace_file is not None:
        path = seated.workspace_file
        root = seated.home if path.is_relative_to(seated.home) else path.parent
        file = await read_file(sources, rules, path, root=root, owner_uid=seated.owner_uid)
        facts = replace(facts, workspace_file=file)
    return facts


async def _with_memory(facts: Facts, sources: Sources, seated: Seated) -> Facts:
    """Memory hits for the person's own words. A search that fails or hangs is a fault that is said, never hits."""
    if (known := _without_search(facts, seated.session)) is not None:
        return known
    repeats = facts.fresh or seated.repeats  # after a compaction a session may have lost what it was shown
    retrieval = Retrieval(RetrievalStatus.UNAVAILABLE, reason="fault")
    with anyio.move_on_after(RETRIEVAL_S), suppress(KaiError):
        retrieval = await sources.retriever.retrieve(
            _scope(facts), facts.words, facts.agent.memory, seated.session, repeats=repeats
        )
    return _with_retrieval(facts, retrieval)


def _without_search(facts: Facts, session: SessionId | None) -> Facts | None:
    """The facts when nothing is looked for; None when something is."""
    if facts.memory is MemoryMode.TEMPORARY:
        return replace(facts, retrieval=Retrieval(RetrievalStatus.TEMPORARY, reason="temporary"))
    if facts.memory is not MemoryMode.ENABLED or facts.steered or facts.native_command:
        return facts
    principal, policy = facts.speaker.principal, facts.agent.memory
    if reason := "shared_channel" if bars_memory(facts) else "" if principal else "no_identity":
        refused = tuple(Searched(each, RetrievalStatus.DENIED, reason) for each in policy.inject)
        return replace(facts, retrieval=Retrieval(RetrievalStatus.DENIED, reason=reason, searched=refused))
    if session is None and not facts.words.strip():
        return replace(facts, retrieval=Retrieval(RetrievalStatus.DISABLED, reason="no_words"))
    return None


def _scope(facts: Facts) -> Scope:
    assert facts.speaker.principal is not None
    return Scope(facts.speaker.principal, facts.channel, facts.agent.name, Way.AUTO, turn=facts.turn)


def _with_retrieval(facts: Facts, retrieval: Retrieval) -> Facts:
    facts = replace(facts, corrections=facts.corrections + retrieval.corrections)
    fault = retrieval.status is RetrievalStatus.UNAVAILABLE
    return replace(facts, retrieval=retrieval, memory=MemoryMode.FAULT if fault else facts.memory)


async def _zone(sources: Sources, name: str) -> tzinfo:
    """The zone of that name; UTC when this machine does not know it."""
    if name not in sources.zones:
        try:
            sources.zones[name] = await to_thread.run_sync(ZoneInfo, name)
        except (ValueError, LookupError, OSError):
            return UTC
    return sources.zones[name]
