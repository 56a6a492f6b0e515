"""A conversation with the daemon loses nothing and tells nothing twice, whatever happens to the daemon."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import pytest

from kai.bridges.terminal.conversation import EVENT, Conversation
from kai.client import Client
from kai.model.errors import ApiError
from kai.model.ids import AskId, TurnId
from kai.model.states import TurnState
from kai.model.turns import DeliveryKind
from tests.bridges.conftest import until
from tests.bridges.terminal.conftest import Shown
from tests.fake_daemon import CHOICES, FakeDaemon, FakeTurn, ask_row, end_row, state_row, text_row, tool_row

pytestmark = pytest.mark.anyio
LOST, BACK = "The connection to the daemon is lost; waiting for it to come back.", "Connected again."


@asynccontextmanager
async def talking(fake: FakeDaemon, shown: Shown) -> AsyncIterator[Conversation]:
    """A conversation that takes its deliveries."""
    async with Client(fake.socket) as client, anyio.create_task_group() as tasks:
        conversation = Conversation(client, shown.show, chat="p-ann")
        tasks.start_soon(conversation.take_deliveries)
        yield conversation
        await until(lambda: not fake.unanswered and not fake.unconfirmed())
        await client.status()
        tasks.cancel_scope.cancel()


def silent(turn: FakeTurn) -> None:
    """Nothing happens in a turn by itself."""


async def test_a_turn_is_shown_from_its_first_event_to_its_end(fake: FakeDaemon, shown: Shown) -> None:
    rows = (
        state_row("running"),
        tool_row("1", "read", "x.py"),
        tool_row("1", ok=True),
        text_row("Good"),
        text_row(" day"),
    )
    fake.on_message = lambda turn: fake.tell(turn.turn, *rows, end_row("Good day"))
    async with talking(fake, shown) as conversation:
        accepted = await conversation.send("hi")
        end = await conversation.follow(accepted.turn or "")
    assert end["state"] == "done"
    assert shown.of("state", "tool", "text", "end") == [
        "running",
        "read x.py None",
        "read x.py True",
        "Good",
        " day",
        "Good day",
    ]
    assert fake.bodies("POST", "/v1/messages")[0]["chat"] == "p-ann"


async def test_a_message_whose_confirmation_was_cut_is_accepted_once(fake: FakeDaemon, shown: Shown) -> None:
    fake.drops = 1
    async with talking(fake, shown) as conversation:
        accepted = await conversation.send("hi")
        await conversation.follow("t-1")
    sent = fake.bodies("POST", "/v1/messages")
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert (accepted.turn, accepted.duplicate, fake.said()) == ("t-1", True, ["hi"])


async def test_a_restart_of_the_daemon_is_said_and_shows_no_event_twice(fake: FakeDaemon, shown: Shown) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, text_row("one "), ask_row())
    async with talking(fake, shown) as conversation, anyio.create_task_group() as tasks:
        await conversation.send("hi")
        tasks.start_soon(conversation.follow, "t-1")
        await until(lambda: shown.of("ask"))
        await anyio.to_thread.run_sync(fake.stop)
        await until(lambda: LOST in shown.of("notice"))
        fake.start()
        fake.tell("t-1", text_row("two"), end_row("one two"))
        await until(lambda: shown.of("end"))
    assert shown.of("text", "ask", "end") == ["one ", "Run a command?", "two", "one two"]
    assert shown.of("notice") == [LOST, BACK]


async def test_a_turn_that_began_anew_after_a_restart_is_shown_anew(fake: FakeDaemon, shown: Shown) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("running"), text_row("first try"))
    async with talking(fake, shown) as conversation, anyio.create_task_group() as tasks:
        await conversation.send("hi")
        tasks.start_soon(conversation.follow, "t-1")
        await until(lambda: shown.of("text"))
        await anyio.to_thread.run_sync(fake.stop)
        fake.turns["t-1"].rows.clear()
        fake.start()
        fake.tell("t-1", state_row("running"), text_row("second try"), end_row("second try"))
        await until(lambda: shown.of("end"))
    assert shown.of("text") == ["first try", "second try"]


async def test_an_interrupted_turn_ends_with_what_the_new_daemon_says_of_it(fake: FakeDaemon, shown: Shown) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("running"), text_row("half"))
    async with talking(fake, shown) as conversation, anyio.create_task_group() as tasks:
        await conversation.send("hi")
        tasks.start_soon(conversation.follow, "t-1")
        await until(lambda: shown.of("text"))
        await anyio.to_thread.run_sync(fake.stop)
        fake.turns["t-1"].rows.clear()
        fake.start()
        fake.tell("t-1", end_row("", TurnState.INTERRUPTED, "The daemon was restarted."))
        await until(lambda: shown.of("end"))
    assert shown.of("end") == ["The daemon was restarted."]


@pytest.mark.parametrize("delivery_first", [True, False])
async def test_a_notice_told_as_event_and_as_delivery_is_shown_once_and_confirmed(
    fake: FakeDaemon, shown: Shown, delivery_first: bool
) -> None:
    fake.on_message = silent
    ways: list[Callable[[], None]] = [
        lambda: fake.owe(DeliveryKind.NOTICE, "New session.", turn=TurnId("t-1")),
        lambda: fake.tell("t-1", {"type": "notice", "text": "New session."}),
    ]
    async with talking(fake, shown) as conversation, anyio.create_task_group() as tasks:
        await conversation.send("hi")
        tasks.start_soon(conversation.follow, "t-1")
        for way in ways if delivery_first else reversed(ways):
            way()
            await until(lambda: shown.of("notice"))
        fake.tell("t-1", end_row("done"))
        await until(lambda: len(fake.receipts()) == 2)
    assert shown.of("notice") == ["New session."]


async def test_the_answer_is_confirmed_after_it_is_shown_and_not_shown_again(fake: FakeDaemon, shown: Shown) -> None:
    fake.on_message = lambda turn: fake.owe(
        DeliveryKind.ANSWER, "Hello", turn=TurnId(turn.turn), turn_state=TurnState.DONE
    )
    async with talking(fake, shown) as conversation:
        await conversation.send("hi")
        fake.owe(DeliveryKind.NOTICE, "Told behind it.")
        await until(fake.receipts)
        assert fake.receipts() == ["d-2"]
        fake.turns["t-1"].rows.append(end_row("Good day"))
        await conversation.follow("t-1")
        await conversation.settled("t-1", 8)
    assert fake.receipts() == ["d-2", "d-1"]
    assert [(turn, row["type"]) for turn, row in shown.rows] == [("", "notice"), ("t-1", "end")]
    assert fake.bodies("POST", "/v1/deliveries/d-1/receipt")[0]["outcome"] == "sent"


async def test_an_answer_to_an_earlier_message_is_shown_as_a_letter(fake: FakeDaemon, shown: Shown) -> None:
    fake.owe(DeliveryKind.ANSWER, "Late.", turn=TurnId("t-0"), turn_state=TurnState.DONE)
    fake.owe(DeliveryKind.NOTICE, "Interrupted.", turn=TurnId("t-0"), turn_state=TurnState.INTERRUPTED)
    async with talking(fake, shown):
        await until(lambda: sorted(fake.receipts()) == ["d-1", "d-2"])
    assert sorted(shown.of("letter", "notice")) == ["Interrupted.", "Late."]


async def test_deliveries_go_on_behind_the_last_one_after_a_restart(fake: FakeDaemon, shown: Shown) -> None:
    fake.owe(DeliveryKind.NOTICE, "one")
    async with talking(fake, shown):
        await until(lambda: fake.receipts() == ["d-1"])
        await anyio.to_thread.run_sync(fake.stop)
        fake.start()
        fake.owe(DeliveryKind.NOTICE, "two")
        await until(lambda: "d-2" in fake.receipts())
    queries = [one.query for one in fake.asked if one.path == "/v1/deliveries"]
    assert queries[0] == {"idempotent": ["1"]}
    assert queries[-1] == {"idempotent": ["1"], "after": ["1"]}
    assert [text for text in shown.of("notice") if text not in (LOST, BACK)] == ["one", "two"]


async def test_a_receipt_that_comes_too_late_does_no_harm(fake: FakeDaemon, shown: Shown) -> None:
    fake.canned["POST", "/v1/deliveries/d-1/receipt"] = (409, {"title": "Not possible", "detail": "It is sent."})
    fake.owe(DeliveryKind.NOTICE, "one")
    fake.owe(DeliveryKind.NOTICE, "two")
    async with talking(fake, shown):
        await until(lambda: len(fake.receipts()) == 2)


async def test_a_reply_of_kai_itself_is_news_once(fake: FakeDaemon, shown: Shown) -> None:
    reply = {"message": None, "turn": None, "channel": "c-main", "reply": "Nothing is running here."}
    fake.canned["POST", "/v1/messages"] = (202, reply)
    async with talking(fake, shown) as conversation:
        for _ in range(2):
            accepted = await conversation.send("/stop")
            assert conversation.is_news(("", accepted.reply), EVENT)
            fake.owe(DeliveryKind.NOTICE, "Nothing is running here.")
        await until(lambda: len(fake.receipts()) == 2)
    assert shown.of("notice") == []


async def asking(fake: FakeDaemon, shown: Shown, talk: Callable[[Conversation], Awaitable[None]]) -> None:
    """A turn that has asked, and ends after `talk`."""
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("asking"), ask_row())
    async with talking(fake, shown) as conversation, anyio.create_task_group() as tasks:
        await conversation.send("hi")
        tasks.start_soon(conversation.follow, "t-1")
        await until(lambda: shown.of("ask"))
        await talk(conversation)
        fake.tell("t-1", end_row("ok"))


async def test_a_question_is_answered_with_the_key_of_the_choice_that_was_named(fake: FakeDaemon, shown: Shown) -> None:
    async def talk(conversation: Conversation) -> None:
        question = conversation.questions[-1]
        for line in ("0", "4", "yes", "", "\u0663", "9" * 5000):
            assert not await conversation.answer(question, line)
        assert await conversation.answer(question, "3")
        assert conversation.questions == []

    await asking(fake, shown, talk)
    assert fake.bodies("POST", "/v1/questions/q-1/answer") == [{"choice": "c", "text": ""}]


async def test_an_answer_that_comes_too_late_is_told_and_never_becomes_a_message(
    fake: FakeDaemon, shown: Shown
) -> None:
    detail = "question q-1 is expired and cannot become answered."
    fake.canned["POST", "/v1/questions/q-1/answer"] = (409, {"title": "Not possible", "detail": detail})

    async def talk(conversation: Conversation) -> None:
        assert await conversation.answer(conversation.questions[-1], "1")

    await asking(fake, shown, talk)
    assert shown.of("notice") == [detail]
    assert fake.said() == ["hi"]


@pytest.mark.parametrize("delivery_first", [True, False])
async def test_a_question_told_as_event_and_as_delivery_is_shown_once_and_as_a_question(
    fake: FakeDaemon, shown: Shown, delivery_first: bool
) -> None:
    fake.on_message = silent
    text = "Run a command?\n\n1. Allow"
    ways: list[Callable[[], object]] = [
        lambda: fake.owe(DeliveryKind.QUESTION, text, turn=TurnId("t-1"), ask=AskId("q-1"), choices=CHOICES),
        lambda: fake.tell("t-1", ask_row()),
    ]
    async with talking(fake, shown) as conversation, anyio.create_task_group() as tasks:
        await conversation.send("hi")
        tasks.start_soon(conversation.follow, "t-1")
        ways[0 if delivery_first else 1]()
        await until(lambda: fake.receipts() if delivery_first else shown.of("ask"))
        ways[1 if delivery_first else 0]()
        await until(lambda: fake.receipts() and shown.of("ask"))
        fake.tell("t-1", end_row("ok"))
    assert shown.of("ask", "notice", "letter") == ["Run a command?"]


async def test_a_question_of_a_turn_from_elsewhere_is_shown_from_its_delivery(fake: FakeDaemon, shown: Shown) -> None:
    fake.owe(
        DeliveryKind.QUESTION, "Run it?\n\nrm x\n\n1. Allow", turn=TurnId("t-0"), ask=AskId("q-9"), choices=CHOICES
    )
    async with talking(fake, shown):
        await until(lambda: fake.receipts() == ["d-1"])
    assert shown.of("notice") == ["Run it?\n\nrm x\n\n1. Allow"]


async def test_a_question_closes_when_the_turn_goes_on(fake: FakeDaemon, shown: Shown) -> None:
    async def talk(conversation: Conversation) -> None:
        question = conversation.questions[-1]
        fake.tell("t-1", state_row("running"))
        await until(lambda: question.open.cancel_called)
        assert conversation.questions == []

    await asking(fake, shown, talk)


async def test_a_stop_names_its_turn_and_says_what_it_came_to(fake: FakeDaemon, shown: Shown) -> None:
    async def talk(conversation: Conversation) -> None:
        await conversation.stop()

    await asking(fake, shown, talk)
    assert fake.bodies("POST", "/v1/turns/t-1/stop") == [{}]
    assert shown.of("notice") == []  # its end says so


async def test_a_refused_message_is_the_callers_to_tell(fake: FakeDaemon, shown: Shown) -> None:
    fake.canned["POST", "/v1/messages"] = (429, {"title": "Too many", "detail": "20 messages are waiting."})
    async with talking(fake, shown) as conversation:
        with pytest.raises(ApiError, match="20 messages"):
            await conversation.send("hi")
