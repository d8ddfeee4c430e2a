"""The seam between `remind_me` and whatever keeps triggers: a reminder as data and the port that takes it.

The rule: a reminder is a row put down inside the transaction of its call, so it exists exactly when the model was
told that it does.
"""

from dataclasses import dataclass
from typing import Protocol

from agents.ports import WriteTx


@dataclass(frozen=True, slots=True)
class Reminder:
    """What to say and when. `at` is local wall time "YYYY-MM-DDTHH:MM" of the first run.

    `every` is "" (once), "hour", "day", "weekday", "week" or "month"; the day and time of `at` are kept from run to
    run.
    """

    text: str
    at: str
    every: str = ""


class Schedule(Protocol):
    """Keeps reminders. Returns the next runs as text with their time zone, for the answer to the user."""

    def remind(self, tx: WriteTx, account: int, agent: str, thread: str, reminder: Reminder, key: str) -> str: ...
