"""One terminal's talk with the daemon: sends, follows turns, takes what is owed, outlives a restart of the daemon."""

from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from kai.bridges.terminal.view import Row, Tool, View
from kai.client import Client
from kai.model.errors import ApiError, KaiError, UnreachableError
from kai.model.ids import fresh
from kai.model.messages import Accepted, InboundMessage
from kai.model.turns import Delivery, DeliveryKind, Progress, Receipt, ReceiptOutcome
from kai.text.graphemes import shorten
from kai.text.safe import safe

RETRY_S = 0.5  # between two looks for a daemon that is gone

T = TypeVar("T")
Revive = Callable[[], Awaitable[None]]


class _Once:
    """What the daemon tells on two ways (a turn's events and the deliveries) is shown once, whichever comes first."""

    def __init__(self) -> None:
        self._waiting: Counter[tuple[bool, Hashable]] = Counter()

    def is_news(self, thing: Hashable, *, as_delivery: bool) -> bool:
        other = (not as_delivery, thing)
        if self._waiting[other]:
            self._waiting[other] -= 1
            return False
        self._waiting[(as_delivery, thing)] += 1
        return True


@dataclass(frozen=True)
class Question:
    """A question as the daemon tells it, and the event that it is no longer open."""

    row: Row
    closed: anyio.Event = field(default_factory=anyio.Event)


