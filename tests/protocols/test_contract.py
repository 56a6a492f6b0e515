"""The contract of every driver and the session, walked through all that the fake agent can do.

Whatever a backend does, a caller gets exactly one `Started` first and exactly one `Finished` or `Failed` last; tool ids
pair up; leaving early stops the work; nothing of a turn reaches the next one; and when a session is closed, its whole
tree is gone.
"""

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from kai.model.backends import ProtocolName
from kai.model.errors import FailureKind, SessionBrokenError, SessionLostError
from kai.model.events import Ask, BackendEvent, Failed, Finished, TextDelta, ToolCall
from kai.protocols.child import StopReport
from kai.protocols.session import Session
from tests.protocols.agents import LIMITS, PROTOCOLS, Fake, is_running, pick, prompt, text_of, turn, until
from tests.protocols.test_turn import check

pytestmark = pytest.mark.anyio

# What an agent may do in a turn and be none the worse for it.
GENTLE = (
    "FAKE:slow=3,0.01",
    "FAKE:say=a FAKE:tool FAKE:say=b FAKE:badtool",
    "FAKE:opentool FAKE:say=x",
    "FAKE:think FAKE:say=x",
    "FAKE:u2028 FAKE:surrogate",
    "FAKE:noise FAKE:unknown FAKE:say=x",
    "FAKE:huge=5 FAKE:say=x",
    "FAKE:stderr=200000 FAKE:say=x",
    "FAKE:long=300000",
    "FAKE:empty",
    "FAKE:error=login",
    "FAKE:error=quota",
    "FAKE:errtext",
    "FAKE:retry FAKE:say=x",
    "FAKE:late=0.02 FAKE:say=x",
    "FAKE:unsolicited=0.02 FAKE:say=x",
    "FAKE:second FAKE:say=x",
    "FAKE:newid FAKE:say=x",
    "FAKE:compact FAKE:usage FAKE:say=x",
    "FAKE:ask",
    "FAKE:question",
    "FAKE:withdraw FAKE:say=x",
)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_whatever_an_agent_says_its_turns_are_whole_and_apart(protocol: ProtocolName, tmp_path: Path) -> None:
    fake = Fake(protocol, tmp_path)
    async with fake.session() as session:
        for number, words in enumerate(GENTLE):
            seen: list[BackendEvent] = []
            async with session.prompt(prompt(words, number)) as events:
                async for event in events:
                    seen.append(event)
                    if isinstance(event, Ask):
                        await session.answer(event.ask, event.choices[-1])
            check(seen)
            assert not session.busy
            if "late" in words or "unsolicited" in words:
                await until(lambda: fake.aside)
                fake.aside.clear()
            # The next turn holds its own words and no others.
            after = await turn(session, f"mark {number}", number=number)
            check(after)
            assert text_of(after) == f"echo: mark {number}", words
        assert session.alive


@dataclass
class Seen:
    """What came of one behaviour."""

    events: list[BackendEvent] = field(default_factory=list)
    report: StopReport | None = None
    closed: StopReport | None = None
    seconds: float = 0.0  # from the prompt to the turn's end
    closing_s: float = 0.0
    alive: bool = True  # the session, after the turn
    next_text: str = ""

    @property
    def end(self) -> BackendEvent:
        return self.events[-1]

    @property
    def kind(self) -> FailureKind | None:
        return self.end.kind if isinstance(self.end, Failed) else None

    @property
    def pids(self) -> list[int]:
        """The processes that the agent told of."""
        return [int(pid) for pid in re.findall(r"(?:pid|child|escaped) (\d+)", text_of(self.events))]


Act = Callable[[Session, Seen, BackendEvent], Awaitable[bool]]


async def go_on(session: Session, seen: Seen, event: BackendEvent) -> bool:
    return True


async def stop_at_text(session: Session, seen: Seen, event: BackendEvent) -> bool:
    if isinstance(event, TextDelta | ToolCall) and seen.report is None:
        seen.report = await session.interrupt()
    return True


