"""Turns and their attempts: the lane's order, the accept's other half, and the one transaction that ends a turn.

What holds by construction: at most one live turn in a channel, started in the order of queueing; an ended turn has no
open attempt and no open question, and exactly one delivery that tells its end.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, NamedTuple

from kai.model.context import ContextBlock
from kai.model.errors import BadInputError, FailureKind, UnknownThingError, WrongMoveError
from kai.model.events import Usage
from kai.model.ids import AddressId, ChannelId, DispatchId, MessageId, PrincipalId, RunId, SessionId, TurnId, fresh
from kai.model.messages import Author, Message
from kai.model.states import ENDED_TURNS, AskState, DispatchState, TurnState
from kai.model.turns import Delivery, DeliveryKind, Dispatch, NewDelivery, Outcome, SessionRow, Turn
from kai.store import delegations, deliveries, messages, moves, questions, sessions, snapshots
from kai.store.binding import Connection, Row
from kai.store.columns import insert, maybe, packed, read, read_all, the, unpacked, values

RESTARTED = "kai was restarted while this was being answered; what had been done by then stays done"
_LIVE = "state IN ('running', 'asking', 'held')"  # word for word as in the index `turn_live`
_TELLS = (DeliveryKind.ANSWER, DeliveryKind.NOTICE)


class Ended(NamedTuple):
    """What an end came to: the answer as a message, when something was said, and what was given to a bridge with it."""

    answer: Message | None
    claimed: tuple[Delivery, ...]
    outcome: Outcome | None = None  # what was told, where somebody looked at it before


def get(db: Connection, turn: TurnId) -> Turn:
    """Raises `UnknownThingError`."""
    return the(db, Turn, "turn", "SELECT * FROM turn WHERE turn = ?", turn)


def particulars(db: Connection, turn: TurnId) -> tuple[str, Usage | None]:
    """The technical detail of a failure, and what the turn used, if the backend said."""
    row = db.execute("SELECT detail, usage FROM turn WHERE turn = ?", (turn,)).fetchone()
    if row is None:
        raise UnknownThingError("turn", turn)
    return row["detail"], Usage(**json.loads(row["usage"])) if row["usage"] != "{}" else None


def of_channel(db: Connection, channel: ChannelId, limit: int) -> tuple[Turn, ...]:
    """The newest turns of a channel, newest first."""
    return listing(db, channel=channel, limit=limit)


def listing(
    db: Connection, *, principal: PrincipalId | None = None, channel: ChannelId | None = None, limit: int
) -> tuple[Turn, ...]:
    """The newest turns, newest first: of everybody, of a person, in a channel, or of a person in a channel."""
    wanted = {"principal": principal, "channel": channel}
    given = {name: value for name, value in wanted.items() if value is not None}
    where = " AND ".join(f"{name} = :{name}" for name in given) or "1"
    rows = db.execute(f"SELECT * FROM turn WHERE {where} ORDER BY seq DESC LIMIT :limit", {**given, "limit": limit})
    return read_all(Turn, rows)


def unfinished(db: Connection, principal: PrincipalId) -> tuple[TurnId, ...]:
    """The person's turns that have not ended, the newest first: what waits is withdrawn before it could begin."""
    rows = db.execute("SELECT turn, state FROM turn WHERE principal = ? ORDER BY seq DESC", (principal,))
    return tuple(TurnId(row["turn"]) for row in rows if row["state"] not in ENDED_TURNS)


def next_queued(db: Connection, channel: ChannelId) -> Turn | None:
    """The turn that waits longest."""
    row = db.execute(
        "SELECT * FROM turn WHERE channel = ? AND state = 'queued' ORDER BY seq LIMIT 1", (channel,)
    ).fetchone()
    return maybe(Turn, row)


def queued_channels(db: Connection) -> tuple[ChannelId, ...]:
    """Channels with a turn that waits, the longest wait first."""
    rows = db.execute("SELECT channel FROM turn WHERE state = 'queued' GROUP BY channel ORDER BY min(seq)")
    return tuple(ChannelId(row[0]) for row in rows)


