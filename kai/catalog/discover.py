"""Is a backend installed, new enough, logged in? Looks at files and runs ``PROGRAM --version``: call it in a thread."""

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kai.model.backends import Login, Manifest

VERSION_LIMIT_S = 20.0
AT_ONCE = 4  # programs that are asked for their versions: more would only make each of them late
_EMPTY_LOGIN = "{}\n"  # which some CLIs write before anybody logs in
_OUTPUT_BYTES = 16 * 1024
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")

RunProgram = Callable[[Sequence[str], Mapping[str, str], float], str]


@dataclass(frozen=True, slots=True)
class Installed:
    """What was found. `program` is absolute, None when there is none; `version` "" when unknown.

    `logged_in` None: it cannot be told. `problem` says why the backend cannot be used; empty when it can.
    `too_old`: it, or the Node it needs, tells a version that is older than what is needed.
    """

    program: str | None
    version: str
    logged_in: bool | None
    problem: str
    too_old: bool = False


def discover(
    manifest: Manifest,
    *,
    path: str,
    home: Path,
    env: Mapping[str, str] | None = None,
    run: RunProgram | None = None,
    sizes: Sequence[int | None] | None = None,
) -> Installed:
    """Look for `manifest`'s program on `path` and its login below `home`. Blocks for at most `VERSION_LIMIT_S`.

    `env` is where ``program_env`` and login variables are looked up (the daemon's own unless given); `run` runs a
    program with an environment and a limit in seconds, gives its output, and raises `OSError` or `TimeoutError`.
    `sizes` are those of the login's files where only their owner can look.
    """
    env = os.environ if env is None else env
    logged_in = login_state(manifest.login, home, env, sizes)
    named = env.get(manifest.launch.program_env, "") if manifest.launch.program_env else ""
    wanted = _filled(named or manifest.launch.program, manifest)
    install = f"; install it with: {manifest.install}" if manifest.install else ""
    found = shutil.which(wanted, path=path)
    if found is None:
        return Installed(None, "", logged_in, f"{wanted} is not installed{install}")
    program = native_of(str(Path(found).absolute()), manifest)
    clean = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}
    clean |= {name: _filled(value, manifest) for name, value in manifest.launch.set_env}
    ask = run or run_program
    try:
        problem = _node_problem(manifest, program, path, lambda node: ask((node, "--version"), clean, VERSION_LIMIT_S))
        if problem:
            return Installed(program, "", logged_in, problem, too_old=True)
        argv = (program, *(_filled(part, manifest) for part in manifest.version_argv))
        output = ask(argv, clean, VERSION_LIMIT_S)
    except TimeoutError:
        return Installed(program, "", logged_in, f"{program} did not tell its version within {VERSION_LIMIT_S:.0f} s")
    except OSError as error:
        return Installed(program, "", logged_in, f"{program} cannot be run: {error.strerror or error}")
    version = _version(output)
    if manifest.version_min and is_older(version, manifest.version_min):
        told = f"version {version}" if version else f"no version but {output.strip()[:120]!r}"
        problem = f"{program} tells {told}; {manifest.version_min} or newer is needed{install}"
    return Installed(program, version, logged_in, problem, too_old=bool(version and problem))


class Versions:
    """As `run_program`, which it asks but once as long as the files that a command line names are as they were."""

    def __init__(self) -> None:
        self._told: dict[tuple[object, ...], str] = {}

    def __call__(
        self, argv: Sequence[str], env: Mapping[str, str], limit_s: float, run: RunProgram | None = None
    ) -> str:
        files = [Path(part).resolve() for part in argv if part.startswith("/")]
        seen = [(str(file), file.stat()) for file in files if file.exists()]
        # The time of change as well: npm unpacks every version of a file with the same time of writing.
        key = (*argv, *((name, at.st_mtime_ns, at.st_ctime_ns, at.st_size) for name, at in seen))
        output = self._told.get(key) or (run or run_program)(argv, env, limit_s)
        if _version(output):  # else it may tell one the next time
            self._told[key] = output
        return output


def native_of(found: str, manifest: Manifest) -> str:
    """The program itself, where `found` is a script that would only start it and stay in between; else `found`."""
    beside = Path(found).resolve().parent
    programs = (str(file) for glob in manifest.launch.native for file in sorted(beside.glob(glob)))
    return next((os.path.normpath(one) for one in programs if os.access(one, os.X_OK)), found)


def _node_problem(manifest: Manifest, program: str, path: str, ask: Callable[[str], str]) -> str:
    """Why the Node that `program` would be run with is too old for it; empty when it is not, or runs without one."""
    with Path(program).open("rb") as file:
        if not manifest.node_min or b"node" not in file.readline(256):
            return ""
    node = shutil.which("node", path=path)
    version = _version(ask(node)) if node else ""
    if not is_older(version, manifest.node_min):
        return ""
    found = f"{node} is {version or 'of an unknown version'}" if node else f"there is none on {path}"
    mend = "install a newer one, and put its folder first on the PATH of the daemon"
    return f"{program} needs Node {manifest.node_min} or newer, and {found}; {mend}"


def _version(output: str) -> str:
    read = _VERSION.search(output)
    return read.group() if read else ""


def login_state(
    login: Login, home: Path, env: Mapping[str, str], sizes: Sequence[int | None] | None = None
) -> bool | None:
    """True or False when it can be told; None when nothing is listed, or the home may not be looked into."""
    if not login.files and not login.env:
        return None
    if any(env.get(name) for name in login.env) or has_login_file(login, home, sizes):
        return True
    return False if sizes is not None or os.access(home, os.X_OK, effective_ids=True) else None


def has_login_file(login: Login, home: Path, sizes: Sequence[int | None] | None = None) -> bool:
    """Whether a login of somebody's own is seen; `sizes` as for `discover`."""
    found = [_size(home / name) for name in login.files] if sizes is None else sizes
    return any((size or 0) > len(_EMPTY_LOGIN) for size in found)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def is_older(version: str, least: str) -> bool:
    """Compares dotted numbers; a version that cannot be read counts as older."""
    one, other = ([int(part) for part in text.split(".") if part.isdigit()] for text in (version, least))
    return one < other


def _filled(part: str, manifest: Manifest) -> str:
    return part.replace("{python}", sys.executable).replace("{backend_dir}", manifest.folder)


def run_program(argv: Sequence[str], env: Mapping[str, str], limit_s: float) -> str:
    """Run a program without input and give the beginning of what it writes; its whole process group ends with it."""
    # A file and not a pipe: a grandchild that keeps a pipe open would keep us waiting (launchers of Node CLIs do).
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv,
            env=dict(env),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        descriptor = os.pidfd_open(process.pid)
        has_ended = bool(select.select([descriptor], [], [], limit_s)[0])
        os.close(descriptor)
        # Reaped only after this: until then the number of the group cannot become another's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if not has_ended:
            raise TimeoutError(f"{argv[0]} took more than {limit_s} s")
        output.seek(0)
        return output.read(_OUTPUT_BYTES).decode(errors="replace")
