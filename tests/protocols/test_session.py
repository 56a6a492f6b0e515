"""The session: how it starts, what it promises around a prompt, how it ends."""

import os
import signal
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import anyio
import psutil
import pytest

from kai.clock import SystemClock
from kai.model.backends import ProtocolName
from kai.model.errors import FailureKind, LaunchError, SessionBrokenError, SessionLostError
from kai.model.events import Ask, Compacted, Failed, Finished, Started, TextDelta
from kai.model.ids import DispatchId, RunId
from kai.processes.direct import DirectLauncher
from kai.processes.launcher import LaunchSpec
from kai.protocols.child import STDERR_BYTES
from kai.protocols.hosting import open_session
from kai.protocols.registry import driver_for
from tests.protocols.agents import LIMITS, PROTOCOLS, Fake, is_running, prompt, setup, text_of, turn, until
from tests.protocols.test_turn import check

UNHURRIED = replace(LIMITS, stop_s=10.0, eof_s=10.0)  # where the step is what counts, on however busy a machine

pytestmark = pytest.mark.anyio

STREAM_JSON, ACP = ProtocolName.STREAM_JSON, ProtocolName.ACP


@pytest.fixture(params=PROTOCOLS, ids=lambda protocol: protocol.value)
def fake(request: pytest.FixtureRequest, tmp_path: Path) -> Fake:
    return Fake(request.param, tmp_path)


@pytest.fixture
def claude(tmp_path: Path) -> Fake:
    """Where the protocol makes no difference, one will do."""
    return Fake(STREAM_JSON, tmp_path)


def pid_of(text: str) -> int:
    return int(text.split()[1])


# The start


@pytest.mark.parametrize("script", ["start:noise", "start:stderr=200000", "start:slow=0.2"])
async def test_noise_and_slowness_at_the_start_are_borne(fake: Fake, script: str) -> None:
    fake.script = script
    async with fake.session() as session:
        assert session.ready.version.endswith("9.9.9")
        assert text_of(await turn(session, "hi")) == "echo: hi"


async def test_an_agent_that_never_gets_ready_is_given_up(fake: Fake) -> None:
    fake.script, fake.limits = "start:silent", replace(LIMITS, start_s=0.3)
    with pytest.raises(SessionLostError) as caught:
        async with fake.session():
            pass
    assert caught.value.kind is FailureKind.SILENT


async def test_an_agent_that_ends_at_once_says_why(fake: Fake) -> None:
    fake.script = "start:die=2"
    with pytest.raises(SessionLostError) as caught:
        async with fake.session():
            pass
    assert caught.value.kind is FailureKind.LAUNCH
    assert "exit code 2; cannot start: no such option" in caught.value.sentence


async def test_an_agent_without_a_login_says_so_before_the_first_prompt(tmp_path: Path) -> None:
    with pytest.raises(SessionLostError) as caught:
        async with Fake(ACP, tmp_path, script="start:error=login").session():
            pass
    assert caught.value.kind is FailureKind.LOGIN


async def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    spec = LaunchSpec(RunId("r-1"), ("/nonexistent/agent",), {}, str(tmp_path))
    with pytest.raises(LaunchError):
        async with open_session(
            DirectLauncher(),
            spec,
            driver_for(setup(ACP, "/")),
            LIMITS,
            clock=SystemClock(),
            wire_path=tmp_path / "runs" / "wire",
        ):
            pass
    assert not os.path.exists(tmp_path / "runs")  # noqa: ASYNC240, PTH110


# Resume


async def test_a_session_is_taken_up_again_and_its_replay_is_not_shown(fake: Fake) -> None:
    async with fake.session() as session:
        await turn(session, "FAKE:remember=zebra")
        native_id = session.native_id
    async with fake.session(resume=native_id) as session:
        assert session.ready.resumed
        seen = await turn(session, "FAKE:recall")
        assert text_of(seen) == "word: zebra"
        assert session.native_id == native_id
        assert isinstance(seen[0], Started)
        assert seen[0].native_id == native_id
    assert fake.aside == []


