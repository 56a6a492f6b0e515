"""Restoring: a backup is proven whole beside the state, then takes its place in one move; what was there is kept.

A kill at any moment leaves the old state in use, or a mark with which no daemon starts until `finish` has made the
move complete.
"""

import ctypes
import errno
import json
import os
import pwd
import re
import shutil
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kai.launcher import archive
from kai.store import backup, deliveries, manifest, opening, sessions, turns
from kai.store.backup import DATABASE, KINDS, SHARED, Backup
from kai.store.binding import Connection, Error
from kai.store.errors import CorruptDatabaseError, DiskFullError, translate
from kai.store.manifest import BackupError, Manifest
from kai.store.migrate import APPLICATION_ID, migrate, shipped, sync_folder, version
from kai.store.opening import MARK

STAGE = ".restore"
ASIDE = "before-restore-"
_NAME = re.compile(rf"({ASIDE}\d{{8}}T\d{{6}}Z(-\d+)?)?")
_MOVED = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", "attachments", *KINDS, "history")
_REPLACE = "Add --replace: what is there is kept aside, in the same folder."


@dataclass
class StateInTheWayError(BackupError):
    """There is a state already, and nobody said that it may be replaced."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What took the place of the state; `aside` is where the former one is, None when there was none."""

    backup: str
    made_at: datetime
    aside: Path | None
    left_out: tuple[str, ...]


def find(state: Path, name: str) -> Path:
    """The folder of a backup: a path, a name in the backups folder, or ``newest``. Raises `BackupError`."""
    if name == "newest":
        for path in backup.every(state):
            return path
        raise BackupError(str(state / backup.FOLDER), "there is no backup", "'kai backup' makes one.")
    inside = state / backup.FOLDER / name
    path = inside if "/" not in name and inside.is_dir() else Path(name)
    if not path.is_dir():
        raise BackupError(name, "this is no folder of a backup", "'kai backup --list' names those that there are.")
    return path


def check(folder: Path) -> Backup:
    """Prove that a backup is whole, reading all of it and writing nothing. Raises `BackupError` or `StoreError`."""
    said = _read(folder)
    for name in said.files:
        manifest.copied(folder, said, name, None)
    return Backup(folder, said)


def restore(state: Path, folder: Path, now: datetime, *, replace: bool) -> Restored:
    """Put the backup in the place of the state; blocks. `state` must be there and be ours.

    Raises `DaemonRunningError`, `StateInTheWayError`, `DiskFullError`, `BackupError` or another `StoreError`: then
    nothing has changed.
    """
    with ExitStack() as stack:
        _lock(stack, state)
        said = _read(folder)
        there = [name for name in _MOVED if _stands(state / name)]
        if there and not replace:
            raise StateInTheWayError(str(state), f"there is a state already ({', '.join(there)})", _REPLACE)
        stage = _beside(state) / STAGE
        _erase(stage)
        try:
            stage.parent.mkdir(mode=0o700, exist_ok=True)
            stage.mkdir(mode=0o700)
            _stage(state, stage, folder, said, now)
            _sync(stage)  # a mark on the disk says that all of it is
            aside = _free_name(_beside(state), f"{ASIDE}{now:%Y%m%dT%H%M%SZ}") if there else ""
            _mark(state, {"aside": aside, "backup": str(folder), "made_at": said.made_at, "left_out": said.left_out})
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFullError(str(state), "there is no room to restore; nothing was changed") from error
            raise BackupError(str(state), f"nothing was restored ({error})") from error
        finally:
            if not _stands(state / MARK):
                _erase(stage)
        return _move(state)


def finish(state: Path) -> Restored:
    """Complete a restore that was cut. Raises `BackupError` when none was."""
    with ExitStack() as stack:
        _lock(stack, state)
        if not _stands(state / MARK):
            raise BackupError(str(state), "no restore was cut short here")
        return _move(state)


