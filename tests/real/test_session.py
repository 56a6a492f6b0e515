"""The contract of every backend, clause by clause, on the real CLIs: talking, tools, questions, sessions.

`test_stopping` and `test_failing` go on with it; the clauses that need a daemon are in `test_house`.
``make matrix-contract`` prints all of them, backend by backend.
"""

import json
import shutil
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kai.model.errors import FailureKind, SessionLostError
from kai.model.events import Finished, Steered, ToolCall
from kai.model.ids import PrincipalId
from kai.people.folders import PersonFolders
from kai.resources import folder
from tests.real.agents import COPILOT
from tests.real.blocks import WORDS, block
from tests.real.driving import FRONT, Bench, Seen, until
from tests.stub_model import Place

pytestmark = pytest.mark.anyio
clause = pytest.mark.clause

PIECES = {True: "chunk0 chunk1 chunk2 chunk3 ", False: "".join(f"piece {n} of 4\n" for n in (1, 2, 3, 4))}


@clause("started")
async def test_a_turn_begins_with_the_session_s_id_and_the_agent_tells_its_version(bench: Bench) -> None:
    async with bench.session() as session:
        assert bench.agent.pinned in session.ready.version
        first = await bench.turn(session, bench.word("say", "hello"))
        assert isinstance(first.end, Finished)
        assert first.text == "hello"
        assert session.native_id
        report = await session.close()
    assert report.step == "eof"
    assert bench.left == ()


@clause("streamed")
async def test_a_turn_streams_and_ends_and_the_next_one_works_in_the_same_session(bench: Bench) -> None:
    async with bench.session() as session:
        first = await bench.turn(session, bench.word("slow", "4"))
        native_id = session.native_id
        second = await bench.turn(session, bench.word("say", "the second answer"))
        assert isinstance(first.end, Finished)
        assert first.text == PIECES[bench.agent.has_model]
        assert first.pieces > 1
        assert isinstance(second.end, Finished)
        assert second.text == "the second answer"
        assert session.native_id == native_id


@clause("prompt byte for byte", needs="model")
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


@clause("@ is not read", needs="model")
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


@clause("its instructions", needs="model")
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


@clause("tools paired", needs="model")
async def test_with_permissions_bypass_a_tool_runs_unasked_and_pairs_with_its_result(bench: Bench) -> None:
    async with bench.session(permissions="bypass") as session:
        seen = await bench.turn(session, f"{FRONT}STUB:write={bench.workspace}/made.txt;;")
    assert isinstance(seen.end, Finished)
    assert not seen.asks
    assert [ok for _, ok in seen.tools] == [True]
    assert (bench.workspace / "made.txt").read_text() == "written by stub\n"
    assert "tool said" in seen.text


@clause("question answered")
async def test_an_allowed_tool_runs_and_pairs_with_its_result(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, bench.word("write", f"{bench.workspace}/made.txt"))
    assert isinstance(seen.end, Finished)
    assert [ok for _, ok in seen.tools] == [True]
    (ask,) = seen.asks
    if bench.agent.has_model:
        assert (bench.workspace / "made.txt").read_text() == "written by stub\n"
        assert "tool said" in seen.text
        assert "made.txt" in ask.title + ask.detail
        assert "written by stub" in ask.detail, "the whole arguments are shown"


@clause("question denied")
async def test_a_denied_tool_does_nothing_and_the_session_goes_on(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, bench.word("write", f"{bench.workspace}/made.txt"), choose=None)
        after = await bench.turn(session, bench.word("say", "still here"))
    assert isinstance(seen.end, Finished)
    assert [ok for _, ok in seen.tools] == [False]
    assert not (bench.workspace / "made.txt").exists()
    assert after.text == "still here"


@clause("steered", needs="model steer")
async def test_words_steered_into_a_turn_reach_the_model_in_that_turn(bench: Bench) -> None:
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


@clause("model changed", needs="model set_model")
async def test_another_model_and_effort_reach_the_provider_in_the_same_process_and_session(bench: Bench) -> None:
    agent, other = bench.agent, bench.agent.other.rpartition("/")[2]
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}the word is pomegranate STUB:say=noted;;")
        native_id = session.native_id
        await session.set_model(agent.other, agent.effort)
        seen = await bench.turn(session, f"{FRONT}STUB:say=changed;;")
        assert session.native_id == native_id
    request = bench.model.turns()[-1]
    chosen = json.dumps([request.path, request.body.get("model", "")])
    assert seen.text == "changed"
    assert other in chosen
    assert request.places("pomegranate")
    if agent.effort:
        efforts = ("reasoning", "reasoning_effort", "output_config")
        assert agent.effort in json.dumps([request.body.get(name) for name in efforts])
    if bench.manifest.can.resume and agent.model:  # a new process of it is told the model of now
        async with bench.session(resume=native_id) as session:
            await bench.turn(session, f"{FRONT}STUB:say=resumed;;")
        assert bench.model.turns()[-1].body["model"] == agent.model.rpartition("/")[2]


@clause("resumed", needs="model resume")
async def test_a_resumed_session_knows_what_was_said_before(bench: Bench) -> None:
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


@clause("resume refused", needs="model resume")
async def test_a_session_that_cannot_be_resumed_is_told_before_any_prompt(bench: Bench) -> None:
    with pytest.raises(SessionLostError) as lost:
        async with bench.session(resume="0b4c4cc7-7651-4af9-9538-b0ac30ab5a57"):
            pytest.fail("it came up")
    assert lost.value.kind is FailureKind.RESUME
    assert not bench.model.turns()
    assert bench.left == ()


@clause("temporary", needs="temporary")
async def test_a_temporary_session_leaves_no_transcript(bench: Bench) -> None:
    async with bench.session(temporary=True) as session:
        seen = await bench.turn(session, bench.word("say", "the word is pomegranate"))
    assert seen.text == "the word is pomegranate"
    left = [path for path in bench.home.rglob("*") if path.is_file() and b"pomegranate" in path.read_bytes()]
    assert left == []