async def leave_at_text(session: Session, seen: Seen, event: BackendEvent) -> bool:
    return not isinstance(event, TextDelta)


@dataclass(frozen=True)
class Behaviour:
    """Words for the agent, what the caller does meanwhile, and how long things may take."""

    words: str
    act: Act = go_on
    limits: dict[str, float] = field(default_factory=dict)
    padding: int = 0  # bytes before the words, so that the prompt fills the pipe


WILD = {
    "silent": Behaviour("FAKE:silent", limits={"first_output_s": 0.3, "silence_s": 0.3}),
    "falls silent": Behaviour("FAKE:say=x FAKE:silent", limits={"silence_s": 0.3}),
    "half a line": Behaviour("FAKE:say=x FAKE:half", limits={"silence_s": 0.3}),
    "no end": Behaviour("FAKE:noend", limits={"silence_s": 0.3}),
    "endless": Behaviour("FAKE:endless", limits={"turn_s": 0.5}),
    "loop": Behaviour("FAKE:loop"),
    "too much": Behaviour("FAKE:endless", limits={"turn_bytes": 500}),
    "works in silence": Behaviour("FAKE:say=x FAKE:busy=1.2 FAKE:say=y", limits={"silence_s": 0.5}),
    "stopped": Behaviour("FAKE:endless", stop_at_text),
    "stopped in a tool": Behaviour("FAKE:opentool FAKE:silent", stop_at_text),
    "stopped and late": Behaviour("FAKE:late=0.05 FAKE:say=x FAKE:silent", stop_at_text),
    "does not stop": Behaviour("FAKE:nostop FAKE:pid FAKE:endless", stop_at_text, {"stop_s": 0.3}),
    "stubborn": Behaviour("FAKE:stubborn FAKE:nostop FAKE:pid FAKE:endless", stop_at_text, {"stop_s": 0.3}),
    "left early": Behaviour("FAKE:endless", leave_at_text),
    "dies": Behaviour("FAKE:say=x FAKE:die=3"),
    "leaves with 0": Behaviour("FAKE:say=x FAKE:die=0"),
    "killed": Behaviour("FAKE:say=x FAKE:kill"),
    "leaves a child at its stdout": Behaviour("FAKE:child FAKE:die=0"),
    "leaves one in its own session": Behaviour("FAKE:child FAKE:escape"),
    "closes stdout": Behaviour("FAKE:pid FAKE:closeout"),
    "deaf": Behaviour("FAKE:deaf", limits={"write_s": 0.3}),
    "stubborn at the end": Behaviour("FAKE:pid FAKE:stubborn"),
}


async def observe(protocol: ProtocolName, folder: Path, behaviour: Behaviour) -> Seen:
    seen = Seen()
    fake = Fake(protocol, folder, replace(LIMITS, **behaviour.limits))  # type: ignore[arg-type]
    async with fake.session() as session:
        began = time.monotonic()
        async with session.prompt(prompt(behaviour.words)) as events:
            async for event in events:
                seen.events.append(event)
                if not await behaviour.act(session, seen, event):
                    break
        seen.seconds = time.monotonic() - began
        seen.alive = session.alive
        if behaviour.words == "FAKE:deaf":
            # It has stopped reading: a prompt that does not fit into the pipe is never taken.
            seen.events = await turn(session, "x" * 1_000_000, number=2)
            seen.alive = session.alive
        elif session.alive:
            seen.next_text = text_of(await turn(session, "the next", number=2))
        began = time.monotonic()
        seen.closed = await session.close()
        seen.closing_s = time.monotonic() - began
    return seen


