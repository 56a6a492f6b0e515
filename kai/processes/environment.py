"""The environment of an agent: built from nothing by an allow-list, so that the daemon's own stays out.

What an agent's own shell leaves behind (``CLAUDECODE`` makes Claude refuse to start), tokens of bridges, and the
daemon's private settings never reach a run, because nobody names them here.
"""

import os
import pwd
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kai.catalog.discover import has_login_file
from kai.model.backends import Manifest
from kai.model.errors import FailureKind, LaunchError
from kai.model.ids import RunId
from kai.processes.marks import MARK

SOCKET = "KAI_SOCKET"
RUN_FILE = "KAI_RUN_FILE"  # holds the token; not named for it, as agents keep *TOKEN* from what they start
LOOKS = "KAI_LOOKS"  # names of kai's tools that only look, where no MCP server tells them
_PASSED = ("LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR")
_LOCALE = re.compile(r"LC_[A-Z]+")
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


@dataclass(frozen=True, slots=True)
class Owner:
    """For whom a run is started: OS user, their home folder (absolute), the path their programs are looked up on."""

    os_user: str
    home: Path
    path: str


def environment(
    manifest: Manifest,
    *,
    run: RunId,
    permissions: str,
    owner: Owner,
    socket_path: Path,
    inherited: Mapping[str, str] | None = None,
    has_login: bool | None = None,
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The whole environment of a run, and notes for the person about what was kept back and why.

    `has_login` says whether `owner` has a login's file, where only they can look; None: it is looked for here.
    `inherited` is the daemon's own unless given. Looks at files: call it in a thread. Raises `LaunchError` when a value
    cannot go into an environment, or would fail hours later as a broken HTTP header.
    """
    inherited = os.environ if inherited is None else inherited
    launch = manifest.launch
    env = {name: value for name, value in inherited.items() if name in _PASSED or _LOCALE.fullmatch(name)}
    if not {"LANG", "LC_ALL", "LC_CTYPE"} & env.keys():
        env["LANG"] = "C.UTF-8"  # a service is started with no language at all, and agents would write ASCII
    env |= {"HOME": str(owner.home), "USER": owner.os_user, "LOGNAME": owner.os_user, "PATH": owner.path}
    env["SHELL"] = _shell(owner.os_user)
    passed, notes = _passed(manifest, owner, inherited, has_login)
    env |= passed
    for name, value in (*launch.set_env, *(launch.bypass_env if permissions == "bypass" else launch.ask_env)):
        env[name] = value.replace("{backend_dir}", manifest.folder).replace("{python}", sys.executable)
    env |= {MARK: run, SOCKET: str(socket_path)}
    for name, value in env.items():
        if any(sign in value for sign in "\n\r\0"):
            raise LaunchError(
                manifest.title,
                f"the environment variable {name} holds a line break or a NUL",
                FailureKind.LAUNCH,
                "Set it again, without one; a key that was read from a file often ends in one.",
            )
    return env, notes


def search_path(home: Path, inherited: Mapping[str, str] | None = None) -> str:
    """Where a person's programs are looked up: the daemon's PATH, the folders installers use in a home, the system's.

    An installer's folder is often on no service's PATH; a relative entry would depend on the workspace: left out.
    """
    inherited = os.environ if inherited is None else inherited
    own = [home / ".local/bin", home / ".npm-global/bin", *_newest_node(home)]
    entries = (*inherited.get("PATH", "").split(":"), *map(str, own), *_SYSTEM_PATH)
    return ":".join(dict.fromkeys(entry for entry in entries if entry.startswith("/")))


def _newest_node(home: Path) -> Iterable[Path]:
    """The bin folder of the newest Node that nvm installed in `home`, if any."""

    def version(folder: Path) -> tuple[int, ...]:
        return tuple(int(number) for number in re.findall(r"\d+", folder.name))

    try:
        found = [folder for folder in (home / ".nvm/versions/node").iterdir() if folder.name.startswith("v")]
    except OSError:
        return ()
    return (max(found, key=version) / "bin",) if found else ()


def _passed(
    manifest: Manifest, owner: Owner, inherited: Mapping[str, str], has_login: bool | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Those of the daemon's variables that the manifest passes on, and what is said of the others."""
    launch, login = manifest.launch, [owner.home / name for name in manifest.login.files]
    is_own = has_login_file(manifest.login, owner.home) if has_login is None else has_login
    env, notes = {}, []
    for name in launch.pass_env:
        value = inherited.get(name, "")
        if not value:
            continue
        if name in launch.strip_env and is_own:
            notes.append(
                f"{name} is set for the daemon and was kept back: it would override {owner.os_user}'s own login."
            )
        elif any(Path(value) in file.parents and Path(value) != owner.home for file in login):
            # A CLI that is told its default folder looks elsewhere for its login than one that is told nothing.
            notes.append(f"{name} names the folder that {manifest.title} uses anyway, and was left out.")
        else:
            env[name] = value
    return env, tuple(notes)


def _shell(os_user: str) -> str:
    try:
        shell = pwd.getpwnam(os_user).pw_shell
    except KeyError:
        shell = ""
    return shell if shell and Path(shell).name not in ("nologin", "false") else "/bin/sh"
