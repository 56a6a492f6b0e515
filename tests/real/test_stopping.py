"""The contract of every backend, clause by clause, on the real CLIs: stops, ends, what goes on after a result."""

from collections.abc import Callable

import anyio
import pytest

from kai.model.errors import FailureKind
from kai.model.events import Finished
from kai.protocols.child import StopReport
from kai.protocols.session import Session
from tests.real.agents import CLAUDE, CLAUDE_ACP, HERMES
from tests.real.driving import FRONT, Bench, Seen, until

pytestmark = pytest.mark.anyio
clause = pytest.mark.clause
Record = Callable[[str, object], None]

SPOILT = "it stops, and nothing is left; its manifest says that a stop spoils its session"
BOUND_S = 30.0  # a busy machine is no reason to give a session up here; the tables show the seconds


async def words(seen: Seen) -> None:
    await until(lambda: bool(seen.pieces))


async def stopped_cleanly(bench: Bench, session: Session, seen: Seen, report: StopReport, record: Record) -> None:
    """It was stopped through the protocol, nothing of a tool is left, and the session goes on."""
    assert isinstance(seen.end, Finished)
    assert seen.end.stopped
    assert (report.step, report.session_kept) == ("interrupt", bench.keeps_a_stopped_session)

    def left() -> list[str]:
        return [line for line in bench.left if "sleep 300" in line]

    with anyio.move_on_after(5):
        await until(lambda: not left())
    record("stop", {"seconds": round(report.seconds, 3), "left": len(left()), "kept": report.session_kept})
    assert left() == []
    if not report.session_kept:
        pytest.skip(SPOILT)
    after = await bench.turn(session, bench.word("say", "still here"))
    assert after.text == "still here", "nothing of the stopped turn reaches the next one"


@clause("stop in mid-stream")
async def test_a_stop_in_mid_stream_keeps_the_session(bench: Bench, record_property: Record) -> None:
    bench.limits(stop_s=BOUND_S)
    async with bench.session() as session:
        seen, report = await bench.stopped(session, bench.word("slow", "60"), words)
        await stopped_cleanly(bench, session, seen, report, record_property)


@clause("stop in mid-tool", needs="model")
async def test_a_stop_in_mid_tool_ends_the_tool_and_keeps_the_session(bench: Bench, record_property: Record) -> None:
    bench.limits(stop_s=BOUND_S)
    begun = bench.workspace / "begun"

    async def running(_: Seen) -> None:
        await until(begun.exists)

    async with bench.session() as session:
        seen, report = await bench.stopped(session, f"{FRONT}STUB:bash=touch {begun} && sleep 300;;", running)
        await stopped_cleanly(bench, session, seen, report, record_property)


@clause("stop of a held model", needs="model")
@pytest.mark.parametrize("word", ["hang", "hang2"])
async def test_a_stop_while_the_model_says_nothing_keeps_the_session(
    bench: Bench, word: str, record_property: Record
) -> None:
    bench.limits(stop_s=BOUND_S)
    async with bench.session() as session:
        seen, report = await bench.stopped(
            session, f"{FRONT}STUB:{word}", lambda _: bench.wait(lambda request: request.offers_tools)
        )
        await stopped_cleanly(bench, session, seen, report, record_property)


@clause("stop while asked")
async def test_a_stop_while_a_question_is_open_keeps_the_session(bench: Bench, record_property: Record) -> None:
    bench.limits(stop_s=BOUND_S)

    async def asked(seen: Seen) -> None:
        await until(lambda: bool(seen.asks))

    async with bench.session() as session:
        text = bench.word("write", f"{bench.workspace}/made.txt")
        seen, report = await bench.stopped(session, text, asked, choose=None)
        await stopped_cleanly(bench, session, seen, report, record_property)
        assert not (bench.workspace / "made.txt").exists()


@clause("late output")
async def test_nothing_of_a_stopped_turn_is_heard_in_the_next_one_however_soon_it_comes(bench: Bench) -> None:
    bench.limits(stop_s=BOUND_S)
    async with bench.session() as session:
        for number in range(3):
            _, report = await bench.stopped(session, bench.word("slow", "60"), words)
            if not bench.keeps_a_stopped_session:
                pytest.skip(SPOILT)
            assert report.session_kept
            after = await bench.turn(session, bench.word("say", f"answer {number}"))
            assert after.text == f"answer {number}"
            assert isinstance(after.end, Finished)
            assert not after.end.stopped


