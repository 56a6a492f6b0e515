"""A state folder with something of everything, for the tests of backups."""

import os
import pwd
from contextlib import ExitStack, closing
from hashlib import sha256
from pathlib import Path

from kai.model.ids import AttachmentRef
from kai.model.messages import AttachmentInfo
from kai.store import attachments, opening
from tests.store.house import ANN, BOB, START, furnish

ME = pwd.getpwuid(os.getuid()).pw_name


def make_state(folder: Path) -> Path:
    """Two persons, a turn that is done, one that runs, one that waits, an answer that is owed, a file, an archive."""
    folder.mkdir(mode=0o700)
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, folder / "kai.db", START, 1, 0)
        writer.execute("BEGIN")
        house = furnish(writer)
        done = house.queued("the first")
        house.finish(done, house.sent(done))
        house.sent(house.queued("the second"))
        house.queued("the third")
        data = b"a picture"
        digest = sha256(data).hexdigest()
        (folder / "attachments").mkdir(mode=0o700)
        path = folder / "attachments" / f"{digest}.png"
        path.write_bytes(data)
        attachments.add(
            writer, AttachmentInfo(AttachmentRef("x-1"), "a.png", "image/png", 9, digest, str(path)), ANN, START
        )
        writer.execute("COMMIT")
    for kind, name in (("preferences", "PREFERENCES.md"), ("memory", "MEMORY.md"), ("homes", "AGENTS.md")):
        for person in (ANN, BOB):
            (folder / kind / person).mkdir(mode=0o700, parents=True)
            (folder / kind / person / name).write_text(f"{kind} of {person}")
    (folder / "memory" / "MEMORY.md").write_text("everybody's")
    (folder / "history" / "c-1").mkdir(parents=True)
    (folder / "history" / "c-1" / "2026-11-30.jsonl").write_text("{}\n")
    return folder


def files(state: Path) -> dict[str, bytes]:
    """What lies in a state folder but for the database, backups and what was kept aside."""
    return {
        str(path.relative_to(state)): path.read_bytes()
        for path in sorted(state.rglob("*"))
        if path.is_file() and not str(path.relative_to(state)).startswith(("kai.db", "backups", "before-", "."))
    }


def rows(state: Path, query: str) -> list[tuple[object, ...]]:
    with closing(opening.connect_to(state / "kai.db", 1)) as db:
        return [tuple(row) for row in db.execute(query).fetchall()]
