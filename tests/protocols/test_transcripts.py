"""Recorded sessions of the real CLIs, and what the drivers make of them.

Beside each recording stands its story, as a person would read it; ``KAI_GOLDEN=write`` writes the stories anew.
"""

import os
from pathlib import Path

import pytest

from tests.protocols.transcripts import recordings, replayed


@pytest.mark.parametrize("path", recordings(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_session_tells_the_same_story_however_often_it_is_replayed(path: Path) -> None:
    first, second = replayed(path), replayed(path)
    assert first.story == second.story
    assert first.sent == second.sent
    golden = path.with_suffix(".story")
    story = "\n".join(first.story) + "\n"
    if os.environ.get("KAI_GOLDEN") == "write":
        golden.write_text(story, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == story


def test_no_file_here_is_bigger_than_it_must_be() -> None:
    assert all(path.stat().st_size < 60_000 for path in recordings())
