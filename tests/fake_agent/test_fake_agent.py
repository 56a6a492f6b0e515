"""The fake agent's own promise: every word that it documents is one that it does."""

import re
import subprocess
import sys
from pathlib import Path

from tests.fake_agent.agent import words
from tests.fake_agent.deeds import Deeds

PROGRAM = Path(__file__).with_name("__main__.py")


def test_every_deed_stands_in_its_help_and_every_word_there_is_a_deed() -> None:
    script = PROGRAM.read_text(encoding="utf-8").split('"""')[1]
    table = script[script.index("say=TEXT") : script.index("start:slow")]
    documented = set(re.findall(r"(?:^|\s{2,}|, )([a-z]\w+)(?:=[\w|,]+)?(?=\s{2,}|,|$)", table, re.MULTILINE))
    deeds = {name.removeprefix("do_") for name in dir(Deeds) if name.startswith("do_")}
    assert deeds - documented == set()


def test_words_are_found_only_as_words() -> None:
    assert words("FAKE:say=a_b and FAKE:tool", "FAKE:") == [("say", "a b"), ("tool", "")]
    assert words("NOFAKE:say=a FAKE:Say", "FAKE:") == []
    assert words("start:slow=1 say=x tool", "") == [("say", "x"), ("tool", "")]
    assert words("start:slow=1 say=x", "start:") == [("slow", "1")]


def test_it_needs_nothing_but_the_standard_library() -> None:
    told = subprocess.run(
        [sys.executable, "-S", str(PROGRAM), "--protocol", "acp", "--version"],
        capture_output=True,
        text=True,
        timeout=15,
        check=True,
    )
    assert "fake" in told.stdout
