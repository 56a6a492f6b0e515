"""The terminal without a prompt: one message, or a line at a time from a pipe or a file."""

import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from kai.bridges.patience import spoken
from kai.bridges.terminal.conversation import EVENT, Conversation, Question
from kai.bridges.terminal.view import Show
from kai.model.errors import ApiError
from kai.model.states import TurnState

SETTLE_S = 3.0  # for the receipts of a turn whose end is shown
NextLine = Callable[[], Awaitable[str | None]]  # None: there is none, and there will be none


class Lines:
    """The lines of a descriptor, without blank ones; waiting for one can be given up, and loses none."""

    def __init__(self, descriptor: int, has_ended: bool = False) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._has_ended = has_ended

    async def next(self) -> str | None:
        """The next line, stripped; None at the end. Bytes that are no text are replaced."""
        while True:
            line, newline, rest = self._rest.partition(b"\n")
            if newline or self._has_ended:
                self._rest = rest
                if words := line.decode("utf-8", "replace").strip():
                    return words
                if not newline:
                    return None
                continue
            with suppress(PermissionError):  # a file, or /dev/null, cannot be waited for and need not be
                await anyio.wait_readable(self._descriptor)
            piece = await to_thread.run_sync(os.read, self._descriptor, 64 * 1024)
            self._rest += piece
            self._has_ended = not piece


class LineTalk:
    """Sends messages one after the other, each after the answer to the one before.

    `next_answer` gives the person's answer to a question, or None when nobody is there to give one.
    """

    def __init__(self, conversation: Conversation, show: Show, next_answer: NextLine) -> None:
        self._conversation, self._show, self._next_answer = conversation, show, next_answer
        self._answering = anyio.Lock()
        self._turns: list[str] = []  # to be followed yet
        self._was_interrupted = False
        self._all_done = True

    async def run(self, next_message: NextLine, turn: str = "") -> bool:
        """Show `turn`, then each message's answer; True when all went well. Ctrl-C stops the turn, then leaves."""
        self._turns += [turn] if turn else []
        async with anyio.create_task_group() as tasks:
            self._conversation.on_question = lambda question: tasks.start_soon(self._ask, question)
            tasks.start_soon(self._conversation.take_deliveries)
            tasks.start_soon(self._heed_interrupts, tasks)
            await self._follow()
            while not self._was_interrupted and (words := await next_message()) is not None:
                await self._send(words)
                await self._follow()
            tasks.cancel_scope.cancel()
        return self._all_done and not self._was_interrupted

    async def _follow(self) -> None:
        while self._turns:
            turn = self._turns.pop(0)
            end = await self._conversation.follow(turn)
            self._all_done &= end["state"] == TurnState.DONE
            await self._conversation.settled(turn, SETTLE_S)
            async with self._answering:
                pass  # a line on its way may yet become a message

    async def _send(self, words: str) -> None:
        end = {"type": "end", "state": TurnState.DONE, "text": "", "reason": ""}
        try:
            accepted = await self._conversation.send(words)
        except ApiError as error:
            self._all_done = False
            await self._show("", {**end, "state": TurnState.FAILED, "reason": spoken(error)})
            return
        if accepted.turn:
            self._turns.append(accepted.turn)
        elif accepted.reply:
            self._conversation.is_news(("", accepted.reply), EVENT)
            await self._show("", {**end, "text": accepted.reply})
            await self._conversation.settled(accepted.reply, SETTLE_S)

    async def _ask(self, question: Question) -> None:
        with question.open:
            line = await self._next_answer()
        if not question.open.cancelled_caught:
            async with self._answering:
                await self._answer(question, line)

    async def _answer(self, question: Question, line: str | None) -> None:
        if line is None:
            until = datetime.fromisoformat(question.row["expires_at"]).astimezone()
            await self._conversation.notice(
                f"Nobody can answer here. Answer from another terminal or bridge; at {until:%H:%M} it is denied."
            )
        elif not await self._conversation.answer(question, line):
            await self._send(line)

    async def _heed_interrupts(self, tasks: TaskGroup) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                if self._was_interrupted or not self._conversation.turn:
                    tasks.cancel_scope.cancel()
                self._was_interrupted = True
                tasks.start_soon(self._conversation.stop)
