"""What the assembler is told for a turn: the route, the settings and the message put into `gather`'s terms."""

import os
import pwd
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread

from kai.catalog.tools import Tool, notices, tools_of
from kai.context.gather import Asked, Rules, Seated, Sources, gather, gather_at_once
from kai.model.backends import Manifest
from kai.model.context import Budget, Facts, HistoryBounds, Media, MemoryMode, Retrieval, RetrievalStatus, Skill
from kai.model.ids import SessionId, TurnId
from kai.model.memory import Scope, Way
from kai.model.messages import AttachmentInfo, Message
from kai.model.work import BRIEF_MESSAGES, Delegation
from kai.settings.checks import MAX_PROMPT_BYTES
from kai.settings.files import read
from kai.settings.problems import Problem
from kai.settings.values import HistorySettings, Settings
from kai.store import sessions
from kai.store.binding import Connection
from kai.store.exposures import Sending
from kai.turns import uploads
from kai.turns.entitled import Entitled
from kai.turns.parts import Parts
from kai.turns.route import Route

MEDIA_BYTES = 4 * 1024 * 1024  # of one picture that rides in the prompt


async def facts_for(
    parts: Parts,
    route: Route,
    message: Message,
    turn: TurnId,
    *,
    fresh: bool,
    steered: bool = False,
    session: SessionId | None = None,
) -> Facts:
    """Facts of a dispatch of `turn`, which answers `message`, or into which that is `steered`.

    `session` is the live one, if it goes there.
    """
    paths = await uploads.handed(parts, route, message)
    asked = _asked(route, message, turn, paths, steered=steered)
    return await _gather(parts, route, asked, fresh=fresh, session=session)


def facts_at_once(
    parts: Parts, db: Connection, route: Route, message: Message, turn: TurnId, session: SessionId
) -> Facts | None:
    """The same of a message without files for a live session, when nothing has to be waited for."""
    asked = _asked(route, message, turn, (), steered=False)
    seated = _seated(parts, route, _Files(), fresh=False, session=session)
    return gather_at_once(db, _sources(parts), asked, seated, _rules(parts, route), now=parts.clock.now())


def _asked(route: Route, message: Message, turn: TurnId, paths: tuple[str, ...], *, steered: bool) -> Asked:
    return Asked(
        turn=turn,
        channel=route.seat,
        person=route.person,
        words=message.text,
        number=route.delegated.number if route.delegated else message.number,
        name="" if route.delegated else message.name,
        delegated=route.delegated,
        reply_to=message.reply_to,
        attachments=message.attachments,
        attachment_paths=paths,
        native_command=is_native(route, message.text) and not steered and route.delegated is None,
        steered=steered,
    )


async def facts_of_preview(parts: Parts, route: Route, text: str) -> Facts:
    """Facts of the first message of a fresh session, for a message that is not sent."""
    asked = Asked(TurnId("preview"), route.channel, route.person, text, native_command=is_native(route, text))
    return await _gather(parts, route, asked, fresh=True)


async def _gather(parts: Parts, route: Route, asked: Asked, *, fresh: bool, session: SessionId | None = None) -> Facts:
    files = await to_thread.run_sync(_files, parts, route) if fresh else _Files()
    if fresh and session is not None and route.agent.skills:  # it compacted its transcript: what it was given is lost
        given = await parts.store.read(sessions.skills_of, session)
        by_name = {skill.name: skill for skill in route.agent.skills}
        files = replace(files, skills=tuple(by_name[name] for name in given if name in by_name))
    seated = _seated(parts, route, files, fresh=fresh, session=session)
    return await gather(_sources(parts), asked, seated, _rules(parts, route), now=parts.clock.now())


def _sources(parts: Parts) -> Sources:
    return Sources(
        parts.store,
        parts.folders,
        parts.retriever,
        as_owner=parts.errands,
        zones=parts.zones,
        open_tasks=parts.open_tasks,
    )


def _seated(parts: Parts, route: Route, files: "_Files", *, fresh: bool, session: SessionId | None) -> Seated:
    return Seated(
        fresh=fresh,
        workspace=route.workspace,
        home=route.home,
        agent=route.agent,
        owner_uid=files.owner_uid,
        workspace_instructions=files.instructions,
        workspace_file=files.instructions_file,
        tools=notices(route_tools(parts, route)),
        session=session,
        skill_bodies=files.skills,
        repeats=parts.config.settings.memory.repeat,
    )


def _rules(parts: Parts, route: Route) -> Rules:
    settings, manifest = parts.config.settings, route.manifest
    context = settings.context
    return Rules(
        files=settings.people.files,
        memory=memory_mode(settings, route),
        budget=Budget(
            context.block_cap_bytes,
            manifest.window_tokens,
            manifest.baseline_reserve_tokens,
            manifest.reply_reserve_tokens,
            fit_smaller=context.fit_smaller,
        ),
        bounds=_bounds(context.history, route.delegated),
        now=context.now,
        zone=parts.zone,
    )


