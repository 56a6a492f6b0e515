"""The daemon looking at itself: status, findings with their mend, backends, reload, choices, the files of a person."""

import os
import time
from dataclasses import asdict, replace
from typing import Any

import anyio
from anyio import to_thread

from kai import __version__
from kai.catalog.agents import resolved
from kai.model.errors import BusyError, FailureKind, KaiError
from kai.model.ids import ChannelId, PrincipalId, TurnId
from kai.model.people import Person, Preference
from kai.store import binding, channels, definitions, people, status
from kai.store.binding import Connection
from kai.turns.backends import os_user
from kai.turns.commands import DEFAULT, Commands
from kai.turns.door import Caller
from kai.turns.parts import Parts
from kai.turns.runner import Runner
from kai.turns.uploads import seed
from kai.turns.views import View, channel_of, principal_of

WAIT_S = 3600.0  # how long `use --wait` waits for the running turn


class Checks:
    """Answers about the whole daemon."""

    def __init__(self, parts: Parts, runner: Runner) -> None:
        self._parts = parts
        self._runner = runner
        self._started = time.monotonic()
        self.own_user = os_user()

    async def seed(self, person: Person) -> None:
        """Make the folders and first files of a person; what is there stays as it is."""
        await seed(self._parts, person.principal, person.os_user, person.legacy_chat_id)

    async def files_of(self, person: Person) -> View:
        """Where a person's files are."""
        folders, legacy = self._parts.folders, person.legacy_chat_id
        preferences = await to_thread.run_sync(folders.preferences, person.principal, legacy)
        memory = await to_thread.run_sync(folders.memory, person.principal, legacy)
        home = folders.home(person.principal)
        return {
            "home": str(home),
            "identity": str(folders.identity(home)),
            "preferences": str(preferences),
            "memory": str(memory),
        }

    async def status(self, only: PrincipalId | None = None) -> View:
        """What runs, what waits, what is owed; with `only` no more than what is that person's own."""
        parts = self._parts
        return {
            "version": __version__,
            "uptime_s": round(time.monotonic() - self._started, 1),
            "pid": os.getpid(),
            "launcher": parts.launcher.name,
            "degraded": parts.launcher.problem,
            "sessions": [
                {
                    "session": live.row.session,
                    "channel": live.row.channel,
                    "backend": live.row.backend,
                    "busy": live.busy,
                    "idle_s": 0.0 if live.busy else round(parts.clock.monotonic() - live.used_at, 1),
                }
                for live in parts.pool.every()
                if only in (None, live.row.principal)
            ],
            "running": [
                {"turn": one.turn.turn, "state": one.live.state.value}
                for one in self._runner.every()
                if only in (None, one.turn.principal)
            ],
            "counts": await parts.store.read(status.counts) if only is None else {},
            "sqlite": f"{binding.binding_name} {'.'.join(map(str, binding.sqlite_version_info))}",
            "config_problems": list(parts.config.problems),
        }

    async def doctor(self) -> list[View]:
        """Findings: each a name, what is wrong, and the mend. Empty when nothing is."""
        from kai.turns.findings import findings  # noqa: PLC0415 - first use

        return await findings(self._parts, self.own_user)

    async def user_of(self, caller: Caller) -> str:
        """The OS user whose programs and logins a caller asks for: their person's, else the daemon's."""
        if caller.principal is None:
            return self.own_user
        return (await self._parts.store.read(people.get, caller.principal)).os_user

    async def backends(self, user: str) -> list[View]:
        """Every backend: what it is, whether it is installed here for an OS user, what it can."""
        views, everything = [], await self._parts.backends.every(user)
        for manifest in self._parts.config.manifests.values():
            if (found := everything.get(manifest.id)) is None:  # a reload brought it meanwhile
                continue
            views.append(
                {
                    "id": manifest.id,
                    "title": manifest.title,
                    "protocol": manifest.protocol.value,
                    "program": found.program,
                    "version": found.version,
                    "logged_in": found.logged_in,
                    "problem": found.problem,
                    "can": asdict(manifest.can),
                    "models": manifest.models,
                    "install": manifest.install,
                    "login": manifest.login.command,
                    "tried": manifest.tried,
                }
            )
        return views

    async def backend(self, backend: str, user: str) -> View:
        """A live handshake as an OS user: start, wait until ready, end. `problem` is empty when all went well."""
        manifest = self._parts.config.manifest(backend)
        self._parts.backends.forget(backend)
        found = await self._parts.backends.installed(manifest, user)
        view: dict[str, Any] = {
            "id": backend,
            "installed": asdict(found),
            "problem": found.problem,
            "hint": "",
            "ready": False,
        }
        if not found.problem:
            try:
                view |= await self._runner.opening.handshake(manifest, user)
            except KaiError as error:
                wrote = str(error.facts.get("detail", "")).strip().splitlines()[-3:]
                view |= {"problem": error.sentence, "hint": error.hint, "stderr": wrote}
                if error.facts.get("kind") is FailureKind.LOGIN:
                    found = replace(found, logged_in=False)
            if found.logged_in is False:
                view["problem"] = view["problem"] or f"{manifest.title} is not logged in here."
                keys = f", or set {' or '.join(manifest.login.env)} for the daemon" if manifest.login.env else ""
                view["hint"] = view["hint"] or f"'kai backend login {backend}'{keys}."
        if not manifest.tried:
            view["notes"] = [*view.get("notes", ()), "This manifest is untried: nobody has run it with kai yet."]
        return view

    async def use(
        self,
        commands: Commands,
        caller: Caller,
        channel: ChannelId | None,
        choice: Preference,
        *,
        wait: bool,
        begin: bool,
        temporary: str = "",
    ) -> View:
        """Keep a choice: for `channel`, else for the caller's own conversation. Waits for the running turn if asked.

        `temporary`, "on" or "off", is done first.

        With `begin`, `channel` is a title, and a new one begins a conversation.
        """
        parts = self._parts
        for backend in filter(None, [choice.backend]):
            if backend != DEFAULT:
                parts.config.manifest(backend)
        where = await parts.store.write_soft(lambda db: channel_of(db, caller, channel, parts.clock.now(), begin=begin))
        person = await parts.store.read(_chooses, caller, where)
        if choice == Preference() and not temporary:
            return {"channel": where, "sentence": f"In use: {await commands.in_use(person, where)}"}
        until = anyio.current_time() + WAIT_S
        while True:
            try:
                said = await _chosen(commands, person, where, choice, temporary, by_operator=caller.operator)
            except BusyError as error:
                running = self._runner.get(TurnId(error.turn))
                if not wait or running is None or anyio.current_time() >= until:
                    raise
                with anyio.move_on_after(until - anyio.current_time()):
                    await running.ended.wait()
            else:
                return {"channel": where, "sentence": said}

    async def config(self) -> View:
        """The settings in force, the files that changed since, and what is wrong with those."""
        parts = self._parts
        changed = await to_thread.run_sync(parts.config.changed)
        settings = [asdict(one) for one in parts.config.explained()]
        return {"settings": settings, "changed": changed, "problems": list(parts.config.problems)}

    async def agents(self) -> list[View]:
        """The agent definitions in force."""
        return [
            {
                "agent": one.name,
                "purpose": one.purpose,
                "revision": one.revision,
                "aliases": list(one.aliases),
                "capabilities": list(one.capabilities),
                "skills": [skill.name for skill in one.skills],
            }
            for one in self._parts.config.agents.values()
        ]

    async def agent(self, name: str, revision: str) -> View:
        """A definition as it reads, or as it read; with every version of it that was in force."""
        known = resolved(self._parts.config.agents, name)
        name = known.name if known else name
        versions = await self._parts.store.read(definitions.revisions, name)
        if not (known or versions):
            self._parts.config.agent(name)  # which says what there is
        wanted = revision or (known.revision if known else versions[0]["revision"])
        content = await self._parts.store.read(definitions.content, name, wanted)
        return {
            **content,
            "in_force": known is not None and content["revision"] == known.revision,
            "versions": versions,
        }

    async def reload(self) -> View:
        """Read the configuration again; what is wrong is told, and the last good one stays."""
        loaded = await to_thread.run_sync(self._parts.config.reload)
        self._parts.backends.forget()
        if loaded:
            settings = self._parts.config.settings
            self._parts.pool.max_live, self._parts.pool.idle_s = settings.sessions.max_live, settings.sessions.idle_s
            known = list(self._parts.config.agents.values())
            await self._parts.store.write_soft(definitions.note, known, self._parts.clock.now())
        return {"loaded": loaded, "problems": list(self._parts.config.problems)}


async def _chosen(
    commands: Commands, person: Person, where: ChannelId, choice: Preference, temporary: str, *, by_operator: bool
) -> str:
    said = []
    if temporary:
        said.append(await commands.be_temporary(person, where, on=temporary == "on", by_operator=by_operator))
    if choice != Preference():
        said.append(await commands.prefer(person, where, choice, by_operator=by_operator))
    return " ".join(said)


def _chooses(db: Connection, caller: Caller, channel: ChannelId) -> Person:
    """For whom a choice is made: the caller; where an operator is nobody, whoever is in a shared channel."""
    members = channels.get(db, channel).members
    if caller.principal is None and caller.operator and members:
        return people.get(db, members[0])
    return people.get(db, principal_of(caller))
