"""What stands beside a record: the records of the messages around its own, and when it was said."""

import json
from collections.abc import Sequence
from datetime import datetime

from kai.store.binding import Connection
from kai.store.columns import moment

_REACH = 2  # messages: between two of a person's stands an answer


def neighbours(db: Connection, seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Rows of records with the rows of the nearest before and after each in the same talk, as pairs."""
    found = db.execute(
        "SELECT a.seq, b.seq, b.number > a.number FROM json_each(?) j CROSS JOIN mem_beside a ON a.seq = j.value "
        "CROSS JOIN mem_beside b ON b.channel = a.channel AND b.number BETWEEN a.number - ? AND a.number + ? "
        "AND b.number <> a.number ORDER BY a.seq, abs(b.number - a.number)",
        (json.dumps(seqs), _REACH, _REACH),
    )
    nearest: dict[tuple[int, bool], int] = {}
    for seq, other, is_after in found:
        nearest.setdefault((seq, bool(is_after)), other)
    return [(seq, other) for (seq, _), other in nearest.items()]


def said(db: Connection, seqs: Sequence[int]) -> dict[int, datetime]:
    """When these rows' current texts were said."""
    found = db.execute(
        "SELECT r.seq, v.said_at FROM json_each(?) j CROSS JOIN mem_record r ON r.seq = j.value "
        "JOIN mem_revision v ON v.record = r.record AND v.revision = r.revision",
        (json.dumps(seqs),),
    )
    return {row[0]: moment(row[1]) for row in found}
