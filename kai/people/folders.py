"""Where a person's files are, and what they start as."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kai.model.ids import PrincipalId
from kai.resources import folder

_LEGACY = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,63}")
_HOME_SEEDS = ("AGENTS.md", "CLAUDE.md")


class PersonFolders:
    """The per-person folders below one state folder. Blocks where it looks whether a folder is there.

    A person who came from an older installation keeps the folder named by their chat id for as long as the one named
    by their principal does not exist.
    """

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir

    def preferences(self, principal: PrincipalId, legacy_chat_id: str = "") -> Path:
        return self._own("preferences", principal, legacy_chat_id) / "PREFERENCES.md"

    def memory(self, principal: PrincipalId, legacy_chat_id: str = "") -> Path:
        return self._own("memory", principal, legacy_chat_id) / "MEMORY.md"

    def home(self, principal: PrincipalId) -> Path:
        """The person's home workspace."""
        return self.root / "homes" / principal

    def seat_home(self, channel: str) -> Path:
        """The home of a shared channel's seat."""
        return self.root / "homes" / channel

    def identity(self, home: Path) -> Path:
        """The file that holds the identity of the agent that lives in `home`."""
        return home / "AGENTS.md"

    def shared_memory(self) -> Path:
        """The MEMORY.md of runs that speak for nobody."""
        return self.root / "memory" / "MEMORY.md"

    def archive(self, channel: str) -> Path:
        """The imported JSONL archive of a route that has no canonical channel. kai writes none."""
        return self.root / "history" / channel

    def brought(self, home: Path) -> Path:
        """Where the files that come with messages lie, when the agent runs as another OS user than the daemon."""
        return home / ".kai" / "in"

    def seed(self, principal: PrincipalId, legacy_chat_id: str = "", *, shared: bool = False) -> None:
        """Make a person's folders (0700) and first files (0600). Blocks. What exists already is left as it is."""
        for path, seed in self.seeds(principal, legacy_chat_id, shared=shared):
            _plant(path, seed)

    def seeds(
        self, principal: PrincipalId, legacy_chat_id: str = "", *, shared: bool = False
    ) -> Iterator[tuple[Path, Path]]:
        """A person's first files, each with what it starts as. Blocks. With `shared`, those of a shared channel's seat.

        That has a home, and neither preferences nor a memory of its own.
        """
        home = self.home(principal)
        seeds = folder("data") / "seeds"
        for name in _HOME_SEEDS:
            yield home / name, seeds / name
        for own in folder("backends").glob("*/home"):  # what a CLI has to find in the folder that it works in
            for seed in own.rglob("*.*"):
                if seed.is_file():
                    yield home / seed.relative_to(own), seed
        if not shared:
            for path in (self.preferences(principal, legacy_chat_id), self.memory(principal, legacy_chat_id)):
                yield path, seeds / path.name

    def _own(self, kind: str, principal: PrincipalId, legacy_chat_id: str) -> Path:
        own = self.root / kind / principal
        legacy = self.root / kind / legacy_chat_id
        takes_legacy = _LEGACY.fullmatch(legacy_chat_id) and not _stands(own) and _stands(legacy)
        return legacy if takes_legacy else own


def _stands(path: Path) -> bool:
    """Whether something has that name, whatever it is."""
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _plant(path: Path, seed: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
    except FileExistsError:
        return
    with os.fdopen(file, "wb") as out:
        out.write(seed.read_bytes())
