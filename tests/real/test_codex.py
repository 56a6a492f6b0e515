"""What only Codex does: its sandbox, its settings, its native program, turns that are begun anew."""

import json
from collections.abc import Mapping
from dataclasses import replace

import anyio
import pytest

from kai.model.context import Media
from kai.model.errors import FailureKind, SessionLostError
from kai.model.events import Finished
from kai.model.ids import AttachmentRef
from kai.protocols.app_server import INPUT_CHARS
from tests.real.agents import CODEX, RealAgent, codex_env, processes_marked
from tests.real.driving import FRONT, Bench, Seen

pytestmark = pytest.mark.anyio


@pytest.fixture
def agent() -> RealAgent:
    if not CODEX.is_installed:
        pytest.skip("codex is not installed: run scripts/install-agents")
    return CODEX


def configure(bench: Bench, text: str) -> None:
    path = bench.home / ".codex/config.toml"
    path.write_text(text + path.read_text())


async def lost(bench: Bench) -> SessionLostError:
    with pytest.raises(SessionLostError) as found:
        async with bench.session():
            pytest.fail("it came up")
    assert not bench.model.requests()
    return found.value


async def test_the_native_program_runs_and_no_node_beside_it(bench: Bench) -> None:
    async with bench.session():
        running = processes_marked(bench.runs[0])
    assert any("app-server" in line for line in running)
    assert not any("node " in line or ".js" in line for line in running)


async def test_the_key_of_a_provider_reaches_it_and_no_tool(bench: Bench) -> None:
    def env(url: str) -> Mapping[str, str]:
        return {**codex_env(url), "STUB_KEY": "whisper"}

    bench.agent = replace(CODEX, env=env)  # type: ignore[arg-type]
    configure(bench, "")
    config = bench.home / ".codex/config.toml"
    config.write_text(config.read_text() + 'env_key = "STUB_KEY"\n')
    launch = bench.manifest.launch
    bench.manifest = replace(bench.manifest, launch=replace(launch, pass_env=(*launch.pass_env, "STUB_KEY")))
    async with bench.session(permissions="bypass") as session:
        seen = await bench.turn(session, f"{FRONT}STUB:bash=env > {bench.workspace}/env.txt;;")
    assert isinstance(seen.end, Finished)
    assert "authorization" in bench.model.turns()[0].headers
    told = (bench.workspace / "env.txt").read_text()
    assert "whisper" not in told
    assert f"KAI_RUN={bench.runs[0]}" in told


async def test_reading_is_free_and_what_would_write_unasked_is_held_by_the_sandbox(bench: Bench) -> None:
    (bench.workspace / "there.txt").write_text("what is there")
    code = 'const r = await tools.exec_command({cmd: "cat there.txt; touch made.txt"}); text(r)'
    async with bench.session() as session:
        words = f"STUB:tool=functions/exec {json.dumps({'freeform': code})}"
        seen = await bench.turn(session, f"{FRONT}{words}")
    assert not seen.asks
    told = str(bench.model.turns()[-1].body)  # not always is its client told of a call that its sandbox refused
    assert "what is there" in told
    assert "Read-only file system" in told
    assert not (bench.workspace / "made.txt").exists()


async def test_settings_that_it_does_not_know_are_told_with_their_place(bench: Bench) -> None:
    configure(bench, 'modle = "x"\n')
    found = await lost(bench)
    assert found.kind is FailureKind.LAUNCH
    assert "config.toml:1:1" in found.sentence
    assert "modle" in found.sentence


async def test_a_missing_login_is_told_before_any_prompt(bench: Bench) -> None:
    (bench.home / ".codex/config.toml").unlink()
    assert (await lost(bench)).kind is FailureKind.LOGIN


