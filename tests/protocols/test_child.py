"""The end of a run, step by step, against runs that behave as told."""

import signal
from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from kai.model.backends import Limits
from kai.model.errors import FailureKind
from kai.model.ids import RunId
from kai.processes.launcher import Exit, Stats, TreeAliveError
from kai.protocols.child import Child

pytestmark = pytest.mark.anyio

LIMITS = Limits(eof_s=0.05, term_s=0.05)


class Script:
    """A run that ends when it is told to, or does not."""

    run = RunId("r-1")
    pid = 1

    def __init__(self, *, ends_at: str = "", end: Exit | None = None, tree_alive: bool = False) -> None:
        self.steps: list[str] = []
        self._ends_at = ends_at
        self._end = end or Exit(0)
        self._tree_alive = tree_alive
        self.over = anyio.Event()
        self.apart: frozenset[str] = frozenset()

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if name == self._ends_at:
            self.over.set()

    async def read(self) -> bytes:
        return b""

    async def read_err(self) -> bytes:
        return b""

    def write_at_once(self, data: bytes) -> int:
        raise NotImplementedError

    async def write(self, data: bytes) -> None:
        raise NotImplementedError

    async def close_stdin(self) -> None:
        self._step("eof")

    async def wait(self) -> Exit:
        await self.over.wait()
        return self._end

    async def signal(self, number: int) -> None:
        self._step(signal.Signals(number).name)

    async def kill_tree(self) -> int:
        self._step("kill")
        if self._tree_alive:
            raise TreeAliveError(self.run, "not permitted")
        self.over.set()
        return 1

    async def stats(self) -> Stats:
        return Stats(0, 0, 0, self.apart)

    async def aclose(self) -> None: ...


@pytest.mark.parametrize(
    ("ends_at", "step", "steps"),
    [("eof", "eof", ["eof"]), ("SIGTERM", "term", ["eof", "SIGTERM"]), ("", "kill", ["eof", "SIGTERM", "kill"])],
)
async def test_the_ladder_goes_only_as_far_as_it_must(ends_at: str, step: str, steps: list[str]) -> None:
    run = Script(ends_at=ends_at)
    assert await Child(run, LIMITS).end() == step
    assert run.steps == steps


async def test_an_end_that_is_there_when_the_time_runs_out_is_no_reason_for_a_signal() -> None:
    """A busy machine: the daemon stood still for longer than the limit, and the agent had ended long since."""
    run = Script(ends_at="eof")
    assert await Child(run, replace(LIMITS, eof_s=0.0)).end() == "eof"
    assert run.steps == ["eof"]


async def gone(run: Script, before: Callable[[Child], None]) -> Child:
    child = Child(run, LIMITS)
    before(child)
    with anyio.fail_after(5):
        await child.until_gone(is_closing=lambda: False)
    return child


async def test_a_leader_that_ends_has_its_tree_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.protocols.child.GRACE_S", 0.05)
    run = Script()
    run.over.set()
    child = await gone(run, lambda _: None)  # its stdout never ends: a child of it holds the pipe
    assert run.steps == ["kill"]
    assert child.exit_code == 0


async def test_a_process_that_lives_on_without_stdout_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.protocols.child.GRACE_S", 0.05)
    run = Script(end=Exit(None, signal.SIGKILL))
    child = await gone(run, lambda child: child.stdout_ended.set())
    assert run.steps == ["kill"]
    assert child.exit_code == -9
    assert child.failure().kind is FailureKind.CRASH


async def test_a_tree_that_cannot_be_killed_is_told_and_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.protocols.child.GRACE_S", 0.05)
    child = await gone(Script(tree_alive=True), lambda child: child.stdout_ended.set())
    assert child.exit_code is None
    assert "not known" in child.failure().sentence


async def test_a_kill_for_lack_of_memory_is_named_as_that() -> None:
    run = Script(end=Exit(None, signal.SIGKILL, out_of_memory=True))
    run.over.set()
    child = await gone(run, lambda child: child.stdout_ended.set())
    assert child.failure().kind is FailureKind.MEMORY


async def test_what_is_left_over_is_what_tools_started_and_neither_the_agent_s_own_nor_its_helpers() -> None:
    run = Script()
    child = Child(run, LIMITS, helpers=("host",))
    run.apart = frozenset({"2 9.00 daemon"})
    await child.look()
    child.has_used_tools = True
    run.apart |= {"3 1.00 host"}
    await child.look()
    assert not await child.has_left_over()
    run.apart |= {"4 9.00 sleep"}
    await child.look()
    assert await child.has_left_over()
    run.apart = frozenset({"2 11.00 renamed by itself", "3 3.00 host"})
    assert not await child.has_left_over()


async def test_a_tool_that_runs_before_the_agent_says_so_is_not_its_own() -> None:
    run = Script()
    child = Child(run, LIMITS)
    run.apart = frozenset({"2 9.00 daemon", "3 0.10 sleep"})
    await child.look()
    child.has_used_tools = True
    run.apart = frozenset({"2 20.00 daemon", "3 11.10 sleep"})
    await child.look()
    assert await child.has_left_over()
