"""The seams between the tools and whatever keeps triggers: reminders and schedules as data, and the ports that take
them.

The rule: a trigger is a row put down inside the transaction of its call, so it exists exactly when the model was told
that it does.
"""

from dataclasses import dataclass
from typing import Protocol

from agents.ports import WriteTx


@dataclass(frozen=True, slots=True)
class Reminder:
    """What to say and when. `at` is local wall time "YYYY-MM-DDTHH:MM" of the first run.

    `every` is "" (once), "hour", "day", "weekday", "week" or "month"; the day and time of `at` are kept from run to
    run. `tainted`: the run that sets it has read untrusted text.
    """

    text: str
    at: str
    every: str = ""
    tainted: bool = False


class Schedule(Protocol):
    """Keeps reminders. Returns the next runs as text with their time zone, for the answer to the user.

    Raises ToolFailed for a time that has passed, and then has written nothing.
    """

    def remind(self, tx: WriteTx, account: int, agent: str, thread: str, reminder: Reminder, key: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Planned:
    """A schedule to be set: what is to be done, and when (`when` is a time, cron text, plain words that recur, or what
    sets it off from outside: "webhook deploy").

    `act` is "run" (a task for `agent`) or "remind"; `said` are the user's own words for the time; `late` is once, skip
    or all, `overlap` skip, queue or replace (empty: as is usual for what it is). `by_rules`: no model hears the answer.
    """

    when: str
    task: str
    title: str
    agent: str
    zone: str = ""
    act: str = "run"
    said: str = ""
    late: str = ""
    overlap: str = ""
    tainted: bool = False
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How a `when` was read: in words, in its one spelling, with its zone, and when it comes next. An event has neither
    zone nor next times.
    """

    words: str
    spec: str
    zone: str
    upcoming: str
    is_event: bool = False


class Calendar(Schedule, Protocol):
    """Keeps schedules too. Both raise ToolFailed for what is no time, or no zone."""

    def read(self, when: str, zone: str) -> Reading: ...

    def agents(self) -> tuple[str, ...]:
        """Who can be given a task, the usual one first."""
        ...

    def plan(self, tx: WriteTx, account: int, thread: str, planned: Planned, key: str) -> str:
        """Set it; returns in words when it comes next, or how it is set off."""
        ...
