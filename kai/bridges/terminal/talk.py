"""The interactive terminal: a prompt that is always there, and the conversation above it."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from kai.bridges.interrupts import HINT, Interrupts
from kai.bridges.patience import spoken
from kai.bridges.terminal.conversation import EVENT, Conversation, Question
from kai.bridges.terminal.screen import ScreenView
from kai.model.errors import ApiError
from kai.text.safe import whole

LEAVE = frozenset({"/quit", "/exit"})
UNSENT_S = 5.0  # for messages on their way when the person leaves
SETTLE_S = 1.0  # for the receipt of the last answer


def history_in(path: Path) -> History:
    """The history kept in `path`, which nobody else reads; one that ends with the process where no file can be made."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class Talk:
    """One person at one terminal. `outlives`: the daemon does not end with us, and neither does a running turn."""

    def __init__(self, conversation: Conversation, screen: ScreenView, history: History, *, outlives: bool) -> None:
        self._conversation, self._screen = conversation, screen
        self._history, self._outlives = history, outlives
        self._sending, self._following = anyio.Lock(), anyio.Lock()  # first come, first served: they keep the order
        self._last_turn, self._interrupts = "", Interrupts()

    async def run(self) -> None:
        """Talk until the person leaves."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._conversation.take_deliveries)
            await self._read(tasks)
            with anyio.move_on_after(UNSENT_S) as waiting:
                await self._sending.acquire()
            if waiting.cancelled_caught:
                await self._conversation.notice("Not all of your messages could be sent.")
            if self._conversation.turn and self._outlives:
                await self._conversation.notice("The turn goes on; its answer is here when you come back.")
            else:
                await self._conversation.stop()
                await self._conversation.settled(self._last_turn, SETTLE_S if self._last_turn else 0)
            tasks.cancel_scope.cancel()

    async def _read(self, tasks: TaskGroup) -> None:
        keys = self._keys(tasks)
        prompt: PromptSession[str] = PromptSession(
            self._message, history=self._history, multiline=True, key_bindings=keys, prompt_continuation=".. "
        )
        prompt.app.min_redraw_interval = 0.05
        words = ""
        with prompt.input.raw_mode(), suppress(EOFError):  # also between two prompts: nothing typed is echoed there
            while words not in LEAVE:
                words = (await prompt.prompt_async(set_exception_handler=False)).strip()
                if words and words not in LEAVE:
                    self._interrupts.forget()
                    questions = self._conversation.questions  # what was on the screen when this was typed
                    tasks.start_soon(self._send, words, questions[-1] if questions else None, tasks)

    async def _send(self, words: str, question: Question | None, tasks: TaskGroup) -> None:
        async with self._sending:
            try:
                if question is not None and await self._conversation.answer(question, words):
                    return
                running, accepted = self._conversation.turn, await self._conversation.send(words)
            except ApiError as error:
                await self._conversation.notice(spoken(error))
                return
        if accepted.turn:
            tasks.start_soon(self._follow, accepted.turn)
        if accepted.turn and accepted.queued_before:
            await self._conversation.notice(f"Queued: {accepted.queued_before} before it.")
        is_news = bool(accepted.reply) and self._conversation.is_news(("", accepted.reply), EVENT)
        if is_news and not (words == "/stop" and running != self._conversation.turn):  # its end is shown
            await self._conversation.notice(accepted.reply)

    async def _follow(self, turn: str) -> None:
        async with self._following:
            self._last_turn = turn
            await self._conversation.follow(turn)

    def _message(self) -> StyleAndTextTuples:
        """The prompt, with what is still coming above it."""
        questions = self._conversation.questions
        asks = f"answer (1-{len(questions[-1].row['choices'])}) > " if questions else "> "
        if get_app().is_done:  # what was typed stays; what is still coming does not
            return [("bold", asks)]
        below = [*self._screen.tail]
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
                buffer.text = whole(buffer.text)  # what is no text could be neither kept nor sent
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c")
        @keys.add("<sigint>")
        def _interrupt(event: KeyPressEvent) -> None:
            deed = self._interrupts.deed(self._conversation.turn, has_text=bool(event.current_buffer.text))
            if deed == "leave":
                event.app.exit(exception=EOFError())
            elif deed == "clear":
                event.current_buffer.reset()
            else:
                hint = partial(self._conversation.notice, HINT)
                tasks.start_soon(self._conversation.stop if deed == "stop" else hint)

        return keys
