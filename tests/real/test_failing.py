"""The contract of every backend, clause by clause, on the real CLIs: what a provider's troubles come to."""

from dataclasses import replace

import anyio
import pytest

from kai.model.errors import FailureKind
from kai.model.events import Finished
from tests.real.agents import CLAUDE, CODEX, GEMINI, HERMES, PI
from tests.real.driving import FRONT, Bench

pytestmark = pytest.mark.anyio
clause = pytest.mark.clause

GOES_ON = "hermes lets the model go on by itself: the answer is whole in the end"
KNOWN = (CLAUDE, GEMINI, CODEX, PI)
PATIENT = f"only of {', '.join(agent.backend for agent in KNOWN)} is it known how many attempts they make"
FAILURES = {
    "err=401": FailureKind.LOGIN,
    "err=403": FailureKind.LOGIN,
    "err=400": FailureKind.PROTOCOL,
    "err=413": FailureKind.CONTEXT,
    "err=429": FailureKind.QUOTA,
    "err=500": FailureKind.PROVIDER,
    "err=529": FailureKind.PROVIDER,
    "refuse": FailureKind.REFUSED,
}


@clause("kinds of failures", needs="model")
async def test_every_error_of_the_provider_gets_its_kind_and_the_next_prompt_works(bench: Bench) -> None:
    if bench.agent not in KNOWN:
        pytest.skip(PATIENT)
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


@clause("passing error", needs="model")
async def test_a_passing_error_of_the_provider_is_overcome_by_the_agent(bench: Bench) -> None:
    async with bench.session() as session:
        seen = await bench.turn(session, f"{FRONT}STUB:retry=429*1")
    if bench.agent is not GEMINI:  # which the test lets try but once
        assert isinstance(seen.end, Finished)
        assert seen.text == "ok after 1 errors"


@clause("cut answer", needs="model")
async def test_a_cut_answer_is_no_success(bench: Bench) -> None:
    if bench.agent is HERMES:
        pytest.skip(GOES_ON)
    bench.limits(repeats=10)
    async with bench.session() as session:
        failed = (await bench.turn(session, f"{FRONT}STUB:drop")).failed
    assert failed.kind in (FailureKind.PROVIDER, FailureKind.EMPTY)


@clause("provider unreachable", needs="model")
async def test_a_provider_that_cannot_be_reached_is_told_as_that(bench: Bench, dead_url: str) -> None:
    if bench.agent not in KNOWN:
        pytest.skip(PATIENT)
    bench.manifest = replace(bench.manifest, options=(*bench.manifest.options, ("patience_s", "1")))
    async with bench.session(url=dead_url) as session:
        failed = (await bench.turn(session, f"{FRONT}hello")).failed
    assert failed.kind is FailureKind.PROVIDER
