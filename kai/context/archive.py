"""The imported JSONL archive of a route that has no canonical channel: its newest messages, as far as they can be read.

One file a day, one object a line: ``ts``, ``dir`` (``user`` or ``assistant``), ``text``. kai reads it and writes none.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kai.model.context import HistoryFacts
from kai.model.ids import ChannelId, MessageId
from kai.model.messages import Author, Message
from kai.people.files import read

_TAIL_BYTES = 1024 * 1024  # of one day's file; a day of talk is far less


def read_archive(folder: Path, channel: ChannelId, limit: int) -> HistoryFacts:
    """The newest `limit` messages, oldest first. Blocks. What is not a message is passed over."""
    newest: list[Message] = []
    try:
        days = sorted(folder.glob("*.jsonl"), reverse=True)
    except OSError:
        days = []
    for day in days:
        if len(newest) >= limit:
            break
        newest = [*_messages(day, folder, channel), *newest]
    return HistoryFacts(tuple(newest[-limit:] if limit else ()), len(newest), canonical=False, archive_dir=str(folder))


def _messages(day: Path, folder: Path, channel: ChannelId) -> Iterator[Message]:
    for number, text in enumerate(read(day, root=folder, owner_uid=None, max_bytes=_TAIL_BYTES).text.split("\n"), 1):
        try:
            row = json.loads(text)
            at = datetime.fromisoformat(row["ts"])
            yield _message(row, at if at.tzinfo else at.replace(tzinfo=UTC), f"{day.name}:{number}", channel)
        except (ValueError, KeyError, TypeError, RecursionError):
            continue


def _message(row: dict[str, Any], at: datetime, reference: str, channel: ChannelId) -> Message:
    by_agent = row["dir"] == "assistant"
    return Message(
        MessageId(reference),
        channel,
        0,
        Author.AGENT if by_agent else Author.PERSON,
        None,
        "" if by_agent else str(row.get("name") or "the person"),
        str(row["text"]),
        at,
        backend="the archive" if by_agent else "",
    )
