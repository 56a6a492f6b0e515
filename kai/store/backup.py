"""Backups: a copy of the database, the files of kai and of its people, complete under its name or not there at all."""

import errno
import hashlib
import os
import pwd
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import kai
from kai.model.errors import KaiError
from kai.store import manifest, opening, people, temporary
from kai.store.binding import Error
from kai.store.errors import DiskFullError, translate
from kai.store.manifest import BackupError, Manifest
from kai.store.migrate import back_up, sync_folder, version

DATABASE = "kai.db"
FOLDER = "backups"
KINDS = ("preferences", "memory", "homes")  # in each of them, every person has a folder
SHARED = "shared"  # the files that lie beside the persons' folders
_NAME = re.compile(r"kai-\d{8}T\d{6}Z(-\d+)?")
_COPY = re.compile(r"kai-before-.+-\d{8}T\d{6}\.db")
_RESERVE_BYTES = 64 * 1024 * 1024  # what a backup leaves free, where the disk is not small
_LOOK_BYTES = 8 * 1024 * 1024  # written between two looks at the room that is left

Packer = Callable[[str, Mapping[str, str], BinaryIO, int], list[str]]
"""Packs folders of another OS user: (user, name to path, where to, most bytes of a file) to what was left out."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A whole backup and where it is."""

    path: Path
    manifest: Manifest


def make(
    state: Path,
    now: datetime,
    *,
    keep: int,
    max_file_bytes: int,
    as_owner: Packer | None = None,
    check: Callable[[], None] = lambda: None,
) -> Backup:
    """Back up the state folder while the daemon works; blocks. `keep` newest ones stay, older ones go.

    The caller holds the lock of the database. `check` is called now and then and may raise to give up. Person files
    that belong to others go through `as_owner`; without it they are left out, and the backup says so.
    Raises `DiskFullError`, `BackupError`, another `StoreError`, or whatever `check` raises: then nothing is left.
    """
    folder = state / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _sweep(folder)
        if room_needed(state) > room(state):
            raise DiskFullError(str(folder), "this disk will not hold another backup")
        target = _free_name(folder, now)
        draft = folder / f".new-{target.name}"
        draft.mkdir(mode=0o700)
        try:
            made = _Making(state, draft, max_file_bytes, as_owner, check).made(now)
            manifest.write(draft, made)
            for at, _, _ in os.walk(draft):
                sync_folder(Path(at))
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        sync_folder(folder)
        prune(folder, keep)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(str(folder), "there was no room for the backup; nothing of it was left") from error
        raise BackupError(str(folder), f"the backup could not be made ({error.strerror or error})") from error
    return Backup(target, made)


class _Making:
    def __init__(
        self, state: Path, draft: Path, max_file_bytes: int, as_owner: Packer | None, check: Callable[[], None]
    ) -> None:
        self._state, self._draft, self._max = state, draft, max_file_bytes
        self._as_owner, self._check = as_owner, check
        self._files: dict[str, tuple[int, str]] = {}
        self._owners: dict[str, str] = {}
        self._left_out: list[str] = []
        self._gone: set[str] = set()  # files of what is temporary

    def made(self, now: datetime) -> Manifest:
        names, migration = self._database(now)
        for name in sorted(names | set(_listed(self._state))):
            self._person(name)
        shared = {kind: self._state / kind / "MEMORY.md" for kind in ("memory",)}
        for kind, path in shared.items():
            if path.is_file() and not path.is_symlink():
                self._keep(path, f"{SHARED}/{kind}/{path.name}")
        if (self._state / "history").is_dir():
            self._packed("history", {"history": str(self._state / "history")})
        self._attachments()
        roots = {kind: self._state / kind for kind in KINDS if (self._state / kind).is_dir()}
        modes = {kind: (path.stat().st_mode & 0o777, path.stat().st_uid == 0) for kind, path in roots.items()}
        owner = _user(self._state.stat().st_uid)
        left_out = tuple(self._left_out)
        moment = now.isoformat()
        return Manifest(moment, kai.__version__, migration, owner, self._files, self._owners, modes, left_out)

    def _database(self, now: datetime) -> tuple[set[str], int]:
        """Copy it, and give the names that persons' folders may have. The copy is of one moment."""
        path = self._state / DATABASE
        try:
            with closing(opening.connect_to(path, 5.0)) as db:
                db.set_progress_handler(self._checked, 10_000)
                back_up(db, self._draft / DATABASE)
            with closing(opening.connect_to(self._draft / DATABASE, 0)) as db:
                everybody, migration = people.every(db, removed=True), version(db)
                if migration >= temporary.SINCE:  # what is temporary is never kept longer
                    self._gone = set(temporary.erase(db, now, everything=True).paths)
                names = {row[0] for row in db.execute("SELECT channel FROM channel")}  # a shared one has a home
        except Error as error:
            self._check()  # what stopped it may be what asks to give up
            raise translate(error, path) from error
        self._add(DATABASE)
        names |= {name for one in everybody for name in (one.principal, one.legacy_chat_id) if name}
        return names, migration

    def _checked(self) -> int:
        try:
            self._check()
        except BaseException:  # noqa: BLE001 - SQLite is told to stop, and it is asked again outside
            return 1
        return 0

    def _person(self, name: str) -> None:
        roots = {f"{kind}/{name}": self._state / kind / name for kind in KINDS}
        there = {inside: str(path) for inside, path in roots.items() if path.is_dir() and not path.is_symlink()}
        owners = {Path(path).stat().st_uid for path in there.values()}
        if not there:
            return
        if len(owners) > 1:
            self._left_out.append(f"people/{name}: its folders have several owners")
            return
        uid = owners.pop()
        self._owners[name] = _user(uid)
        self._packed(f"people/{name}", there, self._owners[name], uid)

    def _packed(self, name: str, roots: Mapping[str, str], owner: str = "", uid: int = 0) -> None:
        from kai.launcher import archive  # noqa: PLC0415 - the daemon holds what packs only once it packs

        # Root packs nobody's files: a second name of a file that they may not read would bring it to them.
        ours = not owner or os.geteuid() == uid
        if not ours and self._as_owner is None:
            self._left_out.append(f"{name}: it belongs to {owner}")
            return
        path = self._draft / f"{name}.tar"
        path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with path.open("xb", buffering=0) as file:
                out: BinaryIO = _Careful(file, self._draft, self._check, is_ours=ours)  # type: ignore[assignment]
                if ours or self._as_owner is None:
                    left_out = archive.pack(roots, out, self._max)
                else:
                    left_out = self._as_owner(owner, roots, out, self._max)
                os.fsync(file.fileno())
            if not ours:  # who packed it may do as they like, and must not spoil the rest
                with path.open("rb") as file:
                    archive.check(file, roots)
        except (KaiError, archive.BadArchiveError) as error:
            path.unlink()
            self._left_out.append(f"{name}: {error}")
            return
        self._left_out += left_out
        path.chmod(0o600)
        self._add(f"{name}.tar")

    def _attachments(self) -> None:
        folder = self._state / "attachments"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (
                path.is_file()
                and not path.is_symlink()
                and not path.name.startswith(".")
                and str(path) not in self._gone
            ):
                self._keep(path, f"attachments/{path.name}")

    def _keep(self, path: Path, name: str) -> None:
        """A file that nobody changes in place: a second name for it where that can be, else a copy."""
        to = self._draft / name
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not name.startswith("attachments/"):
            shutil.copyfile(path, to)
        else:
            try:
                to.hardlink_to(path)
            except FileNotFoundError:
                return  # kept long enough, and erased meanwhile
            except OSError:
                shutil.copyfile(path, to)
        self._add(name)

    def _add(self, name: str) -> None:
        digest, size = hashlib.sha256(), 0
        with (self._draft / name).open("rb") as file:
            while piece := file.read(1 << 20):
                self._check()
                digest.update(piece)
                size += len(piece)
        self._files[name] = (size, digest.hexdigest())


