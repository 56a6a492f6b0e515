"""The terminal without a prompt: one message, or a line at a time from a pipe or a file."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import datetime

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from kai.bridges.terminal.conversation import Conversation, Question, spoken
from kai.bridges.terminal.view import View
from kai.model.errors import ApiError
from kai.model.ids import TurnId
from kai.model.states import TurnState

SETTLE_S = 3.0  # for the receipts of a turn whose end is shown

NextLine = Callable[[], Awaitable[str | None]]


class Lines:
    """The lines of a descriptor, without blank ones; waiting for one can be given up, and loses none."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._has_ended = False

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
            else:
                await self._read()

    async def _read(self) -> None:
        with suppress(PermissionError):  # a file, or /dev/null, cannot be waited for and need not be
            await anyio.wait_readable(self._descriptor)
        piece = await to_thread.run_sync(os.read, self._descriptor, 64 * 1024)
        self._rest += piece
        self._has_ended = not piece

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self.next()) is not None:
            yield line


class LineTalk:
    """Sends messages one after the other, each after the answer to the one before.

    `next_answer` gives the person's answer to a question, or None when nobody is there to give one.
    """

    def __init__(self, conversation: Conversation, view: View, next_answer: NextLine) -> None:
        self._conversation, self._view, self._next_answer = conversation, view, next_answer
        self._questions_in, self._questions = anyio.create_memory_object_stream[Question](float("inf"))
        self._more: list[TurnId] = []  # turns of lines that were meant as answers and were none
        self._answering = anyio.Lock()
        self._was_interrupted = False
        self._all_done = True

    async def run(self, messages: AsyncIterator[str]) -> bool:
        """Send every message and show its answer; True when all went well. Ctrl-C stops the turn, then leaves."""
        self._conversation.on_question = self._questions_in.send_nowait
        async with self._questions_in, self._questions, anyio.create_task_group() as tasks:
            tasks.start_soon(self._conversation.take_deliveries)
            tasks.start_soon(self._heed_interrupts, tasks)
            tasks.start_soon(self._answer_questions)
            async for words in messages:
                await self._say(words)
                if self._was_interrupted:
                    break
            tasks.cancel_scope.cancel()
        return self._all_done and not self._was_interrupted

    async def _say(self, words: str) -> None:
        try:
            accepted = await self._conversation.send(words)
        except ApiError as error:
            self._all_done = False
            await self._view.end("", {"state": TurnState.FAILED, "text": "", "reason": spoken(error)})
            return
        if accepted.turn is None:
            self._conversation.is_news(accepted)
            await self._view.end("", {"state": TurnState.DONE, "text": accepted.reply, "reason": ""})
        self._more = [accepted.turn] if accepted.turn else []
        while self._more:
            turn = self._more.pop(0)
            end = await self._conversation.follow(turn)
            self._all_done &= end["state"] == TurnState.DONE
            await self._conversation.settled(turn, SETTLE_S)
            async with self._answering:
                pass  # a line on its way may yet become a message

    async def _answer_questions(self) -> None:
        async for question in self._questions:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._until_closed, question, tasks)
                await self._answer(question)
                tasks.cancel_scope.cancel()

    async def _until_closed(self, question: Question, tasks: TaskGroup) -> None:
        await question.closed.wait()
        tasks.cancel_scope.cancel()

    async def _answer(self, question: Question) -> None:
        line = await self._next_answer()
        if line is None:
            until = datetime.fromisoformat(question.row["expires_at"]).astimezone()
            await self._view.notice(
                self._conversation.turn,
                f"Nobody can answer here. Answer from another terminal or bridge; at {until:%H:%M} it is denied.",
            )
            return
        async with self._answering:
            with anyio.CancelScope(shield=True):  # a line that was taken is not lost when the question closes now
                await self._give(question, line)

    async def _give(self, question: Question, line: str) -> None:
        try:
            if not await self._conversation.answer(question, line):
                accepted = await self._conversation.send(line)
                self._more += [accepted.turn] if accepted.turn else []
        except ApiError as error:
            await self._view.notice("", spoken(error))

    async def _heed_interrupts(self, tasks: TaskGroup) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                if self._was_interrupted or not self._conversation.turn:
                    self._was_interrupted = True
                    tasks.cancel_scope.cancel()
                    return
                self._was_interrupted = True
                tasks.start_soon(self._conversation.stop)


async def one(message: str) -> AsyncIterator[str]:
    """A single message."""
    yield message


async def nobody() -> str | None:
    """The answer of nobody."""
    return None


async def person_at_terminal(lines: Lines) -> str | None:
    """What a person types when asked, on the terminal that stdin is."""
    sys.stderr.write("answer > ")
    sys.stderr.flush()
    return await lines.next()