async def test_an_unknown_session_is_a_resume_failure_and_nothing_hangs(fake: Fake) -> None:
    with pytest.raises(SessionLostError) as caught:
        async with fake.session(resume="6be37597-9158-4c9b-9c7a-29cc131abda2") as session:
            await turn(session, "x")
    assert caught.value.kind is FailureKind.RESUME


async def test_a_session_that_ends_without_a_turn_after_a_resume_is_lost(fake: Fake) -> None:
    async with fake.session() as session:
        await turn(session, "FAKE:remember=x")
        native_id = session.native_id
    async with fake.session(resume=native_id) as session:
        end = (await turn(session, "FAKE:zero"))[-1]
    assert isinstance(end, Failed)
    assert (end.kind, end.session_lost) == (FailureKind.RESUME, True)


async def test_after_a_reset_the_session_has_another_id(claude: Fake) -> None:
    async with claude.session() as session:
        await turn(session, "one")
        before = session.native_id
        await turn(session, "FAKE:newid FAKE:say=x", number=2)
        assert session.native_id != before


# Around a prompt


async def test_the_frame_is_told_before_its_first_byte_is_written_and_arrives_byte_for_byte(fake: Fake) -> None:
    told: list[tuple[str, bytes]] = []

    async def on_sent(digest: str) -> None:
        # All that the agent has got by now: the handshake.
        told.append((digest, await anyio.Path(fake.log).read_bytes()))

    words = "/cmd @file \u2028 é 😀 " + "x" * 300_000
    async with fake.session() as session, session.prompt(prompt(words), on_sent=on_sent) as events:
        assert [event async for event in events][-1] == Finished()
    ((digest, before),) = told
    frame = (await anyio.Path(fake.log).read_bytes())[len(before) :].splitlines(keepends=True)[0]
    assert sha256(frame).hexdigest() == digest
    assert b"/cmd @file" not in before


async def test_what_could_not_be_stored_is_not_sent(fake: Fake) -> None:
    class DiskFullError(Exception):
        pass

    async def on_sent(digest: str) -> None:
        raise DiskFullError

    async with fake.session() as session:
        with pytest.raises(DiskFullError):
            async with session.prompt(prompt("secret"), on_sent=on_sent):
                pass
        assert not session.busy
        assert text_of(await turn(session, "after")) == "echo: after"
    assert b"secret" not in await anyio.Path(fake.log).read_bytes()


async def test_a_second_prompt_while_one_runs_is_refused_and_never_sent(claude: Fake) -> None:
    async with claude.session() as session, session.prompt(prompt("FAKE:slow=5")) as events:
        with pytest.raises(SessionBrokenError):
            async with session.prompt(prompt("second")):
                pass
        assert text_of([event async for event in events]).startswith("chunk0")
    assert b"second" not in await anyio.Path(claude.log).read_bytes()


async def test_a_big_prompt_and_a_big_answer_do_not_block_each_other(fake: Fake) -> None:
    async with fake.session() as session:
        seen = await turn(session, "x" * 1_000_000 + " FAKE:huge=3 FAKE:stderr=100000 FAKE:say=done")
        assert text_of(seen) == "done"


async def test_a_caller_that_is_slow_does_not_stop_the_reader(claude: Fake) -> None:
    async with claude.session() as session, session.prompt(prompt("FAKE:slow=50,0 FAKE:long=500000")) as events:
        await until(lambda: not session._running)
        assert text_of([event async for event in events]).endswith("0123456789")


async def test_unsolicited_words_go_where_they_belong(fake: Fake) -> None:
    async with fake.session() as session:
        assert text_of(await turn(session, "FAKE:unsolicited=0.02 FAKE:say=x")) == "x"
        await until(lambda: fake.aside)
        assert fake.aside == ["BACKGROUND work is done"]
        assert text_of(await turn(session, "next", number=2)) == "echo: next"


