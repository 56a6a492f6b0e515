"""The runs that live now: what each was started for, and the two ways on which a process proves to be of one."""

import hmac
import os
import pwd
import secrets
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kai.model.agents import AgentDefinition, Policy
from kai.model.errors import DeniedError
from kai.model.ids import ChannelId, PrincipalId, RunId, SessionId
from kai.processes.belonging import UNKNOWN

TOKEN_BYTES = 32
NOBODYS = AgentDefinition("", "", "", memory=Policy(inject=(), tool=()))  # entitles to nothing


@dataclass(frozen=True, slots=True)
class LiveRun:
    """One run. `uid`: of all its processes. `proof`: the hash of its token; the token itself is kept nowhere here.

    `agent` is the definition that it was started with: with another one comes another session, and another run.
    """

    run: RunId
    session: SessionId
    channel: ChannelId
    principal: PrincipalId
    uid: int
    proof: bytes
    agent: AgentDefinition = NOBODYS
    temporary: bool = False  # it has no tools of what is kept
    depth: int = 0  # in a chain of delegation
    is_shared: bool = False


class Runs:
    """Registered before its first process starts, forgotten when its last has ended: a token dies with its run.

    `folder` has a folder for each run, and in it the token as a file that only the run's user can read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._live: dict[RunId, LiveRun] = {}

    def token_file(self, run: RunId, os_user: str = "") -> Path | None:
        """Where the processes of a run find its token. None: they run as another user, told by their control group."""
        return self._folder / run / "token" if _uid(os_user) == os.geteuid() else None

    def begin(  # noqa: PLR0913 - all that a run is let in for, by name
        self,
        run: RunId,
        *,
        session: SessionId,
        channel: ChannelId,
        principal: PrincipalId,
        os_user: str,
        agent: AgentDefinition = NOBODYS,
        temporary: bool = False,
        depth: int = 0,
        is_shared: bool = False,
    ) -> LiveRun:
        """Blocks. Raises `OSError` when the token cannot be written."""
        uid, token = _uid(os_user), secrets.token_urlsafe(TOKEN_BYTES)
        if file := self.token_file(run, os_user):  # another user's file only that user can make
            _write(file, token)
        live = LiveRun(run, session, channel, principal, uid, _hash(token), agent, temporary, depth, is_shared)
        self._live[run] = live
        return live

    def end(self, run: RunId) -> None:
        """Blocks. Idempotent."""
        self._live.pop(run, None)
        with suppress(OSError):
            (self._folder / run / "token").unlink(missing_ok=True)
            (self._folder / run).rmdir()

    def of(self, uid: int, run: RunId | None, token: str) -> LiveRun:
        """The run that a peer belongs to: `run` is what its process tells for sure, else its token decides.

        Raises `DeniedError` with no word on what was nearly right.
        """
        live = self._live.get(run) if run and run != UNKNOWN else self._by_token(token)
        if live is None:
            raise DeniedError("this socket is for agents that kai has started", "People use people.sock.")
        if live.uid != uid or (token and not hmac.compare_digest(live.proof, _hash(token))):
            raise DeniedError("this is another run's")
        return live

    def _by_token(self, token: str) -> LiveRun | None:
        proof = _hash(token)
        found = [live for live in self._live.values() if hmac.compare_digest(live.proof, proof)]
        return found[0] if token and found else None


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()


def _uid(os_user: str) -> int:
    try:
        return pwd.getpwnam(os_user).pw_uid if os_user else os.geteuid()
    except KeyError:
        return os.geteuid()  # then no launcher starts anything for them either


def _write(file: Path, token: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(token)
