"""The privileged process, spoken to by a daemon that was taken over: only what the policy allows starts."""

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kai.launcher import messages
from kai.launcher.messages import (
    Claim,
    Exited,
    Gone,
    Kill,
    Refused,
    Spawn,
    Spawned,
    Stat,
    Stats,
    Watch,
    Watched,
    encode,
)
from tests.processes.os_users import PROGRAMS, SHIM, AsDaemon, Machine, a_machine, needs_root, os_user, root_folder
from tests.processes.seen import is_alive, pids_in

pytestmark = needs_root
_runs = itertools.count()
M = TypeVar("M", bound=messages.Message)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine(PROGRAMS) as one:
        yield one


class Peer:
    """A connection to the spawner as the daemon's user, or as `who`."""

    def __init__(self, machine: Machine, who: Any = None) -> None:
        self.channel = AsDaemon(machine.spawner.socket, who or machine.daemon).dial()
        self.channel.settimeout(15)
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * messages.MAX_BYTES)
        self.machine = machine
        self.stdout = -1
        self.run = f"r-{next(_runs)}"

    def spawn(self, *argv: str, descriptors: int = 3, **more: Any) -> None:
        user = self.machine.alice
        fields = {"env": {"PATH": "/usr/bin:/bin"}, "cwd": "/", "user": user.pw_name, **more}
        self.send(Spawn(fields.pop("run", self.run), list(argv), **fields), descriptors)

    def send(self, message: messages.Message | bytes, descriptors: int = 0) -> None:
        ends = [os.pipe() for _ in range(descriptors)]
        theirs = [pair[number > 0] for number, pair in enumerate(ends)]
        ours = [pair[number == 0] for number, pair in enumerate(ends)]
        data = message if isinstance(message, bytes) else encode(message)
        socket.send_fds(self.channel, [data], theirs)
        for each in theirs:
            os.close(each)
        if len(ours) == 3:
            self.stdout = ours.pop(1)
        for each in ours:
            os.close(each)

    def hear(self, kind: type[M]) -> M:
        """The next message of `kind`."""
        while data := self.channel.recv(messages.MAX_BYTES):
            if isinstance(message := messages.decode(data), kind):
                return message
        raise AssertionError(f"it ended without {kind}")

    def refused(self) -> Refused:
        return self.hear(Refused)

    def is_closed(self) -> bool:
        try:
            return self.channel.recv(100) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self.channel.close()
        if self.stdout >= 0:
            os.close(self.stdout)


@contextmanager
def peer(machine: Machine, who: Any = None) -> Iterator[Peer]:
    one = Peer(machine, who)
    try:
        yield one
    finally:
        one.close()


def lives(machine: Machine) -> Watched:
    with peer(machine) as one:
        one.send(Watch())
        watched = one.hear(Watched)
        assert watched.pid == machine.spawner.process.pid
        return watched


def until(condition: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.005)


# --- who may speak to it


def test_nobody_but_the_daemon_is_heard(machine: Machine) -> None:
    with pytest.raises(PermissionError):
        AsDaemon(machine.spawner.socket, machine.alice).dial()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
        channel.connect(str(machine.spawner.socket))  # as root, who may connect to anything
        channel.settimeout(10)
        with suppress(BrokenPipeError, ConnectionResetError):
            channel.send(encode(Watch()))
            assert channel.recv(10) == b""
    lives(machine)


# --- what it is told


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.binary(min_size=1, max_size=2000),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["op", "run", "argv", "env", "cwd", "user", "version", "x"]), inner)
            ),
        ),
        st.fixed_dictionaries(
            {"op": st.sampled_from(["spawn", "kill", "claim", "stat", "stats", "watch", "watched", "gone", "x"])},
            optional={
                "run": st.one_of(st.text(max_size=10), st.just("../x")),
                "argv": st.lists(st.text(max_size=10), max_size=3),
                "env": st.dictionaries(st.text(max_size=10), st.text(max_size=10), max_size=3),
                "cwd": st.text(max_size=10),
                "user": st.sampled_from(["root", "daemon", "\0", "", "../x"]),
                "hold_s": st.floats(),
                "limits": st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
                "version": st.just(1),
                "signal": st.integers(),
                "tree": st.booleans(),
            },
        ),
    ),
    st.integers(0, 6),
)
def test_no_datagram_harms_it(machine: Machine, what: Any, descriptors: int) -> None:
    data = what if isinstance(what, bytes) else json.dumps(what).encode("utf-8", "surrogatepass")
    with peer(machine) as one:
        one.send(data, descriptors)
    lives(machine)


