"""The interactive terminal: a prompt that is always there, and the conversation above it."""

import os
from pathlib import Path

import anyio
from anyio.abc import TaskGroup
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from kai.bridges.terminal.conversation import Conversation, Question, asked, spoken
from kai.bridges.terminal.screen import PromptScreen
from kai.bridges.terminal.view import Row, View
from kai.model.errors import ApiError
from kai.text.safe import whole

LEAVE = frozenset({"/quit", "/exit"})
SETTLE_S = 1.0  # for the receipt of the last answer
UNSENT_S = 5.0  # for messages on their way when the person leaves


class _History(FileHistory):
    """What was typed, in a file that nobody else reads."""

    def store_string(self, string: str) -> None:
        super().store_string(whole(string))


def history_in(path: Path) -> History:
    """The history kept in `path`; one that ends with the process where no such file can be made."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    except OSError:
        return InMemoryHistory()
    return _History(str(path))


class Talk:
    """One person at one terminal. `turns_outlive`: the daemon does not end with us, and neither does a running turn."""

    def __init__(
        self, conversation: Conversation, view: View, screen: PromptScreen, history: Path, *, turns_outlive: bool
    ) -> None:
        self._conversation, self._view, self._screen = conversation, view, screen
        self._turns_outlive = turns_outlive
        self._history = history_in(history)
        self._typed, self._to_send = anyio.create_memory_object_stream[tuple[str, Question | None]](float("inf"))
        self._begun, self._to_follow = anyio.create_memory_object_stream[tuple[str, str]](float("inf"))
        self._last_turn = ""
        self._unsent = 0
        self._all_sent = anyio.Event()
        self._next_interrupt_leaves = False

    async def run(self, banner: str) -> None:
        """Talk until the person leaves."""
        await self._view.notice("", banner)
        async with self._typed, self._to_send, self._begun, self._to_follow, anyio.create_task_group() as tasks:
            self._conversation.on_foreign = self._join
            tasks.start_soon(self._conversation.take_deliveries)
            tasks.start_soon(self._follow)
            tasks.start_soon(self._send)
            if running := await self._conversation.running_turn():
                self._join(running)
            await self._read(tasks)
            await self._last_words()
            tasks.cancel_scope.cancel()

    async def _last_words(self) -> None:
        with anyio.move_on_after(UNSENT_S):
            while self._unsent:
                await self._all_sent.wait()
        if self._unsent:
            await self._view.notice("", f"{self._unsent} of your messages could not be sent.")
        if self._conversation.turn and self._turns_outlive:
            await self._view.notice("", "The turn goes on; its answer is here when you come back.")
            return
        if self._conversation.turn:
            await self._conversation.stop()
        if self._last_turn:
            await self._conversation.settled(self._last_turn, SETTLE_S)

    async def _read(self, tasks: TaskGroup) -> None:
        prompt: PromptSession[str] = PromptSession(
            self._message,
            history=self._history,
            multiline=True,
            key_bindings=self._keys(tasks),
            prompt_continuation=".. ",
            enable_suspend=True,
        )
        prompt.app.min_redraw_interval = 0.05
        while True:
            try:
                typed = await prompt.prompt_async(set_exception_handler=False)
            except EOFError:
                return
            words = whole(typed).strip()
            if words in LEAVE:
                return
            if words:
                self._next_interrupt_leaves = False
                self._unsent += 1
                questions = self._conversation.questions  # what was on the screen when this was typed
                self._typed.send_nowait((words, questions[-1] if questions else None))

    async def _send(self) -> None:
        async for words, question in self._to_send:
            try:
                if question is None or not await self._conversation.answer(question, words):
                    await self._send_one(words)
            except ApiError as error:
                await self._view.notice("", spoken(error))
            self._unsent -= 1
            self._all_sent.set()
            self._all_sent = anyio.Event()

    async def _send_one(self, words: str) -> None:
        accepted = await self._conversation.send(words)
        if accepted.turn:
            self._begun.send_nowait((accepted.turn, ""))
        if self._conversation.is_news(accepted):
            await self._view.notice("", accepted.reply)
        if accepted.turn and accepted.queued_before:
            await self._view.notice("", f"Queued: {accepted.queued_before} before it.")

    def _join(self, turn: Row) -> None:
        self._begun.send_nowait((turn["turn"], asked(turn)))

    async def _follow(self) -> None:
        async for turn, words in self._to_follow:
            if words:
                await self._view.notice(turn, f"Running here: “{words}”")
            self._last_turn = turn
            try:
                await self._conversation.follow(turn)
            except ApiError as error:
                await self._view.notice(turn, error.sentence)

    def _message(self) -> StyleAndTextTuples:
        """The prompt, with what is still coming above it."""
        questions = self._conversation.questions
        asks = f"answer (1-{len(questions[-1].row['choices'])}) > " if questions else "> "
        if get_app().is_done:  # what was typed stays; what is still coming does not
            return [("bold", asks)]
        below = list(self._screen.lines)
        if self._conversation.turn and not questions:
            below.append(f"{self._conversation.state}; Ctrl-C stops it")
        return [*(("fg:ansibrightblack", f"{line}\n") for line in below), ("bold", asks)]

    def _keys(self, tasks: TaskGroup) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c")
        @keys.add("<sigint>")
        def _interrupt(event: KeyPressEvent) -> None:
            if self._next_interrupt_leaves:
                event.app.exit(exception=EOFError())
                return
            if not self._conversation.turn and event.current_buffer.text:
                event.current_buffer.reset()
                return
            self._next_interrupt_leaves = True
            tasks.start_soon(self._interrupted)

        return keys

    async def _interrupted(self) -> None:
        if not self._conversation.turn:
            await self._view.notice("", "Ctrl-C once more leaves, and so does Ctrl-D.")
            return
        try:
            await self._conversation.stop()
        except ApiError as error:
            await self._view.notice("", error.sentence)