def queued_count(db: Connection, channel: ChannelId) -> int:
    count: int = db.execute("SELECT count(*) FROM turn WHERE channel = ? AND state = 'queued'", (channel,)).fetchone()[
        0
    ]
    return count


def live(db: Connection, channel: ChannelId) -> Turn | None:
    """The one turn that is running, asking or held."""
    row = db.execute(f"SELECT * FROM turn WHERE channel = ? AND {_LIVE}", (channel,)).fetchone()
    return maybe(Turn, row)


def refused(db: Connection, said: Sequence[Message]) -> frozenset[MessageId]:
    """Those of `said` that a provider refused to answer, and no retry got an answer to."""
    asked = [message.turn for message in said if message.turn and message.author is Author.PERSON]
    rows = db.execute(
        f"SELECT t.message FROM turn t WHERE t.failure = 'refused' AND t.turn IN ({', '.join('?' * len(asked))}) "
        "AND NOT EXISTS (SELECT 1 FROM turn a WHERE a.retry_of = t.turn AND a.state = 'done')",
        asked,
    )
    return frozenset(MessageId(row[0]) for row in rows)


def move(
    db: Connection, turn: TurnId, to: TurnState, now: datetime, *, failure: FailureKind | None = None, reason: str = ""
) -> None:
    """Start, hold, withdraw or refuse a turn. An end tells `reason` by a notice of its own, as `finish` does.

    Raises `WrongMoveError`; also for ``asking``, which only a question brings about, and for ``queued``.
    """
    if to in ENDED_TURNS:
        finish(db, turn, None, Outcome(to, failure=failure, reason=reason), (), "", now)
    elif to is TurnState.RUNNING:
        _run(db, get(db, turn), now)
    elif to is TurnState.HELD:
        moves.move(db, turn, to, only=(TurnState.RUNNING,), reason=reason)
    else:
        raise WrongMoveError("turn", turn, get(db, turn).state, to)


def begin(db: Connection, turn: TurnId, dispatch: Dispatch, snapshot: ContextBlock, now: datetime) -> None:
    """Prepare an attempt: the turn runs, and the exact block is kept before a byte of it is written.

    Its session must be known; its run is noted here. Raises `WrongMoveError` when it is not this turn's time, or its
    last attempt is not over.
    """
    known = get(db, turn)
    if (open_ := _open_dispatch(db, turn)) is not None:
        raise WrongMoveError("dispatch", open_["dispatch"], open_["state"], DispatchState.PREPARED)
    by = {"backend": dispatch.backend, "model": dispatch.model, "attempts": dispatch.attempt}
    if known.state is TurnState.RUNNING:
        db.execute(
            "UPDATE turn SET backend = :backend, model = :model, attempts = :attempts WHERE turn = :turn",
            {**by, "turn": turn},
        )
    else:
        _run(db, known, now, **by)
    sessions.run_started(db, dispatch.run, dispatch.session, now)
    keep(db, replace(dispatch, state=DispatchState.PREPARED, sent_at=None, frame_sha256="", native_id=""), snapshot)


def steer(db: Connection, dispatch: Dispatch, snapshot: ContextBlock) -> None:
    """Keep what is put into a running turn, before a byte of it is written. It is no attempt that could be cut."""
    now = dispatch.prepared_at
    keep(db, replace(dispatch, state=DispatchState.SETTLED, sent_at=now, settled_at=now, steered=True), snapshot)
    db.execute("UPDATE turn SET attempts = ? WHERE turn = ?", (dispatch.attempt, dispatch.turn))


def keep(db: Connection, dispatch: Dispatch, snapshot: ContextBlock) -> None:
    """Keep an attempt as it is, and its block. Its turn must be running, and its session and run be known."""
    kept = snapshots.keep(db, snapshot, dispatch.prepared_at)
    insert(db, "dispatch", **values(dispatch), bare=snapshot.bare, tokens=snapshot.tokens, snapshot=kept)


