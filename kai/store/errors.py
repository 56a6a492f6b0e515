"""Why the database cannot be used: one class per situation, each saying what to do about it."""

from dataclasses import dataclass
from pathlib import Path

from kai.model.errors import StoreError
from kai.store.binding import Error


@dataclass
class DiskFullError(StoreError):
    """The disk that holds the database is full."""

    problem: str = "nothing can be stored because the disk is full"
    remedy: str = "Make room on that disk; nothing was lost, and kai goes on by itself."


@dataclass
class DatabaseLockedError(StoreError):
    """Another program holds the database."""

    problem: str = "another program holds the database locked"
    remedy: str = "Find it with 'fuser' on that path, and end it; only the daemon may open this file."


@dataclass
class DaemonRunningError(StoreError):
    """A daemon has this database open. `pid` is 0 when it is not known."""

    problem: str = "a kai daemon is using this database already"
    remedy: str = "Talk to that daemon, or stop it first."
    pid: int = 0

    @property
    def sentence(self) -> str:
        who = f" (process {self.pid})" if self.pid else ""
        return f"{self.path}: {self.problem}{who}."

    @property
    def hint(self) -> str:
        return f"Talk to that daemon, or stop it: kill {self.pid}." if self.pid else self.remedy


@dataclass
class CorruptDatabaseError(StoreError):
    """The file is damaged, or is no database of kai's."""

    problem: str = "the database is damaged"
    remedy: str = (
        "Stop kai, then 'kai restore newest --replace' (the damaged one stays aside); see 'kai backup --list'."
    )


@dataclass
class NewerDatabaseError(StoreError):
    """The database was written by a newer kai."""

    problem: str = "this database was written by a newer version of kai"
    remedy: str = "Install that version again, or restore the copy in the backups folder made before the upgrade."


@dataclass
class UnfinishedRestoreError(StoreError):
    """A restore was cut while it took the place of the state."""

    problem: str = "a restore was cut short here: a part of the state is the old one"
    remedy: str = "Complete it with 'kai restore --finish'; nothing is lost."


@dataclass
class UnusableDatabaseError(StoreError):
    """The operating system does not let kai read or write the file."""

    problem: str = "the database cannot be opened for writing"
    remedy: str = "Give the file and its folder to the user that runs kai, on a disk that can be written to."


_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_HELD = ("SQLITE_BUSY", "SQLITE_LOCKED")
_SHUT = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")


def translate(error: Error, path: Path) -> StoreError:
    """What an error of the binding means here."""
    name = getattr(error, "sqlite_errorname", None) or ""
    said = str(error)
    if name.startswith("SQLITE_FULL"):
        return DiskFullError(str(path))
    if name.startswith(_HELD):
        return DatabaseLockedError(str(path))
    if name.startswith(_DAMAGE):
        return CorruptDatabaseError(str(path), f"the database is damaged ({said})")
    if name.startswith(_SHUT):
        return UnusableDatabaseError(str(path), f"the database cannot be read or written ({said})")
    if name.startswith("SQLITE_IOERR"):
        remedy = "See that its disk is there, has room and can be written to; the system's log may say more."
        return UnusableDatabaseError(str(path), f"the disk failed ({said})", remedy)
    return StoreError(str(path), f"a rule of the database was broken ({said})", "This is a fault of kai: report it.")
