"""The keeper of a run, spoken to as the daemon does."""

import os
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kai.launcher import keeper as keeper_module
from kai.launcher.messages import Claim, Exited, Gone, Kill, Refused, Spawn, Spawned, Stat, Stats, encode
from tests.launcher.forked import NOBODY, become_nobody, keeper
from tests.processes.seen import is_alive, pids_in

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play several users")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def until(condition: Callable[[], object]) -> None:
    give_up_at = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.005)


def test_a_run_is_told_from_its_start_to_its_end() -> None:
    with keeper() as peer:
        pid = peer.spawn("exit 3")
        assert peer.hear(Exited)._replace(max_rss_kb=0) == Exited("r-1", 3, None)
        assert peer.hear(Stats).processes == 0
        assert peer.hear(Gone) == Gone("r-1", 0)
        assert peer.is_gone()
        assert not is_alive(pid)


def test_a_keeper_that_lost_its_daemon_before_the_first_word_ends() -> None:
    with keeper() as peer:
        peer.channel.close()


@pytest.mark.parametrize("first", [encode(Stat("r-1")), b"junk"])
def test_a_keeper_starts_nothing_but_what_it_was_told(first: bytes) -> None:
    with keeper() as peer:
        peer.channel.send(first)
        assert peer.hear(Refused).kind == "bad"
        peer.hear(Gone)
        assert peer.is_gone()


def test_a_refused_start_is_the_end(tmp_path: Path) -> None:
    with keeper() as peer:
        peer.tell(Spawn("r-1", [f"{tmp_path}/nothing"], {}, "/"))
        assert peer.hear(Refused) == Refused("r-1", "missing", f"{tmp_path}/nothing does not exist")
        peer.hear(Gone)
        assert peer.is_gone()


def test_limits_that_cannot_be_had_are_named() -> None:
    with keeper() as peer:
        peer.tell(Spawn("r-1", ["/bin/true"], {}, "/", limits={"NOFILE": 1 << 40}))
        assert "cannot have the limits {'NOFILE'" in peer.hear(Refused).reason
    with keeper() as peer:
        peer.tell(Spawn("r-1", ["/bin/true"], {}, "/", limits={"NONSENSE": 1}))
        assert peer.hear(Refused).kind == "bad"


def test_junk_on_the_channel_is_answered_and_survived() -> None:
    with keeper() as peer:
        peer.spawn("exec sleep 1000")
        peer.channel.send(b"{}")
        assert peer.hear(Refused).kind == "bad"
        peer.tell(Gone("r-1"))
        assert peer.hear(Refused).reason == "Gone is not for a keeper"
        peer.tell(Kill("r-1", 4_000))
        assert "signal 4000 cannot be sent" in peer.hear(Refused).reason
        peer.tell(Stat("r-1"))
        assert peer.hear(Stats).processes == 1


def test_a_claim_is_answered_with_what_there_is() -> None:
    """The message path of taking a run over: whoever was handed the channel learns what it needs."""
    with keeper() as peer:
        pid = peer.spawn("sleep 1000 & exit 5")
        peer.hear(Exited)
        peer.tell(Claim("r-1"))
        assert peer.hear(Spawned).pid == pid
        assert peer.hear(Exited).code == 5


def test_the_end_of_the_daemon_is_the_end_of_the_tree(tmp_path: Path) -> None:
    with keeper() as peer:
        peer.spawn(f"setsid sleep 1000 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/leader; exec sleep 1000")
        until(lambda: len(pids_in(tmp_path)) == 2)
    assert not any(map(is_alive, pids_in(tmp_path).values()))


def test_a_daemon_that_ends_with_unread_words_is_gone_all_the_same() -> None:
    with keeper() as peer:
        peer.spawn("exec sleep 1000")
        for _ in range(20):
            peer.tell(Stat("r-1"))


def test_a_held_run_that_ends_by_itself_is_not_waited_for() -> None:
    start = time.monotonic()
    with keeper() as peer:
        peer.spawn("sleep 0.1", hold_s=60.0)
    assert time.monotonic() - start < 10


def test_a_keeper_holds_none_of_the_pipes_of_its_run() -> None:
    """Kind of F5: else nobody would ever see their end."""
    with keeper() as peer:
        pid = peer.spawn("exec sleep 1000")
        held = [Path(f"/proc/{peer.pid}/fd/{number}").readlink() for number in (0, 1, 2)]
        assert held == [Path("/dev/null")] * 3
        # Until it has loaded its libraries it opens and closes files of its own.
        until(lambda: sorted(entry.name for entry in Path(f"/proc/{pid}/fd").iterdir()) == ["0", "1", "2"])


