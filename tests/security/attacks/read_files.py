"""As A's agent: read what is B's: home, files, kai's files of B, the token of B's run."""

import os
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import PLACES, NothingGainedError, attempt

for place in PLACES["files_of_b"]:
    path = Path(place)
    attempt(f"read {path.name}", path.read_bytes)
    attempt(f"list the folder of {path.name}", os.listdir, path.parent)
    attempt(f"write {path.name}", path.write_text, "mine")


def by_link() -> str:
    link = Path("stolen")
    link.symlink_to(PLACES["files_of_b"][0])
    try:
        return link.read_text()
    finally:
        link.unlink()


def by_hard_link() -> object:
    os.link(PLACES["files_of_b"][0], "stolen")
    os.unlink("stolen")
    return "a second name of it"


def by_another_door() -> str:
    """Through the working folder of B's process."""
    found = Path(f"/proc/{PLACES['pid_of_b']}/cwd").resolve(strict=True)
    if not os.access(found, os.R_OK):
        raise NothingGainedError(f"it leads to {found}, which cannot be entered")
    return str(found)


attempt("read it by a link", by_link)
attempt("read it by a hard link", by_hard_link)
attempt("read it through /proc of B's agent", by_another_door)