def queue(db: Connection, message: Message, address: AddressId, now: datetime) -> Turn:
    """A turn for a message that has none: words that could not be steered."""
    assert message.principal is not None
    turn = TurnId(fresh("t"))
    waits = Turn(turn, message.channel, message.message, message.principal, address, TurnState.QUEUED, now)
    waits = replace(waits, temporary=message.temporary)
    insert(db, "turn", **values(waits))
    return waits


def mark_sent(db: Connection, dispatch: DispatchId, frame_sha256: str, now: datetime, native_id: str = "") -> None:
    """The next thing that happens is the write of these bytes: from here on the attempt may have acted."""
    moves.move(db, dispatch, DispatchState.SENT, sent_at=now, frame_sha256=frame_sha256, native_id=native_id)


def settle(db: Connection, dispatch: DispatchId, now: datetime) -> None:
    """The attempt is over and known to be; its turn goes on."""
    moves.move(db, dispatch, DispatchState.SETTLED, settled_at=now)


def save_partial(db: Connection, turn: TurnId, text: str, tool_lines: Sequence[str]) -> None:
    """What a live turn has said so far, in place of what was saved before. Too late for an ended one: ignored."""
    db.execute(
        f"INSERT OR REPLACE INTO partial SELECT turn, ?, ? FROM turn WHERE turn = ? AND {_LIVE}",
        (text, packed(tuple(tool_lines)), turn),
    )


def finish(
    db: Connection,
    turn: TurnId,
    dispatch: DispatchId | None,
    outcome: Outcome,
    owed: Sequence[NewDelivery],
    answer_name: str,
    now: datetime,
    taker: str = "",
) -> Ended:
    """End a turn, all at once: state, attempt, session, open questions, the answer as a message, what is owed.

    Exactly one of `owed` tells the end: the one with a `state`, else the last answer or notice, else a notice made
    from the outcome's reason. What the bridge `taker` is owed is given to it. Raises `WrongMoveError`.
    """
    known = get(db, turn)
    if outcome.state not in ENDED_TURNS:
        raise WrongMoveError("turn", turn, known.state, outcome.state)
    if known.state is TurnState.ASKING:  # only then is one open
        questions.close_all(db, turn, AskState.CANCELLED, now, reason=f"the turn ended: {outcome.state}")
    answer = _keep_answer(db, known, outcome, answer_name, now)
    columns: dict[str, Any] = {name: getattr(outcome, name) for name in ("failure", "reason", "detail")}
    columns["usage"] = json.dumps(asdict(outcome.usage)) if outcome.usage else "{}"
    moves.move(db, turn, outcome.state, ended_at=now, answer=answer and answer.message, **columns)
    _end_attempt(db, turn, outcome.state, now)
    if dispatch is not None:
        _tell_session(db, dispatch, outcome, now)
    if known.delegated:  # who asked for it is told by the result
        delegations.ended(db, known, outcome, now)
    claimed = deliveries.owe_all(db, () if known.delegated else _telling(known, outcome, owed), taker, now)
    db.execute("DELETE FROM partial WHERE turn = ?", (turn,))
    return Ended(answer, claimed)


def at_work_on(db: Connection, run: RunId) -> tuple[Turn, DispatchId, SessionRow] | None:
    """The running turn whose open attempt `run` works on, that attempt and its session; None when there is none."""
    row = db.execute(
        "SELECT d.* FROM dispatch d JOIN turn t ON t.turn = d.turn WHERE d.run = ? AND d.state = 'sent' AND "
        "t.state = 'running' AND d.attempt = (SELECT max(attempt) FROM dispatch WHERE turn = d.turn)",
        (run,),
    ).fetchone()
    session = sessions.get(db, SessionId(row["session"])) if row else None
    return (get(db, TurnId(row["turn"])), DispatchId(row["dispatch"]), session) if session else None


def partial(db: Connection, turn: TurnId) -> tuple[str, tuple[str, ...]]:
    """What a running turn had said when it was saved last, and its tool lines."""
    row = db.execute("SELECT text, tool_lines FROM partial WHERE turn = ?", (turn,)).fetchone()
    return (row["text"], unpacked(row["tool_lines"])) if row else ("", ())