def _lock(stack: ExitStack, state: Path) -> None:
    """Until `stack` is left no daemon uses the state."""
    lock = opening.take_lock(state / DATABASE)
    stack.callback(os.close, lock)
    if os.geteuid() == 0:  # it must not keep the daemon out
        os.fchown(lock, state.stat().st_uid, state.stat().st_gid)
    if (state / DATABASE).is_file():
        stack.callback(os.close, opening.hold(state / DATABASE))


def _read(folder: Path) -> Manifest:
    said = manifest.read(folder)
    manifest.check_names(folder, said)
    if DATABASE not in said.files:
        raise BackupError(str(folder), "there is no database in it")
    if said.migration > len(shipped()):
        problem = f"it was made by a newer kai ({said.kai})"
        raise BackupError(str(folder), problem, "Install that version, or a later one.")
    return said


def _stage(state: Path, stage: Path, folder: Path, said: Manifest, now: datetime) -> None:
    if said.size_bytes > backup.room(state):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    owner = _Owner(state, said)
    for kind in {*KINDS, "attachments"}:
        (stage / kind).mkdir(mode=0o700)
    for name in sorted(said.files):
        if name.endswith(".tar"):
            _unpack(stage, folder, said, name, owner)
            continue
        to = stage / (name.removeprefix(f"{SHARED}/"))
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with to.open("xb") as out:
            os.fchmod(out.fileno(), 0o600)
            manifest.copied(folder, said, name, out)
        owner.kais(to)
    for kind, (mode, is_roots) in said.roots.items():
        (stage / kind).chmod(mode)
        if is_roots:
            owner.roots(stage / kind)
    for path in (stage / "attachments", *(stage / kind for kind in KINDS if not said.roots.get(kind, (0, False))[1])):
        owner.kais(path)
    _settle(stage / DATABASE, folder, said, now)


def _unpack(stage: Path, folder: Path, said: Manifest, name: str, owner: "_Owner") -> None:
    """Checked before it is unpacked: read twice rather than once more than it should be."""
    manifest.copied(folder, said, name, None)
    person = name.removeprefix("people/").removesuffix(".tar")
    tops = {f"{kind}/{person}" for kind in KINDS} if name.startswith("people/") else {"history"}
    try:
        with manifest.opened(folder, name) as file:
            archive.unpack(file, str(stage), tops, owner.of(name))
    except archive.BadArchiveError as error:
        raise BackupError(str(folder), f"{name} is no archive of kai's ({error})", "Take another backup.") from error


class _Owner:
    """Whose each restored file is. Only root can give files away; else all of them must be ours."""

    def __init__(self, state: Path, said: Manifest) -> None:
        facts = state.stat()
        self._kai = (facts.st_uid, facts.st_gid)
        self._is_root = os.geteuid() == 0
        self._of: dict[str, tuple[int, int]] = {}
        for person, user in said.owners.items():
            self._of[person] = self._kai if user == said.owner else self._found(person, user)

    def _found(self, person: str, user: str) -> tuple[int, int]:
        if not self._is_root:
            raise BackupError(person, f"its files belong to {user}", "Restore as root: only root can give files away.")
        try:
            known = pwd.getpwnam(user)
        except KeyError:
            remedy = f"Make the user first, such as with 'useradd -m {user}'."
            raise BackupError(person, f"this machine has no user {user}", remedy) from None
        if known.pw_uid == 0:
            raise BackupError(person, "its files belong to root", "No person is root.")
        return known.pw_uid, known.pw_gid

    def of(self, name: str) -> "_Giving":
        person = name.removeprefix("people/").removesuffix(".tar")
        return _Giving(self._of.get(person, self._kai) if self._is_root else None)

    def kais(self, path: Path) -> None:
        if self._is_root:
            os.chown(path, *self._kai, follow_symlinks=False)

    def roots(self, path: Path) -> None:
        if self._is_root:
            os.chown(path, 0, 0, follow_symlinks=False)


@dataclass(frozen=True, slots=True)
class _Giving:
    to: tuple[int, int] | None

    def __call__(self, path: str) -> None:
        if self.to is not None:
            os.chown(path, *self.to, follow_symlinks=False)


