"""Begins a talk in the way that fits where stdin and stdout lead."""

import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kai.bridges.terminal.conversation import Conversation, Revive
from kai.bridges.terminal.lines import Lines, LineTalk, nobody, one, person_at_terminal
from kai.bridges.terminal.view import JsonView, PlainView, View
from kai.client import Client

PATIENCE_S = 60.0  # how long a message waits for a daemon that is gone, when nobody is there to give up


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to talk. `message` None: as many as the person likes. `history` is the file of what was typed.

    `turns_outlive`: the daemon does not end with this process.
    """

    chat: str
    thread: str
    message: str | None
    as_json: bool
    history: Path
    banner: str
    turns_outlive: bool
    revive: Revive | None = None


async def talk(client: Client, wishes: Wishes) -> bool:
    """Talk until the person leaves or the input ends; True when every message was answered well."""
    is_screen = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not wishes.as_json
    if wishes.message is None and is_screen and sys.stdin.isatty():
        return await _at_prompt(client, wishes)
    view = JsonView() if wishes.as_json else _screen_view() if is_screen else PlainView()
    conversation = _conversation(client, view, wishes, patience_s=PATIENCE_S)
    lines = Lines(sys.stdin.fileno())
    if wishes.message is None:
        return await LineTalk(conversation, view, lines.next).run(aiter(lines))
    answer = partial(person_at_terminal, lines) if sys.stdin.isatty() else nobody
    return await LineTalk(conversation, view, answer).run(one(wishes.message))


async def _at_prompt(client: Client, wishes: Wishes) -> bool:
    # Imported here: a message in a script must not wait for what draws a prompt.
    from kai.bridges.terminal.screen import PromptScreen, ScreenView  # noqa: PLC0415
    from kai.bridges.terminal.talk import Talk  # noqa: PLC0415

    screen = PromptScreen()
    view = ScreenView(screen)
    conversation = _conversation(client, view, wishes, patience_s=float("inf"))
    await Talk(conversation, view, screen, wishes.history, turns_outlive=wishes.turns_outlive).run(wishes.banner)
    return True


def _screen_view() -> View:
    from kai.bridges.terminal.screen import LiveScreen, ScreenView  # noqa: PLC0415

    return ScreenView(LiveScreen())


def _conversation(client: Client, view: View, wishes: Wishes, *, patience_s: float) -> Conversation:
    return Conversation(
        client, view, chat=wishes.chat, thread=wishes.thread, revive=wishes.revive, patience_s=patience_s
    )