@pytest.mark.parametrize("ids", ["", "FAKE:noids "])
async def test_late_words_of_a_stopped_turn_are_not_in_the_next_one(
    fake: Fake, ids: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Words that do not say whose they are can be told by their time alone: they come right behind the end.
    late_s = "0" if ids else "0.1"
    fake.limits = UNHURRIED
    monkeypatch.setattr("kai.protocols.session.SETTLE_S", 1.0 if ids else 0.3)
    async with fake.session() as session:
        for number in range(2):
            words = f"{ids}FAKE:late={late_s} FAKE:say=x FAKE:silent"
            async with session.prompt(prompt(words, number)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        await session.interrupt()
            # It still runs when the late words come.
            assert (
                text_of(await turn(session, "FAKE:slow=5,0.05", number=number)) == "chunk0 chunk1 chunk2 chunk3 chunk4 "
            )


async def test_a_compaction_is_told(claude: Fake) -> None:
    async with claude.session() as session:
        assert Compacted() in await turn(session, "FAKE:compact FAKE:say=x")


async def test_a_compaction_between_turns_is_told_with_the_next_one(claude: Fake) -> None:
    async with claude.session() as session:
        session._emit(Compacted())
        assert Compacted() in await turn(session, "x")
        assert Compacted() not in await turn(session, "y", number=2)


# Stops


async def test_a_stop_without_a_turn_does_nothing(fake: Fake) -> None:
    async with fake.session() as session:
        report = await session.interrupt()
        assert (report.step, report.session_kept) == ("idle", True)
        assert text_of(await turn(session, "x")) == "echo: x"


async def test_a_stop_names_its_turn_and_never_hits_the_next(claude: Fake) -> None:
    async with claude.session() as session, session.prompt(prompt("FAKE:slow=4")) as events:
        assert (await session.interrupt(DispatchId("d-of-before"))).step == "idle"
        assert [event async for event in events][-1] == Finished()


async def test_two_stops_at_once_are_one(fake: Fake) -> None:
    async with fake.session() as session, session.prompt(prompt("FAKE:endless")) as events:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.interrupt)
            tasks.start_soon(session.interrupt)
        assert [event async for event in events][-1] == Finished(stopped=True)
    word = {STREAM_JSON: b"interrupt", ACP: b"cancel", ProtocolName.PI_RPC: b'"abort"'}.get(
        fake.protocol, b"turn/interrupt"
    )
    assert (await anyio.Path(fake.log).read_bytes()).count(word) == 1


async def test_a_cancelled_caller_leaves_nothing_running(fake: Fake) -> None:
    with anyio.move_on_after(30) as scope:
        async with fake.session() as session:
            pid = pid_of(text_of(await turn(session, "FAKE:pid")))
            async with session.prompt(prompt("FAKE:child FAKE:endless")) as events:
                async for event in events:
                    if isinstance(event, TextDelta) and "child" in event.text:
                        child = pid_of(event.text)
                        scope.cancel()
    assert scope.cancelled_caught
    assert not is_running(pid)
    assert not is_running(child)


async def test_an_error_of_the_caller_comes_out_as_itself(claude: Fake) -> None:
    pids: list[int] = []

    async def caller() -> None:
        async with claude.session() as session:
            pids.append(pid_of(text_of(await turn(session, "FAKE:pid"))))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await caller()
    assert not is_running(pids[0])


async def test_closing_ends_a_running_turn_first(fake: Fake) -> None:
    fake.limits = UNHURRIED
    async with fake.session() as session, session.prompt(prompt("FAKE:endless")) as events:
        report = await session.close()
        assert report.step == "eof"
        assert [event async for event in events][-1] == Finished(stopped=True)


async def test_closing_twice_is_closing_once(claude: Fake) -> None:
    claude.limits = UNHURRIED
    async with claude.session() as session:
        first = await session.close()
        assert first.step == "eof"
        await session.close()
        assert not session.alive
        with pytest.raises(SessionBrokenError):
            async with session.prompt(prompt("x")):
                pass


# Ends that nobody asked for


async def test_a_process_that_ends_while_idle_is_seen_and_takes_no_prompt(claude: Fake) -> None:
    async with claude.session() as session:
        os.kill(pid_of(text_of(await turn(session, "FAKE:pid"))), signal.SIGKILL)
        with anyio.fail_after(5):
            await session.ended()
        assert not session.alive
        with pytest.raises(SessionBrokenError):
            async with session.prompt(prompt("x")):
                pass


async def test_a_process_that_dies_as_the_prompt_is_stored_is_owned_up_to_in_the_turn(claude: Fake) -> None:
    async with claude.session() as session:
        pid = pid_of(text_of(await turn(session, "FAKE:pid")))

        async def on_sent(digest: str) -> None:
            os.kill(pid, signal.SIGKILL)
            await session.ended()

        async with session.prompt(prompt("x", 2), on_sent=on_sent) as events:
            seen = [event async for event in events]
    check(seen)
    assert isinstance(seen[-1], Failed)
    assert seen[-1].kind is FailureKind.CRASH


async def test_a_late_exit_after_the_answer_is_no_failure(claude: Fake) -> None:
    """The end of a delivered turn's process is clean-up: nothing is told of it to anybody."""
    async with claude.session() as session:
        seen = await turn(session, "FAKE:say=x")
        assert seen[-1] == Finished()
        assert (await session.close()).session_kept is False
    assert claude.aside == []


async def test_stderr_is_drained_and_its_tail_kept(claude: Fake) -> None:
    async with claude.session() as session:
        await turn(session, "FAKE:stderr=1000000 FAKE:say=x")
        await until(lambda: len(session.stderr_tail) == STDERR_BYTES)


async def test_a_question_stops_the_clock_of_silence(fake: Fake) -> None:
    fake.limits = replace(LIMITS, silence_s=0.3, first_output_s=0.3)
    async with fake.session() as session, session.prompt(prompt("FAKE:ask")) as events:
        async for event in events:
            if isinstance(event, Ask):
                await anyio.sleep(0.8)
                assert session.busy
                assert await session.answer(event.ask, event.choices[-1])
    assert not session.busy


async def test_it_knows_since_when_it_is_idle(claude: Fake) -> None:
    async with claude.session() as session:
        idle = [session.idle_since]
        async with session.prompt(prompt("FAKE:slow=2")) as events:
            idle.append(session.idle_since)
            assert [event async for event in events]
        idle.append(session.idle_since)
        assert (await session.stats()).processes >= 1
    before, during, after = idle
    assert during is None
    assert before is not None
    assert after is not None
    assert before < after


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_process_that_a_tool_left_behind_is_work_until_it_ends(protocol: ProtocolName, tmp_path: Path) -> None:
    async with Fake(protocol, tmp_path).session() as session:
        await turn(session, "FAKE:tool FAKE:say=x")
        assert not await session.works()
        left = int(text_of(await turn(session, "FAKE:escape")).split()[-1])
        assert await session.works()
        psutil.Process(left).kill()
        with anyio.fail_after(5):
            while await session.works():  # noqa: ASYNC110 - another process gives no event
                await anyio.sleep(0.01)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_what_runs_beside_an_agent_before_its_first_tool_is_its_own_and_no_work(
    protocol: ProtocolName, tmp_path: Path
) -> None:
    async with Fake(protocol, tmp_path).session() as session:
        helper = int(text_of(await turn(session, "FAKE:escape")).split()[-1])  # no tool was called for it
        await until(lambda: str(helper) in session._child._own)
        assert not await session.works()
        await turn(session, "FAKE:tool")
        assert not await session.works()
        left = int(text_of(await turn(session, "FAKE:escape")).split()[-1])
        assert await session.works()
        psutil.Process(left).kill()


async def test_a_usage_limit_that_names_a_span_gets_its_moment_from_the_clock(claude: Fake) -> None:
    async with claude.session() as session:
        (*_, end) = await turn(session, "FAKE:quota=+3600")
    assert isinstance(end, Failed)
    assert end.resets_at is not None
    assert abs((end.resets_at - SystemClock().now()).total_seconds() - 3600) < 60


async def test_many_turns_leave_nothing_behind_in_the_daemon(claude: Fake) -> None:
    async with claude.session() as session:
        await turn(session, "warm")
        descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        for number in range(30):
            await turn(session, "again", number=number)
        await until(lambda: len(session._scopes) == 4)
        assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208


@pytest.mark.parametrize("protocol", [STREAM_JSON, ACP])
async def test_bypass_is_told_to_the_driver_and_nothing_is_asked(protocol: ProtocolName, tmp_path: Path) -> None:
    async with Fake(protocol, tmp_path).session(permissions="bypass") as session:
        seen = await turn(session, "FAKE:ask")
        assert not any(isinstance(event, Ask) for event in seen)
        assert text_of(seen) == "allowed"