def _bounds(history: HistorySettings, delegated: Delegation | None) -> HistoryBounds:
    """Of the conversation that goes along: delegated work gets as much as was asked for."""
    most = {"none": 0, "brief": BRIEF_MESSAGES}.get(delegated.history if delegated else "", history.messages)
    return HistoryBounds(min(most, history.messages), history.message_chars, history.total_chars)


def route_tools(parts: Parts, route: Route) -> tuple[Tool, ...]:
    """The tools that a run of this route may call."""
    entitled = Entitled(route.agent, route.temporary, route.depth, is_shared=route.is_shared)
    return tools_of(entitled.rights(parts.config))


def memory_mode(settings: Settings, route: Route) -> MemoryMode:
    """The person's wish, then the operator's intent for this channel. Without memory MEMORY.md is the fact surface."""
    if route.temporary:
        return MemoryMode.TEMPORARY
    if route.is_shared:
        return MemoryMode.SHARED
    return MemoryMode.ENABLED if settings.memory.enabled else MemoryMode.DISABLED


def sending_of(facts: Facts) -> Sending | None:
    """What the dispatch of these facts does with memory; None: nothing."""
    principal = facts.speaker.principal
    if principal is None or not (facts.retrieval.searched or facts.corrections):
        return None
    scope = Scope(principal, facts.channel, facts.agent.name, Way.AUTO, turn=facts.turn)
    return Sending(scope, facts.agent.memory.inject, facts.retrieval.searched, facts.fresh)


def without_memory(facts: Facts) -> Facts:
    """The same where what is remembered cannot be used for a fault."""
    gone = Retrieval(RetrievalStatus.UNAVAILABLE, reason="fault")
    return replace(facts, memory=MemoryMode.FAULT, retrieval=gone) if facts.retrieval.searched else facts


def is_native(route: Route, text: str) -> bool:
    """Whether `text` is a command of the backend itself, which goes bare."""
    prefix = route.manifest.native_prefix
    if not prefix or not text.startswith(prefix):
        return False
    word = text[len(prefix) :].split(maxsplit=1)[0] if text[len(prefix) :].strip() else ""
    known = route.manifest.native_commands
    return word in known if known else bool(word)


def owner_uid(route: Route) -> int | None:
    """The uid that a person's files must belong to; None when the machine does not know the OS user."""
    try:
        return pwd.getpwnam(route.os_user).pw_uid
    except KeyError:
        return None


def machine_zone() -> str:
    """The IANA name of the machine's own time zone, "UTC" when it has none."""
    named = os.environ.get("TZ", "").removeprefix(":")
    link = os.path.realpath("/etc/localtime") if not named else ""
    return named or (link.partition("/zoneinfo/")[2] if "/zoneinfo/" in link else "") or "UTC"


def identity_mark(parts: Parts, route: Route) -> str:
    """Changes when the home AGENTS.md does. On protected installs the daemon looks at no file of a person's."""
    if parts.config.settings.people.files != "inline":
        return ""
    try:
        seen = parts.folders.identity(route.home).lstat()
    except OSError:
        return ""
    return f"{seen.st_mtime_ns}:{seen.st_size}:{seen.st_ino}"


async def media_for(manifest: Manifest, message: Message) -> tuple[Media, ...]:
    """Pictures that go along as blocks of their own, where the backend takes them; a large one is named by its path.

    One that is gone by now is left out: a retry may come long after retention has removed it.
    """
    found = []
    for one in pictures(manifest, message):
        with suppress(FileNotFoundError):
            found.append(Media(one.ref, one.media_type, await anyio.Path(one.path).read_bytes()))
    return tuple(found)


def pictures(manifest: Manifest, message: Message) -> tuple[AttachmentInfo, ...]:
    """The files of a message that go along as blocks of their own."""
    if not manifest.can.images:
        return ()
    every = (one for one in message.attachments if one.media_type.startswith("image/"))
    return tuple(one for one in every if one.size_bytes <= MEDIA_BYTES)


@dataclass(frozen=True, slots=True)
class _Files:
    """What a fresh session needs to know of files. `instructions_file` lies inside a home: a person's file."""

    owner_uid: int | None = None
    instructions: str = ""
    instructions_file: Path | None = None
    skills: tuple[Skill, ...] = ()


def _files(parts: Parts, route: Route) -> _Files:
    uid, entry = owner_uid(route), route.workspace_entry
    if entry is None or not entry.system_prompt_file:
        return _Files(uid, entry.system_prompt if entry else "")
    path = parts.config.folder / entry.system_prompt_file
    protected = parts.config.settings.people.files != "inline" and Path(entry.system_prompt_file).is_absolute()
    if protected or path.is_relative_to(parts.folders.root / "homes"):
        return _Files(uid, instructions_file=path)
    # By the rules of the configuration: whatever took its place since that was read holds up no turn.
    text = read(path, optional=False, max_bytes=MAX_PROMPT_BYTES)
    if isinstance(text, bytes) and len(text) <= MAX_PROMPT_BYTES:
        return _Files(uid, text.decode("utf-8-sig", errors="replace"))
    why = text.message if isinstance(text, Problem) else f"it has more than {MAX_PROMPT_BYTES:,} bytes"
    return _Files(uid, f"(The instructions of this workspace, {path}, cannot be read: {why}.)")