def test_what_ended_children_used_stays_counted() -> None:
    burn = "x=0; while [ $x -lt 100000 ]; do x=$((x+1)); done"
    with keeper() as peer:
        peer.spawn(f"setsid sh -c '{burn}' & wait; exit 0")
        peer.hear(Exited)
        assert peer.hear(Stats).cpu_s > 0.01


@needs_root
def test_who_may_not_enter_is_named(open_folder: Path) -> None:
    """The sentence says who lacks what, where; not the executable's name and a bare "permission denied"."""
    (open_folder / "locked").mkdir(0o700)
    (open_folder / "locked/work").mkdir()
    with keeper(become_nobody) as peer:
        peer.tell(Spawn("r-1", ["/bin/true"], {}, f"{open_folder}/locked/work"))
        assert peer.hear(Refused).reason == f"nobody may not enter the folder {open_folder}/locked"
    with keeper(become_nobody) as peer:
        peer.tell(Spawn("r-1", ["/bin/true"], {}, f"{open_folder}/locked"))
        assert peer.hear(Refused).reason == f"nobody may not enter the folder {open_folder}/locked"
    with keeper(become_nobody) as peer:
        peer.tell(Spawn("r-1", [f"{open_folder}/locked/work/agent"], {}, "/"))
        refused = peer.hear(Refused)
    assert (refused.kind, refused.reason) == ("denied", f"nobody may not enter the folder {open_folder}/locked")


@needs_root
def test_a_fork_limit_is_named() -> None:
    def before() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        become_nobody()

    with keeper(before) as peer:
        peer.tell(Spawn("r-1", ["/bin/true"], {}, "/"))
        refused = peer.hear(Refused)
    assert (refused.kind, refused.reason) == ("fork", "nobody may not have more processes (limit 0)")


@needs_root
def test_a_process_that_may_not_be_killed_is_an_error_not_a_success(open_folder: Path) -> None:
    """Kind of F2: a refused kill is told, never swallowed; all that may be killed is."""
    become_root = open_folder / "become-root"
    shutil.copy(str(shutil.which("setpriv")), become_root)
    become_root.chmod(0o4755)
    with keeper(become_nobody) as peer:
        leader = peer.spawn(f"{become_root} --reuid 0 sleep 20 & echo $! > {open_folder}/stranger; exec sleep 1000")
        until(lambda: pids_in_text(open_folder / "stranger"))
        stranger = pids_in_text(open_folder / "stranger")
        until(lambda: b"sleep" in Path(f"/proc/{stranger}/cmdline").read_bytes().split(b"\0")[0])
        if Path(f"/proc/{stranger}").stat().st_uid == NOBODY:
            os.kill(stranger, signal.SIGKILL)
            pytest.skip("this file system ignores the set-user-id bit")
        peer.tell(Kill("r-1", signal.SIGKILL, tree=True))
        peer.hear(Exited)
        refused = peer.hear(Refused)
        assert (refused.kind, refused.reason) == (
            "alive",
            f"these processes do not end: {stranger} (belongs to another user)",
        )
        assert is_alive(stranger)
        assert not is_alive(leader)
        os.kill(stranger, signal.SIGKILL)
        peer.hear(Stats)
        assert peer.hear(Gone).killed == 1


def pids_in_text(file: Path) -> int:
    return int(file.read_text().strip() or 0) if file.exists() else 0


def test_memory_kills_are_counted_where_the_kernel_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/self/cgroup": ["4:memory:/a", "0::/b"],
        "/sys/fs/cgroup/memory/a/memory.oom_control": ["oom_kill_disable 0", "under_oom 0", "oom_kill 3"],
        "/sys/fs/cgroup/b/memory.events": ["low 0", "oom 5", "oom_kill 4", "oom_group_kill 9"],
    }
    monkeypatch.setattr(keeper_module, "_lines", lambda path: files.get(path, []))
    assert keeper_module.oom_kills() == 3
    files["/proc/self/cgroup"] = ["3:cpu:/x", "0::/b"]
    assert keeper_module.oom_kills() == 4
    files.clear()
    assert keeper_module.oom_kills() == 0