class _Careful:
    """A file that stops while there is still room for what the daemon has to keep."""

    def __init__(self, file: BinaryIO, on: Path, check: Callable[[], None], *, is_ours: bool) -> None:
        self._file, self._on, self._check = file, on, check
        self._since, self._is_ours = 0, is_ours
        self._left = room(on) if is_ours else room(on) // 2  # nobody's files may keep those of the others out

    def write(self, data: bytes) -> int:
        self._check()
        self._since += len(data)
        self._left -= len(data)
        if self._left < 0 and not self._is_ours:
            raise BackupError(str(self._on), "it would take more than half of the room that is left")
        if self._since >= _LOOK_BYTES:
            self._since = 0
            if room(self._on) <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        return len(data)


def every(state: Path) -> Iterator[Path]:
    """The backups of a state folder, newest first."""
    with suppress(OSError):
        named = [path for path in (state / FOLDER).iterdir() if _NAME.fullmatch(path.name)]
        yield from sorted(named, key=lambda path: (path.name[:20], len(path.name), path.name), reverse=True)


def listing(state: Path) -> list[Backup]:
    """Those of them that have a sound manifest, newest first."""
    found = []
    for path in every(state):
        with suppress(BackupError):
            found.append(Backup(path, manifest.read(path)))
    return found


def prune(folder: Path, keep: int) -> None:
    """Erase all but the `keep` newest backups, and as many of the copies made before migrations."""
    for path in [*list(every(folder.parent))[keep:], *_copies(folder)[keep:]]:
        gone = path.with_name(f".old-{path.name}")
        path.rename(gone)  # what is half erased no longer bears its name
        _erase(gone)


def room(on: Path) -> int:
    """Bytes that a backup may still take."""
    disk = os.statvfs(on)
    return disk.f_bavail * disk.f_frsize - min(_RESERVE_BYTES, disk.f_blocks * disk.f_frsize // 20)


def room_needed(state: Path) -> int:
    """About what the next backup takes: the database, and what the files took the last time."""
    last = next(iter(listing(state)), None)
    files = last.manifest.files if last else {}
    packed = sum(size for name, (size, _) in files.items() if name.endswith(".tar"))
    return (state / DATABASE).stat().st_size + packed


def _copies(folder: Path) -> list[Path]:
    return sorted((path for path in folder.iterdir() if _COPY.fullmatch(path.name)), reverse=True)


def _sweep(folder: Path) -> None:
    """What a killed daemon left half made or half erased."""
    for pattern in (".new-*", ".old-*"):
        for left in folder.glob(pattern):
            _erase(left)


def _erase(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _free_name(folder: Path, now: datetime) -> Path:
    plain = f"kai-{now:%Y%m%dT%H%M%SZ}"
    last = next((path.name for path in every(folder.parent) if path.name.startswith(plain)), "")
    return folder / (f"{plain}-{int(last[len(plain) + 1 :] or 1) + 1}" if last else plain)


def _listed(state: Path) -> Iterator[str]:
    """Names of persons' folders that are there; where the folders are root's, only the database knows them."""
    for kind in KINDS:
        with suppress(OSError):
            for path in (state / kind).iterdir():
                if path.is_dir() and not path.is_symlink():
                    yield path.name


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
