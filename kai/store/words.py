"""The words of messages as the search index holds them: our own tokens, each marked with its channel.

The mark keeps the cost of a search to the channel's own postings. Tokens are made here and not by SQLite, alike for
rows and queries, so that languages without spaces are found and no binding's word tables matter.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from kai.store.binding import Connection

_INDEXED_CHARS = 50_000  # of one message
_TOKEN_CHARS = 64

# Scripts written without spaces (and Hangul, whose words carry endings): pairs of neighbours are their words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])\w)+)")
_COMMON = """
a about after all also am an and any are as at be because been before being but by can could did do does doing don down
each few for from further had has have having he her here hers him his how i if in into is it its itself just ll m me
more most my no nor not now o of off on once only or other our ours out over own re s same she should so some such t
than that the their theirs them then there these they this those through to too under until up ve very was we were what
when where which while who whom why will with would you your yours
"""
_STOP_WORDS = frozenset(_COMMON.split())


# A change needs another number in `kai.store.indexes`.
def tokens(text: str, *, query: bool = False) -> Iterator[str]:
    """The words of a text, as they are indexed. In a query a lone unspaced sign ends in ``*``: it begins a pair."""
    folded = unicodedata.normalize("NFKC", text[:_INDEXED_CHARS]).casefold()
    for unspaced, word in _RUN.findall(folded):
        if word:
            if word not in _STOP_WORDS:
                yield _stem(word[:_TOKEN_CHARS])
            continue
        yield from (unspaced[at : at + 2] for at in range(len(unspaced) - 1))
        if not query:
            yield unspaced[-1]
        elif len(unspaced) == 1:
            yield unspaced + "*"


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    from snowballstemmer.porter_stemmer import PorterStemmer  # noqa: PLC0415 thirty languages come with it

    # A stemmer of its own each time: they hold state, and writer and readers are threads.
    stem: str = PorterStemmer().stemWord(word)
    return stem


def add(db: Connection, channel_seq: int, seq: int, text: str) -> None:
    """Make the message in row `seq` findable in its channel."""
    if words := _marked(channel_seq, text):
        db.execute("INSERT INTO message_index (rowid, words) VALUES (?, ?)", (seq, words))


def drop(db: Connection, channel_seq: int, seq: int, text: str) -> None:
    """Undo `add`; `text` must be what was added, for the index itself keeps no text."""
    if words := _marked(channel_seq, text):
        db.execute("INSERT INTO message_index (message_index, rowid, words) VALUES ('delete', ?, ?)", (seq, words))


def purge(db: Connection) -> None:
    """Take words that no message has any more out of the file: dropping only marks them. Rewrites the index."""
    db.execute("INSERT INTO message_index (message_index) VALUES ('optimize')")


def mark(channel_seq: int) -> str:
    """What every indexed word of a channel begins with."""
    return f"{channel_seq}_"


def _marked(channel_seq: int, text: str) -> str:
    prefix = mark(channel_seq)
    return " ".join([prefix + token for token in tokens(text)])
