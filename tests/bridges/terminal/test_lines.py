"""One message after the other, from a pipe or a file."""

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from kai.bridges.terminal.conversation import Conversation
from kai.bridges.terminal.lines import Lines, LineTalk
from kai.client import Client
from kai.model.states import TurnState
from kai.model.turns import DeliveryKind
from tests.bridges.conftest import until
from tests.bridges.terminal.conftest import Shown
from tests.fake_daemon import FakeDaemon, FakeTurn, ask_row, end_row, state_row

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        try:
            os.close(descriptor)
        except OSError:
            continue


async def test_lines_come_whole_however_they_are_written(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[0])
    os.write(pipe[1], b"one\n\n  \ntwo, fir")
    assert await lines.next() == "one"
    os.write(pipe[1], b"st half\nna\xc3")
    assert await lines.next() == "two, first half"
    os.write(pipe[1], b"\xafve \xff\r\nlast")
    assert await lines.next() == "naïve \ufffd"
    os.close(pipe[1])
    assert await lines.next() == "last"
    assert await lines.next() is None


async def test_waiting_for_a_line_can_be_given_up_and_loses_none(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[0])
    with anyio.move_on_after(0.05):
        await lines.next()
    os.write(pipe[1], b"still there\n")
    assert await lines.next() == "still there"


async def test_lines_of_a_file_and_of_nothing_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\ntwo")
    for name, found in ((tmp_path / "lines", ["one", "two", None]), (Path(os.devnull), [None] * 3)):
        descriptor = os.open(name, os.O_RDONLY)
        lines = Lines(descriptor)
        assert [await lines.next() for _ in range(3)] == found
        os.close(descriptor)


class Script:
    """Lines to send and to answer with."""

    def __init__(self, *lines: str) -> None:
        self.left = list(lines)

    async def next(self) -> str | None:
        return self.left.pop(0) if self.left else None


async def talked(fake: FakeDaemon, shown: Shown, script: Script) -> bool:
    async with Client(fake.socket) as client:
        conversation = Conversation(client, shown.show, chat="p-ann", patience_s=0)
        return await LineTalk(conversation, shown.show, script.next).run(script.next)


async def test_each_message_is_sent_after_the_answer_to_the_one_before(fake: FakeDaemon, shown: Shown) -> None:
    def answer(turn: FakeTurn) -> None:
        assert all(other.rows for other in fake.turns.values() if other is not turn)
        fake.tell(turn.turn, end_row(f"to {turn.words}"))

    fake.on_message = answer
    assert await talked(fake, shown, Script("one", "two"))
    assert shown.of("end") == ["to one", "to two"]
    assert fake.unconfirmed() == []


async def test_a_turn_that_fails_makes_the_whole_fail_and_the_next_goes_on(fake: FakeDaemon, shown: Shown) -> None:
    states = iter([TurnState.FAILED, TurnState.DONE])
    fake.on_message = lambda turn: fake.tell(turn.turn, end_row("text", next(states), "It crashed."))
    assert not await talked(fake, shown, Script("one", "two"))
    assert fake.said() == ["one", "two"]


async def test_a_refused_message_is_told_and_the_next_goes_on(fake: FakeDaemon, shown: Shown) -> None:
    fake.canned["POST", "/v1/messages"] = (
        422,
        {"title": "Bad", "detail": "text: is too long.", "hint": "Send a file."},
    )
    assert not await talked(fake, shown, Script("one", "two"))
    assert shown.of("end") == ["text: is too long. Send a file."] * 2


async def test_a_reply_of_kai_itself_ends_its_message(fake: FakeDaemon, shown: Shown) -> None:
    fake.owe(DeliveryKind.NOTICE, "Idle.", turn=None)
    fake.canned["POST", "/v1/messages"] = (202, {"message": None, "turn": None, "channel": "c", "reply": "Idle."})
    assert await talked(fake, shown, Script("/status"))
    assert shown.of("end") == ["Idle."]
    assert fake.unconfirmed() == []


async def test_a_turn_that_was_begun_elsewhere_is_shown_and_confirmed(fake: FakeDaemon, shown: Shown) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, end_row("again"))
    async with Client(fake.socket) as client:
        begun = await Conversation(client, shown.show, chat="p-ann").send("hi")
        conversation, nothing = Conversation(client, shown.show, chat="p-ann", patience_s=0), Script().next
        assert await LineTalk(conversation, shown.show, nothing).run(nothing, begun.turn or "")
    assert shown.of("end", "letter", "notice") == ["again"]
    assert fake.unconfirmed() == []


async def test_the_next_line_answers_an_open_question(fake: FakeDaemon, shown: Shown) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("asking"), ask_row())
    fake.on_answer = lambda body: fake.tell("t-1", state_row("running"), end_row(f"chosen {body['choice']}"))
    assert await talked(fake, shown, Script("go", "2"))
    assert shown.of("end") == ["chosen b"]
    assert fake.said() == ["go"]


async def test_a_line_that_is_no_answer_is_a_message_and_its_turn_is_followed_too(
    fake: FakeDaemon, shown: Shown
) -> None:
    def happen(turn: FakeTurn) -> None:
        if turn.words == "go":
            fake.tell(turn.turn, state_row("asking"), ask_row())
        else:
            fake.tell("t-1", end_row("one"))
            fake.tell(turn.turn, end_row("two"))

    fake.on_message = happen
    assert await talked(fake, shown, Script("go", "why?"))
    assert shown.of("end") == ["one", "two"]


async def test_where_nobody_can_answer_a_question_it_is_said_until_when_it_is_open(
    fake: FakeDaemon, shown: Shown
) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("asking"), ask_row())
    async with Client(fake.socket) as client, anyio.create_task_group() as tasks:
        conversation = Conversation(client, shown.show, chat="p-ann", patience_s=0)
        tasks.start_soon(LineTalk(conversation, shown.show, Script().next).run, Script("go").next)
        await until(lambda: shown.of("notice"))
        fake.tell("t-1", end_row("denied"))
    assert "Nobody can answer here. Answer from another terminal or bridge; at " in shown.of("notice")[0]


async def test_a_question_that_was_answered_elsewhere_asks_nobody_any_more(
    fake: FakeDaemon, shown: Shown, pipe: tuple[int, int]
) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("asking"), ask_row())
    async with Client(fake.socket) as client, anyio.create_task_group() as tasks:
        conversation = Conversation(client, shown.show, chat="p-ann", patience_s=0)
        lines = Lines(pipe[0])
        tasks.start_soon(LineTalk(conversation, shown.show, lines.next).run, lines.next)
        os.write(pipe[1], b"go\n")
        await until(lambda: shown.of("ask"))
        fake.tell("t-1", state_row("running"), end_row("ok"))
        await until(lambda: shown.of("end"))
        fake.on_message = lambda turn: fake.tell(turn.turn, end_row("ok"))
        os.write(pipe[1], b"1\n")
        os.close(pipe[1])
    assert fake.said() == ["go", "1"]
