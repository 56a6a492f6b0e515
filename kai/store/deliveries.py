"""What is owed to addresses. Bridges claim it and give receipts; the numbers rise in the order of claiming."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from kai.model.errors import UnknownThingError
from kai.model.ids import AddressId, AskId, DeliveryId, TurnId, fresh
from kai.model.states import DeliveryState
from kai.model.turns import Delivery, DeliveryKind, NewDelivery, Receipt, ReceiptOutcome
from kai.store import temporary
from kai.store.binding import Connection
from kai.store.columns import insert, read_all, the
from kai.store.moves import move

_DELIVERY = (
    "SELECT d.*, a.chat, a.thread, ifnull(q.choices, '[]') AS choices FROM delivery d "
    "JOIN address a ON a.address = d.address LEFT JOIN question q ON q.ask = d.ask"
)
_CUT = "the connection was cut while it was sent"
CLAIM_LIMIT = 50
_OUTCOMES = {
    ReceiptOutcome.SENT: DeliveryState.SENT,
    ReceiptOutcome.UNSENT: DeliveryState.PENDING,
    ReceiptOutcome.UNKNOWN: DeliveryState.UNKNOWN,
    ReceiptOutcome.DROPPED: DeliveryState.DROPPED,
}


def owe(
    db: Connection, new: NewDelivery, now: datetime, *, about: DeliveryId | None = None, taker: str = ""
) -> Delivery:
    """Owe something to an address. `about`: this notice says that an earlier delivery may not have arrived.

    One for the bridge `taker`, which waits for it and is owed nothing else, is claimed from the start.
    """
    at = db.execute("SELECT bridge, chat, thread, channel FROM address WHERE address = ?", (new.address,)).fetchone()
    if at is None:
        raise UnknownThingError("address", new.address)
    given, delivery = at["bridge"] == taker, DeliveryId(fresh("d"))
    state = DeliveryState.CLAIMED if given else DeliveryState.PENDING
    number = insert(
        db,
        "delivery",
        delivery=delivery,
        address=new.address,
        bridge=at["bridge"],
        channel=at["channel"],
        kind=new.kind,
        text=new.text,
        state=state,
        turn=new.turn,
        ask=new.ask,
        turn_state=new.state,
        about=about,
        created_at=now,
        claimed_at=now if given else None,
    )
    where = new.address, at["bridge"], at["chat"], at["thread"], at["channel"]
    return Delivery(delivery, number, *where, new.kind, new.text, state, now, new.turn, new.ask, new.state)


def owe_all(db: Connection, owed: Iterable[NewDelivery], taker: str, now: datetime) -> tuple[Delivery, ...]:
    """Owe these, and give `taker` what it is owed, as `claim` does; nobody is given anything for ""."""
    is_first = bool(taker) and not _waits(db, taker)
    new = [owe(db, one, now, taker=taker if is_first else "") for one in owed]
    if is_first:
        return tuple(one for one in new if one.state is DeliveryState.CLAIMED)
    return claim(db, taker, now) if taker else ()


def get(db: Connection, delivery: DeliveryId) -> Delivery:
    """Raises `UnknownThingError`."""
    return the(db, Delivery, "delivery", f"{_DELIVERY} WHERE d.delivery = ?", delivery)


def of_turn(db: Connection, turn: TurnId) -> tuple[Delivery, ...]:
    """All that was owed because of a turn, in order."""
    return read_all(Delivery, db.execute(f"{_DELIVERY} WHERE d.turn = ? ORDER BY d.number", (turn,)))


def claim(db: Connection, bridge: str, now: datetime, limit: int | None = None) -> tuple[Delivery, ...]:
    """Give up to `limit` pending deliveries to a bridge, lowest number first. Claimed ones are given to nobody else.

    Unless given, `limit` is `CLAIM_LIMIT`.
    """
    rows = db.execute(
        # A bound LIMIT makes SQLite plan anew each time.
        f"{_DELIVERY} WHERE d.bridge = ? AND d.state = 'pending' ORDER BY d.number LIMIT {int(limit or CLAIM_LIMIT)}",
        (bridge,),
    ).fetchall()
    for row in rows:
        move(db, row["delivery"], DeliveryState.CLAIMED, claimed_at=now)
    return tuple(replace(one, state=DeliveryState.CLAIMED) for one in read_all(Delivery, rows))


def open_questions(db: Connection, bridge: str) -> tuple[Delivery, ...]:
    """Questions of a bridge that went out and are still open, oldest first."""
    rows = db.execute(
        f"{_DELIVERY} WHERE d.bridge = ? AND d.state = 'sent' AND q.state = 'open' ORDER BY d.number", (bridge,)
    )
    return read_all(Delivery, rows)


def reclaim(
    db: Connection, bridge: str, after_number: int | None, idempotent: bool, now: datetime
) -> tuple[Delivery, ...]:
    """A bridge connects; `after_number` is the highest number it has received, None when it does not know.

    Claimed ones that it surely never received are pending again. When it does not know: all of them, if it may repeat
    them safely, else they become unknown and the address gets one notice for each. Gives those that became unknown.
    """
    rows = db.execute(
        "SELECT delivery FROM delivery WHERE bridge = ? AND state = 'claimed' AND number > ? ORDER BY number",
        (bridge, after_number or 0),
    ).fetchall()
    claimed = [DeliveryId(row[0]) for row in rows]
    if after_number is not None or idempotent:
        for delivery in claimed:
            move(db, delivery, DeliveryState.PENDING, claimed_at=None)
        return ()
    for delivery in claimed:
        _lose_sight(db, delivery, "the bridge was cut off while sending it", now)
    return tuple(get(db, delivery) for delivery in claimed)


def receipt(db: Connection, delivery: DeliveryId, bridge: str, receipt: Receipt, now: datetime) -> None:
    """What the bridge says of a claimed delivery. A repeat changes nothing; another one is a `WrongMoveError`.

    ``unsent`` makes it pending under a new number, with what is pending for its address behind it, so that numbers
    still rise in the order of claiming. ``unknown`` owes the address one notice.
    """
    known = get(db, delivery)
    if known.bridge != bridge:
        raise UnknownThingError("delivery", delivery)  # what another bridge is owed is none of its business
    to = _OUTCOMES[receipt.outcome]
    if known.state is to:
        return
    if to is DeliveryState.UNKNOWN:
        _lose_sight(db, delivery, receipt.problem, now)
        return
    settled = None if to is DeliveryState.PENDING else now
    only = (DeliveryState.CLAIMED,)  # a pending one was given to nobody: nobody can have a receipt for it
    move(db, delivery, to, only=only, settled_at=settled, external_ids=receipt.external_ids, problem=receipt.problem)
    if to is DeliveryState.PENDING:
        _renumber(db, known.address, known.number)


def drop(db: Connection, deliveries: Iterable[DeliveryId], now: datetime) -> None:
    """Owe these no more."""
    for delivery in deliveries:
        move(db, delivery, DeliveryState.DROPPED, settled_at=now)


def pending_of_ask(db: Connection, ask: AskId) -> tuple[DeliveryId, ...]:
    """Deliveries of a question that no bridge has taken yet."""
    rows = db.execute("SELECT delivery FROM delivery WHERE ask = ? AND state = 'pending'", (ask,)).fetchall()
    return tuple(DeliveryId(row[0]) for row in rows)


def owed(db: Connection, bridge: str) -> dict[str, int]:
    """How many are pending, claimed and unknown for a bridge."""
    return {
        state: db.execute(
            f"SELECT count(*) FROM delivery WHERE bridge = ? AND state = '{state}'", (bridge,)
        ).fetchone()[0]
        for state in (DeliveryState.PENDING, DeliveryState.CLAIMED, DeliveryState.UNKNOWN)
    }


def lose_all(db: Connection, why: str, now: datetime) -> None:
    """Nothing that is owed is known not to have gone out: each becomes unknown, and its address is told."""
    rows = db.execute("SELECT delivery, state FROM delivery WHERE state IN ('pending', 'claimed') ORDER BY number")
    for row in rows.fetchall():
        if row["state"] == DeliveryState.PENDING:
            move(db, row["delivery"], DeliveryState.CLAIMED, claimed_at=now)
        _lose_sight(db, row["delivery"], why, now, why)


def go_on_from(db: Connection, now: datetime) -> None:
    """Let the next number be beyond any that was given before `now`, by whatever database."""
    beyond = int(now.timestamp() * 1000)
    if not db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'delivery'", (beyond,)).rowcount:
        db.execute("INSERT INTO sqlite_sequence VALUES ('delivery', ?)", (beyond,))


def _waits(db: Connection, bridge: str) -> bool:
    """Whether something is pending for a bridge."""
    query = "SELECT 1 FROM delivery WHERE bridge = ? AND state = 'pending' LIMIT 1"
    return db.execute(query, (bridge,)).fetchone() is not None


def _lose_sight(db: Connection, delivery: DeliveryId, problem: str, now: datetime, why: str = _CUT) -> None:
    """Nobody can tell whether it arrived: say so once at its address. Never of such a notice again."""
    move(db, delivery, DeliveryState.UNKNOWN, settled_at=now, problem=problem)
    row = db.execute("SELECT address, kind, turn, about FROM delivery WHERE delivery = ?", (delivery,)).fetchone()
    if row["about"] is not None:
        return
    kept = not temporary.is_temporary(db, row["turn"])
    what = {"answer": "An answer", "question": "A question", "notice": "A notice"}[row["kind"]]
    again = f" Show it again with: kai turn show {row['turn']}" if row["turn"] and kept else ""
    text = f"{what} may not have arrived here: {why}.{again}"
    turn = TurnId(row["turn"]) if row["turn"] else None
    owe(db, NewDelivery(AddressId(row["address"]), DeliveryKind.NOTICE, text, turn), now, about=delivery)


def _renumber(db: Connection, address: AddressId, first: int) -> None:
    rows = db.execute(
        "SELECT number FROM delivery WHERE address = ? AND state = 'pending' AND number >= ? ORDER BY number",
        (address, first),
    ).fetchall()
    for row in rows:
        db.execute("UPDATE delivery SET number = (SELECT max(number) + 1 FROM delivery) WHERE number = ?", (row[0],))
