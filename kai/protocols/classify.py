"""Why a turn failed, from whatever a backend shows of it: one function for all of them."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kai.model.errors import FailureKind
from kai.model.events import Failed

_HEADS = {
    FailureKind.LOGIN: "The agent is not logged in, or its login expired",
    FailureKind.QUOTA: "The provider's usage limit is reached",
    FailureKind.MODEL: "The provider does not know or does not allow this model",
    FailureKind.PROVIDER: "The provider did not give an answer",
    FailureKind.CONTEXT: "The conversation is too long for the model",
    FailureKind.REFUSED: "The provider refused this content",
    FailureKind.RESUME: "The agent could not take up its session again",
    FailureKind.EMPTY: "The agent ended its turn without an answer",
    FailureKind.MEMORY: "The agent was killed for lack of memory",
    FailureKind.CRASH: "The agent's process ended in the middle of its work",
    FailureKind.PROTOCOL: "The agent reported an error",
    FailureKind.LAUNCH: "The agent's process ended before it was ready",
    FailureKind.OLD: "The installed agent is too old",
}

_BY_STATUS = {
    400: FailureKind.PROTOCOL,
    401: FailureKind.LOGIN,
    402: FailureKind.QUOTA,
    403: FailureKind.LOGIN,
    404: FailureKind.MODEL,
    408: FailureKind.PROVIDER,
    409: FailureKind.PROVIDER,
    413: FailureKind.CONTEXT,
    429: FailureKind.QUOTA,
}

# In this order: the more telling words first; the backend's own name of the error is among them.
_BY_WORDS = tuple(
    (re.compile(words, re.IGNORECASE), kind)
    for words, kind in (
        (
            r"no (conversation|rollout) found|(session (id )?|thread )not found|unknown session|invalid session id",
            FailureKind.RESUME,
        ),
        (
            r"prompt is too long|prompt budget|context.{0,20}(length|window|limit)|too many tokens|too.large",
            FailureKind.CONTEXT,
        ),
        (
            r"usage.?limit|rate.?limit|budget.?exceeded|quota|too many requests|credit balance|out of credits|billing",
            FailureKind.QUOTA,
        ),
        (r"hit your .{0,30}limit", FailureKind.QUOTA),
        (
            r"not logged in|run /login|authenticat|unauthori[sz]ed|unauthenticated|invalid.{0,12}api.?key|no api key",
            FailureKind.LOGIN,
        ),
        (r"missing environment variable|no llm provider configured", FailureKind.LOGIN),
        (r"issue with the selected model|model.{0,40}(not.?found|not exist|unknown)|unknown model", FailureKind.MODEL),
        (r"could not process image|image.{0,60}(exceeds|not supported|invalid|appears to be)", FailureKind.REFUSED),
        (r"content.{0,20}(policy|filter)|safety|policy.?violation|(cyber|bio).?policy", FailureKind.REFUSED),
        (
            r"overloaded|server.?(side|error)|network|fetch failed|socket hang up|time.?d? ?out|finish_reason",
            FailureKind.PROVIDER,
        ),
        (r"econn|enotfound|etimedout|getaddrinfo|connection.(refused|error|reset|failed)", FailureKind.PROVIDER),
        (r"unavailable|could not connect|stream.?(error|closed|ended|disconnected)", FailureKind.PROVIDER),
    )
)
_SERVER_S_OWN = 500
_STATUS = re.compile(
    r"(?:HTTP|API Error|error|status|code|rejected)\W{0,4}(?:code\W{0,3})?\(?([45]\d\d)\b", re.IGNORECASE
)
_RESET = re.compile(r"\|(\d{10})\b")

_BUSY = "Queued for the next turn."  # Hermes, to every prompt after a tool that it could not cancel

# How an answer begins that is no answer: CLIs that send their provider's error as the agent's words.
_ERROR_STARTS = (
    "HTTP ",
    "API Error",
    "Failed to authenticate",
    "Not logged in",
    "You've hit your ",
    "Request payload too large",
    "There's an issue with the selected model",
    "Error: ",
    _BUSY,
)
_ERROR_TEXT = re.compile(
    # "HTTP " and "Error: " begin honest answers, too: those must also go on like an error.
    r"\s*(?:HTTP [45]\d\d:|Error: (?=.*(?:HTTP [45]\d\d|finish_reason|failed))|API Error\b"
    r"|Failed to authenticate\b|Not logged in\b|There's an issue with the selected model"
    r"|You've hit your [\w -]{0,40}limit\b|Request payload too large \(\d+\)"
    r"|Queued for the next turn\. \(\d+ queued\)$)",
    re.DOTALL,
)
# Copilot tells what happened to it in pieces of its own between the model's words.
_NOTICE = re.compile(
    r"Info: (?:\S*/\S+|Operation cancelled by user|Re(?:quest|sponse) .{0,200}Retrying\.\.\.)|Error: .*"
    r"|Operation interrupted: .{0,200}",
    re.DOTALL,
)
LONGEST_ERROR_CHARS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a failure. `code` is the backend's own name for it; `exit_code` is negative for a signal."""

    text: str = ""
    status: int | None = None
    code: str = ""
    rpc_code: int | None = None
    ended: bool = False  # the process is gone
    exit_code: int | None = None
    stderr: str = ""
    out_of_memory: bool = False


