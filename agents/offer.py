"""What an installation has to offer to its tools.

The rule: a tool whose need is not met here is not made, so a model never sees a tool that cannot work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.handbook import Handbook
from agents.ports import Database
from agents.profile import Profile
from agents.schedule import Calendar, Schedule
from config.settings import Fetch


def no_skills() -> Sequence[Profile]:
    """The skills of an installation without any."""
    return ()


@dataclass(frozen=True, slots=True)
class Offer:
    """What an installation has, for the tools that depend on it.

    `relay` is True when mail can leave, `domain` is our own mail domain, `skills` gives the ready specialists (asked
    each time a tool list is made), `schedule` keeps reminders, `calendar` schedules (None: there is none),
    `fetch` how web pages are fetched, `db` the rows that tools read and write outside of their calls' transactions,
    `handbook` how to use it all.
    """

    relay: bool = False
    domain: str = "postroom.internal"
    skills: Callable[[], Sequence[Profile]] = no_skills
    schedule: Schedule | None = None
    calendar: Calendar | None = None
    db: Database | None = None
    handbook: Handbook | None = None
    fetch: Fetch = field(default_factory=lambda: Fetch(mode="off"))
