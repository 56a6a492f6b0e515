"""What the doctor finds on the machine, in the configuration's names, and in the daemon's own bounds."""

import os
import pwd
import resource
import shutil
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from anyio import to_thread

from kai.model.errors import StoreError
from kai.store import status
from kai.turns.backends import ALWAYS_THERE
from kai.turns.parts import Parts
from kai.turns.views import View

SHELL = "terminal"
UNDELIVERED = timedelta(hours=6)
CLOCK_SLACK = timedelta(minutes=5)
FILES_LEFT = 64  # fewer, and neither a connection nor a run can be had for long
MEMORY_BYTES = 256 * 1024 * 1024  # an agent CLI takes 110 to 930 MB
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "glusterfs"})


async def machine(parts: Parts) -> list[View]:
    """Empty when nothing is wrong."""
    looks: tuple[Callable[[Parts], list[View]], ...] = (_configured, _named, _files, _memory, _state_disk, _command)
    found: list[View] = []
    for look in looks:
        found += await to_thread.run_sync(look, parts)
    return [*found, *await _store(parts), *await _engine(parts)]


def _configured(parts: Parts) -> list[View]:
    """Blocks, as all that follow do."""
    changed = parts.config.changed()
    if not changed or parts.config.problems:  # a refused file is a finding of its own
        return []
    problem = f"{', '.join(changed)} changed since the daemon read it: the old configuration is in force"
    return [finding("config-unread", problem, "'kai reload'; 'kai config show --why' shows what is in force.")]


def _named(parts: Parts) -> list[View]:
    """What the configuration names must be there."""
    settings, found = parts.config.settings, []
    for user in settings.operators:
        if not _is_user(user):
            problem = f"operators names {user}, and this machine has no such OS user"
            found.append(finding("operator-unknown", problem, f"'useradd -m {user}', or take the name out."))
    for workspace in settings.workspaces:
        path = Path(workspace.path)
        try:
            is_there = path.is_dir()
        except OSError as error:  # where the daemon may not look, its agents' users may
            is_there = isinstance(error, PermissionError)
        if not is_there:
            problem = f"workspace {workspace.name} is {path}, and there is no such folder"
            found.append(finding("workspace-missing", problem, "Make it, or correct workspaces.yaml."))
    return found


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _files(parts: Parts) -> list[View]:
    limit, opened = resource.getrlimit(resource.RLIMIT_NOFILE)[0], len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    if limit == resource.RLIM_INFINITY or limit - opened >= FILES_LEFT:
        return []
    problem = f"the daemon has {opened} files open and may have {limit}"
    return [finding("files-few", problem, "Raise its limit (LimitNOFILE, ulimit -n), or lower sessions.max_live.")]


def _memory(parts: Parts) -> list[View]:
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:  # hidden from a hardened service
        return []
    told = {
        name: int(value.split()[0]) * 1024 for name, _, value in (line.partition(":") for line in text.splitlines())
    }
    free = told.get("MemAvailable", MEMORY_BYTES) + told.get("SwapFree", 0)
    if free >= MEMORY_BYTES:
        return []
    problem = f"the machine has {free // 1024**2} MB of memory left; an agent CLI takes 110 to 930"
    return [finding("memory-low", problem, "Lower sessions.max_live, end something else, or add swap.")]


def _state_disk(parts: Parts) -> list[View]:
    """SQLite's log is shared memory, which no network file system has."""
    state, best, kind = str(parts.store.path.parent.resolve()), "", ""
    for line in _mounts():
        before, _, after = line.partition(" - ")
        place = before.split()[4].replace("\\040", " ")
        if (state + "/").startswith(place.rstrip("/") + "/") and len(place) >= len(best):
            best, kind = place, after.split()[0]
    if kind not in _NETWORK:
        return []
    problem = f"{state} is on {kind}: a database there can be damaged"
    return [finding("state-on-network", problem, "Move the state folder to a disk of this machine (--state).")]


def _mounts() -> list[str]:
    try:
        return Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return []


def _command(parts: Parts) -> list[View]:
    folder = Path(sys.executable).parent
    if shutil.which("kai", path=str(folder)):
        return []
    problem = f"there is no command kai in {folder}: agents cannot call its tools"
    return [finding("tool-missing", problem, "Install kai with pip into that environment again.")]


async def _store(parts: Parts) -> list[View]:
    """The store takes a write, its times are not ahead of the clock, and what is owed is fetched."""
    found, now = [], parts.clock.now()
    try:
        await parts.store.write(lambda db: db.execute("SELECT 1").fetchone())
    except StoreError as error:
        mend = f"{error.hint} 'fuser {parts.store.path}' names who else has it open; nothing but kai may."
        found.append(finding("database-busy", error.sentence, mend.strip()))
    newest = await parts.store.read(status.newest)
    if newest is not None and newest > now + CLOCK_SLACK:
        problem = f"the newest message is of {newest:%Y-%m-%d %H:%M} UTC, and the clock says {now:%Y-%m-%d %H:%M}"
        found.append(finding("clock-behind", problem, "Set the clock; let it be kept by NTP ('timedatectl')."))
    for bridge, count, oldest in await parts.store.read(status.waiting):
        # A terminal is there when its person is; a bridge of a chat app always.
        if now - oldest > UNDELIVERED and not bridge.startswith(SHELL) and not parts.live.bell(bridge).is_heard:
            problem = f"{count} deliveries for {bridge} wait since {oldest:%Y-%m-%d %H:%M} UTC, and nobody fetches them"
            found.append(
                finding("undelivered", problem, "Start that bridge: 'systemctl status kai-bridge@…' tells of it.")
            )
    return found


async def _engine(parts: Parts) -> list[View]:
    """Somebody can answer: the backend that is set, or any at all."""
    wanted = parts.config.settings.backend
    if wanted == "auto":
        if await parts.backends.automatic() != ALWAYS_THERE:
            return []
        problem = (
            "no agent CLI is installed and logged in: the bundled offline agent answers, which is no language model"
        )
        mend = "'kai backend list' shows how each is installed; 'kai backend login BACKEND' logs in."
        return [finding("no-engine", problem, mend)]
    manifest = parts.config.manifest(wanted)
    installed = await parts.backends.installed(manifest)
    if installed.problem or not installed.program:
        mend = manifest.install or "'kai backend list' shows what can be used here."
        return [finding("backend-unusable", f"the backend that is set, {wanted}: {installed.problem}", mend)]
    if installed.logged_in is False and manifest.login.command:
        problem = f"the backend that is set, {wanted}, is not logged in here"
        return [finding("backend-unusable", problem, f"'kai backend login {wanted}'.")]
    return []


def finding(name: str, problem: str, mend: str) -> View:
    """One finding: its name as in docs/findings.md, what is wrong, and the mend."""
    return {"name": name, "problem": problem, "mend": mend}
