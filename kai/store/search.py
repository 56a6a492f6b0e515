"""Finding the messages of a channel by their words."""

import json
from collections.abc import Sequence

from kai.model.ids import ChannelId
from kai.model.messages import Message
from kai.store import indexes, messages, words
from kai.store.binding import Connection

_QUERY_TOKENS = 64
_QUERY_TERMS = 512  # tokens times channels
_POSTINGS = 10_000  # messages that one search ranks at most: SQLite scores every match, however common the word


def search(
    db: Connection, channel: ChannelId, text: str, limit: int, also: Sequence[ChannelId] = ()
) -> tuple[Message, ...]:
    """Messages of `channel`, and of those in `also`, that hold words of `text`, best first.

    No text raises; one without words finds nothing.
    """
    query = _query(db, [channel, *also], text)
    if not query:
        return ()
    rows = db.execute(
        "SELECT rowid FROM (SELECT rowid, bm25(message_index) AS score FROM message_index WHERE message_index MATCH ? "
        "ORDER BY rowid DESC LIMIT ?) ORDER BY score, rowid DESC LIMIT ?",
        (query, _POSTINGS, limit),
    ).fetchall()
    return messages.at(db, [row[0] for row in rows])


def index_anew(db: Connection) -> None:
    """Make the index anew. Outside of a transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("INSERT INTO message_index (message_index) VALUES ('delete-all')")
        for channel_seq, seq, text in messages.every_said(db):
            words.add(db, channel_seq, seq, text)
        db.execute("INSERT OR REPLACE INTO fact VALUES ('words', ?)", (indexes.WORDS,))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _query(db: Connection, channels: Sequence[ChannelId], text: str) -> str:
    """An FTS5 query: marked words in double quotes joined by OR, the rarest first while the bound lasts.

    When the rarest alone is beyond it, its newest messages are ranked.
    """
    rows = db.execute(
        "SELECT seq FROM channel WHERE channel IN (SELECT value FROM json_each(?))", (json.dumps(channels),)
    ).fetchall()
    wanted = list(dict.fromkeys(words.tokens(text, query=True)))[: max(4, _QUERY_TERMS // (len(rows) or 1))]
    wanted = wanted[:_QUERY_TOKENS] if rows else []
    marks = [words.mark(seq) for (seq,) in rows]
    terms = [f'"{mark}{one.rstrip("*")}"{"*" if one.endswith("*") else ""}' for one in wanted for mark in marks]
    counted = sorted((_matches(db, term), term) for term in terms)
    parts: list[str] = []
    named = 0
    for count, term in counted:
        named += count
        if parts and named > _POSTINGS:
            break
        if count:
            parts.append(term)
    return " OR ".join(parts)


def _matches(db: Connection, term: str) -> int:
    """How many messages a term matches; counted no further than matters."""
    count: int = db.execute(
        "SELECT count(*) FROM (SELECT rowid FROM message_index WHERE message_index MATCH ? LIMIT ?)",
        (term, _POSTINGS + 1),
    ).fetchone()[0]
    return count