@clause("crash")
async def test_an_agent_that_is_killed_in_mid_turn_is_owned_up_to(bench: Bench) -> None:
    async with bench.session() as session:
        seen = Seen()
        async with session.prompt(bench.prompt(bench.word("slow", "60"))) as events, anyio.create_task_group() as tasks:

            async def kill() -> None:
                await words(seen)
                await session._run.kill_tree()

            tasks.start_soon(kill)
            async for event in events:
                seen.events.append(event)
        assert seen.failed.kind is FailureKind.CRASH
        assert "signal 9" in seen.failed.sentence
        assert seen.failed.session_lost
        assert seen.text, "what it had said stays"
        assert not session.alive
    assert bench.left == ()


@clause("crash")
async def test_an_idle_agent_that_is_killed_is_seen_as_gone(bench: Bench) -> None:
    async with bench.session() as session:
        await bench.turn(session, bench.word("say", "one"))
        await session._run.kill_tree()
        with anyio.fail_after(5):
            await session.ended()
        assert not session.alive


@clause("limits", needs="model")
@pytest.mark.parametrize("word", ["hang", "hang2"])
async def test_a_provider_that_says_nothing_is_ended_by_kai_s_own_limit(bench: Bench, word: str) -> None:
    bench.limits(first_output_s=2.0, silence_s=2.0)
    async with bench.session() as session:
        failed = (await bench.turn(session, f"{FRONT}STUB:{word}")).failed
    assert failed.kind is FailureKind.SILENT
    assert bench.left == ()


@clause("limits")
async def test_a_turn_that_takes_too_long_is_ended(bench: Bench) -> None:
    bench.limits(turn_s=2.0, stop_s=BOUND_S)
    async with bench.session() as session:
        seen = await bench.turn(session, bench.word("slow", "60"))
        assert seen.failed.kind is FailureKind.TIME
        assert session.alive is bench.keeps_a_stopped_session, "it was stopped through the protocol"


@clause("whole tree gone", needs="model")
async def test_closing_in_mid_tool_leaves_no_process(bench: Bench) -> None:
    async with bench.session(permissions="bypass") as session:
        escape = "" if bench.agent is HERMES else "setsid "  # the word is refused there
        text = f"{FRONT}STUB:bash=touch {bench.workspace}/begun && {escape}sleep 300;;"
        async with session.prompt(bench.prompt(text)):
            await until((bench.workspace / "begun").exists)
    assert bench.left == ()


@clause("work after a result", needs="model")
async def test_what_a_tool_left_running_is_no_idleness_and_no_part_of_the_next_turn(bench: Bench) -> None:
    """Some agents end it themselves, or wait for it: then there is nothing to be seen."""
    script = f"(touch {bench.workspace}/begun; exec sleep 6.25) >/dev/null 2>&1 &"
    async with bench.session(permissions="bypass") as session:
        await bench.turn(session, f"{FRONT}STUB:say=first;;")
        assert not await session.works()
        seen = await bench.turn(session, f"{FRONT}STUB:bash={script};;")
        assert isinstance(seen.end, Finished)
        lives = any("6.25" in line for line in bench.left)
        works = await session.works()
        assert works or not any("6.25" in line for line in bench.left)
        after = await bench.turn(session, f"{FRONT}STUB:say=the next;;")
        assert after.text == "the next"
        with anyio.fail_after(20):
            while await session.works():  # noqa: ASYNC110 - another process gives no event
                await anyio.sleep(0.1)
    assert works == lives


@clause("work after a result", needs="model")
async def test_a_turn_that_the_agent_begins_by_itself_is_told_apart(bench: Bench) -> None:
    """Claude says when a command in the background has ended."""
    if bench.agent not in (CLAUDE, CLAUDE_ACP):
        pytest.skip("only Claude is known to run commands in the background by itself")
    task = '{"command": "sleep 3", "description": "wait", "run_in_background": true}'
    async with bench.session(permissions="bypass") as session:
        seen = await bench.turn(session, f"{FRONT}STUB:tool=Bash {task};;")
        assert isinstance(seen.end, Finished)
        assert await session.works()
        after = await bench.turn(session, f"{FRONT}STUB:say=the next;;")
        assert after.text == "the next"
        await until(lambda: bool(bench.aside))
        last = await bench.turn(session, f"{FRONT}STUB:say=the last;;")
        assert last.text == "the last"
