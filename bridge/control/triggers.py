"""The schedules of an account: list them, look at one, and say a word to one.

The rule: a word from here does what the same word by mail does, and is audited alike.
"""

import uuid

from agents import trigger
from agents.automations import WORDS
from agents.trigger import Trigger
from agents.wall import next_occurrence
from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, Args, ControlError, Json
from bridge.control.who import chosen


async def listed(desk: StoreDesk, args: Args) -> Json:
    """Every schedule of an account that is not over."""
    account = chosen(desk, args.optional("account"))
    args.done()
    found = desk.store.read(lambda tx: trigger.of_account(tx, account.id))
    return {"account": account.name, "triggers": [_told(item) for item in found]}


async def show(desk: StoreDesk, args: Args) -> Json:
    """One schedule, with everything that is known of it."""
    account = chosen(desk, args.optional("account"))
    ident = args.text("id")
    args.done()
    item = desk.store.read(lambda tx: _named(trigger.of_account(tx, account.id), ident, account.name))
    following = next_occurrence(item.rule, item.tz, item.due_at - 1) if item.due_at else None
    upcoming = trigger.upcoming(item.rule, item.tz, following.at - 1) if following else ""
    policies = {"late": item.late, "overlap": item.overlap, "untrusted": item.taint}
    return {**_told(item), "text": item.text, "said": item.said, "upcoming": upcoming, **policies}


async def word(desk: Desk, args: Args) -> Json:
    """Say "run now", "pause", "resume" or "delete" to a schedule."""
    account = chosen(desk, args.optional("account"))
    ident, said = args.text("id"), args.text("word")
    args.done()
    if said not in WORDS:
        raise ControlError(BAD_REQUEST, f"{said!r} is no word for a schedule", f"one of {', '.join(WORDS)}")
    key = f"cli.{uuid.uuid4().hex}"
    kept = desk.runtime.automations
    told = await desk.store.write(
        lambda tx: kept.obey(tx, _named(kept.all(tx, account.id), ident, account.name), said, key)
    )
    return {"text": told}


def _named(found: list[Trigger], ident: str, account: str) -> Trigger:
    """The schedule of this id, or of an end of it that only one has."""
    fitting = [item for item in found if item.id.endswith(ident.lower())]
    if len(fitting) != 1:
        what = f"{account} has several schedules {ident}" if fitting else f"{account} has no schedule {ident}"
        raise ControlError(NOT_FOUND, what, "`postroom triggers list` shows those there are")
    return fitting[0]


def _told(item: Trigger) -> Json:
    names = ("id", "state", "act", "agent", "title", "spec", "zone", "last", "fired", "created")
    return {**{name: getattr(item, name) for name in names}, "when": item.rule.words(), "next": item.due_at}
