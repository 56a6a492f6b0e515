"""Delegated work: begun with its lineage, bounded, ended with a result; nothing of it outlives who asked for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kai.model.errors import DelegationError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, TurnId, fresh
from kai.model.messages import Author, Message
from kai.model.people import ChannelKind
from kai.model.states import ENDED_TURNS, TurnState
from kai.model.turns import Outcome, Turn
from kai.model.work import Delegation
from kai.store import channels, messages, results
from kai.store.binding import Connection
from kai.store.columns import insert, maybe, read_all, stamp, the, values

TOLD_CHARS = 8_000  # of a result, that come back at once
_LIVE = (TurnState.RUNNING, TurnState.ASKING)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an agent asks another to do. `agent` is a definition's name, `caller` the asking one's."""

    agent: str
    revision: str
    caller: str
    task: str
    constraints: str = ""
    refs: tuple[str, ...] = ()
    history: str = "channel"


@dataclass(frozen=True, slots=True)
class Bounds:
    """`depth`: of the chain; `at_once` and `children`: of one turn; `limit_s`: of one piece of work."""

    depth: int = 5
    at_once: int = 3
    children: int = 12
    limit_s: float = 900.0
    ancestors: bool = False


def begin(db: Connection, parent: TurnId, wanted: Wanted, bounds: Bounds, now: datetime) -> Delegation:
    """Queue the turn that does it, in a place of its own with the same people. Raises `DelegationError`."""
    asking = the(db, Turn, "turn", "SELECT * FROM turn WHERE turn = ?", parent)
    if asking.state not in _LIVE:
        raise DelegationError("over", "what asks for it has ended")
    above = of_turn(db, parent)
    lineage = (*(above.lineage if above else ()), wanted.caller)
    depth = (above.depth if above else 0) + 1
    _refuse_beyond(db, parent, wanted, bounds, lineage, depth)
    root = above.root if above else parent
    where = channels.get(db, asking.channel)
    seat = channels.get(db, where.parent) if where.parent else where
    for ref in wanted.refs:
        results.get(db, ref, seat)
    place = channels.create(db, ChannelKind(seat.kind), f"work for {seat.title}", seat.owner, seat.members, now)
    db.execute("UPDATE channel SET parent = ? WHERE channel = ?", (seat.channel, place.channel))
    said = _words(db, place.channel, asking, wanted, now)
    turn = Turn(
        TurnId(fresh("t")), place.channel, said.message, asking.principal, asking.address, TurnState.QUEUED, now,
        temporary=asking.temporary, delegated=True,
    )  # fmt: skip
    insert(db, "turn", **values(turn))
    number = above.number if above else messages.get(db, asking.message).number
    made = Delegation(
        fresh("g"), turn.turn, place.channel, parent, root, number, depth, lineage, wanted.agent, wanted.revision,
        wanted.history, "" if asking.temporary else wanted.constraints, wanted.refs, bounds.limit_s, now,
    )  # fmt: skip
    insert(db, "delegation", **values(made))
    return made


def _refuse_beyond(
    db: Connection, parent: TurnId, wanted: Wanted, bounds: Bounds, lineage: tuple[str, ...], depth: int
) -> None:
    if depth > bounds.depth:
        raise DelegationError("depth", f"this chain is {bounds.depth} deep already, and goes no deeper")
    if wanted.agent == wanted.caller:
        raise DelegationError("itself", f"{wanted.agent!r} is who asks: an agent never delegates to itself")
    if wanted.agent in lineage and not bounds.ancestors:
        raise DelegationError("ancestor", f"{wanted.agent!r} is above you in this chain: {' > '.join(lineage)}")
    every = children(db, parent)
    if len(every) >= bounds.children:
        raise DelegationError("children", f"this turn has delegated {len(every)} times, which is all it may")
    if sum(one.ended_at is None for one in every) >= bounds.at_once:
        raise DelegationError("at_once", f"{bounds.at_once} pieces of work run for this turn; wait for one of them")


def _words(db: Connection, place: ChannelId, asking: Turn, wanted: Wanted, now: datetime) -> Message:
    """What is asked, as a message that is no person's: nobody can be said to have wished it in these words."""
    said = Message(
        MessageId(fresh("m")), place, 0, Author.KAI, asking.principal, wanted.caller, wanted.task, now,
        temporary=asking.temporary,
    )  # fmt: skip
    return messages.keep(db, said)


def get(db: Connection, delegation: str, parent: TurnId) -> Delegation:
    """One that this turn asked for. Raises `UnknownThingError`."""
    found = the(db, Delegation, "delegation", "SELECT * FROM delegation WHERE delegation = ?", delegation)
    if found.parent != parent:
        raise UnknownThingError("delegation", delegation)
    return found


def of_turn(db: Connection, turn: TurnId) -> Delegation | None:
    """The piece of work that a turn does."""
    return maybe(Delegation, db.execute("SELECT * FROM delegation WHERE turn = ?", (turn,)).fetchone())


def children(db: Connection, turn: TurnId) -> tuple[Delegation, ...]:
    """What a turn has asked for, oldest first."""
    rows = db.execute("SELECT * FROM delegation WHERE parent = ? ORDER BY begun_at, delegation", (turn,))
    return read_all(Delegation, rows)


def of_root(db: Connection, turn: TurnId) -> tuple[Delegation, ...]:
    """All that was delegated for a person's turn, at any depth."""
    rows = db.execute("SELECT * FROM delegation WHERE root = ? ORDER BY begun_at, delegation", (turn,))
    return read_all(Delegation, rows)


def unfinished(db: Connection) -> tuple[Delegation, ...]:
    """Every piece of work that has not ended."""
    return read_all(Delegation, db.execute("SELECT * FROM delegation WHERE ended_at IS NULL ORDER BY begun_at"))


def why(db: Connection, delegations: Iterable[str], reason: str) -> None:
    """Note why kai ends them."""
    rows = [(reason, one) for one in delegations]
    db.executemany("UPDATE delegation SET reason = ? WHERE delegation = ? AND ended_at IS NULL", rows)


def ended(db: Connection, turn: Turn, outcome: Outcome, now: datetime) -> None:
    """The turn of a piece of work ended: its answer becomes a result, whole or not."""
    known = of_turn(db, turn.turn)
    if known is None:
        return
    ref = None
    if outcome.text.strip():
        seat = channels.get(db, channels.get(db, turn.channel).parent or turn.channel)
        asked = messages.get(db, turn.message).text
        is_whole = outcome.state is TurnState.DONE and not outcome.incomplete
        ref = results.keep(
            db, seat, turn.principal, known.root, now, producer=f"agent {known.agent}", source=asked,
            body=outcome.text, is_whole=is_whole, temporary=turn.temporary, returned=TOLD_CHARS,
        ).ref  # fmt: skip
    db.execute(
        "UPDATE delegation SET ended_at = ?, result = ? WHERE delegation = ?", (stamp(now), ref, known.delegation)
    )


def orphans(db: Connection) -> tuple[TurnId, ...]:
    """Turns of delegated work that wait though what asked for them has ended."""
    rows = db.execute(
        "SELECT d.turn, p.state FROM delegation d JOIN turn t ON t.turn = d.turn JOIN turn p ON p.turn = d.parent "
        "WHERE d.ended_at IS NULL AND t.state = 'queued' ORDER BY t.seq"
    )
    return tuple(TurnId(row[0]) for row in rows.fetchall() if row[1] in ENDED_TURNS)
