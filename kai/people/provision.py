"""What root does for a person or a shared channel: OS user, folders, owners, modes. Every step tells what it did.

Run again it does nothing. Below the state folder, which belongs to the daemon's user, root follows nobody's link and
changes only what it has opened.
"""

import grp
import json
import os
import pwd
import re
import shutil
import stat
import subprocess
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kai.launcher.trust import weak_spot
from kai.model.errors import KaiError
from kai.people.os_users import may_sudo, unfit

POLICY = "spawner.json"  # in the configuration folder of an installed kai
ROOTS = ("homes", "preferences", "memory")
ROOT_MODE, OWN_MODE = 0o711, 0o700
MADE_BY_KAI = " (kai)"  # ends the comment of an OS user that kai made
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_ID = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+@-]{0,127}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TOOL_S = 60.0


@dataclass
class ProvisionError(KaiError):
    """An OS user or a folder could not be made, changed or taken away. Run again, it goes on where it ended."""

    thing: str
    problem: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.thing}: {self.problem}."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was looked at. `did` is "made", "changed", "removed", or "kept" when it was so already."""

    did: str
    what: str


class Provision:
    """Does, or with `dry` only tells, what the steps need. Blocks; for root. Every method raises `ProvisionError`."""

    def __init__(self, state: Path, *, dry: bool = False, policy: Path | None = None) -> None:
        self._state = state
        self.dry = dry
        self._policy = policy or Path("/etc/kai") / POLICY
        self.steps: list[Step] = []
        self.daemon_uid = self._state_owner()

    def user(self, name: str, whose: str) -> None:
        """The OS user `name`, made with a group and a home of its own and no password when there is none."""
        if not _NAME.fullmatch(name):
            raise ProvisionError(f"OS user {name!r}", "is no name", "Lower case letters, digits, '-' and '_'.")
        if not _exists(name):
            comment = re.sub(r"[^\w .-]", "", whose)[:60].strip() + MADE_BY_KAI
            own = ("--gid", name) if _group_exists(name) else ("--user-group",)
            more = ("--create-home", "--shell", _shell(), "--key", "HOME_MODE=0700", "--comment", comment)
            self._do(
                "made", f"OS user {name} with a home of its own (0700) and no password", "useradd", *own, *more, name
            )
            if self.dry:
                return
        else:
            self._note("kept", f"OS user {name} (uid {pwd.getpwnam(name).pw_uid})")
        self._close_home(pwd.getpwnam(name))
        problem = unfit(name, daemon_uid=self.daemon_uid)
        if not problem and may_sudo(name):
            problem = f"{name} may use sudo"
        if problem:
            raise ProvisionError(f"OS user {name}", problem, "Choose another one; kai makes it when it is not there.")

    def _close_home(self, entry: pwd.struct_passwd) -> None:
        """The logins of the agent CLIs lie in it: nobody else looks into the home of somebody whose agents run here."""
        with ExitStack() as held:
            try:
                home = os.open(entry.pw_dir, _FOLDER)
            except OSError:  # there is none, or it is a link of whoever set this user up: the probe tells
                return
            held.callback(os.close, home)
            facts = os.fstat(home)
            if entry.pw_uid and facts.st_uid == entry.pw_uid and facts.st_mode & 0o077:
                self._note("changed", f"{entry.pw_dir} ({OWN_MODE:04o}, {entry.pw_name}): others could look into it")
                if not self.dry:
                    os.fchmod(home, OWN_MODE)

    def folders(self, whose: str, name: str, *, legacy: str = "", shared: bool = False) -> None:
        """Home workspace, preferences and memory of `whose` (an id): 0700 and the OS user's, below roots of root's."""
        if not _ID.fullmatch(whose):
            raise ProvisionError(f"id {whose!r}", "is none that a folder may be named by")
        owner = pwd.getpwnam(name) if _exists(name) else None
        with ExitStack() as held:
            try:
                state = os.open(self._state, _FOLDER)
            except OSError as error:
                raise ProvisionError(str(self._state), (error.strerror or "cannot be opened").lower()) from error
            held.callback(os.close, state)
            self._passable(state)
            for root in ROOTS[:1] if shared else ROOTS:
                at = self._folder(held, state, self._state / root, 0, 0, ROOT_MODE)
                own = legacy if legacy and at is not None and _has(at, legacy) and not _has(at, whose) else whose
                uid, gid = (owner.pw_uid, owner.pw_gid) if owner else (-1, -1)
                self._folder(held, at, self._state / root / own, uid, gid, OWN_MODE, of=name)

    def _passable(self, state: int) -> None:
        """People pass through the state folder on the way to their own; none of them sees what is in it."""
        mode = stat.S_IMODE(os.fstat(state).st_mode)
        if mode & 0o011 != 0o011:
            self._note("changed", f"{self._state} ({mode | 0o011:04o}): passable, as the way to everybody's folders")
            if not self.dry:
                os.fchmod(state, mode | 0o011)

    def allow(self, name: str, *, allowed: bool = True) -> None:
        """The spawner's policy names this user, or does not any more. Without a spawner there is nothing to do."""
        if not os.path.lexists(self._policy):
            self._note("kept", f"no {self._policy}: the spawner is not installed")
            return
        try:
            if spot := weak_spot(str(self._policy)):
                raise ProvisionError(str(self._policy), f"cannot be trusted: {spot}")
            policy = json.loads(self._policy.read_bytes())
            users = [str(user) for user in policy["users"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ProvisionError(str(self._policy), f"cannot be read ({error})") from error
        if (name in users) == allowed:
            self._note("kept", f"{self._policy}: {name} is {'' if allowed else 'not '}among the users of the spawner")
            return
        policy["users"] = [*users, name] if allowed else [user for user in users if user != name]
        what = f"{self._policy}: the spawner starts {'agents' if allowed else 'nothing any more'} as {name}"
        self._note("changed", what)
        if not self.dry:
            fresh = self._policy.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
                os.fchmod(file.fileno(), 0o644)
                json.dump(policy, file, indent=2)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._policy)

    def take_away(self, name: str, whose: Iterable[str]) -> None:
        """Remove an OS user that kai made. Its files are kept, and closed: its number may get another owner."""
        if not _exists(name):
            self._note("kept", f"there is no OS user {name}")
            return
        entry = pwd.getpwnam(name)
        if not entry.pw_gecos.split(",")[0].endswith(MADE_BY_KAI):
            raise ProvisionError(f"OS user {name}", "was not made by kai", f"Remove it yourself: userdel {name}")
        if entry.pw_uid in (0, self.daemon_uid):
            raise ProvisionError(f"OS user {name}", "is root or the daemon's own")
        self._do("removed", f"OS user {name}", "userdel", name)
        ours = [self._state / root / one for root in ROOTS for one in whose if _ID.fullmatch(one)]
        for path in (*ours, Path(entry.pw_dir)):
            self._seal(path, entry.pw_uid, self._state if path in ours else path.parent)

    def _seal(self, path: Path, uid: int, trusted: Path) -> None:
        with ExitStack() as held:
            folder: int | None = os.open(trusted, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            held.callback(os.close, folder or 0)
            for step in path.relative_to(trusted).parts:
                folder = None if folder is None else self._open(held, folder, Path(step))
            if folder is None or os.fstat(folder).st_uid != uid:
                return
            self._note("changed", f"{path} is kept, and root's alone now (0700)")
            if not self.dry:
                os.fchown(folder, 0, 0)
                os.fchmod(folder, OWN_MODE)

    def _folder(
        self, held: ExitStack, parent: int | None, path: Path, uid: int, gid: int, mode: int, *, of: str = "root"
    ) -> int | None:
        """A descriptor of a folder that is as it should be; None when it is only told that it would be made."""
        shown = f"{path} ({mode:04o}, {of})"
        found = None if parent is None else self._open(held, parent, path)
        if found is None:
            self._note("made", shown)
            if self.dry or parent is None:
                return None
            os.mkdir(path.name, OWN_MODE, dir_fd=parent)
            found = self._open(held, parent, path)
            if found is None or os.fstat(found).st_uid != os.geteuid():
                raise ProvisionError(str(path), "somebody changed it while it was made", "Run this again.")
        else:
            facts = os.fstat(found)
            if (facts.st_uid, stat.S_IMODE(facts.st_mode)) == (uid, mode):
                self._note("kept", shown)
                return found
            if facts.st_uid not in (0, uid, self.daemon_uid):
                remedy = f"If it is this person's: chown -R {of}: {path}"
                raise ProvisionError(str(path), f"belongs to uid {facts.st_uid}, not to {of}", remedy)
            self._note("changed", shown)
            if not self.dry and facts.st_uid == self.daemon_uid != uid and uid > 0:
                self._hand_over(path, found, uid, gid)
        if not self.dry:
            os.fchown(found, uid, gid)
            os.fchmod(found, mode)
        return found

    def _hand_over(self, path: Path, top: int, uid: int, gid: int) -> None:
        """What the daemon's user has in a folder of one person becomes theirs; what has a second name elsewhere not."""
        for here, folders, files, at in os.fwalk(".", dir_fd=top):
            for name in (*folders, *files):
                flags = _FOLDER if name in folders else _FILE
                try:
                    one = os.open(name, flags, dir_fd=at)
                except OSError:  # a link, or something that is no file: it stays the daemon's, and harms nobody
                    continue
                try:
                    facts = os.fstat(one)
                    plain = stat.S_ISDIR(facts.st_mode) or (stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1)
                    if plain and facts.st_uid == self.daemon_uid:
                        os.fchown(one, uid, gid)
                    else:
                        self._note("kept", f"{path / here / name!s} is not the daemon's alone, and stays as it is")
                finally:
                    os.close(one)

    @staticmethod
    def _open(held: ExitStack, parent: int, path: Path) -> int | None:
        try:
            found = os.open(path.name, _FOLDER, dir_fd=parent)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ProvisionError(str(path), "is no folder of its own (a link or a file)") from error
        held.callback(os.close, found)
        return found

    def _state_owner(self) -> int:
        try:
            return self._state.stat().st_uid
        except OSError as error:
            remedy = "Name the state folder with --state, or install kai first: 'kai system install'."
            raise ProvisionError(str(self._state), "there is no such state folder", remedy) from error

    def _do(self, did: str, what: str, tool: str, *args: str) -> None:
        self._note(did, what)
        if self.dry:
            return
        found = shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if found is None:
            raise ProvisionError(what, f"{tool} is not on this machine", "Install the package passwd.")
        done = subprocess.run([found, *args], capture_output=True, text=True, timeout=_TOOL_S, check=False)
        if done.returncode:
            raise ProvisionError(what, f"{tool} says: {done.stderr.strip().splitlines()[-1:] or done.returncode}")

    def _note(self, did: str, what: str) -> None:
        self.steps.append(Step(did, what))


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _group_exists(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _has(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return False
    return True


def _shell() -> str:
    return "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
