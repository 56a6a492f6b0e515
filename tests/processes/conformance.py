"""What every launcher keeps: one suite, run against each of them. A launcher's test class inherits it."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup

from kai.model.errors import FailureKind, LaunchError, SessionBrokenError
from kai.model.ids import RunId, fresh
from kai.processes.kept import Pipes
from kai.processes.launcher import Exit, Launcher, LaunchSpec, Run
from tests.processes.escapes import ESCAPES, FORK_STORM, marked_in_cwd
from tests.processes.seen import descriptors, eventually, is_alive, own_children, pids_in, threads

Start = Callable[..., Awaitable[Run]]
Make = Callable[..., LaunchSpec]

PYTHON = ("/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable, "-I", "-S", "-c")
SH = ("/bin/sh", "-c")
MB = 1024 * 1024


def spec(*argv: str, env: dict[str, str] | None = None, cwd: str = "/", **more: object) -> LaunchSpec:
    run = RunId(fresh("r"))
    return LaunchSpec(run, argv, {"KAI_RUN": run, "PATH": "/usr/bin:/bin"} if env is None else env, cwd, **more)  # type: ignore[arg-type]


async def everything(run: Run) -> bytes:
    """All of stdout."""
    parts = []
    while part := await run.read():
        parts.append(part)
    return b"".join(parts)


class Conformance:
    """A subclass gives the fixture `launcher`, and what goes with it: the `user` of every run, that user's `home`, a
    `tmp_path` of theirs, and a folder for `programs` that they cannot change.
    """

    @pytest.fixture
    def user(self) -> str:
        return ""

    @pytest.fixture
    def home(self) -> str:
        return "/nowhere"

    @pytest.fixture
    def programs(self, tmp_path: Path) -> Path:
        return tmp_path

    @pytest.fixture
    def spec(self, user: str) -> Make:
        return partial(spec, user=user)

    @pytest.fixture
    async def start(self, launcher: Launcher, spec: Make) -> AsyncIterator[Start]:
        """Starts runs, ends them, and fails the test that leaves a process, a thread or a descriptor behind."""
        await anyio.to_thread.run_sync(lambda: None)  # the loop's first worker thread opens descriptors of its own
        before = descriptors(), own_children(), threads()
        runs: list[Run] = []

        async def start(*argv: str, **more: object) -> Run:
            run = await launcher.spawn(spec(*argv, **more))
            runs.append(run)
            return run

        yield start
        for run in runs:
            await run.aclose()
        assert (descriptors(), own_children(), threads()) == before

    # --- starting

    async def test_a_run_reads_writes_and_exits(self, start: Start) -> None:
        run = await start("/bin/cat")
        await run.write(b"hello\n")
        assert await run.read() == b"hello\n"
        await run.close_stdin()
        await run.close_stdin()
        assert await run.read() == b""
        assert (await run.wait()).code == 0

    async def test_the_environment_is_exactly_what_was_asked_for(self, start: Start, home: str) -> None:
        env = {"HOME": home, "ODD": "a=b c\t\u00e4", "RAW": "\udcff"}
        run = await start("/usr/bin/env", "-0", env=env)
        said = os.fsdecode(await everything(run)).split("\0")
        assert sorted(said) == sorted(["", *(f"{name}={value}" for name, value in env.items())])

    async def test_the_agent_has_descriptors_0_1_2_whatever_leaks_in_the_daemon(self, start: Start) -> None:
        leak = os.dup(0)
        os.set_inheritable(leak, True)
        try:
            run = await start(*SH, "cd /proc/self/fd; echo *")  # in the shell itself: ls would open one more
            listed = {int(number) for number in (await everything(run)).split()}
        finally:
            os.close(leak)
        assert {number for number in listed if number < 10} - {3} == {0, 1, 2}
        assert leak not in listed or leak == 3

    async def test_files_of_the_agent_are_its_own(self, start: Start) -> None:
        run = await start(*SH, "umask")
        assert await everything(run) == b"0077\n"

    async def test_the_agent_starts_in_its_folder(self, start: Start, tmp_path: Path) -> None:
        folder = tmp_path / "Käse 日本"
        folder.mkdir()
        run = await start("/bin/pwd", "-P", cwd=str(folder))
        assert os.fsdecode(await everything(run)).rstrip("\n") == str(folder.resolve())

    async def test_the_agent_heads_its_own_session_and_group(self, start: Start) -> None:
        run = await start("/bin/cat", "/proc/self/stat")
        fields = (await everything(run)).rpartition(b")")[2].split()
        assert [int(fields[2]), int(fields[3])] == [run.pid, run.pid]
        assert run.pid != os.getpid()

    async def test_the_agent_has_default_signals_and_none_blocked(self, start: Start) -> None:
        run = await start("/bin/cat", "/proc/self/status")
        lines = dict(line.split(":\t") for line in (await everything(run)).decode().splitlines() if ":\t" in line)
        its_own = 0b11 << 31  # 32 and 33 are the C library's: whoever was started by make has them ignored
        assert [int(lines[name], 16) & ~its_own for name in ("SigBlk", "SigIgn", "SigCgt")] == [0, 0, 0]

    async def test_limits_are_set(self, start: Start) -> None:
        run = await start(*SH, "ulimit -n; ulimit -c", limits={"NOFILE": 77, "CORE": 0})
        assert await everything(run) == b"77\n0\n"

    # --- not starting

    @pytest.mark.parametrize(
        ("make", "kind", "reason"),
        [
            ("nothing", FailureKind.MISSING, "{path} does not exist"),
            ("dangling", FailureKind.MISSING, "{path} is a link to /nowhere, which does not exist"),
            ("plain", FailureKind.LAUNCH, "may not execute it"),
            ("folder", FailureKind.LAUNCH, "it is a folder"),
            ("below a file", FailureKind.LAUNCH, "is not a folder"),
            ("#!/no/such/interpreter\n", FailureKind.MISSING, "interpreter that is of no use: /no does not exist"),
            ("#!/etc/passwd\n", FailureKind.MISSING, "may not execute /etc/passwd"),
            ("\x7fELF nothing", FailureKind.LAUNCH, "neither a program for this machine nor a script"),
            ("text", FailureKind.LAUNCH, "neither a program for this machine nor a script"),
        ],
    )
    async def test_a_program_that_cannot_be_started_is_refused_with_who_lacks_what(
        self,
        launcher: Launcher,
        start: Start,
        spec: Make,
        programs: Path,
        make: str,
        kind: FailureKind,
        reason: str,
    ) -> None:
        path = programs / "agent"
        match make:
            case "nothing":
                pass
            case "dangling":
                path.symlink_to("/nowhere")
            case "folder":
                path.mkdir()
            case "below a file":
                path.write_text("")
                path /= "agent"
            case _:
                path.write_text(make)
                path.chmod(0o600 if make == "plain" else 0o755)
        with pytest.raises(LaunchError) as caught:
            await launcher.spawn(spec(str(path)))
        assert reason.format(path=path) in caught.value.reason
        assert (caught.value.kind, caught.value.program) == (kind, str(path))

    @pytest.mark.parametrize("kind", ["missing", "file", "relative"])
    async def test_a_folder_that_cannot_be_entered_is_named(
        self, launcher: Launcher, start: Start, spec: Make, tmp_path: Path, kind: str
    ) -> None:
        (tmp_path / "file").write_text("")
        folder = {"missing": tmp_path / "a/b", "file": tmp_path / "file", "relative": Path("here")}[kind]
        reason = {"missing": f"{tmp_path}/a does not exist", "file": "is not a folder", "relative": "'here'"}[kind]
        with pytest.raises(LaunchError) as caught:
            await launcher.spawn(spec("/bin/true", cwd=str(folder)))
        assert reason in caught.value.reason

    async def test_context_on_the_command_line_is_refused_not_cut(
        self, launcher: Launcher, start: Start, spec: Make
    ) -> None:
        """Kind of F44: what does not fit must be an error that says so, whatever the size."""
        for size in (140_000, 400_000, 3_000_000):
            with pytest.raises(LaunchError) as caught:
                await launcher.spawn(spec("/bin/true", "x" * size))
            assert "too long" in caught.value.reason

    @pytest.mark.parametrize(
        ("argv", "env"),
        [(("true",), {}), (("/bin/true", "a\0b"), {}), (("/bin/true",), {"A": "\0"}), (("/bin/true",), {"A=B": "c"})],
    )
    async def test_what_no_program_can_be_given_is_refused(
        self, launcher: Launcher, start: Start, spec: Make, argv: tuple[str, ...], env: dict[str, str]
    ) -> None:
        with pytest.raises(LaunchError):
            await launcher.spawn(spec(*argv, env=env))

    async def test_a_start_that_is_cancelled_at_any_moment_leaves_nothing(
        self, launcher: Launcher, start: Start, spec: Make, tmp_path: Path
    ) -> None:
        for step in range(12):
            with anyio.move_on_after(step * 0.008):
                run = await launcher.spawn(spec(*SH, f"sleep 60 & echo $! > {tmp_path}/{step}; sleep 60"))
                await run.aclose()
        assert not [name for name, pid in pids_in(tmp_path).items() if is_alive(pid)]

    # --- the end of the leader

    @pytest.mark.parametrize("code", [0, 1, 77, 255])
    async def test_an_exit_code_arrives(self, start: Start, code: int) -> None:
        run = await start(*SH, f"exit {code}")
        assert await run.wait() == await run.wait()
        assert (await run.wait()).code == code

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
    async def test_a_signal_death_is_told_as_such(self, start: Start, number: signal.Signals) -> None:
        run = await start(*SH, f"kill -{number.value} $$; sleep 60")
        end = await run.wait()
        assert (end.code, end.signal, end.out_of_memory) == (None, number, False)

    async def test_two_ends_at_once_keep_their_own_codes(self, start: Start) -> None:
        """Kind of F28: nobody waits for any child and takes another's exit code."""
        runs = [await start(*SH, f"read _; exit {code}") for code in range(1, 6)]
        codes: dict[int, int | None] = {}

        async def collect(number: int, run: Run) -> None:
            codes[number] = (await run.wait()).code

        async with anyio.create_task_group() as group:
            for number, run in enumerate(runs, 1):
                group.start_soon(collect, number, run)
            for run in runs:
                await run.close_stdin()
        assert codes == {number: number for number in range(1, 6)}

    async def test_the_end_is_seen_although_a_grandchild_holds_the_pipes(self, start: Start, tmp_path: Path) -> None:
        """Kind of F5: the end of the process and the end of its output are two events."""
        run = await start(*SH, f"sleep 1000 & echo $! > {tmp_path}/holder; echo answer; exit 4")
        with anyio.fail_after(5):
            assert (await run.wait()).code == 4
        assert await run.read() == b"answer\n"
        with anyio.move_on_after(0.05) as waiting:
            await run.read()
        assert waiting.cancelled_caught, "the grandchild holds stdout"
        assert await run.kill_tree() == 1
        assert await run.read() == b""
        assert not is_alive(pids_in(tmp_path)["holder"])

    async def test_closed_output_is_not_taken_for_the_end(self, start: Start) -> None:
        run = await start(*SH, "exec >&- 2>&-; sleep 1000")
        assert await run.read() == b""
        assert await run.read_err() == b""
        assert is_alive(run.pid)
        with anyio.move_on_after(0.05) as waiting:
            await run.wait()
        assert waiting.cancelled_caught
        await run.kill_tree()
        assert await run.wait() == Exit(None, signal.SIGKILL, False, (await run.wait()).max_rss_bytes)

    async def test_a_signal_reaches_the_whole_group_of_the_leader(self, start: Start, tmp_path: Path) -> None:
        run = await start(*SH, f"sleep 1000 & echo $! > {tmp_path}/child; echo up; wait")
        await run.read()
        await run.signal(signal.SIGTERM)
        assert (await run.wait()).signal == signal.SIGTERM
        await eventually(lambda: not is_alive(pids_in(tmp_path)["child"]))

    async def test_a_signal_reaches_the_group_although_its_leader_is_gone(self, start: Start, tmp_path: Path) -> None:
        """Kind of F1: launchers of CLIs leave first, and the agent stays in their group."""
        run = await start(*SH, f"sleep 1000 & echo $! > {tmp_path}/child; exit 0")
        await run.wait()
        await run.signal(signal.SIGTERM)
        await eventually(lambda: not is_alive(pids_in(tmp_path)["child"]))
        await run.signal(signal.SIGTERM)  # to nobody: nothing happens

    # --- ending the tree

    @pytest.mark.parametrize("leader", ["stays", "leaves"])
    @pytest.mark.parametrize("escape", ESCAPES)
    async def test_no_descendant_survives(self, start: Start, tmp_path: Path, escape: str, leader: str) -> None:
        """Kind of F7: an own session, an own group, a double fork, deafness: all of it ends with the tree."""
        end = "while ! ls | grep -q .; do sleep 0.01; done\n" + ("sleep 1000" if leader == "stays" else "exit 0")
        run = await start(*SH, f"{ESCAPES[escape]}\n{end}", cwd=str(tmp_path))
        if leader == "leaves":
            await run.wait()
        await eventually(lambda: pids_in(tmp_path))
        assert await run.kill_tree() >= 1
        assert not [name for name, pid in pids_in(tmp_path).items() if is_alive(pid)]
        assert not is_alive(run.pid)
        assert await run.kill_tree() >= 1, "asked again, it tells the same"

    async def test_a_stopped_leader_ends(self, start: Start) -> None:
        run = await start(*SH, "kill -STOP $$")
        await eventually(lambda: "T" in Path(f"/proc/{run.pid}/stat").read_text().rpartition(")")[2].split()[0])
        assert await run.kill_tree() == 1
        assert (await run.wait()).signal == signal.SIGKILL

    async def test_a_fork_storm_ends(self, start: Start, tmp_path: Path) -> None:
        """Processes that fork all the time, and some that only fork and exit: no snapshot ever holds them all."""
        run = await start(*PYTHON, FORK_STORM, cwd=str(tmp_path))
        assert await run.read() == b"storm\n"
        with anyio.fail_after(10):
            assert await run.kill_tree() > 5
        assert not [pid for pid in marked_in_cwd(tmp_path) if is_alive(pid)]

    async def test_a_child_that_is_started_again_ends(self, start: Start, tmp_path: Path) -> None:
        run = await start(*SH, f"while :; do sh -c 'echo $$ > {tmp_path}/$$; exec sleep 1000'; done")
        await eventually(lambda: pids_in(tmp_path))
        os.kill(next(iter(pids_in(tmp_path).values())), signal.SIGKILL)
        await eventually(lambda: len(pids_in(tmp_path)) > 1)
        await run.kill_tree()
        assert not [pid for pid in pids_in(tmp_path).values() if is_alive(pid)]

    async def test_a_zombie_below_the_agent_neither_counts_nor_holds(self, start: Start) -> None:
        """Kind of F23: a defunct child of the agent is no sign of life, and no hindrance."""
        run = await start(*PYTHON, "import os, time\nif os.fork(): print('up', flush=True); time.sleep(1000)")
        await run.read()
        stats = await run.stats()
        while stats.processes != 1:
            stats = await run.stats()
        with anyio.fail_after(5):
            assert await run.kill_tree() == 1

    async def test_closing_ends_the_tree_and_everything_that_waits(self, start: Start, tmp_path: Path) -> None:
        """Kind of F4, F20: kill, wait and joining the readers are one awaited step."""
        run = await start(*SH, f"setsid sleep 1000 & echo $! > {tmp_path}/child; echo up; sleep 1000")
        await run.read()
        ended: list[object] = []

        async def wait_for(what: Callable[[], Awaitable[object]]) -> None:
            ended.append(await what())

        async with anyio.create_task_group() as group:
            group.start_soon(wait_for, run.read)
            group.start_soon(wait_for, run.read_err)
            group.start_soon(wait_for, run.wait)
            await anyio.wait_all_tasks_blocked()
            async with anyio.create_task_group() as closing:
                closing.start_soon(run.aclose)
                closing.start_soon(run.aclose)
        assert sorted(map(repr, ended)) == sorted(["b''", "b''", repr(await run.wait())])
        assert not is_alive(pids_in(tmp_path)["child"])
        with pytest.raises(SessionBrokenError):
            await run.write(b"x")
        assert await run.read() == b""
        assert (await run.stats()).processes == 0
        await run.kill_tree()
        await run.signal(signal.SIGTERM)
        await run.close_stdin()
        await run.aclose()

    async def test_closing_is_done_even_by_a_cancelled_task(self, start: Start, tmp_path: Path) -> None:
        run = await start(*SH, f"setsid sleep 1000 & echo $! > {tmp_path}/child; echo up; sleep 1000")
        await run.read()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await run.aclose()
        assert not is_alive(pids_in(tmp_path)["child"])
        assert not is_alive(run.pid)

    async def test_a_hundred_runs_leave_nothing(self, launcher: Launcher, start: Start, spec: Make) -> None:
        """Kind of F8, F20, F25: no descriptor, zombie or thread remains of a run, however it ended."""
        before = descriptors(), own_children(), threads()
        limit = anyio.CapacityLimiter(4)

        async def one(number: int) -> None:
            async with limit:
                run = await launcher.spawn(spec(*SH, ("exit 0", "sleep 60", "setsid sleep 60 & exit 1")[number % 3]))
                try:
                    if number % 3 != 1:
                        await run.wait()
                finally:
                    await run.aclose()

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(one, number)
        assert (descriptors(), own_children(), threads()) == before

    # --- pipes

    async def test_fifty_megabytes_pass_both_ways_at_once(self, start: Start) -> None:
        """Kind of F38: a big prompt while a big answer comes blocks neither."""
        run = await start("/bin/cat")
        got = 0

        async def write() -> None:
            for _ in range(50):
                await run.write(bytes(MB))
            await run.close_stdin()

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            while part := await run.read():
                assert len(part) <= 64 * 1024
                got += len(part)
        assert got == 50 * MB

    async def test_an_agent_that_does_not_read_blocks_the_writer_only(self, start: Start) -> None:
        run = await start(*SH, "echo up; sleep 1000")
        async with anyio.create_task_group() as group:

            async def write() -> None:
                with pytest.raises(SessionBrokenError):
                    await run.write(bytes(10 * MB))

            group.start_soon(write)
            assert await run.read() == b"up\n"
            await anyio.wait_all_tasks_blocked()
            await run.kill_tree()

    async def test_an_unread_stderr_stops_the_agent_and_reading_frees_it(self, start: Start) -> None:
        """Kind of F37: that is why it has to be drained; nothing of it is kept in the launcher."""
        run = await start(*SH, "head -c 1000000 /dev/zero >&2; echo done")
        with anyio.move_on_after(0.1) as blocked:
            await run.read()
        assert blocked.cancelled_caught
        size = 0
        while part := await run.read_err():
            size += len(part)
        assert size == 1_000_000
        assert await run.read() == b"done\n"

    async def test_whole_frames_go_out_one_after_the_other(self, start: Start) -> None:
        run = await start("/bin/cat")
        frames = [bytes([letter]) * 200_000 for letter in b"abc"]

        async def write_all(group: TaskGroup) -> None:
            for frame in frames:
                group.start_soon(run.write, frame)

        async with anyio.create_task_group() as group:
            await write_all(group)
            got = b""
            while len(got) < 600_000:
                got += await run.read()
        assert sorted([got[at : at + 200_000] for at in range(0, 600_000, 200_000)]) == frames

    async def test_writing_to_an_agent_that_is_gone_is_an_error(self, start: Start) -> None:
        run = await start("/bin/true")
        await run.wait()
        with pytest.raises(SessionBrokenError):
            await run.write(b"x")

    # --- figures

    async def test_the_work_of_every_descendant_counts(self, start: Start, tmp_path: Path) -> None:
        """Kind of F14, F193: silence is judged by the CPU of the whole tree, ended children included."""
        burn = "x=0; while [ $x -lt 30000 ]; do x=$((x+1)); done"
        run = await start(
            *SH, f"setsid sh -c '{burn}; sleep 1000' & sh -c '{burn}'; echo up; sleep 1000", cwd=str(tmp_path)
        )
        before = await run.stats()
        await run.read()
        after = await run.stats()
        assert before.cpu_s < after.cpu_s < 60
        assert after.processes >= 3
        assert after.apart
        assert all(int(one.partition(" ")[0]) != run.pid and one.endswith((" sh", " sleep")) for one in after.apart)
        assert after.rss_bytes > 500_000
        await run.kill_tree()
        last = await run.stats()
        assert last.cpu_s >= after.cpu_s * 0.9
        assert last.processes == 0

    async def test_figures_may_be_asked_for_by_many_at_once(self, start: Start) -> None:
        run = await start("/bin/cat")
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(run.stats)
            group.start_soon(run.wait)
            await run.close_stdin()

    async def test_nothing_is_left_to_claim_after_an_end(self, launcher: Launcher, start: Start) -> None:
        run = await start("/bin/true")
        await run.aclose()
        pipes = Pipes()
        pipes.close_theirs()
        with pytest.raises(LaunchError):
            await launcher.claim(run.run, pipes.ours)
