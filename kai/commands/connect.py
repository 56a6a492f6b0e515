"""Where the daemon is, and a client of it: of the one that runs, else of one in this process while it is needed."""

import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio
from anyio import to_thread

import kai
from kai.client import Client
from kai.model.errors import KaiError
from kai.settings.problems import FolderError
from kai.settings.where import Folders, find, prepare

PEOPLE = "people.sock"
START_S = 30.0  # for a daemon in the background to answer
COMES_UP_S = 10.0  # for one that has the lock already
IDLE_EXIT_S = 60

T = TypeVar("T")
FolderFlags = tuple[str | None, str | None, str | None]  # --config, --state, --runtime


@dataclass
class NotStartedError(KaiError):
    """A daemon in the background did not come up. `said` is the last it had to say."""

    said: str
    log: str

    @property
    def sentence(self) -> str:
        return f"The daemon could not be started: {self.said}"

    @property
    def hint(self) -> str:
        return f"{self.log} tells more; 'kai doctor' checks the installation."


@dataclass
class ServiceDownError(KaiError):
    """The service of this machine does not run."""

    @property
    def sentence(self) -> str:
        return "kai is a service of this machine, and it does not run."

    @property
    def hint(self) -> str:
        return "'systemctl status kai' tells why, 'systemctl start kai' starts it."


def folders_of(flags: FolderFlags) -> Folders:
    """The folders that the flags and the environment name."""
    return find(*flags)


async def is_running(folders: Folders) -> bool:
    """Whether a daemon takes connections."""
    try:
        async with await anyio.connect_unix(folders.socket(PEOPLE)):
            return True
    except OSError:
        return False


@asynccontextmanager
async def connected(folders: Folders, *, as_person: str = "", reads: bool = False) -> AsyncIterator[Client]:
    """A client of the running daemon, else of one inside this process on the same state.

    Whoever only `reads` leaves nothing behind: where there is no state yet, it is a passing one that is looked at.
    """
    async with AsyncExitStack() as stack:
        if not await is_running(folders):
            if reads and not await anyio.Path(folders.state).exists():
                passing = Path(stack.enter_context(TemporaryDirectory(prefix="kai-")))
                folders = replace(folders, state=passing / "state", runtime=passing / "run")
            if folders.is_of_service:
                raise ServiceDownError
            errors = await to_thread.run_sync(import_module, "kai.store.errors")
            try:
                await stack.enter_async_context(private(folders))
            except errors.DaemonRunningError:
                if not await _comes_up(folders):
                    raise
        yield await stack.enter_async_context(Client(folders.socket(PEOPLE), as_person=as_person))


async def _comes_up(folders: Folders) -> bool:
    """Whether a daemon that holds the lock answers soon: the lock comes before the socket when one starts."""
    with anyio.move_on_after(COMES_UP_S):
        while not await is_running(folders):  # noqa: ASYNC110 - another process's doing
            await anyio.sleep(0.05)
        return True
    return False


@asynccontextmanager
async def private(folders: Folders) -> AsyncIterator[Path]:
    """The socket of a daemon inside this process. It logs nothing but faults: the terminal belongs to the command."""
    # It knows every part: a command that finds a daemon running needs none of them.
    daemon = await to_thread.run_sync(import_module, "kai.daemon")
    daemon.set_up("debug" if os.environ.get("KAI_DEBUG") else "critical")
    async with daemon.private(folders) as socket:
        yield socket


async def start_in_background(folders: Folders) -> None:
    """Start a daemon that leaves when nobody needs it; returns when one answers. Raises `NotStartedError`."""
    if folders.is_of_service:
        raise ServiceDownError
    log = folders.state / "kai.log"
    daemon = await to_thread.run_sync(_spawn, folders, log)
    ended: int | None = None
    with anyio.move_on_after(START_S):
        while not ended:  # 0: another one was quicker, ours has left, and that one will answer
            if await is_running(folders):
                return
            ended = _status(daemon) if ended is None else ended
            await anyio.sleep(0.02)
    lines = (await anyio.Path(log).read_text(errors="replace")).strip().split("\n")
    said = [line.removeprefix("kai: ") for line in lines if line.startswith("kai: ")] or lines
    errors = await to_thread.run_sync(import_module, "kai.store.errors")
    taken = errors.DaemonRunningError(str(folders.state / "kai.db")).sentence.rstrip(".")
    if said[-1].startswith(taken) and await _comes_up(folders):  # another one was quicker, and was not up yet
        return
    raise NotStartedError(said[-1][:400], str(log))


def _status(daemon: int) -> int | None:
    """The exit status of a child that has ended; None while it runs."""
    pid, status = os.waitpid(daemon, os.WNOHANG)
    return status if pid else None


def _spawn(folders: Folders, log: Path) -> int:
    """Start it in a session of its own, so that it outlives this process and its terminal; gives the process id."""
    prepare(folders)
    try:
        os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
    except OSError as error:  # told here: the system would blame the program that is started
        remedy = "Give kai a state folder that it can write to (--state or $KAI_STATE), or mend the disk."
        raise FolderError(str(log), f"nothing can be written there ({error.strerror})", remedy) from error
    where = ["--state", folders.state, "--runtime", folders.runtime]
    if folders.config_from == "flag":  # a folder that was named has to be there, the default one has not
        where += ["--config", folders.config]
    argv = [sys.executable, "-m", "kai", *map(str, where), "serve", "--idle-exit", str(IDLE_EXIT_S)]
    env = os.environ | {"PYTHONPATH": str(Path(kai.__path__[0]).parent)}  # it may be a checkout
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(sys.executable, argv, env, file_actions=files, setsid=True)


def run(work: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run `work` to its end."""
    if not os.environ.get("KAI_DEBUG"):
        # anyio leaves a callback behind when a socket becomes readable in the very moment its reader is cancelled;
        # asyncio would print a traceback for it.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    return anyio.run(work, *args)


def ask(flags: FolderFlags, as_person: str, question: Callable[[Client], Awaitable[T]], *, reads: bool = False) -> T:
    """Ask the daemon one thing and give its answer; `reads` as in `connected`."""

    folders = folders_of(flags)

    async def asking() -> T:
        async with connected(folders, as_person=as_person, reads=reads) as client:
            return await question(client)

    return run(asking)
