"""Errors as problem documents (RFC 9457): the one place where an error becomes a status.

The door's own refusals are `ApiError`s from the start: what a client raises is what was raised here.
"""

from dataclasses import dataclass

from kai.model import errors
from kai.model.errors import ApiError, KaiError
from kai.settings.problems import ConfigError

# The first class that fits counts.
STATUSES: tuple[tuple[type[KaiError], int, str], ...] = (
    (errors.DeniedError, 403, "Not allowed"),
    (errors.UnknownThingError, 404, "Not found"),
    (errors.WrongMoveError, 409, "Wrong state"),
    (errors.ChoiceGoneError, 409, "Choice gone"),
    (errors.BusyError, 409, "Busy"),
    (errors.DelegationError, 409, "Not delegated"),
    (errors.BadInputError, 422, "Bad input"),
    (errors.ContextBudgetError, 422, "Does not fit"),
    (ConfigError, 422, "Bad configuration"),
    (errors.QueueFullError, 429, "Queue full"),
    (errors.ErrandError, 422, "File refused"),
    (errors.LaunchError, 502, "Agent not started"),
    (errors.SessionBrokenError, 502, "Agent gone"),
    (errors.StoreError, 503, "Database unusable"),
    (KaiError, 500, "Failed"),
)


@dataclass(frozen=True, slots=True)
class ProblemDocument:
    """The body of every answer that is no success. `field` is a dotted path into what was sent, or empty."""

    type: str
    title: str
    status: int
    detail: str
    hint: str
    field: str


def document(error: KaiError) -> ProblemDocument:
    """The problem document of an error: what happened, where, and what to do."""
    if isinstance(error, ApiError):
        status, title = error.status, error.title
    else:
        status, title = next((status, title) for kind, status, title in STATUSES if isinstance(error, kind))
    name = title.lower().replace(" ", "-")
    field = getattr(error, "field", "")
    return ProblemDocument(f"urn:kai:problem:{name}", title, status, error.sentence, error.hint, field)


def malformed(problem: str, field: str = "") -> ApiError:
    """What was sent is no well-formed request. `field` is the nearest name that is known."""
    where = f"{field}: " if field else ""
    return ApiError(400, "Malformed", f"The request is malformed: {where}{problem}.", field)