class Conversation:
    """Speaks for one address. `on_foreign` is given each running turn of this channel that was not sent from here.

    `revive` is called while the daemon cannot be reached, and may start one; after `patience_s` seconds without an
    answer its `UnreachableError` is raised.
    """

    def __init__(
        self,
        client: Client,
        view: View,
        *,
        chat: str,
        thread: str = "",
        revive: Revive | None = None,
        patience_s: float = float("inf"),
    ) -> None:
        self._client, self._view = client, view
        self._chat, self._thread = chat, thread
        self._revive, self._patience_s = revive, patience_s
        self.on_foreign: Callable[[Row], None] | None = None
        self.on_question: Callable[[Question], None] | None = None
        self.questions: list[Question] = []  # open ones, oldest first
        self.turn = ""  # the turn that is followed now
        self.state = ""  # and how it stands
        self._channel = ""
        self._shown: dict[str, anyio.Event] = {}  # turns followed here; set once their end is shown
        self._settled: set[str] = set()  # turns whose last delivery has its receipt
        self._news = anyio.Event()
        self._once = _Once()
        self._sending = anyio.Lock()
        self._lost = anyio.Lock()

    async def send(self, text: str) -> Accepted:
        """Hand a message in, exactly once however often the daemon is lost meanwhile."""
        inbound = InboundMessage("", self._chat, self._thread, "", fresh("x"), text)
        async with self._sending:
            accepted = await self._sure(lambda: self._client.receive(inbound))
            self._channel = accepted.channel
            if accepted.turn:
                self._shown[accepted.turn] = anyio.Event()
        return accepted

    def is_news(self, accepted: Accepted) -> bool:
        """Whether what kai replied itself is still to be shown: it is owed as a delivery, too."""
        return bool(accepted.reply) and self._once.is_news(("", accepted.reply), as_delivery=False)

    async def follow(self, turn: str) -> Row:
        """Show everything that happens in `turn`; returns its end."""
        shown = self._shown.setdefault(turn, anyio.Event())
        self.turn, self.state = turn, "waiting"
        tools: dict[str, Tool] = {}
        seen: list[Row] = []
        try:
            while True:
                try:
                    end = await self._follow(turn, seen, tools)
                except UnreachableError as error:
                    await self._wait_for_daemon(error)
                else:
                    return end
        finally:
            self.turn = ""
            self._close_questions()
            shown.set()

    async def _follow(self, turn: str, seen: list[Row], tools: dict[str, Tool]) -> Row:
        place = 0
        async with aclosing(self._client.events(turn)) as rows:
            async for row in rows:
                if place < len(seen) and seen[place] != row and row["type"] != "end":
                    # Another daemon tells another story: the cut attempt had sent nothing, the turn began anew.
                    del seen[place:]
                if place == len(seen) or row["type"] == "end":
                    seen.append(row)
                    await self._show(turn, row, tools)
                place += 1
                if row["type"] == "end":
                    return row
        raise UnreachableError("the daemon", "it ended the stream")

    async def _show(self, turn: str, row: Row, tools: dict[str, Tool]) -> None:
        match row["type"]:
            case "text":
                await self._view.text(turn, row["text"])
            case "tool":
                tool = tools.setdefault(row["id"], Tool(row["id"]))
                tool.name, tool.target = row["name"] or tool.name, row["target"] or tool.target
                tool.ok, tool.detail = row["ok"], row.get("detail", "")
                await self._view.tool(turn, tool)
            case "ask":
                if self._once.is_news(row["ask"], as_delivery=False):
                    await self._view.ask(turn, row)
                self._open_question(row)
            case "notice":
                if self._once.is_news((turn, row["text"]), as_delivery=False):
                    await self._view.notice(turn, row["text"])
            case "state":
                if row["state"] != "asking":
                    self._close_questions()
                self.state = row["state"]
                await self._view.state(turn, row["state"])
            case "end":
                await self._view.end(turn, row)

    def _open_question(self, row: Row) -> None:
        question = Question(row)
        self.questions.append(question)
        if self.on_question is not None:
            self.on_question(question)

    def _close_questions(self) -> None:
        for question in self.questions:
            question.closed.set()
        self.questions.clear()

    async def answer(self, question: Question, line: str) -> bool:
        """Answer `question` with the choice that `line` numbers. False when it numbers none: then it is a message.

        A question that is no longer open is told of; the number never becomes a message to the agent.
        """
        choices = question.row["choices"]
        if not (line.isascii() and line.isdigit() and 1 <= int(line[:6]) <= len(choices)):
            return False
        key = choices[int(line[:6]) - 1]["key"]
        try:
            await self._sure(lambda: self._client.answer(question.row["ask"], key))
        except ApiError as error:
            await self._view.notice(self.turn, spoken(error))
        question.closed.set()
        self.questions = [one for one in self.questions if one is not question]
        return True

    async def stop(self) -> None:
        """Stop the turn that is followed now, by its name."""
        if self.turn:
            turn = self.turn
            try:
                report = await self._sure(lambda: self._client.stop(turn))
            except ApiError as error:
                report = {"sentence": spoken(error)}
            await self._view.notice(turn, report["sentence"])

    async def running_turn(self) -> Row | None:
        """The turn that runs in this channel already, if any."""
        try:
            channel = await self._sure(lambda: self._client.channel(self._thread or "main"))
            self._channel = channel["channel"]
            return await self._sure(lambda: self._client.turn(channel["running"])) if channel["running"] else None
        except ApiError:  # nobody has said a word here yet
            return None

    async def take_deliveries(self) -> None:
        """Show and confirm what is owed to this terminal; never returns."""
        after: int | None = None
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    # Showing a thing twice on a terminal does no harm; saying "it may be lost" would.
                    async with aclosing(self._client.deliveries(after=after, idempotent=True)) as owed:
                        async for item in owed:
                            if isinstance(item, Progress):
                                await self._notice_foreign(item)
                            else:
                                after = item.number
                                tasks.start_soon(self._take, item)
                except UnreachableError as error:
                    await self._wait_for_daemon(error)

    async def settled(self, turn: str, limit_s: float) -> None:
        """Wait until the last delivery of `turn` has its receipt; another terminal of this person may have taken it."""
        with anyio.move_on_after(limit_s):
            while turn not in self._settled:
                await self._news.wait()

    async def _take(self, delivery: Delivery) -> None:
        async with self._sending:
            pass  # the turn of a message on its way becomes known first
        turn = delivery.turn or ""
        is_end = delivery.kind is DeliveryKind.ANSWER or delivery.turn_state is not None
        if is_end and turn in self._shown:
            await self._shown[turn].wait()  # its events told it all
        elif delivery.kind is DeliveryKind.QUESTION:
            await self._take_question(delivery)
        elif delivery.kind is DeliveryKind.ANSWER:
            await self._view.letter("Answer to an earlier message:", delivery.text)
        elif self._once.is_news((turn, delivery.text), as_delivery=True):
            await self._view.notice(turn, delivery.text)
        await self._confirm(delivery)

    async def _take_question(self, delivery: Delivery) -> None:
        if delivery.ask and self._once.is_news(delivery.ask, as_delivery=True):
            choices = [{"key": one.key, "label": one.label} for one in delivery.choices]
            title = delivery.text.split("\n\n1. ")[0] if choices else delivery.text
            await self._view.ask(delivery.turn or "", {"ask": delivery.ask, "title": title, "choices": choices})

    async def _confirm(self, delivery: Delivery) -> None:
        receipt = Receipt(ReceiptOutcome.SENT)
        with suppress(ApiError):  # another terminal of this person was quicker, or a restart has closed it
            await self._sure(lambda: self._client.receipt(delivery.delivery, receipt))
        if delivery.turn and delivery.turn_state is not None:
            self._settled.add(delivery.turn)
            self._news.set()
            self._news = anyio.Event()

    async def _notice_foreign(self, progress: Progress) -> None:
        if self.on_foreign is None or progress.turn in self._shown:
            return
        async with self._sending:
            pass
        if progress.turn not in self._shown:
            found = await self._sure(lambda: self._client.turn(progress.turn))
            if found["channel"] == self._channel:
                self._shown[progress.turn] = anyio.Event()
                self.on_foreign(found)

    async def _sure(self, ask: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await ask()
            except UnreachableError as error:
                await self._wait_for_daemon(error)

    async def _wait_for_daemon(self, error: UnreachableError) -> None:
        """Return when the daemon answers; say so when it does not at once. One look serves all who wait."""
        async with self._lost:
            if await self._answers():
                return
            await self._view.notice("", "The connection to the daemon is lost; waiting for it to come back.")
            deadline = anyio.current_time() + self._patience_s
            while not await self._answers():
                if anyio.current_time() > deadline:
                    raise error
                if self._revive is not None:
                    await self._revive()
                await anyio.sleep(RETRY_S)
            await self._view.notice("", "Connected again.")

    async def _answers(self) -> bool:
        try:
            await self._client.status()
        except UnreachableError:
            return False
        return True


def spoken(error: KaiError) -> str:
    """An error as a person reads it."""
    return f"{error.sentence} {error.hint}".strip()


def asked(turn: Row) -> str:
    """The words of a turn on one short line, for naming it."""
    return shorten(safe(str(turn.get("text", ""))), 60)
