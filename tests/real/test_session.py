"""Every real agent through kai's launcher, driver and session."""

import json
import shutil
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kai.model.errors import FailureKind
from kai.model.events import Ask, ChoiceKind, Finished, Steered, ToolCall
from kai.model.ids import PrincipalId
from kai.people.folders import PersonFolders
from kai.protocols.session import SessionLostError, StopReport
from kai.resources import folder
from tests.real.agents import CLAUDE, CODEX, COPILOT, GEMINI, HERMES, PI, processes_marked
from tests.real.blocks import WORDS, block
from tests.real.driving import Bench, Seen, until
from tests.stub_model import Place

pytestmark = pytest.mark.anyio

FRONT = "[Agent: house]\n\n[User's current message - respond to this:]\n"  # disarms a word that begins with /


async def test_a_turn_streams_and_ends_and_the_next_one_works_in_the_same_session(bench: Bench) -> None:
    async with bench.session() as session:
        assert bench.agent.pinned in session.ready.version
        first = await bench.turn(session, f"{FRONT}STUB:slow=4")
        native_id = session.native_id
        second = await bench.turn(session, f"{FRONT}STUB:say=the second answer;;")
        assert isinstance(first.end, Finished)
        assert first.text == "chunk0 chunk1 chunk2 chunk3 "
        assert first.pieces > 1
        assert isinstance(second.end, Finished)
        assert second.text == "the second answer"
        assert session.native_id == native_id
        report = await session.close()
    assert report.step == "eof"
    assert processes_marked(bench.runs[0]) == ()


@pytest.mark.parametrize("filler", ["", "0123456789 abcdé\n" * 60_000], ids=["torture", "1 MB"])
async def test_the_snapshot_stands_once_contiguous_and_byte_for_byte_in_what_the_model_gets(
    bench: Bench, filler: str
) -> None:
    snapshot = block(WORDS, filler=filler).text
    written: list[str] = []

    async def note(frame_sha256: str) -> None:
        assert not bench.model.turns(), "the frame is announced before its first byte"
        written.append(frame_sha256)

    async with bench.session() as session:
        prompt = bench.prompt(snapshot)
        seen = Seen()
        async with session.prompt(prompt, on_sent=note) as events:
            async for event in events:
                seen.events.append(event)
        frame = session._driver.frame(prompt)
    assert seen.text == "understood"
    (request,) = bench.model.turns()
    arrives = snapshot.rstrip() if bench.agent.trims else snapshot
    (place,) = request.places(arrives)
    assert place == Place(place.path, count=1, others=place.others if bench.agent.adds else 0)
    whole = len(arrives) + place.others
    assert request.places(snapshot[:40]) == (Place(place.path, 1, whole - 40),), "no second, broken copy"
    assert written == [sha256(frame).hexdigest()]


async def test_what_stands_behind_an_at_is_not_read_into_the_request(bench: Bench) -> None:
    (bench.workspace / "secret.txt").write_text("the secret of this file")
    text = f"[History]\n@\u200b{bench.workspace}/secret.txt @\u200bsecret.txt\n{FRONT}STUB:say=fine;;"
    async with bench.session() as session:
        seen = await bench.turn(session, text)
    assert seen.text == "fine"
    assert not any(request.places("the secret of this file") for request in bench.model.requests())


def _only_root_writes(place: Path) -> bool:
    stats = [one.stat() for one in (place, *place.parents)]
    return all(one.st_uid == 0 and not one.st_mode & 0o002 for one in stats)


DEFAULTS_ARE_TAKEN = _only_root_writes(folder("backends") / "gemini")


async def test_the_agent_finds_the_instructions_of_its_workspace_by_itself(bench: Bench) -> None:
    if bench.agent.backend == "gemini" and not DEFAULTS_ARE_TAKEN:
        pytest.skip("gemini takes system defaults only from a folder that none but root can write")
    (bench.workspace / "AGENTS.md").write_text("You are the keeper of the quince tree.\n")
    (bench.workspace / "CLAUDE.md").write_text("@AGENTS.md\n")
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}STUB:say=fine;;")
    (request,) = bench.model.turns()
    times = sum(place.count for place in request.places("keeper of the quince tree"))
    assert times == (2 if bench.agent is COPILOT else 1)  # which reads both files, and follows the one to the other


