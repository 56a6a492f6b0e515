"""The person's local date, time and zone: one line, the last thing that moves before the message itself."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from kai.context.draft import Draft, Item
from kai.model.context import Facts

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def draft(facts: Facts) -> Draft | None:
    if facts.now_setting == "off":
        return None
    clock = f" {time_text(facts)}" if facts.now_setting == "minute" else ""
    return Draft("now", (Item("clock", facts.now_setting, f"[Now: {date_text(facts)}{clock} {_zone_name(facts)}]"),))


def zone_of(facts: Facts) -> tzinfo:
    """The zone in which times are shown; UTC when its name is not known here.

    `gather` hands in a `now` that is in that zone already, so that no zone file is opened here.
    """
    zone = facts.now.tzinfo
    if isinstance(zone, ZoneInfo) and zone.key == facts.zone:
        return zone
    if facts.zone == "UTC":
        return UTC
    try:
        return ZoneInfo(facts.zone)
    except (ValueError, OSError, LookupError):
        return UTC


def date_text(facts: Facts) -> str:
    local = _local(facts)
    return f"{_DAYS[local.weekday()]} {local:%Y-%m-%d}"


def time_text(facts: Facts) -> str:
    return f"{_local(facts):%H:%M}"


def _local(facts: Facts) -> datetime:
    return facts.now.astimezone(zone_of(facts))


def _zone_name(facts: Facts) -> str:
    zone = zone_of(facts)
    return zone.key if isinstance(zone, ZoneInfo) and zone.key else "UTC"
