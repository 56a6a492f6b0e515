"""Errors as problem documents (RFC 9457): the one place where an error becomes a status."""

import re
from dataclasses import dataclass

from kai.model import errors
from kai.model.errors import KaiError
from kai.settings.problems import ConfigError


@dataclass
class MalformedError(KaiError):
    """What was sent is no well-formed request. `field` is the nearest name that is known, or empty."""

    problem: str
    field: str = ""

    @property
    def sentence(self) -> str:
        return f"The request is malformed: {self.field}{': ' if self.field else ''}{self.problem}."


@dataclass
class TooLargeError(KaiError):
    """More bytes than may come; `setting` is where the operator says how many may."""

    what: str
    limit_bytes: int
    setting: str

    @property
    def sentence(self) -> str:
        return f"The {self.what} is larger than the {self.limit_bytes:,} bytes allowed."

    @property
    def hint(self) -> str:
        return f"Send less, or let the operator raise {self.setting}."


@dataclass
class MediaTypeError(KaiError):
    """A body of another type than the route takes."""

    got: str
    wanted: str

    @property
    def sentence(self) -> str:
        return f"The body's content-type is {self.got!r}, not {self.wanted!r}."


@dataclass
class SlowRequestError(KaiError):
    """A request that did not arrive in time."""

    limit_s: float

    @property
    def sentence(self) -> str:
        return f"The request did not arrive within {self.limit_s:g} seconds."


@dataclass
class NoRouteError(KaiError):
    """A path that leads nowhere on this socket."""

    method: str
    path: str

    @property
    def sentence(self) -> str:
        return f"There is no {self.method} {self.path} here."


@dataclass
class WrongMethodError(NoRouteError):
    """A path that takes only the methods `allowed`."""

    allowed: tuple[str, ...]

    @property
    def hint(self) -> str:
        return f"Use {' or '.join(self.allowed)}."


@dataclass
class CrowdedError(KaiError):
    """There are too many connections; one more was not taken."""


@dataclass
class FaultError(KaiError):
    """kai made a mistake. `fault` is what its log has the details under."""

    fault: str

    @property
    def sentence(self) -> str:
        return f"kai made a mistake of its own; the daemon's log has the details under {self.fault}."


# The first class that fits counts: subclasses stand before their bases.
STATUSES: tuple[tuple[type[KaiError], int, str], ...] = (
    (MalformedError, 400, "Malformed request"),
    (errors.DeniedError, 403, "Not allowed"),
    (errors.UnknownThingError, 404, "Not found"),
    (WrongMethodError, 405, "Wrong method"),
    (NoRouteError, 404, "No such route"),
    (SlowRequestError, 408, "Too slow"),
    (errors.WrongMoveError, 409, "Not possible in this state"),
    (errors.BusyError, 409, "A turn is running"),
    (TooLargeError, 413, "Too large"),
    (MediaTypeError, 415, "Wrong content-type"),
    (errors.BadInputError, 422, "Bad input"),
    (errors.ContextBudgetError, 422, "Does not fit"),
    (ConfigError, 422, "Bad configuration"),
    (errors.QueueFullError, 429, "Too many waiting messages"),
    (errors.LaunchError, 502, "The agent CLI could not be started"),
    (errors.SessionBrokenError, 502, "The agent CLI is gone"),
    (errors.StoreError, 503, "The database cannot be used"),
    (CrowdedError, 503, "Too many connections"),
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
    status, title = next((status, title) for kind, status, title in STATUSES if isinstance(error, kind))
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()
    field = getattr(error, "field", "")
    return ProblemDocument(f"urn:kai:problem:{name}", title, status, error.sentence, error.hint, field)
