"""The daemon's side of an embedder: real child processes, good and bad."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from kai.memory.embedding.child import WORKER, ChildEmbedder, EmbedderLimits, open_embedder
from kai.memory.embedding.embedder import PROBE, EmbedderUnavailableError, Embedding, Identity, same_model
from tests.memory.embedding.bad_child import DIMENSION, vector

PROGRAM = (sys.executable, "-m", "tests.memory.embedding.bad_child")
LIMITS = EmbedderLimits(query_s=15, start_s=15, text_s=15, rest_s=60, waiting=2, memory_bytes=1024**3)
IDENTITY = Identity("test", DIMENSION)


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """Where every child writes its pid."""
    return tmp_path / "started"


@asynccontextmanager
async def embedder(
    started: Path,
    fault: str = "",
    limits: EmbedderLimits = LIMITS,
    confirm: Callable[[Identity, Embedding], Awaitable[bool]] | None = None,
) -> AsyncIterator[ChildEmbedder]:
    more = {} if confirm is None else {"confirm": confirm}
    asked = {"fault": fault, "started": str(started)}
    async with open_embedder(asked, IDENTITY, limits=limits, program=PROGRAM, **more) as made:
        yield made


async def pids(started: Path) -> list[int]:
    text = await anyio.Path(started).read_text() if await anyio.Path(started).exists() else ""
    return [int(line) for line in text.split()]


async def is_alive(pid: int) -> bool:
    return await anyio.Path(f"/proc/{pid}").exists()


async def test_nothing_is_started_before_the_first_text(started: Path) -> None:
    async with embedder(started) as ours:
        assert await pids(started) == []
        assert (await ours.embed("query", "hello")).vector == vector("hello")
        assert (await ours.embed("passage", "there")).vector == vector("there")
        assert len(await pids(started)) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("hangs", "hangs"),
        ("not a number", "answer"),
        ("infinite", "answer"),
        ("zero", "answer"),
        ("wrong dimension", "answer"),
        ("garbage", "answer"),
        ("endless", "answer"),
        ("refuses", "answer"),
        ("eats memory", "ended"),
        ("ends", "ended"),
        ("another name", "identity"),
        ("another model", "identity"),
        ("another protocol", "start"),
    ],
)
async def test_a_bad_child_gives_no_vector_is_ended_and_is_left_alone_for_a_while(
    started: Path, fault: str, reason: str
) -> None:
    async def confirm(_: Identity, probe: Embedding) -> bool:
        return same_model(probe, vector(PROBE))

    limits = replace(LIMITS, text_s=1) if fault == "hangs" else LIMITS
    async with embedder(started, fault, limits, confirm) as ours:
        with pytest.raises(EmbedderUnavailableError) as first:
            await ours.embed("query", "hello")
        (pid,) = await pids(started)
        assert (first.value.reason, await is_alive(pid)) == (reason, False)
        with pytest.raises(EmbedderUnavailableError) as second:
            await ours.embed("query", "hello")
        assert second.value.reason == reason
        assert ours.failure is not None
        assert await pids(started) == [pid]


async def test_after_its_rest_it_is_tried_again(started: Path) -> None:
    async with embedder(started, "ends", replace(LIMITS, rest_s=0)) as ours:
        for _ in range(2):
            with pytest.raises(EmbedderUnavailableError):
                await ours.embed("query", "hello")
        assert len(await pids(started)) == 2


async def test_a_question_waits_only_so_long_for_a_slow_child_which_is_not_ended_for_it(started: Path) -> None:
    async with embedder(started, "hangs", replace(LIMITS, query_s=0.2)) as ours:
        with pytest.raises(EmbedderUnavailableError) as late:
            await ours.embed("query", "hello")
        assert (late.value.reason, ours.failure) == ("late", None)


async def test_a_full_queue_refuses_and_whoever_gives_up_costs_the_others_nothing(started: Path) -> None:
    told: list[object] = []

    async def ask(text: str) -> None:
        try:
            told.append((await ours.embed("passage", text)).vector)
        except EmbedderUnavailableError as error:
            told.append(error.reason)

    async with embedder(started) as ours, anyio.create_task_group() as group:
        for text in ("one", "two", "three", "four"):
            group.start_soon(ask, text)  # none has run yet: two wait, the others find no room
        with anyio.move_on_after(0):
            await ours.embed("query", "given up")
    assert told.count("busy") >= 1
    assert all(one == "busy" or isinstance(one, bytes) for one in told)


async def test_an_idle_child_gives_its_memory_back_and_comes_again_when_asked(started: Path) -> None:
    async with embedder(started, limits=replace(LIMITS, idle_s=0.05)) as ours:
        await ours.embed("query", "hello")
        (pid,) = await pids(started)
        with anyio.fail_after(10):
            while await is_alive(pid):  # noqa: ASYNC110 another process's end has no event here
                await anyio.sleep(0.01)
        await ours.embed("query", "again")
        assert len(await pids(started)) == 2


async def test_no_child_outlives_its_embedder(started: Path) -> None:
    async with embedder(started) as ours:
        await ours.embed("query", "hello")
        (pid,) = await pids(started)
        assert await is_alive(pid)
    assert not await is_alive(pid)


async def test_a_program_that_is_not_there_is_a_refusal(tmp_path: Path) -> None:
    async with open_embedder({}, IDENTITY, limits=LIMITS, program=(str(tmp_path / "none"),)) as ours:
        with pytest.raises(EmbedderUnavailableError) as refused:
            await ours.embed("query", "hello")
        assert refused.value.reason == "start"


async def test_a_model_whose_package_is_missing_says_what_to_install(tmp_path: Path) -> None:
    asked = {"provider": "onnx-dir", "folder": str(tmp_path)}
    async with open_embedder(asked, Identity("onnx-dir", 0), limits=LIMITS, program=WORKER) as ours:
        with pytest.raises(EmbedderUnavailableError) as refused:
            await ours.embed("query", "hello")
        assert refused.value.reason == "missing"
