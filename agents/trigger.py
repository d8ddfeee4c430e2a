"""A trigger: what is to happen, and when or upon what, as a row.

The rule: what is kept is the rule in its one spelling and the zone by name; the next time is always computed from
them, and every change tells the rest of the program by an event in its own transaction.
"""

import importlib
import pkgutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from types import ModuleType
from typing import Final
from zoneinfo import ZoneInfo

from agents import audit, ids
from agents import triggers as kinds
from agents.events import TriggerChanged, TriggerRemoved
from agents.ports import ReadTx, WriteTx
from agents.rule import Event, Rule, SpecFault
from agents.wall import Occurrence, next_occurrence, occurrences, shown
from config.zone import zone as zone_named

MOST: Final = 200
"""Live triggers of an account; a model that goes round in circles must not fill the calendar."""

GRACE_MS: Final = 100_000
"""A single time that passed while it was being set ("in a minute") comes at once."""

EVENTS: Final = ("webhook", "hook", "mailbox")
"""The kinds that something outside sets off."""

_TRIES: Final = 500


@dataclass(frozen=True, slots=True)
class Trigger:
    """A row. `act` is "remind" (a mail with `text`) or "run" (a task for the agent); times are UTC ms.

    `late` says what happens to missed times, `overlap` what happens when the run before has not ended. `state`:
    active, paused, off (its message is in Trash), done, failed. `name` is that of an event, and empty for what goes by
    the clock; an event is active without a next time.
    """

    id: str
    account: int
    agent: str
    thread: str
    act: str
    kind: str
    name: str
    spec: str
    zone: str
    title: str
    text: str
    said: str
    late: str
    overlap: str
    taint: bool
    state: str
    due_at: int | None
    due_key: str | None
    wake_at: int | None
    attempts: int
    fired: int
    last_at: int | None
    last: str
    revision: int
    created: int

    @property
    def rule(self) -> Rule:
        return read_rule(self.spec)[1]

    @property
    def is_event(self) -> bool:
        return bool(self.name)

    @property
    def tz(self) -> ZoneInfo:
        """Its zone; UTC to show times by, should the tz database no longer know it (then it does not fire)."""
        return zone_named(self.zone) or ZoneInfo("UTC")

    @property
    def series(self) -> str:
        """What its message in Automations stands under."""
        return f"{self.id}.trigger"


@dataclass(frozen=True, slots=True)
class New:
    """A trigger to be set. `key` is unique in the account: the same key again is the same trigger."""

    account: int
    agent: str
    thread: str
    act: str
    spec: str
    zone: str
    title: str
    text: str
    key: str
    said: str = ""
    late: str = "once"
    overlap: str = "skip"
    taint: bool = False


def modules() -> Sequence[ModuleType]:
    """The kinds of triggers, cron last, as its form is the widest."""
    found = [importlib.import_module(f"{kinds.__name__}.{one.name}") for one in pkgutil.iter_modules(kinds.__path__)]
    return sorted(found, key=lambda module: module.KIND == "cron")


def read_rule(text: str) -> tuple[str, Rule]:
    """The kind and rule of a spelling: a time, "every day from ...", or cron text. Raises SpecFault."""
    for module in modules():
        rule: Rule | None = module.read(text)
        if rule is not None:
            return module.KIND, rule
    raise SpecFault(f'"{text}" is neither a time like 2026-03-31T09:00 nor cron text like "0 8 * * 1-5"')


def to_trigger(row: sqlite3.Row) -> Trigger:
    names = (name for name in Trigger.__dataclass_fields__ if name != "taint")
    return Trigger(**{name: row[name] for name in names}, taint=bool(row["taint"]))


def find(tx: ReadTx, trigger: str) -> Trigger | None:
    row = tx.one("agents.triggers.get", id=trigger)
    return to_trigger(row) if row else None


def of_account(tx: ReadTx, account: int) -> list[Trigger]:
    """The triggers of an account that are not over, oldest first."""
    return [to_trigger(row) for row in tx.all("agents.triggers.all", account=account)]


def of_thread(tx: ReadTx, account: int, thread: str) -> list[Trigger]:
    """The triggers that were set in a thread and are not over."""
    return [to_trigger(row) for row in tx.all("agents.triggers.of_thread", account=account, thread=thread)]


