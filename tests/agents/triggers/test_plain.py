"""Times in plain words, English and German, and what is left of the text without them."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import plain, trigger
from agents.rule import SpecFault

NOW = datetime.fromisoformat("2026-11-30T09:12")  # a Monday


@pytest.mark.parametrize(
    ("text", "when", "rest"),
    [
        ("every weekday at 8", "0 8 * * 1-5", ""),
        ("every weekday at 8: summarise my inbox", "0 8 * * 1-5", "summarise my inbox"),
        ("each working morning at eight", "0 8 * * 1-5", ""),
        ("Please summarise my inbox every weekday at 8.", "0 8 * * 1-5", "summarise my inbox."),
        ("each Monday 9:30", "30 9 * * 1", ""),
        ("every Monday and Thursday at 10", "0 10 * * 1,4", ""),
        ("Mondays at 8 list what is open", "0 8 * * 1", "list what is open"),
        ("weekly on Monday at 9", "0 9 * * 1", ""),
        ("Monday to Friday, 08:00", "0 8 * * 1-5", ""),
        ("every weekend at noon", "0 12 * * 0,6", ""),
        ("every day at 7am list the mails of the last 24 hours", "0 7 * * *", "list the mails of the last 24 hours"),
        ("every evening list my mail", "0 18 * * *", "list my mail"),
        ("daily", "0 9 * * *", ""),
        ("every hour", "0 * * * *", ""),
        ("every 15 minutes look at the feed", "*/15 * * * *", "look at the feed"),
        ("every two hours", "0 */2 * * *", ""),
        ("first of the month at noon", "0 12 1 * *", ""),
        ("on the 15th of every month at 6pm", "0 18 15 * *", ""),
        ("monthly on the 5th at 9", "0 9 5 * *", ""),
        ("last day of the month at 17:00", "every month from 2000-01-31T17:00", ""),
        ("tomorrow at 14:00", "2026-12-01T14:00", ""),
        ("the day after tomorrow at 12:15", "2026-12-02T12:15", ""),
        ("in 20 minutes", "2026-11-30T09:32", ""),
        ("in an hour call Ann", "2026-11-30T10:12", "call Ann"),
        ("in 3 days", "2026-12-03T09:00", ""),
        ("next Friday at 10 call mum", "2026-12-04T10:00", "call mum"),
        ("on Monday at 8", "2026-12-07T08:00", ""),
        ("on Monday at 18:00", "2026-11-30T18:00", ""),
        ("at 17:00 go home", "2026-11-30T17:00", "go home"),
        ("at 8 run", "2026-12-01T08:00", "run"),
        ("2026-12-24 18:00 sing", "2026-12-24T18:00", "sing"),
        ("December 24th at 6 pm: sing", "2026-12-24T18:00", "sing"),
        ("on 3 March 2027 at 10:00", "2027-03-03T10:00", ""),
        ("0 8 * * 1-5 summarise my inbox", "0 8 * * 1-5", "summarise my inbox"),
        ("cron: */5 * * * * look", "*/5 * * * *", "look"),
        ("0 9 * jan-mar mon,thu: look", "0 9 * jan-mar mon,thu", "look"),
        ("@daily: look", "0 0 * * *", "look"),
        ("jeden Werktag um 8 Uhr: Posteingang zusammenfassen", "0 8 * * 1-5", "Posteingang zusammenfassen"),
        ("jeden Montag um 9:30 Uhr", "30 9 * * 1", ""),
        ("montags und donnerstags um 8", "0 8 * * 1,4", ""),
        ("von Montag bis Freitag um 8", "0 8 * * 1-5", ""),
        ("täglich um 7 Uhr 30", "30 7 * * *", ""),
        ("jeden Tag um acht", "0 8 * * *", ""),
        ("alle 15 Minuten", "*/15 * * * *", ""),
        ("am ersten jedes Monats um 12 Uhr", "0 12 1 * *", ""),
        ("am 15. jedes Monats um 18 Uhr", "0 18 15 * *", ""),
        ("morgen um 14 Uhr", "2026-12-01T14:00", ""),
        ("übermorgen mittag", "2026-12-02T12:00", ""),
        ("in zwei Stunden", "2026-11-30T11:12", ""),
        ("heute abend", "2026-11-30T18:00", ""),
        ("am 24.12. um 18 Uhr singen", "2026-12-24T18:00", "singen"),
    ],
)
def test_what_is_read(text: str, when: str, rest: str) -> None:
    found = plain.read(text, NOW)
    assert found is not None
    assert (found.when, found.rest) == (when, rest)


NOTHING = ["", "summarise my inbox", "write to ann@acme.org", "3 4 apples and oranges", "1 2 3 4 apples"]
NOTHING += ["the 3 points", "pay 88.50 EUR", "guten Morgen", "every bit"]


@pytest.mark.parametrize("text", NOTHING)
def test_what_names_no_time(text: str) -> None:
    assert plain.read(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("every 7 minutes", "every 7 minutes does not fit an hour"),
        ("every 5 hours", "every 5 hours does not fit a day"),
        ("every 3 days", "name the days instead"),
        ("on the 31st of February", "there is no day 31.2."),
        ("am 45. jedes Monats", "there is no 45. day"),
        ("61 * * * * look", '"61" is no minute'),
    ],
)
def test_what_cannot_be_kept_is_said(text: str, told: str) -> None:
    with pytest.raises(SpecFault) as fault:
        plain.read(text, NOW)
    assert told in str(fault.value)


WORDS = st.sampled_from(
    "every each on at in the of and to 8 9:30 31 20 minutes hours Monday montags weekday day month first morgen um Uhr"
    " pm noon tomorrow @daily * */5 1-5 jeden Tag alle übermorgen 31.12. 2026-12-24 December 24th : , .".split()
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_whatever_is_read_is_a_rule(text: str) -> None:
    try:
        found = plain.read(text, NOW)
    except SpecFault:
        return
    if found is not None:
        assert trigger.read_rule(found.when)[1].spec


def test_a_long_text_is_read_at_once() -> None:
    found = plain.read("every day at 8: " + "on am next " * 100_000, NOW)
    assert found is not None
    assert len(found.rest) > 1_000_000