def recover(db: Connection, now: datetime, at_work: Collection[RunId] = ()) -> tuple[Turn, ...]:
    """At a start: end what an earlier daemon left live. Gives the turns that were interrupted, each told by a notice.
    The turns that runs `at_work` are on go on, and are left alone.

    A turn of which no byte can have reached an agent in its open attempt is queued again, first of its lane, as is one
    that was held: it has none open. Any other may have acted and is never sent again by itself.
    """
    going_on = {found[0].turn for run in at_work if (found := at_work_on(db, run))}
    sessions.end_all(db, now, "daemon restarted", at_work)
    cut: list[Turn] = []
    for row in db.execute(f"SELECT * FROM turn WHERE {_LIVE} ORDER BY seq").fetchall():
        turn = read(Turn, row)
        if turn.turn in going_on:
            continue
        if turn.state is TurnState.HELD or (turn.state is TurnState.RUNNING and not _may_have_acted(db, turn.turn)):
            _end_attempt(db, turn.turn, TurnState.QUEUED, now)
            moves.move(db, turn.turn, TurnState.QUEUED, started_at=None, reason="")
        else:
            _interrupt(db, turn, now)
            cut.append(get(db, turn.turn))
    for orphan in delegations.orphans(db):
        finish(db, orphan, None, Outcome(TurnState.STOPPED, reason=f"{RESTARTED}."), (), "kai", now)
    return tuple(cut)


def give_up_all(db: Connection, why: str, now: datetime) -> None:
    """End every turn that waits or runs: it may have been done by a database that went on after this one."""
    for row in db.execute(f"SELECT * FROM turn WHERE state = 'queued' OR {_LIVE} ORDER BY seq").fetchall():
        turn = read(Turn, row)
        told = (
            f"{why}: whether this message was answered after that is not known. Ask again, or retry turn {turn.turn}."
        )
        if turn.state is TurnState.QUEUED:
            outcome = Outcome(TurnState.STOPPED, reason=why)
            finish(db, turn.turn, None, outcome, (NewDelivery(turn.address, DeliveryKind.NOTICE, told),), "kai", now)
        else:
            _interrupt(db, turn, now, why, told)


def retry(db: Connection, turn: TurnId, now: datetime) -> Turn:
    """Queue a new turn for the same message. While a retry of this turn is not over, that one is given again.

    Raises `WrongMoveError` when the turn has not ended, `BadInputError` when its words were temporary and are gone.
    """
    known = get(db, turn)
    if known.state not in ENDED_TURNS:
        raise WrongMoveError("turn", turn, known.state, TurnState.QUEUED)
    if known.delegated:
        raise BadInputError("turn", "an agent had asked for it, which alone may ask again", "Retry the turn of yours.")
    if (
        known.temporary
        and db.execute(
            "SELECT redacted_at FROM message WHERE message = ? AND redacted_at IS NOT NULL", (known.message,)
        ).fetchone()
    ):
        raise BadInputError("turn", "its words were temporary and are erased", "Say it again.")
    row = db.execute(f"SELECT turn FROM turn WHERE retry_of = ? AND (state = 'queued' OR {_LIVE})", (turn,)).fetchone()
    if row:
        return get(db, TurnId(row[0]))
    again = TurnId(fresh("t"))
    same = values(known, "answer", "failure", "reason", "backend", "model", "attempts", "started_at", "ended_at")
    insert(db, "turn", **{**same, "turn": again, "state": TurnState.QUEUED, "queued_at": now, "retry_of": turn})
    return get(db, again)


def _run(db: Connection, turn: Turn, now: datetime, **columns: object) -> None:
    """Start a turn, or go on with a held one. Only the first of a lane starts, and only when nothing is live in it."""
    if turn.state is TurnState.HELD:
        moves.move(db, turn.turn, TurnState.RUNNING, only=(TurnState.HELD,), reason="", **columns)
        return
    first = next_queued(db, turn.channel)
    if first is None or first.turn != turn.turn or live(db, turn.channel) is not None:
        raise WrongMoveError("turn", turn.turn, turn.state, TurnState.RUNNING)
    moves.move(db, turn.turn, TurnState.RUNNING, only=(TurnState.QUEUED,), started_at=now, **columns)