def create(tx: WriteTx, now: int, new: New) -> Trigger:
    """Set a trigger. Raises SpecFault when it would never fire, or when there are too many."""
    row = tx.one("agents.triggers.by_key", account=new.account, key=new.key)
    if row is not None:
        return to_trigger(row)
    if tx.value("agents.triggers.count", account=new.account) >= MOST:
        raise SpecFault(f"there are {MOST} schedules already; delete some first")
    kind, rule = read_rule(new.spec)
    first = _first(tx, now, new, kind, rule)
    made = ids.new_id(now)
    names = ("account", "agent", "thread", "act", "zone", "title", "text", "key", "said", "late", "overlap")
    tx.run(
        "agents.triggers.add",
        **{name: getattr(new, name) for name in names},
        id=made,
        kind=kind,
        name=rule.name if isinstance(rule, Event) else "",
        spec=rule.spec,
        taint=int(new.taint),
        due_at=first.at if first else None,
        due_key=first.key if first else None,
        now=now,
    )
    audit.record(tx, now, new.account, "trigger.set", None, made, act=new.act, spec=rule.spec, zone=new.zone)
    tx.emit(TriggerChanged(made, new.account))
    return get(tx, made)


def _first(tx: ReadTx, now: int, new: New, kind: str, rule: Rule) -> Occurrence | None:
    """The first time of a new trigger; None for an event, whose name must be free."""
    if isinstance(rule, Event):
        if named(tx, new.account, kind, rule.name) is not None:
            raise SpecFault(f'there is a {kind} "{rule.name}" already; delete it first, or choose another name')
        return None
    first = next_occurrence(rule, ZoneInfo(new.zone), now - GRACE_MS if kind == "once" else now)
    if first is None:
        raise SpecFault(f"{rule.words()}: that time has passed")
    return first


def named(tx: ReadTx, account: int, kind: str, name: str) -> Trigger | None:
    """The webhook, hook or watched mailbox of a name."""
    row = tx.one("agents.triggers.named", account=account, kind=kind, name=name)
    return to_trigger(row) if row else None


def of_kind(tx: ReadTx, kind: str) -> list[Trigger]:
    """Every active trigger of a kind, of every account."""
    return [to_trigger(row) for row in tx.all("agents.triggers.of_kind", kind=kind)]


def get(tx: ReadTx, trigger: str) -> Trigger:
    """One trigger; KeyError when there is none."""
    found = find(tx, trigger)
    if found is None:
        raise KeyError(trigger)
    return found


def next_free(tx: ReadTx, trigger: Trigger, after: int) -> Occurrence | None:
    """The first time later than `after` that this trigger has not taken: a clock that was set back repeats none."""
    for found in islice(occurrences(trigger.rule, trigger.tz, after), _TRIES):
        if tx.value("agents.triggers.has_fired", trigger=trigger.id, key=found.key) is None:
            return found
    return None


def move(tx: WriteTx, now: int, trigger: Trigger, state: str, due: Occurrence | None = None) -> None:
    """Give a trigger another state, and if it is active its next time."""
    tx.run(
        "agents.triggers.move",
        id=trigger.id,
        state=state,
        due_at=due.at if due else None,
        due_key=due.key if due else None,
        wake_at=due.at if due and state == "active" else None,
        now=now,
    )
    tx.emit(TriggerChanged(trigger.id, trigger.account))


def remove(tx: WriteTx, now: int, trigger: Trigger, why: str) -> None:
    """Delete a trigger and its message. A run that it began goes on."""
    over(tx, now, trigger)
    tx.run("agents.triggers.delete", id=trigger.id)
    audit.record(tx, now, trigger.account, "trigger.deleted", None, trigger.id, why=why)


def over(tx: WriteTx, now: int, trigger: Trigger) -> None:
    """Take a trigger's message away: what was not delivered is withdrawn, what was is told to go."""
    tx.run("agents.triggers.withdraw", series=trigger.series, now=now)
    tx.emit(TriggerRemoved(trigger.id, trigger.account, trigger.series))


def upcoming(rule: Rule, zone: ZoneInfo, after: int, count: int = 3) -> str:
    """The next times in words: "Mon 30 Nov 08:00, Tue 1 Dec 08:00, Wed 2 Dec 08:00"."""
    found = list(islice(occurrences(rule, zone, after), count))
    far = any(one.at - after > 300 * 86_400_000 for one in found)
    return ", ".join(shown(one.at, zone, year=far) for one in found)
