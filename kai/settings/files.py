"""Reads a file of the configuration: an absent optional one is fine, anything else says who lacks what."""

import os
import pwd
import stat
from pathlib import Path

from kai.settings.problems import Place, Problem, problem


def read(path: Path, *, optional: bool, max_bytes: int) -> bytes | Problem | None:
    """The bytes (at most `max_bytes` + 1, so that the caller sees excess), None for an absent optional file."""
    try:
        # O_NONBLOCK: a fifo in the place of a file must not stop the daemon.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return problem(Place(str(path)), "", "this is not a regular file")
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(max_bytes + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        if path.is_symlink():
            return problem(
                Place(str(path)), "", f"a link to {path.readlink()}, which is not there", "correct or remove it"
            )
        return None if optional else problem(Place(str(path)), "", "there is no such file")
    except PermissionError:
        return problem(Place(str(path)), "", *lacking(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return problem(Place(str(path)), "", f"it cannot be read: {reason}")


def children(folder: Path, problems: list[Problem]) -> list[Path]:
    """What a folder holds, by name; nothing when it is missing. One that cannot be listed goes to `problems`."""
    place = Place(str(folder))
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        if folder.is_symlink():
            problems.append(problem(place, "", f"a link to {folder.readlink()}, which is not there"))
    except PermissionError:
        problems.append(problem(place, "", *lacking(folder)))
    except OSError as error:
        problems.append(problem(place, "", f"this folder cannot be listed: {error.strerror}"))
    return []


def lacking(path: Path) -> tuple[str, str]:
    """Who may not read `path`, and what to do. Names the folder that stops them where one does."""
    me = user_name(os.geteuid())
    for folder in reversed(path.absolute().parents):
        if not os.access(folder, os.X_OK, effective_ids=True):
            return f"user {me} may not enter {folder}", f"let {me} enter it, as with chmod o+x {folder}"
    try:
        found = path.stat()
    except OSError:
        return f"user {me} may not read it", ""
    mode = stat.S_IMODE(found.st_mode)
    owner = user_name(found.st_uid)
    return f"user {me} may not read it (it belongs to {owner}, mode {mode:04o})", f"let {me} read it"


def user_name(uid: int) -> str:
    """Name of an OS user, or its number."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