def _keep_answer(db: Connection, turn: Turn, outcome: Outcome, name: str, now: datetime) -> Message | None:
    if not outcome.text.strip() and not outcome.tool_lines:
        return None
    said = messages.draft(turn.channel, Author.AGENT, turn.principal, name, outcome.text, now)
    said = replace(
        said,
        turn=turn.turn,
        backend=turn.backend,
        tool_lines=outcome.tool_lines,
        incomplete=outcome.incomplete,
        temporary=turn.temporary,
    )
    return messages.keep(db, said)


def _telling(turn: Turn, outcome: Outcome, owed: Sequence[NewDelivery]) -> list[NewDelivery]:
    told = list(owed)
    telling = [at for at, new in enumerate(told) if new.state is not None]
    if len(telling) > 1:
        raise ValueError("an end is told once")
    if not telling:
        telling = [at for at, new in enumerate(told) if new.kind in _TELLS][-1:]
        if not telling:
            text = outcome.reason or f"This turn ended: {outcome.state}."
            told.append(NewDelivery(turn.address, DeliveryKind.NOTICE, text))
            telling = [len(told) - 1]
    told[telling[0]] = replace(told[telling[0]], state=outcome.state)
    return [new if new.turn == turn.turn else replace(new, turn=turn.turn) for new in told]


def _end_attempt(db: Connection, turn: TurnId, state: TurnState, now: datetime) -> None:
    open_ = _open_dispatch(db, turn)
    if open_ is None:
        return
    cut = state is TurnState.INTERRUPTED and open_["state"] == DispatchState.SENT
    to = DispatchState.UNKNOWN if cut else DispatchState.SETTLED
    moves.move(db, open_["dispatch"], to, settled_at=now)


def _tell_session(db: Connection, dispatch: DispatchId, outcome: Outcome, now: datetime) -> None:
    row = db.execute("SELECT session, bare, fresh FROM dispatch WHERE dispatch = ?", (dispatch,)).fetchone()
    if row is None:
        raise UnknownThingError("dispatch", dispatch)
    worked = outcome.state in (TurnState.DONE, TurnState.STOPPED)
    sessions.after_turn(
        db, row["session"], outcome, now, worked=worked, block_went=not row["bare"], fresh=bool(row["fresh"])
    )


def _open_dispatch(db: Connection, turn: TurnId) -> Row | None:
    row: Row | None = db.execute(
        "SELECT dispatch, state FROM dispatch WHERE turn = ? AND state IN ('prepared', 'sent')", (turn,)
    ).fetchone()
    return row


def _may_have_acted(db: Connection, turn: TurnId) -> bool:
    """Whether the last attempt was sent. Between two attempts: whether the one before was."""
    row = db.execute(
        "SELECT state, sent_at FROM dispatch WHERE turn = ? ORDER BY attempt DESC LIMIT 1", (turn,)
    ).fetchone()
    return row is not None and row["state"] != DispatchState.PREPARED and row["sent_at"] is not None


def _interrupt(db: Connection, turn: Turn, now: datetime, why: str = RESTARTED, told: str = "") -> None:
    questions.close_all(db, turn.turn, AskState.EXPIRED, now, reason="daemon restarted")
    text, tool_lines = partial(db, turn.turn)
    told = told or f"{why[0].upper()}{why[1:]}. Ask again, or retry turn {turn.turn}."
    if at_work := [one.agent for one in delegations.of_root(db, turn.turn) if one.ended_at is None]:
        told += f" What it had delegated is cut with it: {', '.join(at_work)}."
    if text.strip():
        told += f"\n\nUntil then (incomplete):\n\n{text}"
    outcome = Outcome(TurnState.INTERRUPTED, text, tool_lines, incomplete=True, reason=why)
    finish(db, turn.turn, None, outcome, (NewDelivery(turn.address, DeliveryKind.NOTICE, told),), "kai", now)