@pytest.fixture(scope="module", params=PROTOCOLS, ids=lambda protocol: protocol.value)
def observed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """All of the wild ones, several at a time: most of what they do is to make others wait."""
    found: dict[str, Seen] = {}

    async def all_of_them() -> None:
        room = anyio.CapacityLimiter(6)

        async def one(name: str, behaviour: Behaviour) -> None:
            async with room:
                found[name] = await observe(request.param, tmp_path_factory.mktemp("fake"), behaviour)

        async with anyio.create_task_group() as tasks:
            for name, behaviour in WILD.items():
                tasks.start_soon(one, name, behaviour)

    anyio.run(all_of_them)
    return found


@pytest.mark.parametrize("name", [name for name in WILD if name != "left early"])
def test_the_turn_is_whole(observed: dict[str, Seen], name: str) -> None:
    check(observed[name].events)


@pytest.mark.parametrize("name", WILD)
def test_the_whole_tree_is_gone_when_the_session_is_closed(observed: dict[str, Seen], name: str) -> None:
    seen = observed[name]
    assert [pid for pid in seen.pids if is_running(pid)] == []
    assert seen.closing_s < 6


@pytest.mark.parametrize("name", WILD)
def test_a_session_that_goes_on_answers_the_next_prompt_and_only_that(observed: dict[str, Seen], name: str) -> None:
    seen = observed[name]
    if seen.alive:
        assert seen.next_text == "echo: the next"


@pytest.mark.parametrize("name", ["silent", "falls silent", "half a line", "no end"])
def test_silence_has_a_limit_that_does_not_depend_on_reads(observed: dict[str, Seen], name: str) -> None:
    seen = observed[name]
    assert seen.kind is FailureKind.SILENT
    assert seen.seconds < 4
    assert name not in ("no end", "falls silent") or text_of(seen.events)


def test_work_in_silence_is_no_silence(observed: dict[str, Seen]) -> None:
    assert text_of(observed["works in silence"].events).endswith("y")


def test_what_never_ends_is_ended(observed: dict[str, Seen]) -> None:
    assert observed["endless"].kind is FailureKind.TIME
    assert observed["loop"].kind is FailureKind.PROVIDER
    assert observed["too much"].kind is FailureKind.PROTOCOL


@pytest.mark.parametrize("name", ["stopped", "stopped in a tool", "stopped and late"])
def test_a_stop_goes_through_the_protocol_and_keeps_the_session(observed: dict[str, Seen], name: str) -> None:
    seen = observed[name]
    assert seen.end == Finished(stopped=True)
    assert seen.report is not None
    assert (seen.report.step, seen.report.session_kept) == ("interrupt", True)
    assert seen.alive


@pytest.mark.parametrize(("name", "steps"), [("does not stop", ("eof", "term")), ("stubborn", ("kill",))])
def test_what_does_not_stop_is_ended_step_by_step_within_a_bound(
    observed: dict[str, Seen], name: str, steps: tuple[str, ...]
) -> None:
    seen = observed[name]
    assert seen.end == Finished(stopped=True)
    assert seen.report is not None
    assert seen.report.step in steps
    assert not seen.report.session_kept
    assert seen.report.seconds < 6
    assert not seen.alive


def test_leaving_early_stops_the_work(observed: dict[str, Seen]) -> None:
    assert observed["left early"].alive


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dies", "exit code 3; fatal: something broke"),
        ("leaves with 0", "exit code 0"),
        ("killed", "signal 9"),
        ("leaves a child at its stdout", "exit code 0"),
    ],
)
def test_an_end_of_the_process_without_an_end_of_the_turn_is_a_failure(
    observed: dict[str, Seen], name: str, words: str
) -> None:
    end = observed[name].end
    assert isinstance(end, Failed)
    assert end.kind is FailureKind.CRASH
    assert words in end.sentence
    assert end.session_lost
    assert text_of(observed[name].events)
    assert not observed[name].alive


def test_a_child_that_holds_the_pipe_does_not_hold_the_turn(observed: dict[str, Seen]) -> None:
    seen = observed["leaves a child at its stdout"]
    assert seen.pids
    assert seen.seconds < 5