@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b'{"op":' * 20_000, b"\0" * 200_000, b"9" * 100_000, b"\xff\xfe"],
    ids=lambda d: repr(d[:8]),
)
def test_deep_wide_and_long_junk_is_refused(machine: Machine, data: bytes) -> None:
    with peer(machine) as one:
        one.send(data)
        assert one.refused().kind == "bad"
        assert one.is_closed()
    lives(machine)


@pytest.mark.parametrize("descriptors", [0, 1, 2, 4, 16, 17, 100])
def test_other_than_three_pipes_are_refused_and_none_is_kept(machine: Machine, descriptors: int) -> None:
    before = descriptors_of(machine)
    with peer(machine) as one:
        one.spawn("/bin/true", descriptors=descriptors)
        assert "three pipes" in one.refused().reason
    until(lambda: descriptors_of(machine) == before)


def test_what_is_no_pipe_is_refused(machine: Machine) -> None:
    """A folder or a socket of the daemon's as an agent's stdin would be a door."""
    before = descriptors_of(machine)
    with peer(machine) as one:
        folder = os.open("/root", os.O_RDONLY)
        spec = Spawn("r-1", ["/bin/true"], {}, "/", machine.alice.pw_name)
        socket.send_fds(one.channel, [encode(spec)], [folder] * 3)
        os.close(folder)
        assert "three pipes" in one.refused().reason
    until(lambda: descriptors_of(machine) == before)


def test_descriptors_that_come_along_later_are_dropped(machine: Machine) -> None:
    with peer(machine) as one:
        one.spawn("/bin/sleep", "1000")
        keeper = one.hear(Spawned).keeper
        before = len(list(Path(f"/proc/{keeper}/fd").iterdir()))
        for _ in range(20):
            one.send(Stat("r-1"), 3)
            one.hear(Stats)
        assert len(list(Path(f"/proc/{keeper}/fd").iterdir())) == before


def descriptors_of(machine: Machine) -> int:
    return len(list(Path(f"/proc/{machine.spawner.process.pid}/fd").iterdir()))


def test_a_flood_of_silent_connections_keeps_nobody_out_for_long(machine: Machine) -> None:
    silent = []
    try:
        for _ in range(100):
            channel = AsDaemon(machine.spawner.socket, machine.daemon).dial()
            silent.append(channel)
        assert descriptors_of(machine) < 100
    finally:
        for channel in silent:
            channel.close()
    lives(machine)


def test_a_connection_that_says_nothing_is_closed(machine: Machine) -> None:
    with peer(machine) as one:
        assert one.is_closed()


def test_a_flood_of_starts_ends_in_nothing(machine: Machine) -> None:
    for number in range(60):
        with peer(machine) as one:
            one.spawn("/bin/sleep", "1000", run=f"r-{number}")
    until(lambda: not keepers(machine))
    lives(machine)