@pytest.mark.timeout(60)  # its own pause between two attempts takes seconds
async def test_gemini_in_a_home_reads_its_instructions_and_gives_up_soon_wherever_kai_is_installed(
    bench: Bench,
) -> None:
    if bench.agent.backend != "gemini":
        pytest.skip("only gemini takes its system defaults from some folders alone")
    kept = [one for one in bench.manifest.launch.set_env if one[0] != "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"]
    bench.manifest = replace(bench.manifest, launch=replace(bench.manifest.launch, set_env=tuple(kept)))
    folders = PersonFolders(bench.folder / "state")
    await run_sync(folders.seed, PrincipalId("p-ann"))
    shutil.copytree(folders.home(PrincipalId("p-ann")), bench.workspace, dirs_exist_ok=True)
    (bench.workspace / "AGENTS.md").write_text("You are the keeper of the quince tree.\n")
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}STUB:say=fine;;")
        (request,) = bench.model.turns()
        assert sum(place.count for place in request.places("keeper of the quince tree")) == 1
        seen = await bench.turn(session, f"{FRONT}STUB:retry=429*1")
    assert seen.text == "ok after 1 errors"  # three attempts, not the one of this person's own settings


async def test_an_allowed_tool_runs_and_pairs_with_its_result(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, f"{FRONT}STUB:write={bench.workspace}/made.txt;;")
    assert isinstance(seen.end, Finished)
    assert [ok for _, ok in seen.tools] == [True]
    assert (bench.workspace / "made.txt").read_text() == "written by stub\n"
    assert "tool said" in seen.text
    (ask,) = seen.asks
    assert "made.txt" in ask.title + ask.detail
    assert "written by stub" in ask.detail, "the whole arguments are shown"


async def test_a_denied_tool_does_nothing_and_the_session_goes_on(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, f"{FRONT}STUB:write={bench.workspace}/made.txt;;", choose=None)
        after = await bench.turn(session, f"{FRONT}STUB:say=still here;;")
    assert isinstance(seen.end, Finished)
    assert [ok for _, ok in seen.tools] == [False]
    assert not (bench.workspace / "made.txt").exists()
    assert after.text == "still here"


async def test_with_permissions_bypass_nobody_is_asked(bench: Bench) -> None:
    async with bench.session(permissions="bypass") as session:
        seen = await bench.turn(session, f"{FRONT}STUB:write={bench.workspace}/made.txt;;")
    assert isinstance(seen.end, Finished)
    assert not seen.asks
    assert (bench.workspace / "made.txt").exists()


async def test_an_interrupt_in_mid_tool_ends_the_tool_and_keeps_the_session(bench: Bench) -> None:
    bench.limits(stop_s=30.0)  # a busy machine is no reason to give the session up here
    async with bench.session() as session:
        seen = Seen()
        text = f"{FRONT}STUB:bash=touch {bench.workspace}/begun && sleep 300;;"
        async with session.prompt(bench.prompt(text)) as events, anyio.create_task_group() as tasks:

            async def interrupt() -> None:
                await until((bench.workspace / "begun").exists)
                reports.append(await session.interrupt())

            reports: list[StopReport] = []
            tasks.start_soon(interrupt)
            async for event in events:
                seen.events.append(event)
                if isinstance(event, Ask):
                    allow = next(choice for choice in event.choices if choice.kind is ChoiceKind.ALLOW_ONCE)
                    await session.answer(event.ask, allow)
        assert seen.end == Finished(stopped=True, text=seen.end.text if isinstance(seen.end, Finished) else "")
        (report,) = reports
        assert (report.step, report.session_kept) == ("interrupt", bench.keeps_a_stopped_session)
        await until(lambda: not any("sleep" in line for line in processes_marked(bench.runs[0])), limit_s=3)
        if not report.session_kept:
            return
        after = await bench.turn(session, f"{FRONT}STUB:say=still here;;")
        assert after.text == "still here"


