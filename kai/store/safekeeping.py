"""A copy of the database before something is tried, and the way back: ``python -m kai.store.safekeeping``.

Run with no daemon on the database (the lock is taken), as the user it belongs to.
"""

import os
import shutil
import sys
from contextlib import closing
from pathlib import Path

from kai.model.errors import KaiError
from kai.store.migrate import back_up, sync_folder, version
from kai.store.opening import connect_to, take_lock


def keep(path: Path, copy: Path) -> str:
    """Copy the database at `path`; what became of it. There may be none yet."""
    lock = take_lock(path)
    try:
        if not path.exists():
            return "there is no database yet"
        with closing(connect_to(path, 5.0)) as db:
            back_up(db, copy)
            return f"copied, in its version {version(db)}"
    finally:
        os.close(lock)


def put_back(path: Path, copy: Path) -> str:
    """Put the copy back where the database has another version by now; what was there stays beside it."""
    lock = take_lock(path)
    try:
        if not copy.exists() or not path.exists():
            return "nothing was copied"
        with closing(connect_to(copy, 5.0)) as before, closing(connect_to(path, 5.0)) as db:
            if version(before) == version(db):
                return "the database is as it was"
        draft = path.with_name(path.name + ".new")
        shutil.copyfile(copy, draft)
        draft.chmod(0o600)
        descriptor = os.open(draft, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        for end in ("-wal", "-shm", ""):
            found = path.with_name(path.name + end)
            if found.exists():
                found.rename(path.with_name(f"{copy.stem}.after{end}"))
        draft.rename(path)
        sync_folder(path.parent)
        return "the copy is back"
    finally:
        os.close(lock)


def main(argv: list[str]) -> int:
    """``keep|put-back DATABASE COPY``; the exit status."""
    verb, path, copy = argv
    try:
        told = {"keep": keep, "put-back": put_back}[verb](Path(path), Path(copy))
        sys.stdout.write(f"{told}\n")
    except KaiError as error:
        sys.stderr.write(f"{error.sentence} {error.hint}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
