"""Permission questions as rows. A turn is asking exactly while one of its questions is open."""

from datetime import datetime

from kai.model.errors import BadInputError
from kai.model.events import Ask
from kai.model.ids import AddressId, AskId, ChannelId, DispatchId, PrincipalId, TurnId, fresh
from kai.model.states import AskState, TurnState
from kai.model.turns import DeliveryKind, NewDelivery, Question
from kai.store import deliveries
from kai.store.binding import Connection
from kai.store.columns import insert, read_all, the, values
from kai.store.moves import move


def ask(
    db: Connection,
    turn: TurnId,
    dispatch: DispatchId,
    asked: Ask,
    address: AddressId,
    expires_at: datetime,
    now: datetime,
    *,
    text: str = "",
) -> Question:
    """Keep a question, owe it to the address (`text`, else title and detail) and let the turn wait for the answer."""
    key = AskId(fresh("q"))
    row = {**values(asked, "tool_id"), "ask": key, "key": asked.ask, "asked_at": now, "expires_at": expires_at}
    insert(db, "question", turn=turn, dispatch=dispatch, state=AskState.OPEN, **row)
    if db.execute("SELECT state FROM turn WHERE turn = ?", (turn,)).fetchone()["state"] != TurnState.ASKING:
        move(db, turn, TurnState.ASKING)
    shown = text or "\n".join(part for part in (asked.title, asked.detail) if part)
    deliveries.owe(db, NewDelivery(address, DeliveryKind.QUESTION, shown, turn, key), now)
    return get(db, key)


def answer(db: Connection, ask: AskId, choice: str, by: PrincipalId, now: datetime) -> Question:
    """Close a question with the key of one of its choices; any text or none where free text is asked for.

    Raises `WrongMoveError` when it is not open any more, `BadInputError` when there is no such choice.
    """
    question = get(db, ask)
    offers = {offered.key: f"{offered.key} ({offered.label})" for offered in question.choices}
    if question.state is AskState.OPEN and not question.free_text and choice not in offers:
        raise BadInputError("choice", f"{choice!r} is not offered", f"Choose one of {', '.join(offers.values())}.")
    _shut(db, question, AskState.ANSWERED, now, choice=choice, by=by)
    resume_turn(db, question.turn)
    return get(db, ask)


def close(db: Connection, ask: AskId, state: AskState, now: datetime, *, reason: str = "") -> Question:
    """Expire or cancel a question. Raises `WrongMoveError` when it is not open any more."""
    question = get(db, ask)
    _shut(db, question, state, now, reason=reason)
    resume_turn(db, question.turn)
    return get(db, ask)


def close_all(db: Connection, turn: TurnId, state: AskState, now: datetime, *, reason: str) -> None:
    """Close what is open of a turn that ends; the turn's own move is the caller's."""
    for question in open_of(db, turn):
        _shut(db, question, state, now, reason=reason)


def get(db: Connection, ask: AskId) -> Question:
    """Raises `UnknownThingError`."""
    return the(db, Question, "question", "SELECT * FROM question WHERE ask = ?", ask)


def open_of(db: Connection, turn: TurnId) -> tuple[Question, ...]:
    """The open questions of a turn, oldest first."""
    return read_all(
        Question, db.execute("SELECT * FROM question WHERE turn = ? AND state = 'open' ORDER BY asked_at, ask", (turn,))
    )


def open_in_channel(db: Connection, channel: ChannelId) -> tuple[Question, ...]:
    """The open questions of a channel, oldest first."""
    return read_all(
        Question,
        db.execute(
            "SELECT q.* FROM turn t JOIN question q ON q.turn = t.turn AND q.state = 'open' "
            # As in the index `turn_live`, else every turn that the channel ever had is looked at.
            "WHERE t.channel IN (SELECT ?1 UNION ALL SELECT d.channel FROM delegation d JOIN channel c "
            "ON c.channel = d.channel WHERE d.ended_at IS NULL AND c.parent = ?1) "
            "AND t.state IN ('running', 'asking', 'held') ORDER BY q.asked_at, q.ask",
            (channel,),
        ),
    )


def resume_turn(db: Connection, turn: TurnId) -> bool:
    """Let a turn that waits for no answer any more run on. Whether it runs now."""
    if open_of(db, turn):
        return False
    state = db.execute("SELECT state FROM turn WHERE turn = ?", (turn,)).fetchone()
    if state and state[0] == TurnState.ASKING:
        move(db, turn, TurnState.RUNNING, only=(TurnState.ASKING,))
        return True
    return bool(state and state[0] == TurnState.RUNNING)


def _shut(
    db: Connection,
    question: Question,
    state: AskState,
    now: datetime,
    *,
    choice: str = "",
    by: PrincipalId | None = None,
    reason: str = "",
) -> None:
    move(db, question.ask, state, closed_at=now, choice=choice, answered_by=by, reason=reason)
    deliveries.drop(db, deliveries.pending_of_ask(db, question.ask), now)
