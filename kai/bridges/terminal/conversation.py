"""One terminal's talk with the daemon: sends, follows turns, takes what is owed, outlives a restart of the daemon."""

from collections import Counter
from collections.abc import Callable, Hashable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

import anyio

from kai.bridges.patience import Patience, Revive, spoken
from kai.bridges.terminal.view import Row, Show
from kai.client import Client
from kai.model.errors import ApiError, UnreachableError
from kai.model.ids import fresh
from kai.model.messages import Accepted, InboundMessage
from kai.model.states import TurnState
from kai.model.turns import Delivery, DeliveryKind, Receipt, ReceiptOutcome

RECEIPT_S = 5.0  # for a receipt to get through
EVENT, DELIVERY = 1, -1  # the two ways on which the daemon tells a thing


@dataclass(frozen=True)
class Question:
    """A question as the daemon tells it; what waits for its answer inside `open` ends when it is closed."""

    row: Row
    open: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Conversation:
    """Speaks for one address. `revive` and `patience_s`: as in `Patience`."""

    def __init__(
        self,
        client: Client,
        show: Show,
        *,
        chat: str,
        thread: str = "",
        revive: Revive | None = None,
        patience_s: float = float("inf"),
    ) -> None:
        self._client, self._show_row = client, show
        self._chat, self._thread = chat, thread
        self._patience = Patience(client, self.notice, revive=revive, limit_s=patience_s)
        self.on_question: Callable[[Question], object] = lambda question: None
        self.questions: list[Question] = []  # open ones, oldest first
        self.turn = ""  # the turn that is followed now
        self.state = ""  # and how it stands
        self._shown: dict[str, anyio.Event] = {}  # turns followed here; set once their end is shown
        self._settled: dict[str, anyio.Event] = {}  # a turn, or a reply: set once its last delivery has a receipt
        self._told: Counter[Hashable] = Counter()
        self._sending = anyio.Lock()

    async def send(self, text: str) -> Accepted:
        """Hand a message in, exactly once however often the daemon is lost meanwhile."""
        inbound = InboundMessage("", self._chat, self._thread, "", fresh("x"), text)
        async with self._sending:
            accepted = await self._patience.sure(lambda: self._client.receive(inbound))
            if accepted.turn:
                self._shown[accepted.turn] = anyio.Event()
        return accepted

    async def notice(self, text: str) -> None:
        """Show something that is no part of a turn."""
        await self._show_row("", {"type": "notice", "text": text})

    def is_news(self, thing: Hashable, way: int) -> bool:
        """Whether `thing` is still to be shown: what is told on both ways is shown once, whichever comes first."""
        self._told[thing] += way
        return self._told[thing] * way > 0

    async def follow(self, turn: str) -> Row:
        """Show everything that happens in `turn`; returns its end."""
        self.turn, self.state = turn, "waiting"
        shown = self._shown.setdefault(turn, anyio.Event())
        seen: list[Row] = []
        try:
            while True:
                try:
                    return await self._follow(turn, seen)
                except UnreachableError as error:
                    await self._patience.wait(error)
        finally:
            shown.set()

    async def _follow(self, turn: str, seen: list[Row]) -> Row:
        place = 0
        tools: dict[str, Row] = {}
        async with aclosing(self._client.events(turn)) as rows:
            async for row in rows:
                if place < len(seen) and seen[place] != row:
                    del seen[place:]  # another daemon: the cut attempt had sent nothing, and the turn began anew
                if row["type"] == "tool":
                    said = {name: value for name, value in row.items() if value not in ("", None)}
                    tools[row["id"]] = {"detail": "", **row, **tools.get(row["id"], {}), **said}
                if place == len(seen):
                    seen.append(row)
                    await self._show(turn, tools[row["id"]] if row["type"] == "tool" else row)
                if row["type"] == "end":
                    return row
                place += 1
        raise UnreachableError("the daemon", "it ended the stream")

    async def _show(self, turn: str, row: Row) -> None:
        # Shown last: what a screen draws along with a row stands as it is after that row.
        self.state = row.get("state", self.state)
        if row["type"] == "ask":
            self.questions.append(Question(row))
        elif row["type"] == "end":
            self.turn = ""
        if row.get("state", "asking") != "asking":
            while self.questions:
                self.questions.pop().open.cancel()
        if row["type"] != "notice" or self.is_news((turn, row["text"]), EVENT):
            await self._show_row(turn, row)
        if row["type"] == "ask":
            self.on_question(self.questions[-1])

    async def answer(self, question: Question, line: str) -> bool:
        """Answer `question` with the choice that `line` numbers. False when it numbers none: then it is a message."""
        # A question that is no longer open is told of; the number never becomes a message to the agent.
        choices = question.row["choices"]
        if not (line.isascii() and line.isdigit() and 1 <= int(line[:6]) <= len(choices)):
            return False
        key = choices[int(line[:6]) - 1]["key"]
        self.questions = [one for one in self.questions if one is not question]
        try:
            await self._patience.sure(lambda: self._client.answer(question.row["ask"], key))
        except ApiError as error:
            await self.notice(spoken(error))
        return True

    async def stop(self) -> None:
        """Stop the turn that is followed now, by its name."""
        if turn := self.turn:
            try:
                report = await self._patience.sure(lambda: self._client.stop(turn))
                if report["state"] != TurnState.STOPPED:  # else its end says so
                    await self.notice(report["sentence"])
            except ApiError as error:
                await self.notice(spoken(error))

    async def take_deliveries(self) -> None:
        """Show and confirm what is owed to this terminal; never returns."""
        after: int | None = None
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    # Showing a thing twice on a terminal does no harm; saying "it may be lost" would.
                    async with aclosing(self._client.deliveries(after=after, idempotent=True)) as owed:
                        async for item in owed:
                            if isinstance(item, Delivery):
                                after = item.number
                                tasks.start_soon(self._take, item)
                except UnreachableError as error:
                    await self._patience.wait(error)

    async def settled(self, turn: str, limit_s: float) -> None:
        """Wait until the last delivery of `turn` has its receipt; another terminal of this person may have taken it."""
        with anyio.move_on_after(limit_s):
            await self._settled.setdefault(turn, anyio.Event()).wait()

    async def _take(self, delivery: Delivery) -> None:
        async with self._sending:
            pass  # the turn of a message on its way becomes known first
        turn, text = delivery.turn or "", delivery.text
        is_end = delivery.kind is DeliveryKind.ANSWER or delivery.turn_state is not None
        is_told = turn in self._shown and (is_end or delivery.kind is DeliveryKind.QUESTION)
        if is_told and is_end:  # its events tell it all
            await self._shown[turn].wait()
        # Also while we leave: what was shown without a receipt would be shown again. Refused where another terminal of
        # this person was quicker, or a restart has closed it.
        with suppress(ApiError), anyio.move_on_after(RECEIPT_S, shield=True):
            if not is_told and (delivery.kind is not DeliveryKind.NOTICE or self.is_news((turn, text), DELIVERY)):
                kind = "letter" if delivery.kind is DeliveryKind.ANSWER else "notice"  # a question's text is all of it
                await self._show_row(turn, {"type": kind, "text": text})
            await self._patience.sure(lambda: self._client.receipt(delivery.delivery, Receipt(ReceiptOutcome.SENT)))
        if delivery.turn_state is not None or not turn:
            self._settled.setdefault(turn or text, anyio.Event()).set()
