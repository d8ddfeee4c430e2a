"""What the demo model knows at one moment: the wish, what was read and made for it, how each mail went.

Rule: built anew from each request and thrown away after it; nothing is kept between two requests, so a restart in
between changes nothing.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from agents.letter import Attachment
from agents.models.demo.wish import Content, Delivery, Make, Topic, Wish


class State(StrEnum):
    """Where one mail or reminder stands."""

    OPEN = "open"
    DONE = "done"
    DRAFTED = "drafted"
    REJECTED = "rejected"
    EXPIRED = "expired"
    FAILED = "failed"
    DROPPED = "dropped"


@dataclass(slots=True)
class Outcome:
    """How a delivery or alarm went; `text` is the tool's own answer or the user's reason."""

    state: State = State.OPEN
    text: str = ""
    sent: dict[str, object] = field(default_factory=dict)
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """What was produced: what it is made from, and its lines."""

    of: str
    body: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the user and what its answer is for."""

    about: str
    text: str


@dataclass(slots=True)
class Task:
    """The state of the work. `texts` and `faults` are by reference; `tools` maps what is offered to its schema."""

    tools: dict[str, dict[str, object]]
    owner: str = ""
    specialist: bool = False
    now: datetime | None = None
    subject: str = ""
    wish: Wish = field(default_factory=lambda: Wish(topic=Topic.UNKNOWN))
    started: bool = False
    closed: bool = False
    files: tuple[Attachment, ...] = ()
    foreign: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    cuts: dict[str, tuple[str, int]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    hits: list[tuple[str, str]] | None = None
    found: str = ""
    mails: dict[str, str] = field(default_factory=dict)
    listing: str | None = None
    product: Product | None = None
    points: int = 0
    no_delegate: bool = False
    outcomes: list[Outcome] = field(default_factory=list)
    alarms: list[Outcome] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    given_up: str = ""
    puzzled: str = ""
    named: list[str] = field(default_factory=list)

    def offers(self, tool: str) -> bool:
        return tool in self.tools

    def begin(self, wish: Wish) -> None:
        """Start a new wish; what was read and made before stays at hand."""
        if wish.make is not Make.NOTHING:
            self.product, self.hits, self.listing, self.found = None, None, None, ""
            self.no_delegate = False
        elif self.product is not None:
            wish = replace(wish, deliveries=tuple(_of_product(delivery) for delivery in wish.deliveries))
        self.wish = wish
        self.outcomes = [Outcome() for _ in wish.deliveries]
        self.alarms = [Outcome() for _ in wish.alarms]
        self.answers, self.given_up, self.puzzled = [], "", ""


def _of_product(delivery: Delivery) -> Delivery:
    """ "Send it to ..." after something was made means what was made."""
    unsaid = delivery.content is Content.UNSAID and not delivery.words
    return replace(delivery, content=Content.RESULT) if unsaid else delivery
