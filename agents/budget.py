"""What a run may use, and what it has used: counted before the call, not after.

The rule: money and tokens are reserved in the ledger in the transaction before a model call and settled after it, so
that calls in parallel cannot pass a limit together. A run and its children share one purse. Money is in millionths of
a EUR.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Any, Final

from agents.llm import ModelReply, Price
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.store import Run

MICRO: Final = 1_000_000
MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits of a run and its children. `agent_day_u` and `day_u` are of the day as a whole."""

    model_calls: int
    tool_calls: int
    tokens: int
    cost_u: int
    active_ms: int
    agent_day_u: int
    day_u: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What a run and its children have used; `reserved_*` are for calls under way."""

    model_calls: int
    tool_calls: int
    tokens: int
    cost_u: int
    cost_unknown: bool
    active_ms: int
    reserved_u: int
    reserved_t: int


@dataclass(frozen=True, slots=True)
class Over:
    """A limit that was reached, in words for the user."""

    limit: str
    text: str


def caps(office: Office, run: Run, raised: Mapping[str, Any]) -> Caps:
    """The limits that hold now: the configured ones, once more for every `continue`, or the sum that the user named."""
    limits = office.limits(run.agent)
    times = 1 + int(raised.get("times", 0))
    own = int(limits.cost_run_eur * MICRO)
    extra = max(own * (times - 1), int(raised.get("cost_u", 0)))
    return Caps(
        model_calls=limits.model_calls * times,
        tool_calls=limits.tool_calls * times,
        tokens=limits.tokens * times,
        cost_u=max(own * times, int(raised.get("cost_u", 0))),
        active_ms=limits.run_minutes * MINUTE_MS * times,
        agent_day_u=int(limits.cost_agent_day_eur * MICRO) + extra,
        day_u=int(limits.cost_day_eur * MICRO) + extra,
    )


def totals(tx: ReadTx, root: str, steady: int) -> Totals:
    """What a family of runs has used; `steady` is the office's measure of time now."""
    row = tx.one("agents.runs.totals", root=root, steady=steady)
    assert row is not None  # an aggregate always has its one row
    return Totals(
        model_calls=row["n_model"],
        tool_calls=row["n_tool"],
        tokens=row["tokens"],
        cost_u=row["cost_u"],
        cost_unknown=bool(row["cost_unknown"]),
        active_ms=row["active_ms"] + row["running_ms"],
        reserved_u=row["reserved_u"],
        reserved_t=row["reserved_t"],
    )


def over_tools(used: Totals, cap: Caps) -> Over | None:
    """Whether the run may start no tool any more. `used.tool_calls` counts those already wanted."""
    if used.tool_calls > cap.tool_calls:
        return Over("tool_calls", f"it has used its {cap.tool_calls} tool calls")
    return over_time(used, cap)


def over_time(used: Totals, cap: Caps) -> Over | None:
    if used.active_ms >= cap.active_ms:
        return Over("time", f"it has worked for {cap.active_ms // MINUTE_MS} minutes")
    return None


def over_model(used: Totals, cap: Caps, ahead_t: int = 0, ahead_u: int = 0) -> Over | None:
    """Whether one more model call of at most `ahead_t` tokens and `ahead_u` money is too much."""
    if used.model_calls >= cap.model_calls:
        return Over("model_calls", f"it has used its {cap.model_calls} model calls")
    if used.tokens + used.reserved_t + ahead_t > cap.tokens:
        return Over("tokens", f"the next step would pass its {cap.tokens:,} tokens")
    if ahead_u and used.cost_u + used.reserved_u + ahead_u > cap.cost_u:
        return Over("cost", f"the next step could pass its {euros(cap.cost_u)} EUR")
    return over_time(used, cap)


def over_day(tx: ReadTx, run: Run, cap: Caps, ahead_u: int, on: str) -> Over | None:
    """Whether the money of a day is used up; nothing is asked of a call that costs nothing."""
    if not ahead_u:
        return None
    if tx.value("agents.ledger.of_agent", day=on, agent=run.agent) + ahead_u > cap.agent_day_u:
        return Over("agent_day", f"{run.agent} could pass its {euros(cap.agent_day_u)} EUR of today")
    if tx.value("agents.ledger.of_day", day=on) + ahead_u > cap.day_u:
        return Over("day", f"the agents could pass their {euros(cap.day_u)} EUR of today")
    return None


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one model call may use at most."""

    tokens: int
    cost_u: int
    known: bool


def estimate(prompt_tokens: int, max_output: int, price: Price | None, unknown_price: float = 0) -> Reservation:
    """The most that a call can use. A price that is not known counts as `unknown_price` EUR a million tokens, never as
    nothing.
    """
    tokens = prompt_tokens + max_output
    if price is None:
        return Reservation(tokens, math.ceil(tokens * unknown_price), known=False)
    return Reservation(tokens, _cost(price, prompt_tokens, max_output), known=True)


def cost_of(
    reply: ModelReply, price: Price | None, reserved: Reservation, unknown_price: float = 0
) -> tuple[int, bool]:
    """What a reply cost, and whether that is known. Unknown usage is charged as reserved, an unknown price as
    `unknown_price` EUR a million tokens.
    """
    if reply.cost is not None:
        return _micro(reply.cost), True
    if price is None:
        used = reply.usage.tokens_in + reply.usage.tokens_out if reply.usage else reserved.tokens
        return math.ceil(used * unknown_price), False
    if reply.usage is None:
        return reserved.cost_u, price == Price(Decimal(0), Decimal(0))
    return _cost(price, reply.usage.tokens_in, reply.usage.tokens_out), True


def reserve(tx: WriteTx, run: Run, amount: Reservation, on: str) -> None:
    tx.run("agents.ledger.reserve", day=on, account=run.account, agent=run.agent, amount=amount.cost_u)


def settle(tx: WriteTx, run: Run, on: str, reserved_u: int, spent_u: int, tokens: int) -> None:
    """Close a reservation of the day it was made on."""
    tx.run(
        "agents.ledger.settle",
        day=on,
        account=run.account,
        agent=run.agent,
        reserved=reserved_u,
        spent=spent_u,
        tokens=tokens,
    )


def day(now: int, zone: tzinfo) -> str:
    """The date that a moment belongs to in the user's zone: the day of the caps and of the ledger."""
    return datetime.fromtimestamp(now / 1000, zone).date().isoformat()


def euros(micro: int) -> str:
    """An amount as it is written in mails: at least two decimals, no more than needed."""
    text = f"{Decimal(micro) / MICRO:.6f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"{whole}.{part:0<2}"


def _cost(price: Price, tokens_in: int, tokens_out: int) -> int:
    return math.ceil(price.input * tokens_in + price.output * tokens_out)


def _micro(cost: Decimal) -> int:
    return math.ceil(cost * MICRO)