def _settle(path: Path, folder: Path, said: Manifest, now: datetime) -> None:
    """Prove the database, and let nothing that was underway at the moment of the backup happen a second time."""
    try:
        with closing(opening.connect_to(path, 0)) as db:
            is_ours = db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            if not is_ours or version(db) != said.migration:
                raise CorruptDatabaseError(str(folder / DATABASE), "this is not the database of this backup")
            found: str = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok" or db.execute("PRAGMA foreign_key_check").fetchone():
                raise CorruptDatabaseError(str(folder / DATABASE), f"the database is damaged ({found})")
            migrate(db, path, shipped(), now)  # its copy of before lies in the stage, and goes with it
            db.execute("BEGIN IMMEDIATE")
            settled(db, said.moment, now)
            db.execute("COMMIT")
    except Error as error:
        raise translate(error, path) from error


def settled(db: Connection, made_at: datetime, now: datetime) -> None:
    """After a restore: what waited or ran then may have been done since, and what was owed may have gone out.

    Nothing of it is done again by itself; each is told once. No session is resumed: an agent's own transcript may know
    of more than this database. Numbers of deliveries go on beyond any that a bridge has seen.
    """
    why = f"kai was restored from a backup of {made_at:%Y-%m-%d %H:%M} UTC"
    sessions.end_all(db, now, why)
    sessions.retire_every(db)
    deliveries.go_on_from(db, now)
    deliveries.lose_all(db, why, now)
    turns.give_up_all(db, why, now)


def _sync(folder: Path) -> None:
    """Bring all that was written to this file system onto the disk: one call, where a file each would take minutes."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(at):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(at)


def _mark(state: Path, what: dict[str, object]) -> None:
    draft = state / f"{MARK}.new"
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(draft, flags, 0o600), "w") as file:
        json.dump(what, file)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(state / MARK)
    sync_folder(state)


def _move(state: Path) -> Restored:
    """The old state aside, the new one in its place, the mark away: each step may be repeated."""
    said = json.loads((state / MARK).read_text())
    stage, aside = _beside(state) / STAGE, _beside(state) / said["aside"] if said["aside"] else None
    if not stage.is_dir() or stage.is_symlink() or not _NAME.fullmatch(said["aside"]):
        remedy = "Finish it as the user who began it."
        raise BackupError(str(state), f"what was to be restored is not in {stage}", remedy)
    if aside is not None:
        if not aside.exists():
            aside.mkdir(mode=0o700)
        if not _stands(stage / ".aside"):
            for name in _MOVED:
                if _stands(state / name):
                    (state / name).rename(aside / name)
            sync_folder(aside)
            sync_folder(state)
            (stage / ".aside").touch()  # from here on, what stands in the place is the new one
            sync_folder(stage)
    for name in _MOVED:
        if _stands(stage / name):
            (stage / name).rename(state / name)
    sync_folder(state)
    (state / MARK).unlink()
    sync_folder(state)
    _erase(stage)
    made_at = datetime.fromisoformat(said["made_at"])
    return Restored(said["backup"], made_at, aside, tuple(said["left_out"]))


def _beside(state: Path) -> Path:
    """Where a restore is prepared and the former state is kept: in the state folder.

    Root does it beside that, where nobody else can put a link in its way.
    """
    own, above = state.stat(), state.parent.stat()
    is_safe = above.st_uid == 0 and not above.st_mode & 0o022 and above.st_dev == own.st_dev
    is_anothers = os.geteuid() == 0 and own.st_uid != 0
    return state.parent / f"{state.name}-restored" if is_anothers and is_safe else state


def _free_name(folder: Path, name: str) -> str:
    taken = 1
    found = name
    while _stands(folder / found):
        taken += 1
        found = f"{name}-{taken}"
    return found


def _erase(path: Path) -> None:
    """A tree of ours, folders that nobody may write in included."""
    if path.is_symlink():
        path.unlink()
    for at, folders, _ in os.walk(path):
        for folder in folders:
            if not (inner := Path(at) / folder).is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def _stands(path: Path) -> bool:
    return os.path.lexists(path)