def keepers(machine: Machine) -> list[int]:
    pid = machine.spawner.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# --- what it is asked for


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"user": "root"}, "root is not one of the users"),
        ({"user": "nobody"}, "nobody is not one of the users"),
        ({"user": "no-such-user"}, "no user 'no-such-user'"),
        ({"user": ""}, "no user ''"),
        ({"user": "a\0b"}, "no user"),
        ({"run": "../../x"}, "no id of a run"),
        ({"run": "x" * 200}, "no id of a run"),
        ({"argv": ["/usr/bin/id"]}, "/usr/bin/id is no program"),
        ({"argv": ["/bin/../usr/bin/id"]}, "is no program"),
        ({"argv": ["sh"]}, "absolute path"),
        ({"argv": []}, "absolute path"),
        ({"argv": ["/bin/sh\0x"]}, "NUL"),
        ({"env": {"LD_PRELOAD": "/tmp/x.so"}}, "LD_PRELOAD"),
        ({"env": {"LD_LIBRARY_PATH": "/tmp"}}, "LD_LIBRARY_PATH"),
        ({"env": {"PYTHONPATH": "/tmp"}}, "PYTHONPATH"),
        ({"env": {"BASH_ENV": "/tmp/x"}}, "BASH_ENV"),
        ({"env": {"NODE_OPTIONS": "-r /tmp/x"}}, "NODE_OPTIONS"),
        ({"env": {"SOMETHING": "else"}}, "SOMETHING"),
        ({"env": {"PATH": ".:/bin"}}, "absolute paths"),
        ({"env": {"PATH": "/bin:"}}, "absolute paths"),
        ({"env": {"HOME": "/root"}}, "HOME has to be"),
        ({"env": {"USER": "root"}}, "USER has to be"),
        ({"env": {"KAI_RUN": "r-other"}}, "KAI_RUN has to be r-"),
        ({"cwd": "/root"}, "may not enter the folder /root"),
        ({"hold_s": -1.0}, "held for"),
        ({"hold_s": float("nan")}, "held for"),
        ({"hold_s": float("inf")}, "held for"),
        ({"limits": {"NOFILE": 1 << 62}}, "cannot have the limits"),
    ],
    ids=lambda v: repr(v)[:40],
)
def test_what_the_policy_does_not_allow_is_refused_with_its_reason(
    machine: Machine, fields: dict[str, Any], reason: str
) -> None:
    with peer(machine) as one:
        one.spawn(*fields.pop("argv", ["/bin/true"]), **fields)
        assert reason in one.refused().reason
    until(lambda: not keepers(machine))


@pytest.mark.parametrize("first", [Kill("r-1", 9, tree=True), Stat("r-1"), Gone("r-1"), Exited("r-1", 0, None)])
def test_a_first_word_that_is_none_is_refused(machine: Machine, first: messages.Message) -> None:
    with peer(machine) as one:
        one.send(first)
        assert "no first word" in one.refused().reason


def test_a_second_run_of_the_same_name_is_refused(machine: Machine) -> None:
    with peer(machine) as one, peer(machine) as two:
        one.spawn("/bin/sleep", "1000", run="r-same")
        one.hear(Spawned)
        two.spawn("/bin/true", run="r-same")
        assert "of that name" in two.refused().reason


def test_a_user_who_may_become_root_is_refused_though_the_policy_names_them(machine: Machine) -> None:
    with os_user("--groups", "sudo") as ruler, other_policy(machine, users=[ruler.pw_name]), peer(machine) as one:
        one.spawn("/bin/true", user=ruler.pw_name)
        assert "may become root" in one.refused().reason


@contextmanager
def other_policy(machine: Machine, text: str = "", **fields: Any) -> Iterator[None]:
    machine.spawner.write(text or {**machine.spawner.policy, **fields})
    try:
        yield
    finally:
        machine.spawner.write(machine.spawner.policy)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"daemon_user": 1}', '{"daemon_user": "x", "users": "y", "programs": []}']
)
def test_a_bad_policy_refuses_with_a_sentence_until_it_is_mended(machine: Machine, text: str) -> None:
    with other_policy(machine, text or " "), peer(machine) as one:
        one.spawn("/bin/true")
        assert "spawner.json cannot be used" in one.refused().reason
    with peer(machine) as one:
        one.spawn("/bin/true")
        one.hear(Spawned)


def test_a_policy_that_others_may_write_is_not_believed(machine: Machine) -> None:
    with other_policy(machine, min_uid=1001):
        machine.spawner.file.chmod(0o666)
        with peer(machine) as one:
            one.spawn("/bin/true")
            assert "everybody may write to" in one.refused().reason


def test_a_min_uid_and_a_removed_user_count_from_the_next_start(machine: Machine) -> None:
    with other_policy(machine, min_uid=machine.alice.pw_uid + 1), peer(machine) as one:
        one.spawn("/bin/true")
        assert "whatever the policy says" in one.refused().reason
    with other_policy(machine, users=[]), peer(machine) as one:
        one.spawn("/bin/true")
        assert "not one of the users" in one.refused().reason


def test_a_program_that_somebody_could_exchange_is_refused_though_the_policy_names_it(machine: Machine) -> None:
    program = Path(machine.alice.pw_dir) / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with other_policy(machine, programs=[str(program)]), peer(machine) as one:
        one.spawn(str(program))
        assert f"{machine.alice.pw_dir} belongs to user" in one.refused().reason


