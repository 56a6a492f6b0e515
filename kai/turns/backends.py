"""Which backends are installed and logged in here: asked once, kept until a reload or a check asks again."""

from collections import defaultdict
from pathlib import Path

import anyio
from anyio import to_thread

from kai.catalog.discover import AT_ONCE, Installed, Versions, discover
from kai.model.backends import Manifest
from kai.processes.environment import search_path
from kai.turns.config import Config

ALWAYS_THERE = "offline"


class Backends:
    """Answers of `discover`, by backend and home; the look starts a program, so it is done in a thread."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[tuple[str, Path], Installed] = {}
        self._versions: defaultdict[str, Versions] = defaultdict(Versions)
        self._at_once = anyio.CapacityLimiter(AT_ONCE)

    def forget(self, backend: str = "") -> None:
        """Look again at the next question; a program is run again where its file has changed, and for `backend`."""
        self._known.clear()
        self._versions.pop(backend, None)

    async def installed(self, manifest: Manifest, home: Path) -> Installed:
        """Program, version and login state of `manifest` for whoever lives in `home`."""
        key = (manifest.id, home)
        if key not in self._known:
            versions = self._versions[manifest.id]
            self._known[key] = await to_thread.run_sync(_look, manifest, home, versions, limiter=self._at_once)
        return self._known[key]

    async def every(self, home: Path) -> dict[str, Installed]:
        """All of them by backend, some at once: an agent CLI may take seconds to tell its version."""
        found: dict[str, Installed] = {}

        async def ask(manifest: Manifest) -> None:
            found[manifest.id] = await self.installed(manifest, home)

        async with anyio.create_task_group() as tasks:
            for manifest in self._config.manifests.values():
                tasks.start_soon(ask, manifest)
        return found

    async def automatic(self, home: Path) -> str:
        """The first backend, in the order of the manifests, that is installed and not known to be logged out."""
        for manifest in self._config.manifests.values():
            if manifest.id == ALWAYS_THERE:
                continue
            found = await self.installed(manifest, home)
            if found.program and not found.problem and found.logged_in:
                return manifest.id
        return ALWAYS_THERE


def _look(manifest: Manifest, home: Path, versions: Versions) -> Installed:
    return discover(manifest, path=search_path(home), home=home, run=versions)
