"""What the agents did and what it cost: lists of runs, one run as a story, and the ledger by day and agent.

The rule: only the chosen account's runs exist here.
"""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

from agents import store, story
from agents.budget import MICRO
from agents.states import RunState
from agents.store import Run
from bridge.control.ports import StoreDesk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, Args, ControlError, Json
from bridge.control.who import chosen
from mailstore.sqlite import ReadTx

MOST_RUNS: Final = 1000
MOST_DAYS: Final = 3660


async def listed(desk: StoreDesk, args: Args) -> Json:
    """The newest runs of an account, newest first."""
    account = chosen(desk, args.optional("account"))
    agent, state, limit = args.optional("agent"), args.optional("state"), min(args.number("limit", 30), MOST_RUNS)
    args.done()
    if state is not None and state not in set(RunState):
        raise ControlError(BAD_REQUEST, f"{state!r} is no state of a run", f"one of {', '.join(RunState)}")
    where = {"account": account.id, "agent": agent, "state": state, "limit": limit}
    rows = await desk.store.read_slow(lambda tx: tx.all("agents.runs.listed", **where))
    return {"account": account.name, "runs": [_told(store.to_run(row)) for row in rows]}


async def show(desk: StoreDesk, args: Args) -> Json:
    """One run with everything that happened in it, and the tasks it gave away."""
    account = chosen(desk, args.optional("account"))
    ident = args.text("id")
    args.done()

    def read(tx: ReadTx) -> Json:
        run = _named(tx, account.id, ident)
        children = [_told(store.to_run(row)) for row in tx.all("agents.runs.children", run=run.id)]
        return {**_told(run), "story": [asdict(entry) for entry in story.of_run(tx, run)], "children": children}

    return await desk.store.read_slow(read)


async def costs(desk: StoreDesk, args: Args) -> Json:
    """What was spent in the last days by day and agent, and by model; and what today's limits leave."""
    account = chosen(desk, args.optional("account"))
    days = min(max(args.number("days", 30), 1), MOST_DAYS)
    args.done()
    zone = desk.settings.zone()
    today = datetime.now(zone).date()
    where = {"account": account.id, "since": (today - timedelta(days=days - 1)).isoformat()}

    def read(tx: ReadTx) -> tuple[list[Json], list[Json]]:
        spent = [dict(row) for row in tx.all("agents.ledger.by_day", **where)]
        models = [dict(row) for row in tx.all("agents.ledger.by_model", **where)]
        return spent, models

    spent, models = await desk.store.read_slow(read)
    return {
        "account": account.name,
        "today": today.isoformat(),
        "zone": zone.key,
        "days": [
            {**row, "cost": row.pop("spent_u") / MICRO, "set_aside": row.pop("reserved_u") / MICRO} for row in spent
        ],
        "models": [{**row, "cost": row.pop("cost_u") / MICRO} for row in models],
        "limit_day": desk.settings.limits.cost_day_eur,
        "limit_agent_day": desk.settings.limits.cost_agent_day_eur,
    }


def _named(tx: ReadTx, account: int, ident: str) -> Run:
    """The run of this id, or of an end of it that only one has."""
    plain = "".join(f"!{character}" if character in "!%_" else character for character in ident.strip())
    found = tx.all("agents.runs.named", account=account, ident=plain)
    if len(found) != 1 or not plain:
        what = f"there are several runs {ident}" if len(found) > 1 else f"there is no run {ident}"
        raise ControlError(NOT_FOUND, what, "`postroom runs` shows those there are")
    return store.to_run(found[0])


def _told(run: Run) -> Json:
    names = ("id", "agent", "thread", "subject", "parent", "origin", "tokens", "created", "ended", "outcome")
    facts = {name: getattr(run, name) for name in names}
    return {
        **facts,
        "state": run.state.value,
        "model_calls": run.n_model,
        "tools": run.n_tool,
        "cost": run.cost_u / MICRO,
        "cost_known": not run.cost_unknown,
        "active_seconds": run.active_ms / 1000,
        "untrusted": run.taint,
    }
