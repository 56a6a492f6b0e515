"""Begins a talk in the way that fits where stdin and stdout lead."""

import os
import sys
from pathlib import Path

from kai import __version__
from kai.bridges.patience import Revive
from kai.bridges.terminal.conversation import Conversation
from kai.bridges.terminal.lines import Lines, LineTalk
from kai.bridges.terminal.view import PlainView, show_json
from kai.client import Client

PATIENCE_S = 60.0  # how long a message waits for a daemon that is gone, when nobody is there to give up
BANNER = f"kai {__version__}. Alt-Enter begins a new line, /help lists the commands, Ctrl-D leaves."


async def talk(
    client: Client, message: str | None, *, chat: str, thread: str, as_json: bool, history: Path, revive: Revive | None
) -> bool:
    """Send `message`, or as many as the person likes; True when every one was answered well.

    `history` is the file of what was typed. `revive` starts a daemon that is gone; None: it ends with this process.
    """
    is_screen = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not as_json
    if message is None and is_screen and sys.stdin.isatty():
        # Imported here: a script must not wait for what draws a prompt.
        from kai.bridges.terminal.screen import ScreenView  # noqa: PLC0415
        from kai.bridges.terminal.talk import Talk, history_in  # noqa: PLC0415

        screen = ScreenView()
        conversation = Conversation(client, screen.show, chat=chat, thread=thread, revive=revive)
        await conversation.notice(BANNER)
        await Talk(conversation, screen, history_in(history), outlives=revive is not None).run()
        return True
    show = show_json if as_json else PlainView().show
    conversation = Conversation(client, show, chat=chat, thread=thread, revive=revive, patience_s=PATIENCE_S)
    lines, left = Lines(sys.stdin.fileno()), [message]

    async def next_answer() -> str | None:
        if sys.stdin.isatty():
            sys.stderr.write("answer > ")
            sys.stderr.flush()
        elif message is not None:
            return None
        return await lines.next()

    async def next_message() -> str | None:
        return left.pop() if left else None

    return await LineTalk(conversation, show, next_answer).run(lines.next if message is None else next_message)


async def follow(client: Client, turn: str, *, as_json: bool) -> bool:
    """Show a turn that was begun elsewhere; whether it ended well."""
    show = show_json if as_json else PlainView().show
    nothing = Lines(-1, has_ended=True).next
    return await LineTalk(Conversation(client, show, chat="", patience_s=PATIENCE_S), show, nothing).run(nothing, turn)