# --- ends


def test_the_agent_has_no_privilege_and_no_way_to_one(machine: Machine) -> None:
    with peer(machine) as one:
        one.spawn("/bin/cat", "/proc/self/status")
        one.hear(Exited)
        status = dict(line.split(":\t") for line in os.read(one.stdout, 65536).decode().splitlines() if ":\t" in line)
    alice = machine.alice
    assert status["Uid"] == "\t".join([str(alice.pw_uid)] * 4)
    assert status["Gid"] == "\t".join([str(alice.pw_gid)] * 4)
    assert status["Groups"].split() == [str(gid) for gid in os.getgrouplist(alice.pw_name, alice.pw_gid)]
    assert [status[name] for name in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd")] == ["0000000000000000"] * 5
    assert status["NoNewPrivs"] == "1"


ESCAPED = "setsid sleep 1000 & echo $! > escaped; (sleep 1000 & echo $! > child); echo $$ > leader; exec sleep 1000"


@pytest.fixture
def work(machine: Machine) -> Iterator[Path]:
    path = Path(machine.alice.pw_dir) / "work"
    path.mkdir()
    os.chown(path, machine.alice.pw_uid, machine.alice.pw_gid)
    yield path
    shutil.rmtree(path)


@pytest.mark.parametrize("killed", ["daemon", "keeper", "spawner", "spawner told"])
def test_whoever_is_killed_takes_the_whole_tree_along(machine: Machine, work: Path, killed: str) -> None:
    with peer(machine) as one:
        one.spawn("/bin/sh", "-c", ESCAPED, cwd=str(work))
        keeper = one.hear(Spawned).keeper
        until(lambda: len(pids_in(work)) == 3)
        match killed:
            case "daemon":
                one.channel.close()
            case "keeper":
                os.kill(keeper, signal.SIGKILL)
            case "spawner":
                machine.spawner.end(signal.SIGKILL)
            case _:
                assert "Traceback" not in machine.spawner.end()
        until(lambda: not any(map(is_alive, pids_in(work).values())))
    if "spawner" in killed:
        machine.spawner.start()
    until(lambda: not keepers(machine))
    groups = lives(machine).groups
    assert not groups or not list(Path(groups).glob("run-*"))


def test_a_held_run_is_claimed_by_the_next_daemon_and_by_nobody_twice(machine: Machine, work: Path) -> None:
    with peer(machine) as one:
        one.spawn("/bin/sh", "-c", "echo $$ > leader; exec sleep 1000", cwd=str(work), hold_s=60.0)
        pid = one.hear(Spawned).pid
        one.channel.close()
        with peer(machine) as two:
            two.send(Claim(one.run))
            assert two.hear(Spawned).pid == pid
            two.send(Stat("r-1"))
            assert two.hear(Stats).processes == 1
            two.send(Kill("r-1", signal.SIGKILL, tree=True))
            assert two.hear(Exited).signal == signal.SIGKILL
            assert two.hear(Gone).killed == 1
    with peer(machine) as one:
        one.send(Claim("r-1"))
        assert one.refused().kind == "missing"


def test_a_held_run_ends_when_nobody_came(machine: Machine, work: Path) -> None:
    with peer(machine) as one:
        one.spawn("/bin/sh", "-c", ESCAPED, cwd=str(work), hold_s=0.5)
        one.hear(Spawned)
        until(lambda: len(pids_in(work)) == 3)
    closed_at = time.monotonic()
    until(lambda: not any(map(is_alive, pids_in(work).values())))
    assert time.monotonic() - closed_at > 0.4


# --- its own start


def run_spawner(*argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(SHIM), "spawner", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=15)


def test_a_start_that_cannot_be_says_why() -> None:
    assert run_spawner("--nonsense").returncode == 2
    done = run_spawner("--policy", "/nowhere/spawner.json")
    assert done.returncode == 1
    assert "/nowhere" in done.stderr
    with root_folder() as folder:
        (folder / "p.json").write_text('{"daemon_user": "no-such-user", "users": [], "programs": []}')
        done = run_spawner("--policy", str(folder / "p.json"), "--socket", str(folder / "s"))
        assert done.returncode == 1
        assert "no-such-user" in done.stderr
        assert "Traceback" not in done.stderr
