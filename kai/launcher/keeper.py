"""Keeps one run: parent of the agent and of every orphan below it, until none is left or the daemon is gone.

One thread, one loop. It is the only one that waits for these processes, so no exit code can be lost to somebody else.
"""

import os
import select
import signal
import time
from contextlib import suppress

from kai.launcher import child, messages, tree
from kai.launcher.groups import Group
from kai.launcher.groups import lines as _lines
from kai.launcher.identity import Identity, seeing_as

_STUCK_S = 5.0  # a killed process that lives so long is held by the kernel
_STRANGERS_S = 0.5  # what we may not signal (it changed its user) may still be ending by itself


class Keeper:
    """`control` is our end of a SOCK_SEQPACKET pair whose other end the daemon alone has: its end is the daemon's.

    `who` and `group`: as which other user the run starts, in which control group. On `handed`, if any, come the
    controls of later daemons that claim the run.
    """

    def __init__(
        self, control: int, who: Identity | None = None, group: Group | None = None, handed: int | None = None
    ) -> None:
        self._control: int | None = control
        self._who, self._group, self._handed = who, group, handed
        self._spec = messages.Spawn("", [], {}, "")
        self._leader = 0
        self._exited: messages.Exited | None = None
        self._ended_cpu_s = 0.0
        self._killed: set[int] = set()
        self._kill_asked = False
        self._ends_at: float | None = None
        self._oom_kills = 0
        self._wake = self._catch_signals()

    def keep(self, first: messages.Message | None = None) -> None:
        """Start what the first message says (unless it was read already) and keep it to its end."""
        try:
            started = self._start(first or self._receive())
        except (messages.RefusedError, messages.BadMessageError) as error:
            self._say(messages.Refused(self._spec.run, getattr(error, "kind", "bad"), str(error)))
            self._say(messages.Gone(self._spec.run))
            return
        try:
            if started:
                self._attend()
        except BaseException:  # whatever went wrong here, the tree does not outlive it
            self._kill_tree()
            raise

    def _start(self, first: messages.Message | None) -> bool:
        """False when the daemon was gone before it said what to start. Raises `messages.RefusedError`."""
        if first is None:
            return False
        if not isinstance(first, messages.Spawn):
            raise messages.RefusedError("bad", f"{type(first).__name__} is not how a run begins")
        self._spec = first
        child.adopt_orphans()
        self._oom_kills = self._count_oom()
        self._leader = child.start(first, self._who, self._group)
        _let_go_of_pipes()
        self._say_spawned()
        return True

    def _say_spawned(self) -> None:
        self._say(messages.Spawned(self._spec.run, self._leader, os.getpid()))

    def _count_oom(self) -> int:
        return oom_kills() + (self._group.oom_kills() if self._group else 0)

    def _attend(self) -> None:
        while self._reap():
            if self._kill_asked or (self._ends_at is not None and time.monotonic() >= self._ends_at):
                if not self._kill_tree() and self._control is None:
                    return  # nobody is left to ask again
                continue
            self._wait()
        self._say(self._stats())
        self._say(messages.Gone(self._spec.run, len(self._killed)))

    def _wait(self) -> None:
        """Sleep until a child ends, a signal comes, the daemon says something, or the time is up."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        for descriptor in (self._control, self._handed):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        timeout_ms = None if self._ends_at is None else max(0.0, self._ends_at - time.monotonic()) * 1000
        ready = [descriptor for descriptor, _ in poll.poll(timeout_ms)]
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._control in ready:
            self._hear()
        if self._handed in ready:
            self._is_claimed()

    def _is_claimed(self) -> None:
        """A later daemon takes over; the former one, if it still is there, hears no more."""
        from kai.launcher import passing  # noqa: PLC0415 - most runs are never claimed, and start faster without it

        assert self._handed is not None
        _, passed = passing.receive(self._handed, 1)
        if not passed:  # whoever would hand them on is gone, and nobody could claim the run any more
            self._handed, self._kill_asked = None, True
            return
        if self._control is not None:
            os.close(self._control)
        self._control, self._ends_at = passed[0], None
        self._say_spawned()
        if self._exited:
            self._say(self._exited)

    def _hear(self) -> None:
        try:
            message = self._receive()
        except messages.BadMessageError as error:
            self._say(messages.Refused(self._spec.run, "bad", str(error)))
            return
        match message:
            case None:
                self._daemon_is_gone()
            case messages.Kill(tree=True):
                self._kill_asked = True
            case messages.Kill():
                self._signal_group(message.signal)
            case messages.Stat():
                self._say(self._stats())
            case messages.Claim():
                self._say_spawned()
                if self._exited:
                    self._say(self._exited)
            case _:
                self._say(messages.Refused(self._spec.run, "bad", f"{type(message).__name__} is not for a keeper"))

    def _daemon_is_gone(self) -> None:
        if self._control is not None:
            os.close(self._control)
            self._control = None
        self._ends_at = time.monotonic() + self._spec.hold_s

    def _catch_signals(self) -> int:
        """A descriptor that wakes the loop. What would end us ends the run instead; nothing else may touch us."""
        read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        faults = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}
        for number in signal.valid_signals() - faults - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(write_end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, self._told_to_end)
        return read_end

    def _told_to_end(self, *_: object) -> None:
        self._kill_asked = True

    def _reap(self) -> bool:
        """Collect what ended. False when no process of the run is left."""
        for _ in range(1000):  # a storm of ending processes must not keep us from the rest of the work
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self._ended_cpu_s += usage.ru_utime + usage.ru_stime
            if pid == self._leader and self._exited is None:
                self._exited = self._leader_end(status, usage.ru_maxrss)
                self._say(self._exited)
        return True

    def _leader_end(self, status: int, max_rss_kb: int) -> messages.Exited:
        run, code = self._spec.run, os.waitstatus_to_exitcode(status)
        if code >= 0:
            return messages.Exited(run, code, None, max_rss_kb)
        ours = self._leader in self._killed
        no_memory = -code == signal.SIGKILL and not ours and self._count_oom() > self._oom_kills
        return messages.Exited(run, None, -code, max_rss_kb, no_memory)

    def _kill_tree(self) -> bool:
        """Strike until nothing is left; False (and a word about who is) when that cannot be had."""
        self._kill_asked = False
        give_up_at = time.monotonic() + _STUCK_S
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        refused: list[int] = []
        while self._reap():
            if time.monotonic() >= give_up_at:
                self._say(messages.Refused(self._spec.run, "alive", self._survivors(refused)))
                return False
            if self._group is not None:
                self._killed.update(self._group.kill())
            struck, refused = tree.strike(signal.SIGKILL)
            self._killed.update(struck)
            if refused and not struck:  # only strangers are left, and waiting makes them none of ours
                give_up_at = min(give_up_at, time.monotonic() + _STRANGERS_S)
            if poll.poll(20):
                os.read(self._wake, 4096)
        return True

    def _signal_group(self, number: int) -> None:
        try:
            if self._exited is None:
                os.killpg(self._leader, number)
            else:  # the number of a group may pass on once its leader was waited for: only what is surely ours
                with seeing_as(self._who):
                    found = tree.below(os.getpid())
                for process in found:
                    if process.group == self._leader and not process.is_dead:
                        os.kill(process.pid, number)
        except ProcessLookupError:
            pass
        except (OSError, ValueError) as error:
            self._say(messages.Refused(self._spec.run, "denied", f"signal {number} cannot be sent: {error}"))

    def _stats(self) -> messages.Stats:
        with seeing_as(self._who):
            found = tree.below(os.getpid())
        alive = [process for process in found if not process.is_dead]
        cpu_s = self._ended_cpu_s + sum(process.cpu_s for process in found)
        rss_kb = sum(process.rss_bytes for process in alive) // 1024
        apart = [f"{one.pid} {one.age_s:.2f} {one.name}" for one in alive if one.group != self._leader][:1000]
        return messages.Stats(self._spec.run, round(cpu_s, 3), len(alive), rss_kb, apart)

    def _survivors(self, refused: list[int]) -> str:
        with seeing_as(self._who):
            alive = [process for process in tree.below(os.getpid()) if not process.is_dead]
        words = [f"{p.pid} ({'belongs to another user' if p.pid in refused else 'state ' + p.state})" for p in alive]
        return f"these processes do not end: {', '.join(words)}"

    def _receive(self) -> messages.Message | None:
        """The next message, None when the daemon is gone. Raises `BadMessageError`."""
        assert self._control is not None
        try:
            data = os.read(self._control, messages.MAX_BYTES + 1)
        except ConnectionError:
            return None
        return messages.decode(data) if data else None

    def _say(self, message: messages.Message) -> None:
        if self._control is not None:
            with suppress(OSError):  # gone: the next look at the channel says so
                os.write(self._control, messages.encode(message))


def oom_kills() -> int:
    """How many processes of our memory group the kernel has killed for lack of memory; 0 where it does not say."""
    counters = {"": "/sys/fs/cgroup{}/memory.events", "memory": "/sys/fs/cgroup/memory{}/memory.oom_control"}
    for line in _lines("/proc/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        for counter in _lines(counters[controllers].format(group)) if controllers in counters else ():
            if counter.startswith("oom_kill "):
                return int(counter.split()[1])
    return 0


def _let_go_of_pipes() -> None:
    """The pipes are the agent's alone: as long as we held them, nobody would see their end."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def main(argv: list[str]) -> None:
    """`argv` is the number of the control descriptor; descriptors 0 to 2 are those of the agent to be.

    With 0 they come along with the first message instead: sudo lets nothing through but those three.
    """
    control, first = int(argv[0]), None
    if control == 0:
        from kai.launcher import passing  # noqa: PLC0415 - as above

        control = os.dup(0)
        data, passed = passing.receive(control, 3)
        with suppress(messages.BadMessageError):
            first = messages.decode(data)
        passing.become_standard(passed)
    os.set_inheritable(control, False)
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
        if number > 2 and number != control:
            with suppress(OSError):  # the listing's own is gone already
                os.close(number)
    Keeper(control).keep(first)
    os._exit(0)  # taking the interpreter down in order would take longer than all the rest