def classify(evidence: Evidence) -> Failed:
    """The failure that `evidence` speaks of; `session_lost` when its process is gone."""
    kind = FailureKind.MEMORY if evidence.out_of_memory else _kind(evidence)
    return Failed(
        kind,
        _sentence(kind, evidence),
        detail="\n".join(part for part in (evidence.text, evidence.stderr.strip()) if part),
        resets_at=moment(int(found[1])) if (found := _RESET.search(evidence.text)) else None,
        session_lost=evidence.ended,
    )


def of_kind(kind: FailureKind, text: str = "", *, session_lost: bool = False) -> Failed:
    """A failure whose kind is known already."""
    return Failed(kind, _sentence(kind, Evidence(text=text)), detail=text, session_lost=session_lost)


def at_start(failed: Failed) -> Failed:
    """A process that ended before it was ready: where nothing else is known, it could not be started."""
    if failed.kind not in (FailureKind.CRASH, FailureKind.PROTOCOL):
        return failed
    return replace(of_kind(FailureKind.LAUNCH, failed.sentence, session_lost=True), detail=failed.detail)


def moment(epoch_s: float | None) -> datetime | None:
    """Aware UTC from seconds since 1970; None for none and for what is no date."""
    try:
        return datetime.fromtimestamp(epoch_s, UTC) if epoch_s else None
    except (ValueError, OverflowError, OSError):
        return None


def may_be_error(text: str) -> bool:
    """A beginning of an answer that may yet turn out to be an error in the agent's mouth."""
    start = text.lstrip()[:24]
    return len(text) <= LONGEST_ERROR_CHARS and any(
        word.startswith(start) or start.startswith(word) for word in _ERROR_STARTS
    )


def error_in(answer: str) -> Failed | None:
    """The failure, when a whole answer is nothing but the error of a provider."""
    if not answer.strip() or len(answer) > LONGEST_ERROR_CHARS or not _ERROR_TEXT.match(answer):
        return None
    if answer.startswith(_BUSY):
        return of_kind(FailureKind.PROTOCOL, f"it is busy with a turn that is over: {answer}", session_lost=True)
    return classify(Evidence(text=answer.strip()))


def is_notice(piece: str) -> bool:
    """A piece of text that an agent of quirk ``tells_notices`` says about itself."""
    return bool(_NOTICE.fullmatch(piece))


def error_notice(piece: str) -> Failed | None:
    """The failure that such a piece tells of, if any."""
    return classify(Evidence(text=piece.strip())) if piece.startswith("Error: ") else None


def _kind(evidence: Evidence) -> FailureKind:
    rpc = evidence.rpc_code
    status = evidence.status or (rpc if rpc is not None and 400 <= rpc < 600 else None)
    words = evidence.text or (_last_line(evidence.stderr) if evidence.ended else "")
    words = f"{evidence.code} {words}"
    by_words = next((kind for pattern, kind in _BY_WORDS if pattern.search(words)), None)
    if status is None and by_words is None and (found := _STATUS.search(words)):
        status = int(found[1])
    if by_words is None and rpc == -32000:
        by_words = FailureKind.LOGIN  # ACP's own code for it
    if status is not None and not (status == 400 and by_words):
        # What a provider does not take as it is, it will not take the next time either.
        return _BY_STATUS.get(status, FailureKind.PROVIDER if status >= _SERVER_S_OWN else FailureKind.PROTOCOL)
    return by_words or (FailureKind.CRASH if evidence.ended else FailureKind.PROTOCOL)


def _sentence(kind: FailureKind, evidence: Evidence) -> str:
    said = evidence.text or (_last_line(evidence.stderr) if evidence.ended else "")
    facts = [_end_of(evidence)] if evidence.ended else []
    facts += [short(said)] if said else []
    head = _HEADS.get(kind, "The turn failed")
    return f"{head} ({'; '.join(facts)})." if facts else f"{head}."


def _end_of(evidence: Evidence) -> str:
    code = evidence.exit_code
    if code is None:
        return "its exit code is not known"
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def _last_line(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def short(text: str, limit: int = 300) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= limit else line[: limit - 1] + "…"
