"""When a usage limit ends, from the words in which providers and CLIs say so. Pure."""

import re
from datetime import UTC, datetime, timedelta

# "Please try again in 1h2m3s", "retry after 30 seconds", "will reset after 13h27m44s", "retryDelay": "3599.5s"
_SPAN = re.compile(
    r"(?:try again|retry|resets?|retry[-_ ]?(?:after|delay))\W{1,4}(?:(?:in|after)\W{1,3})?"
    r"(?P<span>(?:\d+(?:\.\d+)?\s*(?:days?|hours?|minutes?|seconds?|hrs?|mins?|secs?|ms|[dhms])(?![a-z]),?\s*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[dhms])", re.IGNORECASE)
_UNITS_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
# "retry-after: 3600": of HTTP, seconds without their name
_HEADER = re.compile(r"retry[-_]after\W{1,4}(\d{1,7})\b(?!\s*[a-z])", re.IGNORECASE)
# As in: "resets 5:11pm (UTC)", "resets Dec 3, 5pm (Europe/Berlin)", "try again at 5:10 PM"
_CLOCK = re.compile(
    r"(?:resets?|try again)(?:\s+at)?\s+"
    r"(?:(?P<month>[a-z]{3})[a-z]*\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?:at\s+)?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>[ap])m\b(?:\s*\((?P<zone>[^)]*)\))?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGEST_S = 400 * 86_400.0


def told_reset(said: str, now: datetime) -> datetime | None:
    """The moment that `said` speaks of, seen from `now` (aware); None when it speaks of none.

    A time of day is the next one; without a zone, and in any but UTC, it is this machine's: that of the CLI.
    """
    if found := _SPAN.search(said):
        seconds = sum(float(number) * _UNITS_S[unit.lower()] for number, unit in _PART.findall(found["span"]))
    elif found := _HEADER.search(said):
        seconds = float(found[1])
    else:
        found = _CLOCK.search(said)
        return _next(found, now) if found else None
    return now + timedelta(seconds=seconds) if 0 < seconds <= _LONGEST_S else None


def _next(found: re.Match[str], now: datetime) -> datetime | None:
    here = now.astimezone(UTC) if (found["zone"] or "").upper() == "UTC" else now.astimezone()
    hour = int(found["hour"]) % 12 + (12 if found["half"].lower() == "p" else 0)
    try:
        at = here.replace(hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0)
        if month := found["month"]:
            at = at.replace(month=_MONTHS.index(month.lower()) + 1, day=int(found["day"]))
        later = at.replace(year=at.year + 1) if month else at + timedelta(days=1)
    except ValueError:  # no such day, hour or month
        return None
    return (at if at > here else later).astimezone(UTC)
