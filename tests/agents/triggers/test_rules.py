"""The kinds of triggers: cron text against a naive reading of POSIX, recurring times, single times."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import trigger
from agents.rule import SpecFault
from agents.triggers import cron, once, recurring
from agents.triggers.cron import Cron


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def line(text: str) -> Cron:
    found = cron.read(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("0 8 * * 1-5", ["2026-11-30T08:00", "2026-12-01T08:00", "2026-12-02T08:00"]),
        ("*/20 9 * * *", ["2026-11-28T09:00", "2026-11-28T09:20", "2026-11-28T09:40"]),
        ("0 9 13 * 5", ["2026-12-04T09:00", "2026-12-11T09:00", "2026-12-13T09:00"]),  # either day suffices
        ("0 9 * * 7", ["2026-11-29T09:00", "2026-12-06T09:00", "2026-12-13T09:00"]),
        ("0 9 * * 0", ["2026-11-29T09:00", "2026-12-06T09:00", "2026-12-13T09:00"]),
        ("0 9 * * Sun", ["2026-11-29T09:00", "2026-12-06T09:00", "2026-12-13T09:00"]),
        ("0 9 * * fri-sun", ["2026-11-28T09:00", "2026-11-29T09:00", "2026-12-04T09:00"]),
        ("5,35 22-23 * * *", ["2026-11-28T22:05", "2026-11-28T22:35", "2026-11-28T23:05"]),
        ("0 0 29 2 *", ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"]),
        ("0 0 1 jan,JUL *", ["2027-01-01T00:00", "2027-07-01T00:00", "2028-01-01T00:00"]),
        ("7/20 * * * *", ["2026-11-28T00:07", "2026-11-28T00:27", "2026-11-28T00:47"]),
        ("10-20/5 0 * * *", ["2026-11-28T00:10", "2026-11-28T00:15", "2026-11-28T00:20"]),
        ("@daily", ["2026-11-29T00:00", "2026-11-30T00:00", "2026-12-01T00:00"]),
        ("@yearly", ["2027-01-01T00:00", "2028-01-01T00:00", "2029-01-01T00:00"]),
        ("0  9 31 * *", ["2026-12-31T09:00", "2027-01-31T09:00", "2027-03-31T09:00"]),
    ],
)
def test_when_a_line_fires(text: str, times: list[str]) -> None:
    wall, found = local("2026-11-28T00:00"), []
    for _ in times:
        following = line(text).after(wall)
        assert following is not None
        wall = following
        found.append(f"{wall:%Y-%m-%dT%H:%M}")
    assert found == times


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 0 31 2 *", "names a day that never comes"),
        ("0 0 * * * *", "has 6 fields"),
        ("0 9 * *", "has 4 fields"),
        ("60 9 * * *", '"60" is no minute: it goes from 0 to 59'),
        ("0 24 * * *", '"24" is no hour'),
        ("0 9 0 * *", '"0" is no day of the month'),
        ("0 9 * 13 *", '"13" is no month: it goes from 1 to 12, or jan to dec'),
        ("0 9 * * 8", '"8" is no day of the week'),
        ("0 9 * * mon#1", '"mon#1" is not understood'),
        ("0 9 L * *", '"L" is no day of the month'),
        ("0 9 ? * 1", '"?" is not understood'),
        ("*/0 * * * *", "no range"),
        ("20-10 * * * *", "no range"),
        ("*-5 * * * *", "not understood"),
        ("1,,2 * * * *", "not understood"),
        ("@reboot", '"@reboot" is not known'),
    ],
)
def test_what_is_refused(text: str, told: str) -> None:
    with pytest.raises(SpecFault) as fault:
        cron.read(text)
    assert told in str(fault.value)


@st.composite
def fields(draw: st.DrawFn) -> tuple[str, str, str, str, str]:
    def one(low: int, high: int) -> str:
        first, last = sorted((draw(st.integers(low, high)), draw(st.integers(low, high))))
        kind = draw(st.integers(0, 4))
        step = draw(st.integers(1, high))
        return ("*", str(first), f"{first}-{last}", f"{first}-{last}/{step}", f"{first},{last}")[kind]

    return one(0, 59), one(0, 23), one(1, 31), one(1, 12), one(0, 7)


def members(text: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        start, end = (low, high) if span == "*" else (int(first), int(last) if dash else int(first))
        found |= set(range(start, end + 1, int(step or 1)))
    return found


def naive(given_fields: tuple[str, str, str, str, str]) -> Callable[[datetime], bool]:
    """POSIX, word for word, for one minute."""
    minute, hour, day, month, week = given_fields
    minutes, hours, months = members(minute, 0, 59), members(hour, 0, 23), members(month, 1, 12)
    of_month, of_week = members(day, 1, 31), {one % 7 for one in members(week, 0, 7)}
    either = day != "*" and week != "*"

    def fires(wall: datetime) -> bool:
        on_day, on_week = wall.day in of_month, wall.isoweekday() % 7 in of_week
        days = (on_day or on_week) if either else (on_day and on_week)
        return days and wall.minute in minutes and wall.hour in hours and wall.month in months

    return fires


@settings(max_examples=100, deadline=None)
@given(fields(), st.datetimes(min_value=local("2024-01-01"), max_value=local("2028-01-01")))
def test_every_line_fires_exactly_when_posix_says(text: tuple[str, str, str, str, str], start: datetime) -> None:
    start = start.replace(second=0, microsecond=0)
    try:
        made = line(" ".join(text))
    except SpecFault:  # a day that never comes: the naive reading finds none either
        assert not any(naive(text)(start + timedelta(minutes=n)) for n in range(1, 3000))
        return
    fires = naive(text)
    wanted = [wall for n in range(1, 3000) if fires(wall := start + timedelta(minutes=n))]
    found: list[datetime] = []
    following = made.after(start)
    while following is not None and following < start + timedelta(minutes=3000):
        found.append(following)
        following = made.after(following)
    assert found == wanted


@given(st.text(alphabet="0123456789*,-/ @LW#?monjan\n\t٣", max_size=40))
def test_no_text_breaks_the_reading(text: str) -> None:
    try:
        made = trigger.read_rule(text)[1]
    except SpecFault:
        return
    again = trigger.read_rule(made.spec)[1]
    assert (again.spec, again.words()) == (made.spec, made.words())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 8 * * 1-5", "Monday to Friday, 08:00"),
        ("30 9 * * 1,4", "every Monday and Thursday, 09:30"),
        ("0 8,20 * * *", "every day, 08:00 and 20:00"),
        ("*/15 * * * *", "every 15 minutes"),
        ("* * * * *", "every minute"),
        ("5 * * * *", "every hour at :05"),
        ("0 12 1 * *", "the 1st of each month, 12:00"),
        ("0 12 1 6 *", 'cron "0 12 1 6 *"'),
        ("0 9 13 * 5", 'cron "0 9 13 * 5"'),
        ("2026-12-01T14:00", "once, on Tue 1 Dec 2026, 14:00"),
        ("every week from 2026-12-01T14:00", "every Tuesday, 14:00"),
        ("every weekday from 2026-12-01T14:00", "Monday to Friday, 14:00"),
        ("every month from 2026-12-22T14:00", "the 22nd of each month, 14:00"),
        ("every month from 2000-01-31T14:00", "the last day of each month, 14:00"),
        ("every hour from 2026-12-01T14:05", "every hour at :05"),
    ],
)
def test_a_rule_in_words(text: str, words: str) -> None:
    assert trigger.read_rule(text)[1].words() == words


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("every hour from 2026-11-30T09:30", ["2026-11-30T09:30", "2026-11-30T10:30", "2026-11-30T11:30"]),
        ("every day from 2026-12-05T09:30", ["2026-12-05T09:30", "2026-12-06T09:30", "2026-12-07T09:30"]),
        ("every weekday from 2026-12-05T09:30", ["2026-12-07T09:30", "2026-12-08T09:30", "2026-12-09T09:30"]),
        ("every week from 2026-12-05T09:30", ["2026-12-05T09:30", "2026-12-12T09:30", "2026-12-19T09:30"]),
        ("every month from 2026-12-31T09:30", ["2026-12-31T09:30", "2027-01-31T09:30", "2027-02-28T09:30"]),
        ("every month from 2027-01-30T09:30", ["2027-01-30T09:30", "2027-02-28T09:30", "2027-03-30T09:30"]),
    ],
)
def test_recurring_from_a_first_time_on(text: str, times: list[str]) -> None:
    made = recurring.read(text)
    assert made is not None
    wall, found = local("2026-11-30T09:00"), []
    for _ in times:
        following = made.after(wall)
        assert following is not None
        wall = following
        found.append(f"{wall:%Y-%m-%dT%H:%M}")
    assert found == times


def test_a_single_time_comes_once() -> None:
    made = once.read("2026-12-01 14:00")
    assert made is not None
    assert made.after(local("2026-12-01T13:59")) == local("2026-12-01T14:00")
    assert made.after(local("2026-12-01T14:00")) is None
    with pytest.raises(SpecFault, match="no date and time"):
        once.read("2026-02-30T14:00")


def test_what_no_kind_knows_is_said() -> None:
    with pytest.raises(SpecFault, match="neither a time like"):
        trigger.read_rule("soon")
