"""Which backends are installed and logged in here: asked once, kept until a reload or a check asks again."""

from pathlib import Path

from anyio import to_thread

from kai.catalog.discover import Installed, discover
from kai.model.backends import Manifest
from kai.processes.environment import search_path
from kai.turns.config import Config

ALWAYS_THERE = "offline"


class Backends:
    """Answers of `discover`, by backend and home; the look starts a program, so it is done in a thread."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: dict[tuple[str, Path], Installed] = {}

    def forget(self) -> None:
        """Look again at the next question."""
        self._known.clear()

    async def installed(self, manifest: Manifest, home: Path) -> Installed:
        """Program, version and login state of `manifest` for whoever lives in `home`."""
        key = (manifest.id, home)
        if key not in self._known:
            self._known[key] = await to_thread.run_sync(_look, manifest, home)
        return self._known[key]

    async def automatic(self, home: Path) -> str:
        """The first backend, in the order of the manifests, that is installed and not known to be logged out."""
        for manifest in self._config.manifests.values():
            if manifest.id == ALWAYS_THERE:
                continue
            found = await self.installed(manifest, home)
            if found.program and not found.problem and found.logged_in:
                return manifest.id
        return ALWAYS_THERE


def _look(manifest: Manifest, home: Path) -> Installed:
    return discover(manifest, path=search_path(home), home=home)