async def test_a_model_that_does_not_work_in_code_asks_alike(bench: Bench) -> None:
    bench.agent = replace(CODEX, model="gpt-5.5")
    async with bench.session() as session:
        denied = await bench.turn(session, f"{FRONT}STUB:write={bench.workspace}/made.txt;;", choose=None)
        assert not (bench.workspace / "made.txt").exists()
        seen = await bench.turn(session, f"{FRONT}STUB:write={bench.workspace}/made.txt;;")
    for asked in (*denied.asks, *seen.asks):
        assert "written by stub" in asked.detail
    assert [ok for _, ok in denied.tools + seen.tools] == [False, True]
    assert (bench.workspace / "made.txt").read_text() == "written by stub\n"


@pytest.mark.parametrize("delay_s", [0.0, 0.01, 0.05])
async def test_a_stop_that_meets_the_beginning_of_a_turn_is_none_too_early(bench: Bench, delay_s: float) -> None:
    async with bench.session() as session:
        seen = Seen()
        async with session.prompt(bench.prompt(f"{FRONT}STUB:hang")) as events, anyio.create_task_group() as tasks:

            async def stop() -> None:
                await anyio.sleep(delay_s)
                reports.append(await session.interrupt())

            reports: list[object] = []
            tasks.start_soon(stop)
            async for event in events:
                seen.events.append(event)
        assert seen.end == Finished(stopped=True)
        assert (await bench.turn(session, f"{FRONT}STUB:say=still here;;")).text == "still here"
    assert "session_kept=True" in str(reports)


async def test_an_answer_that_is_cut_and_begun_anew_is_shown_once(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, f"{FRONT}STUB:drop")
    assert len(bench.model.turns()) == 2
    assert seen.text == "partial one partial two "
    assert seen.failed.kind is FailureKind.PROVIDER


async def test_what_it_would_not_read_is_made_readable_or_refused_before_it_is_sent(bench: Bench) -> None:
    async with bench.session() as session:
        assert (await bench.turn(session, f"{FRONT}half \ud800 a pair STUB:say=read;;")).text == "read"
        assert (await bench.turn(session, "x" * (INPUT_CHARS + 1))).failed.kind is FailureKind.CONTEXT
        fitting = "STUB:say=still here;;\n"
        assert (await bench.turn(session, "x" * (INPUT_CHARS - len(fitting)) + fitting)).text == "still here"


async def test_model_and_effort_hold_for_a_thread_that_is_taken_up(bench: Bench) -> None:
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}STUB:say=one;;")
        native_id = session.native_id
    bench.agent = replace(CODEX, model="gpt-6.2-astra")
    async with bench.session(resume=native_id, effort="high") as session:
        assert session.ready.model == "gpt-6.2-astra"
        await bench.turn(session, f"{FRONT}STUB:say=two;;")
    first, second = (request.body for request in bench.model.turns())
    assert (first["model"], second["model"]) == (CODEX.model, "gpt-6.2-astra")
    assert second["reasoning"]["effort"] == "high"


async def test_an_image_goes_along(bench: Bench) -> None:
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100"
        "c9fe92ef0000000049454e44ae426082"
    )
    media = Media(AttachmentRef("a-1"), "image/png", png)
    async with bench.session() as session:
        prompt = replace(bench.prompt(f"{FRONT}STUB:say=seen;;"), media=(media,))
        async with session.prompt(prompt) as events:
            async for _ in events:
                pass
    (request,) = bench.model.turns()
    assert "data:image/png;base64," in str(request.body)


async def test_a_command_that_outlives_its_turn_is_work_until_it_ends(bench: Bench) -> None:
    """Codex waits for a command for 10 s and then lets its model go on."""
    async with bench.session(permissions="bypass") as session:
        await bench.turn(session, f"{FRONT}STUB:say=first;;")
        assert not await session.works()
        seen = await bench.turn(session, f"{FRONT}STUB:bash=sleep 25;;")
        assert isinstance(seen.end, Finished)
        assert await session.works()
        assert (await bench.turn(session, f"{FRONT}STUB:say=the next;;")).text == "the next"
        with anyio.fail_after(30):
            while await session.works():  # noqa: ASYNC110 - another process gives no event
                await anyio.sleep(0.1)
