"""The person's clock."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kai.context.sections.now import draft, zone_of
from tests.context.examples import NOW, facts


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("minute", "[Now: Mon 2026-11-30 18:41 Europe/Berlin]"),
        ("day", "[Now: Mon 2026-11-30 Europe/Berlin]"),
    ],
)
def test_the_line_is_as_exact_as_the_setting_says(setting: str, line: str) -> None:
    found = draft(facts(now_setting=setting))
    assert found is not None
    assert found.text(found.items) == line
    assert not found.required
    assert not found.stable


def test_it_can_be_switched_off() -> None:
    assert draft(facts(now_setting="off")) is None


def test_the_day_is_the_one_where_the_person_is() -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    tokyo = facts(now=late.astimezone(ZoneInfo("Asia/Tokyo")), zone="Asia/Tokyo")
    found = draft(tokyo)
    assert found is not None
    assert found.text(found.items) == "[Now: Tue 2026-12-01 08:30 Asia/Tokyo]"


@pytest.mark.parametrize("name", ["", "UTC", "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "x\0y"])
def test_a_zone_that_is_none_is_utc(name: str) -> None:
    made = facts(now=NOW, zone=name)
    assert zone_of(made) is UTC
    found = draft(made)
    assert found is not None
    assert found.text(found.items) == "[Now: Mon 2026-11-30 17:41 UTC]"
