"""What a user wants of the demo model, as data: one thing to produce, and what to do with it.

Rule: a wish holds only what the user's own words say. Addresses in it were named by the user; nothing from a file, a
found mail or any other foreign text gets in here.
"""

from dataclasses import dataclass
from enum import StrEnum


class Make(StrEnum):
    """What is to be produced."""

    NOTHING = "nothing"
    SUMMARY = "summary"
    TEXT = "text"
    HITS = "hits"
    ATTACHMENTS = "attachments"
    WAITING = "waiting"


class Source(StrEnum):
    """What it is produced from: files of the letter, the letter's own text, a mail to be found, what was made
    before.
    """

    FILES = "files"
    OWN = "own"
    MAIL = "mail"
    BEFORE = "before"


class Content(StrEnum):
    """What a mail is to contain: what was produced, files as they are, words the user gave, or nothing named."""

    RESULT = "result"
    FILES = "files"
    WORDS = "words"
    UNSAID = "unsaid"


class Topic(StrEnum):
    """Letters that want no work."""

    NONE = ""
    HELP = "help"
    THANKS = "thanks"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One mail to be sent or drafted. `people` are recipients named without an address; `words` is text the user
    gave; `files` are the names of files that this mail alone is about (empty: those of the wish); `extra` is a sentence
    to add to what it contains.
    """

    to: tuple[str, ...]
    people: tuple[str, ...] = ()
    greeting: tuple[str, ...] = ()
    draft: bool = False
    content: Content = Content.UNSAID
    subject: str = ""
    words: str = ""
    files: tuple[str, ...] = ()
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A reminder in the user's words: what to say, and the words that say when."""

    text: str
    when: str


@dataclass(frozen=True, slots=True)
class Wish:
    """A whole wish. `files` are names of attachments the user meant (empty: all); `sentences` 0 means the usual
    length; `focus` is what the reader wants to know above all.
    """

    make: Make = Make.NOTHING
    source: Source = Source.FILES
    files: tuple[str, ...] = ()
    query: str = ""
    material: str = ""
    sentences: int = 0
    focus: str = ""
    deliveries: tuple[Delivery, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    topic: Topic = Topic.NONE
    german: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """A change to what was asked before. None and empty fields change nothing.

    `to` replaces the recipients, or joins them when `add` is set; `drop` removes some; `length` is a factor for the
    number of sentences; `extra` is a sentence to add to the mail; `stop` gives the sending up.
    """

    to: tuple[str, ...] = ()
    add: bool = False
    drop: tuple[str, ...] = ()
    greeting: tuple[str, ...] = ()
    length: float = 1.0
    sentences: int = 0
    subject: str = ""
    words: str = ""
    extra: str = ""
    draft: bool = False
    stop: bool = False

    @property
    def empty(self) -> bool:
        return self == Revision()
