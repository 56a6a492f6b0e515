"""``kai-spawner``: the privileged process that starts runs as other OS users for one unprivileged daemon.

It is root with the capabilities SETUID, SETGID and KILL and no other. It takes one run a connection: after the first
datagram it forks a keeper, which looks the request up in the policy, starts the agent and keeps it to its end; the
process itself only accepts, decodes and forks. A keeper that fails ends with its own run and takes nothing along.
"""

import os
import pwd
import select
import signal
import socket
import stat
import struct
import sys
import time
from contextlib import suppress
from typing import NamedTuple, NoReturn

from kai.launcher import child, groups, messages, passing, policy, refusal, tree
from kai.launcher.keeper import Keeper

assert refusal  # read by a fork that may no longer read this folder

FIRST_WORD_S = 5.0  # for a new connection to say what it wants
STOP_S = 8.0  # for keepers to end their runs when the spawner is told to end
MAX_WAITING = 64  # connections that have said nothing yet; more wait to be accepted
MAX_WATCHES = 16
MAX_RUNS = 512


class _Kept(NamedTuple):
    """A run's keeper. On `line` it is handed the connections of later daemons."""

    run: str
    pid: int
    line: socket.socket


class Spawner:
    """Serves on `listener` by the policy at `path`, with control groups below `runs`."""

    def __init__(self, listener: socket.socket, path: str, runs: groups.Groups) -> None:
        """Raises `policy.PolicyError`."""
        self._listener, self._path, self._runs = listener, path, runs
        self._policy = policy.load(path)
        self._seen = _mark(path)
        self._problem = ""
        self._waiting: dict[socket.socket, float] = {}
        self._watches: set[socket.socket] = set()
        self._kept: dict[int, _Kept] = {}  # by pid of the keeper
        self._doomed: set[str] = set()  # groups whose keeper was killed, until nothing is left in them
        self._told_to_end = False
        listener.setblocking(False)
        self._wake = self._catch_signals()

    def serve(self) -> None:
        """Until SIGTERM or SIGINT; then every run is ended."""
        child.adopt_orphans()
        while not self._told_to_end:
            self._wait()
            self._reap()
        for kept in self._kept.values():
            os.kill(kept.pid, signal.SIGTERM)
        give_up_at = time.monotonic() + STOP_S
        while self._kept and time.monotonic() < give_up_at:
            select.select([self._wake], [], [], 0.1)
            self._reap()
        self._runs.close()

    def _catch_signals(self) -> int:
        read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        return read_end

    def _end(self, *_: object) -> None:
        self._told_to_end = True

    def _wait(self) -> None:
        poll, now = select.poll(), time.monotonic()
        by_number = {each.fileno(): each for each in (*self._waiting, *self._watches)}
        for number in (self._wake, *by_number):
            poll.register(number, select.POLLIN)
        if len(self._waiting) < MAX_WAITING and len(self._kept) < MAX_RUNS:
            poll.register(self._listener, select.POLLIN)
        ends = min(self._waiting.values(), default=now + 60.0)
        for number, _ in poll.poll(max(0.0, ends - now) * 1000):
            if number == self._wake:
                with suppress(BlockingIOError):
                    os.read(self._wake, 4096)
            elif number == self._listener.fileno():
                self._accept()
            elif number in by_number:
                self._hear(by_number[number])
        for connection, until in list(self._waiting.items()):
            if time.monotonic() >= until:
                self._drop(connection)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # the peer is gone again, or we have no descriptor left: the others go on
            if not self._waiting:
                time.sleep(0.05)
            return
        connection.setblocking(False)
        _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if uid != self._daemon_uid():
            _log(f"a connection of user {uid} was closed: the daemon is {self._policy.daemon_user}")
            connection.close()
            return
        self._waiting[connection] = time.monotonic() + FIRST_WORD_S

    def _daemon_uid(self) -> int:
        self._read_policy()
        try:
            return pwd.getpwnam(self._policy.daemon_user).pw_uid or -1  # root is no daemon of ours
        except KeyError:
            return -1

    def _read_policy(self) -> None:
        """Anew when the file is another one. A bad one refuses runs with its sentence; the daemon stays known."""
        mark = _mark(self._path)
        if mark == self._seen and not self._problem:
            return
        self._seen = mark
        try:
            self._policy, self._problem = policy.load(self._path), ""
        except policy.PolicyError as error:
            self._problem = str(error)

    def _hear(self, connection: socket.socket) -> None:
        """The first word of a connection; of a watch, its end."""
        try:
            data, passed = passing.receive(connection.fileno(), 3)
        except BlockingIOError:
            return
        try:
            message = messages.decode(data) if data else None
        except messages.BadMessageError as error:
            message = messages.Refused("", "bad", str(error)[:1000])
        match message:
            case messages.Spawn():
                self._spawn(connection, message, passed)
            case messages.Claim():
                self._claim(connection, message.run)
            case messages.Watch() if connection in self._waiting and len(self._watches) < MAX_WATCHES:
                del self._waiting[connection]
                self._watches.add(connection)
                _say(connection, messages.Watched(os.getpid(), self._runs.root))
            case messages.Refused():
                self._refuse(connection, message)
            case None:
                self._drop(connection)
            case _:
                self._refuse(connection, messages.Refused("", "bad", f"{type(message).__name__} is no first word"))
        passing.close_all(passed)

    def _refuse(self, connection: socket.socket, refused: messages.Refused) -> None:
        _say(connection, refused)
        self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        self._waiting.pop(connection, None)
        self._watches.discard(connection)
        connection.close()

    def _claim(self, connection: socket.socket, run: str) -> None:
        for kept in self._kept.values():
            if kept.run == run:
                with suppress(OSError):
                    socket.send_fds(kept.line, [b"claimed"], [connection.fileno()])
                self._drop(connection)
                return
        self._refuse(connection, messages.Refused(run[:100], "missing", "the spawner keeps no such run"))

    def _spawn(self, connection: socket.socket, spec: messages.Spawn, passed: list[int]) -> None:
        self._read_policy()
        if any(kept.run == spec.run for kept in self._kept.values()):
            self._refuse(connection, messages.Refused(spec.run, "bad", "there is a run of that name already"))
            return
        if len(passed) != 3 or not all(stat.S_ISFIFO(os.fstat(number).st_mode) for number in passed):
            self._refuse(connection, messages.Refused(spec.run[:100], "bad", "three pipes have to come with it"))
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            ours.close()
            theirs.close()
            self._refuse(connection, messages.Refused(spec.run, "fork", f"no keeper can be started: {error.strerror}"))
            return
        if pid == 0:
            self._keep(connection, spec, passed, theirs, own)
        theirs.close()
        self._kept[pid] = _Kept(spec.run, pid, ours)
        self._drop(connection)

    def _keep(
        self, connection: socket.socket, spec: messages.Spawn, passed: list[int], line: socket.socket, parent: int
    ) -> NoReturn:
        """In the keeper: everything that may fail for this run alone."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT):  # until the keeper has its own ways nothing has been started
                signal.signal(number, signal.SIG_DFL)
            child.die_with_parent(signal.SIGTERM)
            if os.getppid() == parent:
                connection.setblocking(True)
                passing.become_standard(passed)
                _close_all_but(connection.fileno(), line.fileno())
                code = self._start(connection, spec, line)
        except BaseException as error:  # noqa: BLE001 - nothing may go on in the keeper as if it were the spawner
            _log(f"the keeper of {spec.run[:100]} failed: {error!r}")
        os._exit(code)

    def _start(self, connection: socket.socket, spec: messages.Spawn, line: socket.socket) -> int:
        try:
            who = policy.admit(self._policy, spec, self._problem)
            group = self._runs.make(spec.run, self._policy.limits)
        except messages.RefusedError as error:
            _log(f"refused {spec.run[:100]}: {error.reason}"[:2000])
            _say(connection, messages.Refused(spec.run[:100], error.kind, error.reason[:8000]))
            _say(connection, messages.Gone(spec.run[:100]))
            return 0
        keeper = Keeper(connection.fileno(), who, group, line.fileno())
        try:
            keeper.keep(spec)
        finally:
            if group is not None:
                group.remove()
        return 0

    def _reap(self) -> None:
        """Collect keepers. What one of them left behind, because somebody killed it, is killed here."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if kept := self._kept.pop(pid, None):
                kept.line.close()
                if status:
                    _log(f"the keeper of {kept.run} ended with status {status}")
                    self._doomed.add(f"{self._runs.root}/run-{kept.run}")
            for orphan in tree.children(os.getpid()):
                if orphan not in self._kept:
                    with suppress(OSError):
                        os.kill(orphan, signal.SIGKILL)
            for path in list(self._doomed):
                group = groups.Group(path)
                group.kill()
                if group.remove():
                    self._doomed.discard(path)


