"""What a turn commits before a byte of it goes to an agent and right before the first one; what an error comes to."""

from collections.abc import Callable
from datetime import datetime

from kai.model.context import ContextBlock
from kai.model.errors import (
    ChoiceGoneError,
    ContextBudgetError,
    FailureKind,
    KaiError,
    LaunchError,
    SessionLostError,
)
from kai.model.ids import DispatchId
from kai.model.states import TurnState
from kai.model.turns import Dispatch, Outcome, SessionRow
from kai.store import exposures, sessions, turns
from kai.store.binding import Connection
from kai.store.exposures import Sending


def prepare(
    db: Connection,
    new_session: SessionRow | None,
    before: DispatchId | None,
    dispatch: Dispatch,
    block: ContextBlock,
    sending: Sending | None,
) -> None:
    """All that must be known before the first byte: the session, the end of an attempt before, the snapshot.

    With the digest of its frame, the attempt counts as sent from now on.
    """
    if new_session is not None:
        sessions.open(db, new_session)
    else:
        exposures.check(db, dispatch.session)
    if before is not None:
        turns.settle(db, before, dispatch.prepared_at)
    turns.begin(db, dispatch.turn, dispatch, block, dispatch.prepared_at)
    if sending is not None:
        exposures.dispatch(db, sending, dispatch.session, dispatch.dispatch, block, dispatch.prepared_at)
    if dispatch.frame_sha256:
        turns.mark_sent(db, dispatch.dispatch, dispatch.frame_sha256, dispatch.prepared_at, dispatch.native_id)


def mark_sent(
    db: Connection, recheck: Callable[..., None], dispatch: DispatchId, sha256: str, now: datetime, native_id: str
) -> None:
    """After a session took its time to start: what goes there still may, and counts as sent."""
    recheck(db, now=now)
    turns.mark_sent(db, dispatch, sha256, now, native_id)


def failed(error: KaiError) -> Outcome:
    """How a turn ends by an error."""
    kind = FailureKind.INTERNAL
    if isinstance(error, ContextBudgetError):
        kind = FailureKind.BUDGET
    elif isinstance(error, ChoiceGoneError):
        kind = FailureKind.CHOICE
    elif isinstance(error, LaunchError | SessionLostError):
        kind = error.kind
    reason = f"{error.sentence} {error.hint}".strip()
    detail = error.detail if isinstance(error, LaunchError) else ""
    return Outcome(TurnState.FAILED, failure=kind, reason=reason, detail=detail or type(error).__name__)
