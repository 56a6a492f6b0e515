"""Which backends are installed and logged in here: asked once, kept until a reload or a check asks again."""

import os
import pwd
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
from anyio import from_thread, to_thread

from kai.catalog.discover import AT_ONCE, Installed, RunProgram, Versions, discover, has_login_file, login_state
from kai.model.backends import Manifest
from kai.model.errors import FailureKind, KaiError, LaunchError
from kai.processes.environment import search_path
from kai.processes.errands import Errands
from kai.turns.config import Config

ALWAYS_THERE = "offline"


class Backends:
    """Answers of `discover`, by backend and OS user. The look starts a program, so it is done in a thread.

    A program is run, and a login looked for, as the OS user whom it concerns: by `errands` where that is another one.
    """

    def __init__(self, config: Config, errands: Errands | None = None) -> None:
        self._config = config
        self._errands = errands
        self._known: dict[tuple[str, str], Installed] = {}
        self._versions: defaultdict[str, Versions] = defaultdict(Versions)
        self._at_once = anyio.CapacityLimiter(AT_ONCE)

    def forget(self, backend: str = "") -> None:
        """Look again at the next question; a program is run again where its file has changed, and for `backend`."""
        self._known.clear()
        self._versions.pop(backend, None)

    async def installed(self, manifest: Manifest, user: str = "") -> Installed:
        """Program, version and login state of `manifest` for the OS user `user` (empty: the daemon's own).

        Raises `LaunchError` when the machine has no such user, or nothing can be started as them.
        """
        key = (manifest.id, user or os_user())
        if key not in self._known:
            home = await to_thread.run_sync(home_of_login, key[1])
            run, sizes = await self._as_user(manifest, key[1], home)
            versions = partial(self._versions[manifest.id], run=run)
            look = partial(discover, manifest, home=home, run=versions, sizes=sizes)
            self._known[key] = await to_thread.run_sync(lambda: look(path=search_path(home)), limiter=self._at_once)
        return self._known[key]

    async def refuse_old(self, manifest: Manifest, user: str) -> None:
        """Raises `LaunchError` (OLD) for a program that is known to be too old, and is so still at this moment."""
        if not (await self.installed(manifest, user)).too_old:
            return
        self.forget(manifest.id)
        found = await self.installed(manifest, user)
        if found.too_old:
            raise LaunchError(manifest.title, found.problem, FailureKind.OLD)

    async def has_login(self, manifest: Manifest, user: str) -> bool | None:
        """Whether another OS user has a login that a key of the daemon's would override; None: `plan` can look itself.

        Their home is closed to the daemon. Without such a key nobody needs to look.
        """
        if user == os_user() or not any(os.environ.get(name) for name in manifest.launch.strip_env):
            return None
        home = await to_thread.run_sync(home_of_login, user)
        _, sizes = await self._as_user(manifest, user, home)
        return None if sizes is None else await to_thread.run_sync(has_login_file, manifest.login, home, sizes)

    async def is_logged_out(self, manifest: Manifest, user: str) -> bool:
        """Whether `user` is known to have no login of `manifest`, by a look at this moment."""
        home = await to_thread.run_sync(home_of_login, user)
        _, sizes = await self._as_user(manifest, user, home)
        return await to_thread.run_sync(login_state, manifest.login, home, os.environ, sizes) is False

    async def _as_user(
        self, manifest: Manifest, user: str, home: Path
    ) -> tuple[RunProgram | None, list[int | None] | None]:
        """How to run a program as another OS user, and the sizes of their login's files; None twice for our own."""
        errands = self._errands
        if user == os_user() or errands is None:
            return None, None

        def run(argv: Sequence[str], env: Mapping[str, str], limit_s: float) -> str:
            try:
                return from_thread.run(errands.output, user, argv, env, limit_s)
            except KaiError as error:
                raise OSError(error.sentence) from error

        files = [home / name for name in manifest.login.files]
        try:
            return run, await errands.sizes(user, files) if files else []
        except KaiError:  # it cannot be told; whatever starts the agent says why
            return run, None

    async def every(self, user: str = "") -> dict[str, Installed]:
        """All of them by backend, some at once: an agent CLI may take seconds to tell its version."""
        found: dict[str, Installed] = {}

        async def ask(manifest: Manifest) -> None:
            found[manifest.id] = await self.installed(manifest, user)

        async with anyio.create_task_group() as tasks:
            for manifest in self._config.manifests.values():
                tasks.start_soon(ask, manifest)
        return found

    async def automatic(self, user: str = "") -> str:
        """The first backend, in the order of the manifests, that is installed and not known to be logged out."""
        for manifest in self._config.manifests.values():
            if (chosen := self.known_automatic(user)) is not None:
                return chosen
            if manifest.id != ALWAYS_THERE:
                await self.installed(manifest, user)
        return self.known_automatic(user) or ALWAYS_THERE

    def known_automatic(self, user: str = "") -> str | None:
        """The same, when it is known without a look."""
        for manifest in self._config.manifests.values():
            if manifest.id == ALWAYS_THERE:
                continue
            found = self.known(manifest, user)
            if found is None:
                return None
            if found.program and not found.problem and found.logged_in:
                return manifest.id
        return ALWAYS_THERE

    def known(self, manifest: Manifest, user: str = "") -> Installed | None:
        return self._known.get((manifest.id, user or os_user()))


def os_user() -> str:
    """The OS user that this process runs as, as the system knows it: no variable of the environment decides that."""
    return pwd.getpwuid(os.geteuid()).pw_name


def home_of_login(user: str) -> Path:
    """The home folder of the OS user `user`: where a CLI keeps its login. Blocks. Raises `LaunchError`.

    For the daemon's own user it is the daemon's ``$HOME``, as for any other program that this user starts.
    """
    if user == os_user():
        return Path.home()
    try:
        return Path(pwd.getpwnam(user).pw_dir)
    except KeyError:
        remedy = "'kai person set PERSON --os-user USER' names another one; 'kai doctor' checks everybody."
        raise LaunchError("The agent", f"this machine has no user {user!r}", FailureKind.LAUNCH, remedy) from None
