"""What a backup says of itself: every file with size and SHA-256, under a seal. Whatever differs is refused whole."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from kai.model.errors import KaiError

FORMAT = 1
NAME = "manifest.json"
_MAX_BYTES = 64 * 1024 * 1024
_HOP_BYTES = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass
class BackupError(KaiError):
    """A backup that could not be made, or that is not whole."""

    path: str
    problem: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.problem}."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass(frozen=True, slots=True)
class Manifest:
    """`files` maps a path in the backup to size and SHA-256; `owners` a person's folder name to their OS user.

    `owner` is the OS user of kai itself, `roots` the modes of the folders that hold the persons' own, and whether they
    are root's. `left_out` says what is not in it, and why.
    """

    made_at: str
    kai: str
    migration: int
    owner: str
    files: Mapping[str, tuple[int, str]]
    owners: Mapping[str, str]
    roots: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    format: int = FORMAT

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.made_at)

    @property
    def size_bytes(self) -> int:
        return sum(size for size, _ in self.files.values())

    @property
    def seal(self) -> str:
        """SHA-256 of all that it says."""
        said = json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()
        return hashlib.sha256(said).hexdigest()


def write(folder: Path, manifest: Manifest) -> None:
    """Write it into `folder`, onto the disk."""
    with (folder / NAME).open("x") as file:
        json.dump({**asdict(manifest), "seal": manifest.seal}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path) -> Manifest:
    """The manifest of a backup. Raises `BackupError` when there is none, or it does not say what it said once."""
    try:
        with (folder / NAME).open("rb") as file:
            fields: dict[str, Any] = json.loads(file.read(_MAX_BYTES))
        seal = fields.pop("seal")
        if fields.get("format") != FORMAT:
            raise BackupError(str(folder), f"a backup of format {fields.get('format')!r}", "Take the kai that made it.")
        for name in ("files", "roots"):
            fields[name] = {key: tuple(value) for key, value in fields[name].items()}
        found = Manifest(**{**fields, "left_out": tuple(fields["left_out"])})
        whole = found.seal == seal and found.moment.tzinfo is not None
    except FileNotFoundError:
        raise BackupError(str(folder), "this is no whole backup (it has no manifest)") from None
    except OSError as error:
        raise BackupError(str(folder), f"it cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise _changed(folder, NAME, "is not as it was written")
    return found


def names(folder: Path) -> Iterator[str]:
    """Every file in a backup but the manifest, as the manifest names them. Links and folders of links are files."""
    for at, folders, files in os.walk(folder):
        linked = [name for name in folders if (Path(at) / name).is_symlink()]
        for name in (*files, *linked):
            inside = str((Path(at) / name).relative_to(folder))
            if inside != NAME:
                yield inside


def check_names(folder: Path, manifest: Manifest) -> None:
    """Raises `BackupError` when a file is missing or one too many is there."""
    there = set(names(folder))
    for name in manifest.files:
        if name.startswith("/") or ".." in Path(name).parts:
            raise _changed(folder, name, "leads out of the backup")
        if name not in there:
            raise _changed(folder, name, "is missing")
    for name in there - set(manifest.files):
        raise _changed(folder, name, "does not belong to it")


def copied(
    folder: Path, manifest: Manifest, name: str, out: BinaryIO | None, check: Callable[[], None] = lambda: None
) -> None:
    """Read one file of a backup, to `out` if there is one. Raises `BackupError` when it is not as it was written."""
    size, expected = manifest.files[name]
    digest, seen = hashlib.sha256(), 0
    with opened(folder, name) as source:
        while piece := source.read(_HOP_BYTES):
            check()
            digest.update(piece)
            seen += len(piece)
            if out is not None:
                out.write(piece)
    if (seen, digest.hexdigest()) != (size, expected):
        raise _changed(folder, name, "is not as it was written")


def opened(folder: Path, name: str) -> BinaryIO:
    """No link is followed in any part of its path: a backup may lie where others can write."""
    at = -1
    try:
        *folders, leaf = Path(name).parts
        at = os.open(folder, _FOLDER)
        for inner in folders:
            at, before = os.open(inner, _FOLDER | os.O_NOFOLLOW, dir_fd=at), at
            os.close(before)
        return os.fdopen(os.open(leaf, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at), "rb")
    except OSError as error:
        raise _changed(folder, name, f"cannot be read ({error.strerror})") from error
    finally:
        if at >= 0:
            os.close(at)


def _changed(folder: Path, name: str, what: str) -> BackupError:
    return BackupError(str(folder), f"{name} {what}: nothing of this backup was used", "Take another backup.")
