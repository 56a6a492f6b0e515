"""``kai serve``."""

import os
from pathlib import Path

from tests.commands.conftest import Kai
from tests.terminal import OnTerminal


def test_with_the_terminal_the_daemon_ends_when_the_talk_does_and_its_log_is_not_on_it(folders: list[str]) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": folders[3], "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    with OnTerminal(["-m", "kai", *folders, "serve", "--with", "terminal"], env=env) as terminal:
        terminal.wait(">")
        terminal.type("count one two\r")
        terminal.wait("2 words")
        terminal.type("\x04")
        assert terminal.leave() == 0
    assert "daemon.ready" not in terminal.text
    assert "daemon.ended" in (Path(folders[3]) / "kai.log").read_text()


def test_a_bridge_that_is_unknown_is_wrong_use(kai: Kai) -> None:
    assert kai("serve", "--with", "telepathy")[0] == 2
