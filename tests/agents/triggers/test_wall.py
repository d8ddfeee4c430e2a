"""Local minutes and moments: whole years in zones whose clocks change in every way there is."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rule import Rule, to_key
from agents.triggers import cron, once, recurring
from agents.wall import moment_of, next_occurrence, occurrences, shown, span, to_wall, wall_after

ZONES = (
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",  # half an hour
    "America/Sao_Paulo",  # changed at midnight
    "Asia/Tehran",
    "Pacific/Apia",  # left out a day in 2011
    "Africa/Casablanca",  # turns back for Ramadan
    "UTC",
)
YEARS = (2011, 2018, 2026, 2027)
TIMES = ("00:00", "00:30", "01:30", "02:00", "02:30", "03:00", "09:00", "23:30")


def rule(text: str) -> Rule:
    for kind in (once, recurring, cron):
        found: Rule | None = kind.read(text)
        if found is not None:
            return found
    raise AssertionError(text)


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def millis(wall: str, zone: ZoneInfo, fold: int = 0) -> int:
    return int(local(wall).replace(tzinfo=zone, fold=fold).timestamp() * 1000)


def days(zone: str, year: int) -> int:
    """The days that a year has in a zone."""
    leap = year % 4 == 0
    return (366 if leap else 365) - (zone == "Pacific/Apia" and year == 2011)


def fires(text: str, zone: ZoneInfo, year: int) -> list[int]:
    """Every moment of a rule in a local year."""
    start, end = millis(f"{year}-01-01T00:00", zone) - 1, millis(f"{year + 1}-01-01T00:00", zone)
    found: list[int] = []
    for one in occurrences(rule(text), zone, start):
        if one.at >= end:
            return found
        found.append(one.at)
    return found


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("year", YEARS)
def test_a_daily_time_comes_once_on_every_day_there_is(zone: str, year: int) -> None:
    tz = ZoneInfo(zone)
    for time in TIMES:
        hour, minute = time.split(":")
        found = fires(f"{int(minute)} {int(hour)} * * *", tz, year)
        assert len(found) == days(zone, year), time
        assert all(earlier < later for earlier, later in pairwise(found))
        assert len({to_wall(at, tz).date() for at in found}) == len(found)


@pytest.mark.parametrize("zone", ZONES)
def test_every_minute_comes_once_a_local_minute_and_never_twice(zone: str) -> None:
    """Around both changes of the clocks: keys are unique, and every local minute that exists is among them."""
    tz = ZoneInfo(zone)
    for month in (2, 3, 4, 9, 10, 11):
        start = millis(f"2018-{month:02}-01T00:00", tz)
        keys = [one.key for one in islice(occurrences(rule("*/30 * * * *"), tz, start - 1), 31 * 48)]
        assert len(set(keys)) == len(keys)
        assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("zone", "after", "text", "moment", "key"),
    [
        # the hour that is skipped: the first minute after it
        ("America/New_York", "2026-03-08T00:00", "30 2 * * *", "2026-03-08T07:00", "2026-03-08T03:00"),
        ("America/New_York", "2026-03-08T00:00", "2026-03-08T02:30", "2026-03-08T07:00", "2026-03-08T03:00"),
        # the hour that comes twice: the first of the two
        ("America/New_York", "2026-11-01T00:00", "30 1 * * *", "2026-11-01T05:30", "2026-11-01T01:30"),
        ("Europe/Berlin", "2026-10-25T00:00", "30 2 * * *", "2026-10-25T00:30", "2026-10-25T02:30"),
        # midnight that does not exist
        ("America/Sao_Paulo", "2018-11-03T12:00", "0 0 * * *", "2018-11-04T03:00", "2018-11-04T01:00"),
        # a day that does not exist is left out
        ("Pacific/Apia", "2011-12-29T10:00", "0 9 * * *", "2011-12-30T19:00", "2011-12-31T09:00"),
    ],
)
def test_where_the_clocks_change(zone: str, after: str, text: str, moment: str, key: str) -> None:
    tz = ZoneInfo(zone)
    found = next_occurrence(rule(text), tz, millis(after, tz))
    assert found is not None
    assert datetime.fromtimestamp(found.at / 1000, UTC).replace(tzinfo=None) == local(moment)
    assert found.key == key


@pytest.mark.parametrize(
    ("zone", "moment", "minutes", "wall"),
    [
        ("Europe/Berlin", "2026-11-30 08:12", 20, "2026-11-30T09:32"),
        # 01:50, and the clocks go forward at two: 20 minutes are 20 minutes.
        ("Europe/Berlin", "2027-03-28 00:50", 20, "2027-03-28T03:10"),
        ("Europe/Berlin", "2027-03-28 00:50", 60, "2027-03-28T03:50"),
        # 01:50, and they go back at three: what ends in the second hour of the two is at their end.
        ("Europe/Berlin", "2026-10-24 23:50", 30, "2026-10-25T02:20"),
        ("Europe/Berlin", "2026-10-24 23:50", 90, "2026-10-25T03:00"),
        ("Europe/Berlin", "2026-10-24 23:50", 150, "2026-10-25T03:20"),
        ("Europe/Berlin", "2026-10-25 01:50", 5, "2026-10-25T03:00"),
        ("Australia/Lord_Howe", "2026-10-03 15:20", 20, "2026-10-04T02:40"),
    ],
)
def test_a_length_of_time_is_that_long_whatever_the_clocks_do(zone: str, moment: str, minutes: int, wall: str) -> None:
    at = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000) + 12_345
    assert to_key(wall_after(at, timedelta(minutes=minutes), ZoneInfo(zone))) == wall


def test_the_second_hour_fires_nothing_again() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    again = millis("2026-10-25T02:30", berlin, fold=1)
    found = next_occurrence(rule("30 2 * * *"), berlin, again - 60_000)
    assert found is not None
    assert found.key == "2026-10-26T02:30"


def test_a_skipped_hour_of_quarter_hours_is_one_time() -> None:
    """02:00, 02:15, 02:30 and 02:45 do not exist; 03:00 is one time, not five."""
    tz = ZoneInfo("America/New_York")
    found = islice(occurrences(rule("*/15 * * * *"), tz, millis("2026-03-08T01:30", tz)), 3)
    assert [one.key for one in found] == ["2026-03-08T01:45", "2026-03-08T03:00", "2026-03-08T03:15"]


@given(
    st.sampled_from(ZONES),
    st.datetimes(min_value=local("2000-01-01"), max_value=local("2040-01-01")),
    st.integers(0, 59),
    st.integers(0, 23),
)
def test_the_next_time_is_later_and_the_same_however_one_comes_to_it(
    zone: str, at: datetime, minute: int, hour: int
) -> None:
    tz = ZoneInfo(zone)
    after = int(at.replace(tzinfo=UTC).timestamp() * 1000)
    daily = rule(f"{minute} {hour} * * *")
    found = next_occurrence(daily, tz, after)
    assert found is not None
    assert after < found.at <= after + 50 * 3_600_000
    assert next_occurrence(daily, tz, found.at - 1) == found
    between = after + (found.at - after) // 2
    assert next_occurrence(daily, tz, between) == (found if between < found.at else next_occurrence(daily, tz, between))
    assert found.key == to_key(to_wall(found.at, tz))


@given(st.sampled_from(ZONES), st.datetimes(min_value=local("2000-01-01"), max_value=local("2040-01-01")))
def test_a_local_minute_is_the_first_moment_that_shows_it(zone: str, wall: datetime) -> None:
    tz, wall = ZoneInfo(zone), wall.replace(second=0, microsecond=0)
    moment = moment_of(wall, tz)
    if moment is None:
        assert (zone, wall.date()) == ("Pacific/Apia", date(2011, 12, 30))
        return
    seen = moment.astimezone(tz).replace(tzinfo=None)
    assert seen >= wall
    before = (moment - timedelta(minutes=1)).astimezone(tz).replace(tzinfo=None)
    assert before < wall


def test_the_end_of_the_calendar_is_an_end() -> None:
    assert next_occurrence(rule("9999-12-31T23:59"), ZoneInfo("UTC"), 253_402_300_799_000) is None
    assert next_occurrence(rule("0 0 * * *"), ZoneInfo("UTC"), 253_402_300_799_000) is None


def test_times_as_mails_show_them() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    at = millis("2026-11-30T08:00", berlin)
    assert shown(at, berlin) == "Mon 30 Nov 08:00"
    assert shown(at, berlin, year=True) == "Mon 30 Nov 2026 08:00"
    assert [span(n * 60_000) for n in (5, 60, 200, 1440, 1500)] == ["5 min", "1 h", "3 h 20 min", "1 d", "1 d 1 h"]
