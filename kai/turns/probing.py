"""Looks from inside an OS user at what its agents can reach: what is their own, and nothing else."""

import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from kai.model.errors import KaiError
from kai.model.ids import PrincipalId
from kai.model.people import Channel, Person
from kai.people.provision import POLICY
from kai.store import channels, people
from kai.turns.backends import os_user
from kai.turns.parts import Parts
from kai.turns.views import View

_SUDO = Path("/usr/bin/sudo")
_REACHED = ("done",)
_CLOSED = ("denied", "refused", "absent")


@dataclass(frozen=True, slots=True)
class Try:
    """One thing that is tried: `how` as the errand has it. `may`: whether it is meant to work."""

    what: str
    how: str
    path: str
    may: bool = False


class Prober:
    """Probes as a person or as a shared channel's seat, by one errand each."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def person(self, person: Person) -> View:
        """The rows of a probe from inside a person's OS user; `leaks` and `lacks` count those that are not as meant."""
        return await self._probe(person.name, person.os_user, person)

    async def channel(self, channel: Channel) -> View:
        """As `person`, from inside the seat of a shared channel."""
        return await self._probe(channel.title, channel.os_user or os_user(), channel)

    async def _probe(self, name: str, user: str, whose: Person | Channel) -> View:
        everybody = await self._parts.store.read(people.every)
        shared = await self._parts.store.read(channels.shared)
        house: tuple[Person | Channel, ...] = (*everybody, *shared)
        others = [one for one in house if one != whose and (one.os_user or os_user()) != user]
        tries = await to_thread.run_sync(lambda: [*self._own(user, whose), *self._foreign(user, others)])
        view = {"name": name, "os_user": user, "launcher": self._parts.launcher.name, "problem": ""}
        try:
            seen = await self._parts.errands.probe(user, [(one.how, one.path) for one in tries])
        except KaiError as error:
            return {**view, "rows": [], "leaks": 0, "lacks": 0, "problem": f"{error.sentence} {error.hint}".strip()}
        rows = [
            {"what": one.what, "how": one.how, "path": one.path, "may": one.may, "seen": told, "ok": _is_ok(one, told)}
            for one, told in zip(tries, seen, strict=True)
        ]
        leaks, lacks = (sum(not row["ok"] and row["may"] is may for row in rows) for may in (False, True))
        return {**view, "rows": rows, "leaks": leaks, "lacks": lacks}

    def _own(self, user: str, whose: Person | Channel) -> Iterator[Try]:
        folders = self._parts.folders
        home = folders.home(_id(whose))
        yield Try("own home workspace", "make", str(home), may=True)
        yield Try("own AGENTS.md", "read", str(folders.identity(home)), may=True)
        if isinstance(whose, Person):
            legacy = whose.legacy_chat_id
            yield Try("own preferences", "read", str(folders.preferences(whose.principal, legacy)), may=True)
            yield Try("own memory", "read", str(folders.memory(whose.principal, legacy)), may=True)
        yield Try("own login folder", "list", pwd.getpwnam(user).pw_dir, may=True)

    def _foreign(self, user: str, others: list[Person | Channel]) -> Iterator[Try]:
        folders, state, runtime = self._parts.folders, self._parts.folders.root, self._parts.socket.parent
        for other in others:
            whose = f"{other.name if isinstance(other, Person) else other.title}'s"
            yield Try(f"{whose} home workspace", "list", str(folders.home(_id(other))))
            if isinstance(other, Person):
                yield Try(f"{whose} preferences", "read", str(folders.preferences(other.principal)))
                yield Try(f"{whose} memory", "read", str(folders.memory(other.principal)))
            yield from _login_folder(whose, other.os_user)
        own = self._parts.store.path
        yield Try("the database", "read", str(own))
        yield Try("the database", "write", str(own))
        yield Try("the database's log", "read", f"{own}-wal")
        yield Try("stored files", "list", str(state / "attachments"))
        yield Try("backups", "list", str(state / "backups"))
        yield Try("the state folder", "make", str(state))
        yield Try("everybody's homes", "list", str(folders.home(_NOBODY).parent))
        yield Try("the daemon's runs", "list", str(self._parts.runs))
        yield Try("the people's socket", "ask", str(runtime / "people.sock"))
        yield Try("the spawner's socket", "ask", self._parts.config.settings.launcher.socket)
        yield Try("the spawner's policy", "write", str(self._parts.config.folder / POLICY))
        yield Try("the configuration", "write", str(self._parts.config.folder / "kai.yaml"))
        yield Try("the daemon's process", "signal", str(os.getpid()))
        yield Try("the daemon's environment", "read", f"/proc/{os.getpid()}/environ")
        if _SUDO.exists():
            yield Try("sudo", "sudo", str(_SUDO))


_NOBODY = PrincipalId("nobody")


def _login_folder(whose: str, user: str) -> Iterator[Try]:
    try:
        yield Try(f"{whose} login folder", "list", pwd.getpwnam(user or os_user()).pw_dir)
    except KeyError:
        return


def _id(whose: Person | Channel) -> PrincipalId:
    return whose.principal if isinstance(whose, Person) else PrincipalId(whose.channel)


def _is_ok(one: Try, seen: str) -> bool:
    return seen in (_REACHED if one.may else _CLOSED)