def _mark(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)


def _say(connection: socket.socket, message: messages.Message) -> None:
    with suppress(OSError):
        connection.send(messages.encode(message))


def _close_all_but(*kept: int) -> None:
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
        if number > 2 and number not in kept:
            with suppress(OSError):
                os.close(number)


def _log(text: str) -> None:
    """One line, whatever is in it: part of it may be somebody's who wants to write lines of ours."""
    with suppress(OSError):
        os.write(2, ("kai-spawner: " + text.encode("unicode_escape").decode() + "\n").encode())


def _listening(path: str, user: str) -> socket.socket:
    """The socket that systemd passed; else one of our own at `path`, for the group of `user`. Raises `OSError`."""
    if os.environ.pop("LISTEN_PID", "") == str(os.getpid()) and os.environ.pop("LISTEN_FDS", "") == "1":
        os.set_inheritable(3, False)
        return socket.socket(fileno=3)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.lstat(path).st_mode) and not _answers(path):
            os.unlink(path)  # noqa: PTH108
    before = os.umask(0o177)
    listener.bind(path)
    os.umask(before)
    os.chown(path, 0, pwd.getpwnam(user).pw_gid, follow_symlinks=False)
    os.chmod(path, 0o660)  # noqa: PTH101
    listener.listen(64)
    return listener


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as trial:
        return trial.connect_ex(path) == 0


def _notify(state: str) -> None:
    address = os.environ.pop("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)


def serve(argv: list[str]) -> int:
    """``--policy FILE [--socket PATH]``; the exit code."""
    places = {"--policy": "/etc/kai/spawner.json", "--socket": "/run/kai-spawner/spawner.sock"}
    if len(argv) % 2 or not set(argv[::2]) <= set(places):
        _log("usage: kai-spawner [--policy FILE] [--socket PATH]")
        return 2
    places |= dict(zip(argv[::2], argv[1::2], strict=True))
    os.umask(0o077)
    os.chdir("/")
    try:
        user = policy.load(places["--policy"]).daemon_user
        with _listening(places["--socket"], user) as listener:
            spawner = Spawner(listener, places["--policy"], groups.prepare())
            _notify("READY=1")
            spawner.serve()
    except (policy.PolicyError, OSError, KeyError) as error:
        _log(str(error))
        return 1
    return 0


def main() -> NoReturn:
    """The console script: again as an isolated process, which no variable and no folder of a person can bend."""
    shim = f"{child.__spec__.origin or ''}".rpartition("/")[0] + "/shim.py"
    os.execv(sys.executable, [sys.executable, "-I", "-S", shim, "spawner", *sys.argv[1:]])  # noqa: S606
