"""The third look at memory: an answer is kept and goes out only if what it rests on may still be seen where it goes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kai.model.agents import Policy
from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import DispatchId, TurnId
from kai.model.memory import Scope, Searched, Way
from kai.model.turns import DeliveryKind, NewDelivery, Outcome, Turn
from kai.store import channels, eligible, ledger, turns
from kai.store.binding import Connection

WITHHELD = "what it rests on was forgotten, or closed to those who are here, while it was made"
# What the turn and the work that it delegated were sent, but for what its own agent was asked to forget.
_SENT = """
WITH part (turn) AS (SELECT ?1 UNION SELECT turn FROM delegation WHERE root = ?1)
SELECT DISTINCT r.seq, r.namespace FROM part JOIN dispatch d USING (turn) JOIN mem_exposure x USING (dispatch)
JOIN mem_record r USING (record) WHERE NOT EXISTS (SELECT 1 FROM mem_receipt f WHERE f.record = r.record
  AND f.operation = 'forget' AND f.outcome = 'committed' AND f.turn IN (SELECT turn FROM part))"""
MOVED = "the place that it would go to belongs to another conversation by now"


def finish(
    db: Connection,
    turn: TurnId,
    dispatch: DispatchId | None,
    outcome: Outcome,
    owed: Sequence[NewDelivery],
    answer_name: str,
    now: datetime,
    taker: str = "",
) -> turns.Ended:
    """`turns.finish` after the look. `Ended.outcome` is what was really told."""
    if outcome.text and (why := _closed(db, turns.get(db, turn), now)):
        told = f"The answer is withheld: {why}. 'kai turn retry {turn}' or /retry asks again without it."
        outcome = replace(outcome, text="", tool_lines=(), incomplete=False, reason=f"Withheld: {why}.")
        owed = (NewDelivery(owed[0].address, DeliveryKind.NOTICE, told, turn=turn),)
    return turns.finish(db, turn, dispatch, outcome, owed, answer_name, now, taker)._replace(outcome=outcome)


def _closed(db: Connection, turn: Turn, now: datetime) -> str:
    """Why an answer of this turn may not go out; "" when it may."""
    if turn.delegated:  # it goes to the agent that asked, whose own answer is looked at
        return ""
    if channels.address_of(db, turn.address).channel != turn.channel:
        return MOVED
    if turn.temporary:  # nothing that is remembered went into it, and nothing of memory is looked at
        return ""
    sent = db.execute(_SENT, (turn.turn,)).fetchall()
    if not sent:
        return ""
    scope = Scope(turn.principal, turn.channel, way=Way.AUTO, turn=turn.turn)
    try:
        here = eligible.place(db, scope, (*Policy().inject, *Policy().tool))
        standing = eligible.current(db, here, [row["seq"] for row in sent], now)
    except (DeniedError, UnknownThingError):  # whom it is for is not here any more
        standing = {}
    gone = [row["namespace"] for row in sent if row["seq"] not in standing]
    if gone:
        rows = [Searched(name, "denied", "withheld", len(standing), len(sent)) for name in dict.fromkeys(gone)]
        ledger.note(db, scope, "deliver", rows, now)
    return WITHHELD if gone else ""
