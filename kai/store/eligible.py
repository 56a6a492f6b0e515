"""Which records may be used here: the one place that says it. Every reader goes through `current`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from kai.model.errors import DeniedError
from kai.model.ids import PrincipalId
from kai.model.memory import Record, Scope
from kai.model.people import ChannelKind
from kai.store import channels, namespaces
from kai.store.binding import Connection, Row
from kai.store.columns import read, read_in_order, stamp

# In the order of the fields of `Record`.
COLUMNS = """
r.seq, r.record, r.owner, r.namespace, r.family, r.kind, r.status, r.revision, r.channel, r.audience, r.sensitivity,
r.agent, r.pinned, v.content AS text, v.digest, v.origin, v.said_by, v.said_at, v.expires_at"""
RECORDS = f"SELECT {COLUMNS} FROM mem_record r JOIN mem_revision v USING (record, revision)"
# What is made from something that no longer stands is withheld, until it is made anew.
_MAY = """
r.status = 'active' AND v.valid_from <= :now AND (v.valid_to IS NULL OR v.valid_to > :now)
AND (v.expires_at IS NULL OR v.expires_at > :now)
AND NOT EXISTS (SELECT 1 FROM mem_edge e JOIN mem_record s ON s.record = e.source
  WHERE e.derived = r.record AND (s.status <> 'active' OR s.revision <> e.revision))
AND (:agent = '' OR r.agent = :agent)"""
# Everybody who is present (a JSON list) was there when it was said. Untagged rows are nobody's.
_AUDIENCE = """
r.audience IS NOT NULL AND (r.audience IN ('["*"]', :present) OR NOT EXISTS (
  SELECT 1 FROM json_each(:present) p WHERE p.value NOT IN (SELECT a.value FROM json_each(r.audience) a)))"""
_GRANTED = """
EXISTS (SELECT 1 FROM mem_grant g WHERE g.owner = r.owner AND (g.record = r.record OR g.namespace = r.namespace)
  AND g.revoked_at IS NULL AND g.from_at <= :now AND (g.until IS NULL OR g.until > :now)
  AND (g.channel = :channel OR (g.principal = :principal AND NOT :shared)))"""
_BATCH = 200


class Standing(NamedTuple):
    """A record that may be used here and now, as its columns are: most of those that a search ranks, nobody reads."""

    seq: int
    record: str
    owner: PrincipalId
    namespace: str
    family: str
    kind: str
    status: str
    revision: int
    channel: str | None
    audience: str | None
    sensitivity: str
    agent: str
    pinned: int
    text: str
    digest: bytes
    origin: str
    said_by: str
    said_at: int
    expires_at: int | None
    granted: int = 0

    @property
    def whole(self) -> Record:
        return read_in_order(Record, self)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a scope stands: who is there now, and what its patterns come to."""

    scope: Scope
    present: tuple[PrincipalId, ...]
    is_shared: bool
    patterns: tuple[str, ...]
    own_only: bool = False

    @property
    def shelves(self) -> tuple[str, ...]:
        """Where its patterns point, and where grants to it are indexed."""
        scope = self.scope
        here = (f"channel/{scope.channel}",) if self.is_shared else (f"person/{scope.principal}",)
        return tuple(dict.fromkeys([*here, f"channel/{scope.channel}", *map(namespaces.shelf, self.patterns)]))


def place(db: Connection, scope: Scope, patterns: Sequence[str] = (), *, own_only: bool = False) -> Place:
    """Raises `DeniedError` for somebody who is not there, `UnknownThingError` for a channel that is not."""
    channel = channels.get(db, scope.channel)
    if scope.principal not in channel.members:
        raise DeniedError("not_a_member: memory is read where one is")
    is_shared = channel.kind is ChannelKind.SHARED
    within = namespaces.within(tuple(patterns), scope, shared=is_shared)
    return Place(scope, channel.members, is_shared, within, own_only)


def current(db: Connection, here: Place, seqs: Iterable[int], now: datetime) -> dict[int, Standing]:
    """Those rows that may be used here and now, as they stand now: an index may be stale, this is not."""
    wanted = list(seqs)
    found: dict[int, Standing] = {}
    for at in range(0, len(wanted), _BATCH):
        for row in _rows(db, here, "r.seq IN (SELECT value FROM json_each(:seqs))", now, wanted[at : at + _BATCH]):
            one = Standing._make(row)
            if one.granted or namespaces.reaches(here.patterns, one.namespace):
                found[one.seq] = one
    return found


def pinned(db: Connection, here: Place, now: datetime, limit: int) -> tuple[Record, ...]:
    """The newest pinned preferences of the person, newest first. None where others are present."""
    if here.is_shared:
        return ()
    part = "r.owner = :principal AND r.pinned = 1 AND r.kind = 'preference'"
    tail = f"ORDER BY r.changed_at DESC, r.seq DESC LIMIT {int(limit)}"
    # Left to itself SQLite takes the index of all that the person has.
    rows = _rows(db, here, part, now, (), tail, "INDEXED BY mem_record_pinned")
    return tuple(read(Record, row) for row in rows if namespaces.reaches(here.patterns, row["namespace"]))


def _rows(
    db: Connection, here: Place, part: str, now: datetime, seqs: Sequence[int], tail: str = "", index: str = ""
) -> list[Row]:
    scope = here.scope
    given = {
        "now": stamp(now),
        "seqs": json.dumps(seqs),
        "present": json.dumps(sorted(here.present)),
        "channel": scope.channel,
        "principal": scope.principal,
        "shared": here.is_shared,
        "agent": scope.agent if here.own_only else "",
    }
    # A person's namespace is seen by its owner alone; what else there is shows itself by its audience or a grant.
    mine = f"((r.namespace NOT LIKE 'person/%' OR r.owner = :principal) AND {_AUDIENCE})"
    return db.execute(
        f"SELECT {COLUMNS}, NOT {mine} AS granted FROM mem_record r {index} JOIN mem_revision v USING "
        f"(record, revision) WHERE {part} AND {_MAY} AND ({mine} OR {_GRANTED}) {tail}",
        given,
    ).fetchall()
