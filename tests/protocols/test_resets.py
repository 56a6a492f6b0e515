"""When a limit ends, in the words of every provider and CLI whose words are known."""

from datetime import UTC, datetime, timedelta

import pytest

from kai.protocols.resets import told_reset

NOW = datetime(2026, 11, 30, 16, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Rate limit reached. Please try again in 3595s.", 3595),
        ("Please try again in 1h2m3s.", 3723),
        ("Please try again in 6m0.5s. Visit https://example.org", 360.5),
        ("try again in 5 days 3 hours 2 minutes.", 5 * 86_400 + 3 * 3_600 + 120),
        ("Please retry in 59.5s", 59.5),
        ("Your quota will reset after 13h27m44s.", 13 * 3_600 + 27 * 60 + 44),
        ('{"@type": "…RetryInfo", "retryDelay": "3599s"}', 3599),
        ("retry after 30 seconds", 30),
        ("Retry-After: 3600", 3600),
        ('{"retry_after": 20}', 20),
        ("try again in 500ms", 0.5),
    ],
)
def test_a_span_counts_from_now(said: str, seconds: float) -> None:
    assert told_reset(said, NOW) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("You've hit your 5-hour limit · resets 5:11pm (UTC)", datetime(2026, 11, 30, 17, 11, tzinfo=UTC)),
        ("Usage limit reached · resets 4am (UTC)", datetime(2026, 12, 1, 4, tzinfo=UTC)),
        ("You've hit your weekly limit · resets Dec 3, 12:30pm (UTC)", datetime(2026, 12, 3, 12, 30, tzinfo=UTC)),
        ("limit reached, resets Jan 2 at 9am (UTC)", datetime(2027, 1, 2, 9, tzinfo=UTC)),
    ],
)
def test_a_time_of_day_is_the_next_one(said: str, at: datetime) -> None:
    assert told_reset(said, NOW) == at


def test_a_time_of_day_without_a_zone_is_this_machine_s() -> None:
    here = NOW.astimezone()
    later = here.replace(hour=(here.hour + 1) % 24, minute=0)
    said = f"try again at {later:%I:%M %p}"
    told = told_reset(said, NOW)
    assert told is not None
    assert NOW < told <= NOW + timedelta(days=1)
    assert told.astimezone().hour == later.hour


@pytest.mark.parametrize(
    "said",
    [
        "",
        "rate limit exceeded",
        "try again later",
        "Please try again in a few minutes",
        "retry 3 of 10",
        "resets Feb 31, 5pm (UTC)",
        "resets Foo 3, 5pm (UTC)",
        "try again in 9999 days",
        "retry-after: 0",
    ],
)
def test_words_that_name_no_time_name_none(said: str) -> None:
    assert told_reset(said, NOW) is None