@pytest.mark.parametrize("word", ["hang", "hang2", "slow=60"])
async def test_an_interrupt_while_the_model_is_at_work_keeps_the_session(bench: Bench, word: str) -> None:
    bench.limits(stop_s=30.0)
    async with bench.session() as session:
        seen = Seen()
        async with session.prompt(bench.prompt(f"{FRONT}STUB:{word}")) as events, anyio.create_task_group() as tasks:

            async def interrupt() -> None:
                await anyio.to_thread.run_sync(bench.model.wait, lambda request: request.offers_tools, 60)
                reports.append(await session.interrupt())

            reports: list[StopReport] = []
            tasks.start_soon(interrupt)
            async for event in events:
                seen.events.append(event)
        assert isinstance(seen.end, Finished)
        assert seen.end.stopped
        assert (reports[0].step, reports[0].session_kept) == ("interrupt", bench.keeps_a_stopped_session)
        if not reports[0].session_kept:
            return
        after = await bench.turn(session, f"{FRONT}STUB:say=still here;;")
        assert after.text == "still here"


async def test_words_steered_into_a_turn_reach_the_model_in_that_turn(bench: Bench) -> None:
    if not bench.manifest.can.steer:
        pytest.skip(f"{bench.agent.backend} takes no words in mid-turn")
    go_on = bench.workspace / "go-on"
    text = f"{FRONT}STUB:bash=touch begun; until test -e {go_on}; do sleep 0.1; done;;"
    async with bench.session(permissions="bypass") as session:
        prompt, seen = bench.prompt(text), Seen()
        async with session.prompt(prompt) as events:
            async for event in events:
                seen.events.append(event)
                if isinstance(event, ToolCall) and not go_on.exists():
                    await until((bench.workspace / "begun").exists)
                    assert session.steer(bench.prompt(f"{FRONT}mind the cat"), prompt.dispatch)
                    go_on.touch()
        assert [event.taken for event in seen.events if isinstance(event, Steered)] == [True]
        assert isinstance(seen.end, Finished)
    assert "mind the cat" in json.dumps(bench.model.requests()[-1].body)


async def test_closing_in_mid_tool_leaves_no_process(bench: Bench) -> None:
    async with bench.session(permissions="bypass") as session:
        escape = "" if bench.agent is HERMES else "setsid "  # the word is refused there
        text = f"{FRONT}STUB:bash=touch {bench.workspace}/begun && {escape}sleep 300;;"
        async with session.prompt(bench.prompt(text)):
            await until((bench.workspace / "begun").exists)
    assert processes_marked(bench.runs[0]) == ()


async def test_an_idle_agent_that_is_killed_is_seen_as_gone(bench: Bench) -> None:
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}STUB:say=one;;")
        await session._run.kill_tree()
        with anyio.fail_after(5):
            await session.ended()
        assert not session.alive


async def test_a_resumed_session_knows_what_was_said_before(bench: Bench) -> None:
    if not bench.manifest.can.resume:
        pytest.skip(f"the manifest of {bench.agent.backend} says that it cannot resume")
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}the word is pomegranate STUB:say=noted;;")
        native_id = session.native_id
    if bench.agent.loads_only_in_another_minute:
        await anyio.sleep(60.5 - time.time() % 60)
    async with bench.session(resume=native_id) as session:
        assert session.ready.resumed
        seen = await bench.turn(session, f"{FRONT}STUB:say=resumed;;")
        assert session.native_id == native_id
    assert seen.text == "resumed", "the replay of the old conversation is no answer"
    assert bench.model.turns()[-1].places("pomegranate")


