"""The states of durable things and the only moves between them. The store refuses every other move."""

from collections.abc import Mapping
from enum import StrEnum


class TurnState(StrEnum):
    """A message and its answer. ``asking`` waits for a person, ``held`` for a usage limit to pass."""

    QUEUED = "queued"
    RUNNING = "running"
    ASKING = "asking"
    HELD = "held"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class DispatchState(StrEnum):
    """One attempt of a turn. ``prepared``: snapshot committed, no byte written. ``unknown``: cut after ``sent``."""

    PREPARED = "prepared"
    SENT = "sent"
    SETTLED = "settled"
    UNKNOWN = "unknown"


class DeliveryState(StrEnum):
    """One thing owed to an address. ``unknown``: the bridge cannot tell whether it went out."""

    PENDING = "pending"
    CLAIMED = "claimed"
    SENT = "sent"
    UNKNOWN = "unknown"
    DROPPED = "dropped"


class AskState(StrEnum):
    """A permission question. Everything but ``open`` is final."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


_CUT = frozenset({TurnState.DONE, TurnState.STOPPED, TurnState.FAILED, TurnState.INTERRUPTED})

TURN_MOVES: Mapping[TurnState, frozenset[TurnState]] = {
    # A queued turn may be withdrawn, or refused before a process starts.
    TurnState.QUEUED: frozenset({TurnState.RUNNING, TurnState.STOPPED, TurnState.FAILED}),
    # Back to queued only at start-up, when the cut attempt had not written one byte.
    TurnState.RUNNING: _CUT | {TurnState.ASKING, TurnState.HELD, TurnState.QUEUED},
    TurnState.ASKING: _CUT | {TurnState.RUNNING},
    # Back to queued only at start-up: what is held has no attempt in flight.
    TurnState.HELD: _CUT | {TurnState.RUNNING, TurnState.QUEUED},
    TurnState.DONE: frozenset(),
    TurnState.STOPPED: frozenset(),
    TurnState.FAILED: frozenset(),
    TurnState.INTERRUPTED: frozenset(),
}

DISPATCH_MOVES: Mapping[DispatchState, frozenset[DispatchState]] = {
    # Straight to settled: the attempt ended before a byte was written.
    DispatchState.PREPARED: frozenset({DispatchState.SENT, DispatchState.SETTLED}),
    DispatchState.SENT: frozenset({DispatchState.SETTLED, DispatchState.UNKNOWN}),
    DispatchState.SETTLED: frozenset(),
    DispatchState.UNKNOWN: frozenset(),
}

DELIVERY_MOVES: Mapping[DeliveryState, frozenset[DeliveryState]] = {
    DeliveryState.PENDING: frozenset({DeliveryState.CLAIMED, DeliveryState.DROPPED}),
    # Back to pending only when the bridge says that it surely was not sent, or may repeat it safely.
    DeliveryState.CLAIMED: frozenset(
        {DeliveryState.SENT, DeliveryState.UNKNOWN, DeliveryState.PENDING, DeliveryState.DROPPED}
    ),
    DeliveryState.SENT: frozenset(),
    DeliveryState.UNKNOWN: frozenset(),
    DeliveryState.DROPPED: frozenset(),
}

ASK_MOVES: Mapping[AskState, frozenset[AskState]] = {
    AskState.OPEN: frozenset({AskState.ANSWERED, AskState.EXPIRED, AskState.CANCELLED}),
    AskState.ANSWERED: frozenset(),
    AskState.EXPIRED: frozenset(),
    AskState.CANCELLED: frozenset(),
}

ENDED_TURNS = _CUT
