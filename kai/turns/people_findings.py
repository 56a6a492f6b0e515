"""What is wrong with the people's OS users, their folders and what their agents can reach."""

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from anyio import to_thread

from kai.model.people import Channel, Person
from kai.people.os_users import unfit
from kai.store import channels, people
from kai.turns.backends import os_user
from kai.turns.machine import finding
from kai.turns.parts import Parts
from kai.turns.probing import Prober
from kai.turns.views import View


async def people_findings(parts: Parts) -> list[View]:
    """Of everybody whose OS user is another than the daemon's, and of the seats of shared channels."""
    everybody, shared = await parts.store.read(people.every), await parts.store.read(channels.shared)
    house: tuple[Person | Channel, ...] = (*everybody, *shared)
    others = [one for one in house if one.os_user not in ("", os_user())]
    found: list[View] = []
    if others and parts.config.settings.people.files == "inline":
        problem = "people.files is 'inline', but the daemon may not read the files of other OS users"
        mend = "Set people.files to 'as_owner' or 'deferred', then 'kai reload'."
        found.append(finding("files-inline", problem, mend))
    for one in others:
        if problem := await to_thread.run_sync(unfit, one.os_user):
            if isinstance(one, Channel):  # of persons it is told beside the other matters of the launcher
                mend = f"Give it another OS user: {_told(one)[1]}."
                found.append(finding("os-user-unfit", f"no agent runs in {one.title}: {problem}", mend))
            continue
        found += await to_thread.run_sync(lambda one=one: [*_folders(parts, one)])  # type: ignore[misc]
        if parts.launcher.problem == "":  # else nothing can be tried, and that is told already
            found += await _of_probe(parts, one)
    return found


async def _of_probe(parts: Parts, one: Person | Channel) -> list[View]:
    prober, (name, again) = Prober(parts), _told(one)
    seen = await (prober.person(one) if isinstance(one, Person) else prober.channel(one))
    if seen["problem"]:
        return [finding("probe-failed", f"{name}: {seen['problem']}", "Mend that, then 'kai doctor' again.")]
    wrong = [row for row in seen["rows"] if not row["ok"]]
    leaks = [f"{row['what']} ({row['path']})" for row in wrong if not row["may"]]
    lacks = [f"{row['what']} ({row['path']}: {row['seen']})" for row in wrong if row["may"]]
    found = []
    if leaks:
        mend = f"Close it: chmod and chown, or {again}, which mends folders."
        found.append(finding("probe-leak", f"{name}'s agents reach {', '.join(leaks)}", mend))
    if lacks:
        problem = f"{name}'s agents do not reach {', '.join(lacks)}"
        found.append(finding("probe-lack", problem, f"Mend it: {again}."))
    return found


def _folders(parts: Parts, one: Person | Channel) -> Iterator[View]:
    """Whose they are and how far open they stand. Blocks."""
    name, again = _told(one)
    uid = pwd.getpwnam(one.os_user).pw_uid
    for path in _own(parts, one):
        try:
            facts = path.lstat()
        except OSError as error:
            problem = f"{name}'s folder {path}: {os.strerror(error.errno or 0).lower()}"
            yield finding("folder-missing", problem, f"{again} makes it.")
            continue
        if facts.st_uid != uid or stat.S_IMODE(facts.st_mode) & 0o077 or not stat.S_ISDIR(facts.st_mode):
            problem = f"{path} is {stat.filemode(facts.st_mode)} of uid {facts.st_uid}, not drwx------ of {one.os_user}"
            yield finding("folder-open", problem, f"{again} mends it.")


def _own(parts: Parts, one: Person | Channel) -> list[Path]:
    folders = parts.folders
    if isinstance(one, Channel):
        return [folders.seat_home(one.channel)]
    files = (folders.preferences, folders.memory)
    return [folders.home(one.principal), *(file(one.principal, one.legacy_chat_id).parent for file in files)]


def _told(one: Person | Channel) -> tuple[str, str]:
    """A name, and the command that mends what root has to do with it."""
    if isinstance(one, Person):
        return one.name, f"as root, 'kai person add {one.name} --os-user {one.os_user}'"
    return one.title, f"as root, 'kai channel add {one.title} --os-user {one.os_user}'"