async def test_a_session_that_cannot_be_resumed_is_told_before_any_prompt(bench: Bench) -> None:
    if not bench.manifest.can.resume:
        pytest.skip(f"the manifest of {bench.agent.backend} says that it cannot resume")
    with pytest.raises(SessionLostError) as lost:
        async with bench.session(resume="0b4c4cc7-7651-4af9-9538-b0ac30ab5a57"):
            pytest.fail("it came up")
    assert lost.value.kind is FailureKind.RESUME
    assert not bench.model.turns()
    assert processes_marked(bench.runs[0]) == ()


FAILURES = {
    "err=401": FailureKind.LOGIN,
    "err=403": FailureKind.LOGIN,
    "err=400": FailureKind.PROTOCOL,
    "err=413": FailureKind.CONTEXT,
    "err=429": FailureKind.QUOTA,
    "err=500": FailureKind.PROVIDER,
    "err=529": FailureKind.PROVIDER,
}


async def test_every_error_of_the_provider_gets_its_kind_and_the_next_prompt_works(bench: Bench) -> None:
    if bench.agent not in (CLAUDE, GEMINI, CODEX, PI):
        pytest.skip("only of these is it known how many attempts they make")
    seen = {}

    async def provoke(word: str) -> None:
        # A fresh session for each: what failed stays in the conversation and would be sent again.
        async with bench.session() as session:
            failed = (await bench.turn(session, f"{FRONT}STUB:{word}")).failed
            seen[word] = failed.kind
            assert failed.sentence
            if not failed.session_lost:
                assert (await bench.turn(session, f"{FRONT}STUB:say=fine;;")).text == "fine"

    async with anyio.create_task_group() as tasks:
        for word in FAILURES:
            tasks.start_soon(provoke, word)
    assert seen == FAILURES


async def test_a_passing_error_of_the_provider_is_overcome_by_the_agent(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, f"{FRONT}STUB:retry=429*1")
    if bench.agent is not GEMINI:  # which the test lets try but once
        assert seen.text == "ok after 1 errors"


async def test_a_cut_answer_is_no_success(bench: Bench) -> None:
    if bench.agent is HERMES:
        pytest.skip("hermes lets the model go on by itself: the answer is whole in the end")
    bench.limits(repeats=10)
    async with bench.session() as session:
        failed = (await bench.turn(session, f"{FRONT}STUB:drop")).failed
    assert failed.kind in (FailureKind.PROVIDER, FailureKind.EMPTY)


async def test_a_provider_that_cannot_be_reached_is_told_as_that(bench: Bench) -> None:
    if bench.agent not in (CLAUDE, GEMINI, CODEX, PI):
        pytest.skip("only of these is it known how many attempts they make")
    bench.manifest = replace(bench.manifest, options=(*bench.manifest.options, ("patience_s", "1")))
    async with bench.session(url="http://127.0.0.1:9") as session:
        failed = (await bench.turn(session, f"{FRONT}hello")).failed
    assert failed.kind is FailureKind.PROVIDER


@pytest.mark.parametrize("word", ["hang", "hang2"])
async def test_a_provider_that_says_nothing_is_ended_by_kai_s_own_limit(bench: Bench, word: str) -> None:
    bench.limits(first_output_s=2.0, silence_s=2.0)
    async with bench.session() as session:
        failed = (await bench.turn(session, f"{FRONT}STUB:{word}")).failed
    assert failed.kind is FailureKind.SILENT
    assert processes_marked(bench.runs[0]) == ()


async def test_a_temporary_session_leaves_no_transcript(bench: Bench) -> None:
    if not bench.manifest.can.temporary:
        pytest.skip(f"the manifest of {bench.agent.backend} says that it cannot be temporary")
    async with bench.session(temporary=True) as session:
        seen = await bench.turn(session, f"{FRONT}the word is pomegranate STUB:say=noted;;")
    assert seen.text == "noted"
    left = [path for path in bench.home.rglob("*") if path.is_file() and b"pomegranate" in path.read_bytes()]
    assert left == []
