"""What is owed to an address because a turn ended: sentences and deliveries. Pure."""

from dataclasses import replace

from kai.model.errors import FailureKind
from kai.model.ids import AddressId, TurnId
from kai.model.states import TurnState
from kai.model.turns import DeliveryKind, NewDelivery, Outcome

REMEDIES: dict[FailureKind, str] = {
    FailureKind.LOGIN: "Log in again with 'kai backend login {backend}', then send it again or use /retry.",
    FailureKind.QUOTA: "Wait until the limit resets, or change the engine with /backend.",
    FailureKind.MODEL: "Choose another model with /model.",
    FailureKind.PROVIDER: "Try again in a while, or change the engine with /backend.",
    FailureKind.CONTEXT: "Start a new session with /new.",
    FailureKind.REFUSED: "Say it in another way; the refused message does not go along again after /new.",
    FailureKind.MISSING: "Or change the engine with /backend.",
    FailureKind.OLD: "Update it, or change the engine with /backend.",
    FailureKind.LAUNCH: "'kai doctor' tells more.",
    FailureKind.CRASH: "What it had done stays done. Send it again, or use /retry.",
    FailureKind.MEMORY: "It is not started again by itself. Use /retry when the machine has memory to spare.",
    FailureKind.SILENT: "Send it again, or use /retry.",
    FailureKind.TIME: "Ask for it in smaller steps, or raise limits.turn_s.",
    FailureKind.PROTOCOL: "'kai turn show {turn}' tells more.",
    FailureKind.RESUME: "Send it again, or use /retry.",
    FailureKind.EMPTY: "Send it again, or use /retry.",
    FailureKind.BUDGET: "",  # the error's own hint says more
    FailureKind.CHOICE: "Then use /retry.",
    FailureKind.UNSUPPORTED: "Change the engine with /backend.",
    FailureKind.INTERNAL: "This is a fault of kai; its log has the details.",
}

_NO_WORDS = "(Done, without a word.)"


def deliveries(
    turn: TurnId, address: AddressId, outcome: Outcome, *, backend: str, below: str = ""
) -> list[NewDelivery]:
    """At least one: the answer (or what there is of it), then a notice when the turn ended in any way but done.

    `below` stands under the first of them: what memory did in this turn.
    """
    owed = []
    if outcome.text.strip() or outcome.state is TurnState.DONE:
        text = outcome.text if outcome.text.strip() else _without_words(outcome)
        owed.append(NewDelivery(address, DeliveryKind.ANSWER, text, turn=turn))
    if outcome.state is not TurnState.DONE:
        owed.append(NewDelivery(address, DeliveryKind.NOTICE, ending(outcome, turn=turn, backend=backend), turn=turn))
    if below:
        owed[0] = replace(owed[0], text=f"{owed[0].text}\n\n{below}")
    last = owed[-1]
    owed[-1] = NewDelivery(last.address, last.kind, last.text, turn=turn, state=outcome.state)
    return owed


def ending(outcome: Outcome, *, turn: TurnId, backend: str) -> str:
    """Why the turn ended as it did, in a sentence or two: what happened, what is kept, what to do."""
    parts = [outcome.reason or "The turn ended early."]
    if outcome.incomplete:
        parts.append("What there is of the answer is marked incomplete.")
    if outcome.failure is not None:
        is_all = not outcome.tool_lines and outcome.detail.strip().rstrip(".") in outcome.reason
        kind = FailureKind.EMPTY if outcome.failure is FailureKind.PROTOCOL and is_all else outcome.failure
        remedy = REMEDIES[kind].format(turn=turn, backend=backend)
        if outcome.resets_at is not None:
            parts.append(f"The limit resets at {outcome.resets_at:%Y-%m-%d %H:%M} UTC.")
        parts.append(remedy)
    elif outcome.state is TurnState.INTERRUPTED:
        parts.append("Nothing is sent again by itself; use /retry.")
    said = [part if part.endswith((".", "!", "?", ")")) else f"{part}\n" for part in parts if part]
    return " ".join(said).replace("\n ", "\n").strip()


def _without_words(outcome: Outcome) -> str:
    return "\n".join([_NO_WORDS, *(f"- {line}" for line in outcome.tool_lines)])


def session_notice(backend: str, *, why: str, carried: int, total: int) -> str:
    """One line: a new session began, why, and what of the conversation went along."""
    if not carried:  # nothing was said before, or only commands
        return ""
    went = "all earlier messages" if carried == total else f"{carried} of {total} earlier messages"
    return f"New session with {backend} ({why}); {went} went along."
