"""What only Pi does: kai's gate in it, dialogs, models and levels that it takes for others, its Node."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kai.catalog.discover import discover, is_older
from kai.model.context import Media
from kai.model.errors import FailureKind, SessionLostError
from kai.model.events import Ask, ChoiceKind, Finished
from kai.model.ids import AttachmentRef
from tests.real.agents import INSTALLED, PI, RealAgent
from tests.real.driving import FRONT, Bench

pytestmark = pytest.mark.anyio


@pytest.fixture
def agent() -> RealAgent:
    if not PI.is_installed:
        pytest.skip("pi is not installed: run scripts/install-agents")
    return PI


async def lost(bench: Bench, **chosen: str) -> SessionLostError:
    with pytest.raises(SessionLostError) as found:
        async with bench.session(**chosen):  # type: ignore[arg-type]
            pytest.fail("it came up")
    assert not bench.model.turns()
    return found.value


async def test_always_holds_for_that_command_in_that_session_and_for_nothing_else(bench: Bench) -> None:
    async with bench.session() as session:
        asked = [
            len((await bench.turn(session, f"{FRONT}STUB:bash={command};;", choose=kind)).asks)
            for command, kind in (
                ("touch one", ChoiceKind.ALLOW_ALWAYS),
                ("touch one", None),
                ("touch two", None),
                ("touch one ", None),
            )
        ]
    assert asked[:3] == [1, 0, 1]
    assert (bench.workspace / "one").exists()
    assert not (bench.workspace / "two").exists()
    async with bench.session() as session:
        assert len((await bench.turn(session, f"{FRONT}STUB:bash=touch one;;", choose=None)).asks) == 1


@pytest.mark.parametrize("permissions", ["ask", "bypass"])
async def test_a_command_gets_the_session_but_no_key_of_the_daemon(bench: Bench, permissions: str) -> None:
    bench.agent = replace(bench.agent, env=lambda _: {"OPENAI_API_KEY": "no-secret"})
    async with bench.session(permissions=permissions) as session:
        seen = await bench.turn(session, f"{FRONT}STUB:bash=pwd; env | grep -c API_KEY; env | grep -c PI_SESSION_ID;;")
    assert seen.text.endswith(f"{bench.workspace}\n0\n1\n")


async def test_what_only_reads_is_not_asked_about(bench: Bench) -> None:
    (bench.workspace / "there.txt").write_text("what is there")
    async with bench.session() as session:
        seen = await bench.turn(session, f"{FRONT}STUB:read=there.txt;;")
    assert not seen.asks
    assert "what is there" in seen.text


async def test_a_command_of_kai_that_only_looks_passes_the_gate_and_nothing_that_hides_in_one(bench: Bench) -> None:
    looks = "kai tool history_search a quince"
    lines = [looks, "kai tool history-search --query 'a quince'", f"{looks}; touch made", f"{looks} $(touch made)"]
    lines += [f"{looks} > made", f"{looks} `touch made`", f"{looks} | tee made", "kai tool memory_save x", "kai tool"]
    bench.looks = ("history_search",)
    async with bench.session() as session:
        asked = [
            len((await bench.turn(session, f"{FRONT}STUB:bash={one.replace(';', ' ; ')}", choose=None)).asks)
            for one in lines
        ]
    assert asked == [0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert not (bench.workspace / "made").exists()


async def test_an_interrupt_while_it_asks_keeps_the_session_and_runs_nothing(bench: Bench) -> None:
    bench.limits(stop_s=30.0)
    async with bench.session() as session:
        async with session.prompt(bench.prompt(f"{FRONT}STUB:bash=touch made;;")) as events:
            async for event in events:
                if isinstance(event, Ask):
                    report = await session.interrupt()
        assert (report.step, report.session_kept) == ("interrupt", True)
        assert event == Finished(stopped=True)
        assert not (bench.workspace / "made").exists()
        assert (await bench.turn(session, f"{FRONT}STUB:say=still here;;")).text == "still here"


async def test_without_its_gate_it_is_given_no_prompt(bench: Bench) -> None:
    bench.manifest = replace(bench.manifest, launch=replace(bench.manifest.launch, ask=()))
    found = await lost(bench)
    assert found.kind is FailureKind.UNSUPPORTED
    assert "its gate is not in place" in found.reason


async def test_a_gate_that_cannot_be_loaded_ends_the_start(bench: Bench) -> None:
    bench.manifest = replace(bench.manifest, launch=replace(bench.manifest.launch, ask=("-e", "/nowhere/gate.ts")))
    found = await lost(bench)
    assert found.kind is FailureKind.LAUNCH


async def test_a_level_of_thinking_is_taken_or_refused_but_never_lowered_silently(bench: Bench) -> None:
    async with bench.session(effort="high") as session:
        assert session.ready.model == "stub/stub-model"
    found = await lost(bench, effort="max")
    assert found.kind is FailureKind.UNSUPPORTED
    assert "thinks at 'high' where 'max' was chosen" in found.reason


async def test_a_model_that_it_does_not_know_and_none_at_all_are_told_before_any_prompt(bench: Bench) -> None:
    bench.agent = replace(bench.agent, model="nobody/none-such")
    found = await lost(bench)
    assert found.kind is FailureKind.MODEL
    assert "nobody/none-such" in found.reason
    bench.agent = replace(bench.agent, model="")
    (bench.home / ".pi/agent/models.json").unlink()
    assert (await lost(bench)).kind is FailureKind.LOGIN


async def test_a_session_of_another_folder_is_not_taken_up(bench: Bench) -> None:
    async with bench.session() as session:
        await bench.turn(session, f"{FRONT}STUB:say=noted;;")
        native_id = session.native_id
    before = len(bench.model.turns())
    bench.workspace.rename(bench.folder / "elsewhere")
    bench.workspace.mkdir()
    (bench.folder / "other").mkdir()
    bench.folder = bench.folder / "other"
    for made in (bench.home, bench.workspace):
        made.mkdir()
    shutil.copytree(bench.folder.parent / "home", bench.home, dirs_exist_ok=True)
    with pytest.raises(SessionLostError) as found:
        async with bench.session(resume=native_id):
            pytest.fail("it came up")
    assert found.value.kind is FailureKind.RESUME
    assert len(bench.model.turns()) == before


async def test_an_image_and_a_word_that_looks_like_a_command_reach_the_model(bench: Bench) -> None:
    async with bench.session() as session:
        assert (await bench.turn(session, "/mcp STUB:say=as a word;;", bare=True)).text == "as a word"
        png = bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100"
            "c9fe92ef0000000049454e44ae426082"
        )
        prompt = replace(bench.prompt(f"{FRONT}STUB:say=seen;;"), media=(Media(AttachmentRef("a"), "image/png", png),))
        async with session.prompt(prompt) as events:
            assert [event async for event in events][-1] == Finished()
    assert any(request.places("data:image/png;base64,") for request in bench.model.turns())


def test_on_an_older_node_a_check_names_that_and_the_mend(agent: RealAgent, tmp_path: Path) -> None:
    path = "/usr/local/bin:/usr/bin:/bin"
    node = shutil.which("node", path=path)
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout if node else "v99"
    if node is None or not is_older(re.sub("[^0-9.]", "", told), "22.19"):
        pytest.skip("this machine's own Node is not older")
    (tmp_path / "pi").symlink_to(INSTALLED / "pi")
    found = discover(agent.manifest, path=f"{tmp_path}:{path}", home=tmp_path, env={})
    assert "needs Node 22.19 or newer" in found.problem
    assert "install a newer one" in found.problem
