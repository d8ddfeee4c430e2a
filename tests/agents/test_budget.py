"""Money, tries and pace as functions: what is reserved, what it came to, when a call is made again."""

from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from agents import budget, retry
from agents.budget import Caps, Reservation, Totals
from agents.llm import ModelError, ModelFault, ModelReply, Price, Usage
from agents.retry import HOUR, MINUTE, SECOND
from agents.store import Try
from agents.throttle import Throttle

PRICE = Price(Decimal(3), Decimal(15))
FREE = Price(Decimal(0), Decimal(0))
CAPS = Caps(30, 60, 10_000, 500_000, 1_200_000, 2_000_000, 5_000_000)
USED = Totals(1, 1, 5_000, 400_000, False, 0, 50_000, 1_000)


@pytest.mark.parametrize(
    ("zone", "moment", "day"),
    [
        ("Europe/Berlin", "2026-11-30 22:59", "2026-11-30"),
        ("Europe/Berlin", "2026-11-30 23:00", "2026-12-01"),
        # The night of 25 hours, and that of 23.
        ("Europe/Berlin", "2026-10-24 21:59", "2026-10-24"),
        ("Europe/Berlin", "2026-10-24 22:00", "2026-10-25"),
        ("Europe/Berlin", "2026-10-25 22:59", "2026-10-25"),
        ("Europe/Berlin", "2026-10-25 23:00", "2026-10-26"),
        ("Europe/Berlin", "2027-03-27 23:00", "2027-03-28"),
        ("Europe/Berlin", "2027-03-28 21:59", "2027-03-28"),
        ("Europe/Berlin", "2027-03-28 22:00", "2027-03-29"),
        # The clocks change at midnight itself: the day begins at one.
        ("America/Havana", "2027-03-14 04:59", "2027-03-13"),
        ("America/Havana", "2027-03-14 05:00", "2027-03-14"),
        ("Pacific/Kiritimati", "2026-11-30 10:00", "2026-12-01"),
        ("Asia/Kathmandu", "2026-11-30 18:14", "2026-11-30"),
        ("Asia/Kathmandu", "2026-11-30 18:15", "2026-12-01"),
    ],
)
def test_a_day_of_money_is_a_day_of_the_users_zone(zone: str, moment: str, day: str) -> None:
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert budget.day(int(at.timestamp() * 1000), ZoneInfo(zone)) == day


def test_a_call_reserves_the_most_it_can_cost() -> None:
    assert budget.estimate(1000, 500, PRICE) == Reservation(1500, 3000 + 7500, known=True)
    assert budget.estimate(1000, 500, None) == Reservation(1500, 0, known=False)


@pytest.mark.parametrize(
    ("reply", "price", "cost"),
    [
        (ModelReply("", usage=Usage(1000, 100)), PRICE, (4500, True)),
        (ModelReply("", usage=Usage(1000, 100), cost=Decimal("0.01")), PRICE, (10_000, True)),
        (ModelReply("", usage=None), PRICE, (9_999, False)),
        (ModelReply("", usage=None), FREE, (9_999, True)),
        (ModelReply("", usage=Usage(1, 1)), None, (0, False)),
    ],
)
def test_what_a_reply_cost(reply: ModelReply, price: Price | None, cost: tuple[int, bool]) -> None:
    assert budget.cost_of(reply, price, Reservation(1, 9_999, known=True)) == cost


@pytest.mark.parametrize(
    ("tokens", "money", "limit"),
    [(4000, 0, None), (4001, 0, "tokens"), (10, 50_000, None), (10, 50_001, "cost"), (10, 0, None)],
)
def test_what_is_under_way_counts(tokens: int, money: int, limit: str | None) -> None:
    over = budget.over_model(USED, CAPS, tokens, money)
    assert (over.limit if over else None) == limit


@pytest.mark.parametrize(
    ("micro", "text"), [(0, "0.00"), (4_000, "0.004"), (500_000, "0.50"), (2_000_000, "2.00"), (1, "0.000001")]
)
def test_how_money_is_written(micro: int, text: str) -> None:
    assert budget.euros(micro) == text


def failed(count: int, first: int = 0) -> list[Try]:
    return [Try("failed", ModelFault.TRANSIENT, "", None, first) for _ in range(count)]


@pytest.mark.parametrize(
    ("before", "wait"),
    [(0, SECOND), (1, 2 * SECOND), (2, 8 * SECOND), (3, 30 * SECOND), (4, 15 * MINUTE), (7, 2 * HOUR), (20, 2 * HOUR)],
)
def test_waits_grow(before: int, wait: int) -> None:
    error = ModelError(ModelFault.TRANSIENT, "503")
    assert retry.next_try(failed(before), error, 1000, 0) == 1000 + wait
    assert retry.next_try(failed(before), error, 1000, 0, spread=1.0) == 1000 + wait + wait // 5


@pytest.mark.parametrize(("asked", "wait"), [(2.5, 2500), (0.0, 1000), (99_999.0, 15 * MINUTE)])
def test_the_providers_own_time_counts_within_limits(asked: float, wait: int) -> None:
    assert retry.next_try([], ModelError(ModelFault.RATE, "", asked), 0, 0) == wait


@pytest.mark.parametrize("kind", [ModelFault.AUTH, ModelFault.REFUSED, ModelFault.GONE, ModelFault.QUOTA])
def test_some_faults_are_not_tried_again(kind: ModelFault) -> None:
    assert retry.next_try([], ModelError(kind, ""), 0, 0) is None


def test_patience_ends_after_a_day() -> None:
    error = ModelError(ModelFault.TIMEOUT, "")
    assert retry.next_try(failed(9), error, 24 * HOUR, 0) is not None
    assert retry.next_try(failed(9), error, 24 * HOUR + 1, 0) is None


def test_a_request_that_is_too_long_is_shrunk_three_times() -> None:
    error = ModelError(ModelFault.CONTEXT, "")
    assert [retry.next_try([], error, 5, shrink) for shrink in range(4)] == [5, 5, 5, None]


def test_after_a_refusal_one_call_goes_first() -> None:
    pace = Throttle()
    assert pace.admit("m", 0) is None
    pace.limited("m", 0, 5000)
    assert pace.admit("m", 100) == 5000
    assert pace.admit("other", 100) is None
    assert pace.admit("m", 5000) is None
    assert pace.admit("m", 5001) == 6000
    pace.limited("m", 5500, 5500)
    assert pace.admit("m", 5501) == 7500
    assert pace.admit("m", 7500) is None
    pace.passed("m")
    assert [pace.admit("m", 7501) for _ in range(3)] == [None, None, None]
