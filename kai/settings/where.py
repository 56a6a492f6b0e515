"""Which folders kai uses: flag, then ``$KAI_CONFIG``…, then systemd's environment, then the service's
where kai is installed as one, else the user's own (XDG)."""

import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from kai.settings.problems import FolderError

INSTALLED = (Path("/etc/kai"), Path("/var/lib/kai"), Path("/run/kai"))  # configuration, state, sockets of the service
SOCKET_PATH_BYTES = 107  # sockaddr_un holds 108 with the closing NUL


@dataclass(frozen=True, slots=True)
class Folders:
    """Three absolute folders, and where each path came from ("flag", "$KAI_STATE", "default", …)."""

    config: Path
    state: Path
    runtime: Path
    config_from: str = "flag"
    state_from: str = "flag"
    runtime_from: str = "flag"

    @property
    def is_of_service(self) -> bool:
        """The sockets are those of the system service: every user may connect, and the uid decides."""
        return self.runtime == INSTALLED[2]

    def socket(self, name: str) -> Path:
        """Path of a socket in the runtime folder. Raises `FolderError` when it is too long for a socket."""
        path = self.runtime / name
        size = len(os.fsencode(path))
        if size > SOCKET_PATH_BYTES:
            raise FolderError(
                str(path),
                f"{size} bytes are too long for a socket ({SOCKET_PATH_BYTES} at most)",
                "choose a shorter folder with --runtime or $KAI_RUNTIME",
            )
        return path


def find(
    config: str | Path | None = None,
    state: str | Path | None = None,
    runtime: str | Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
) -> Folders:
    """The folders to use; makes none. Arguments are flags; `env` is the process's own unless given."""
    env = os.environ if env is None else env

    service = INSTALLED if marker(Path(sys.prefix)).exists() else None

    def first(flag: str | Path | None, name: str, systemd: str, default: Path) -> tuple[Path, str]:
        listed = env.get(systemd, "").split(":")[0]  # systemd lists several folders with colons
        rungs = ((flag, "flag"), (env.get(name), f"${name}"), (listed if listed.startswith("/") else "", f"${systemd}"))
        last = (default.absolute(), "installed" if default in INSTALLED else "default")
        return next(((Path(path).absolute(), source) for path, source in rungs if path), last)

    own_config = service[0] if service else platformdirs.user_config_path("kai", appauthor=False)
    own_state = service[1] if service else platformdirs.user_data_path("kai", appauthor=False)
    config_path, config_from = first(config, "KAI_CONFIG", "CONFIGURATION_DIRECTORY", own_config)
    state_path, state_from = first(state, "KAI_STATE", "STATE_DIRECTORY", own_state)
    own_runtime = service[2] if service and state_path == service[1] else _own_runtime(env, state_path)
    runtime_path, runtime_from = first(runtime, "KAI_RUNTIME", "RUNTIME_DIRECTORY", own_runtime)
    return Folders(config_path, state_path, runtime_path, config_from, state_from, runtime_from)


def marker(prefix: Path) -> Path:
    """The file that says that the kai of this Python environment is the service of this machine."""
    return prefix / "share/kai/installed"


def prepare(folders: Folders) -> None:
    """Make the state and the runtime folder, 0700, and see that they are safe to use. Raises `FolderError`."""
    _own_folder(folders.state.resolve())  # it may be a link to another disk
    _own_folder(folders.runtime)
    folders.socket("people.sock")
    folders.socket("agents.sock")


def _own_runtime(env: Mapping[str, str], state: Path) -> Path:
    # Never below /tmp, where another user may have made the folder first: without a runtime folder of our own the
    # sockets live beside the state.
    for candidate in (env.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}"):
        if candidate.startswith("/") and _is_mine(Path(candidate)):
            return Path(candidate) / "kai"
    return state / "run"


def _is_mine(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _own_folder(path: Path) -> None:
    me, problem = os.getuid(), ""
    remedy = "choose another with --state, --runtime, $KAI_STATE or $KAI_RUNTIME"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=True, mode=0o700)
        found = path.lstat()
    except OSError as error:
        raise FolderError(str(path), f"user {me} cannot make this folder: {error.strerror}", remedy) from error
    if not stat.S_ISDIR(found.st_mode):
        problem = "it is not a folder of its own (a link or a file)"
    elif found.st_uid != me:
        problem = f"it belongs to user {found.st_uid}, not to user {me}"
    elif found.st_mode & 0o022:
        problem, remedy = "other users may write in it", f"chmod go-w {path}"
    if problem:
        raise FolderError(str(path), problem, remedy)