def test_children_left_behind_are_found_wherever_they_went(observed: dict[str, Seen]) -> None:
    seen = observed["leaves one in its own session"]
    assert isinstance(seen.end, Finished)
    assert len(seen.pids) == 2


def test_a_closed_stdout_ends_the_turn_though_the_process_lives(observed: dict[str, Seen]) -> None:
    assert observed["closes stdout"].kind is FailureKind.CRASH
    assert observed["closes stdout"].seconds < 5


def test_an_agent_that_reads_no_more_does_not_hold_the_prompt(observed: dict[str, Seen]) -> None:
    seen = observed["deaf"]
    assert seen.kind is FailureKind.SILENT
    assert not seen.alive


def test_an_agent_that_ignores_its_end_is_killed_and_that_is_said(observed: dict[str, Seen]) -> None:
    seen = observed["stubborn at the end"]
    assert isinstance(seen.end, Finished)
    assert seen.closed is not None
    assert seen.closed.step == "kill"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_question_is_answered_denied_withdrawn_or_left_as_the_person_wills(
    protocol: ProtocolName, tmp_path: Path
) -> None:
    async with Fake(protocol, tmp_path).session() as session:
        for number, (kind, answer) in enumerate(
            (("allow_once", "allowed"), ("allow_always", "always"), ("", "denied"))
        ):
            seen: list[BackendEvent] = []
            async with session.prompt(prompt("FAKE:ask", number)) as events:
                async for event in events:
                    seen.append(event)
                    if isinstance(event, Ask):
                        assert "touch x" in event.detail
                        assert await session.answer(event.ask, pick(event.choices, kind) if kind else None)
                        assert not await session.answer(event.ask, None)
            check(seen)
            assert text_of(seen) == answer
        async with session.prompt(prompt("FAKE:ask", 9)) as events:
            async for event in events:
                if isinstance(event, Ask):
                    left = event.ask
                    assert (await session.interrupt()).step == "interrupt"
        assert not await session.answer(left, None)
        assert text_of(await turn(session, "after")) == "echo: after"


# Another model and effort


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_another_model_and_effort_hold_from_the_next_turn_on_in_the_same_process(
    protocol: ProtocolName, tmp_path: Path
) -> None:
    fake = Fake(protocol, tmp_path)
    async with fake.session() as session:
        before = await turn(session, "FAKE:remember=plum FAKE:pid")
        await session.set_model("fake-2", "high")
        after = await turn(session, "FAKE:model FAKE:recall FAKE:pid", number=2)
        assert text_of(after).startswith("fake-2 high")
        assert "plum" in text_of(after)
        assert text_of(after).endswith(text_of(before).removeprefix("remembered ").lstrip())
        assert session.ready.model.endswith("fake-2")
        await session.set_model("", "low")
        assert text_of(await turn(session, "FAKE:model", number=3)) == "fake-2 low"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_session_of_which_it_is_not_known_what_it_works_with_is_ended(
    protocol: ProtocolName, tmp_path: Path
) -> None:
    fake = Fake(protocol, tmp_path)
    async with fake.session() as session:
        session.limits = replace(session.limits, start_s=0.3)
        with pytest.raises(SessionBrokenError):
            await session.set_model("deaf", "")
        assert not session.alive
        await session.ended()
        with pytest.raises(SessionBrokenError):
            await session.set_model("fake-2", "")


async def test_whoever_gives_up_a_change_of_model_ends_the_session(tmp_path: Path) -> None:
    async with Fake(ProtocolName.ACP, tmp_path).session() as session:
        with anyio.move_on_after(0.1):
            await session.set_model("deaf", "")
        assert not session.alive
        await session.ended()


async def test_a_model_that_is_refused_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    async with Fake(ProtocolName.ACP, tmp_path).session() as session:
        with pytest.raises(SessionLostError) as refused:
            await session.set_model("refused", "high")
        assert refused.value.kind is FailureKind.MODEL
        assert session.alive
        assert text_of(await turn(session, "FAKE:model")) == "fake-1"
