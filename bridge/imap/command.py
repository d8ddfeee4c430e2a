"""A command as data: its name, where it is allowed, how it is read, what it does, and the traits that order it.

Rule: nothing outside this record decides when a command may run or what may be told at its end; handlers never do.
The session and the dialect are `Any` here, as both are built upon this module; handlers name them by their types.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bridge.imap.states import State
from bridge.imap.wire.cursor import Cursor

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Traits:
    """What a command does to sequence numbers; pipeline.py draws the consequences.

    uses_numbers: its arguments hold sequence numbers, so nothing may renumber between its being sent and being read.
    breaks_numbers: it is asked for in order to change numbers (EXPUNGE, MOVE): departures are always told at its end.
    changes_mailbox: it opens or closes a mailbox; nothing of the old one may be told after it.
    tells_gone: departures may be told at its end (RFC 3501 7.4.1: not in answer to FETCH, STORE and SEARCH by number).
    """

    uses_numbers: bool = False
    breaks_numbers: bool = False
    changes_mailbox: bool = False
    tells_gone: bool = True


@dataclass(frozen=True, slots=True)
class Done:
    """The tagged OK: text and response code (without brackets). With `then`, run once it is sent, no news is told.

    `counted`: there were sequence numbers in what was searched for.
    """

    text: str
    code: bytes | None = None
    then: Callable[[Any], Awaitable[None]] | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """The command waits for one line outside the grammar (AUTHENTICATE, IDLE); `resume` gets it without its CRLF.

    The prompt has already been written. Nothing runs meanwhile: no task, no future.
    """

    resume: Callable[[Any, bytes], Awaitable["Outcome"]]


Outcome = Done | Hold


class Refused(Exception):
    """A command that ends with NO or BAD. The text is shown to the user by many clients, so it says why."""

    def __init__(self, text: str, code: bytes | None = None, *, bad: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.bad = bad


class Farewell(Exception):
    """The connection ends at once with `* BYE text`."""

    def __init__(self, text: str, code: bytes | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


Parse = Callable[[Cursor, Any], A]
Run = Callable[[Any, A], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Command(Generic[A]):
    """One command. `name` is upper case, with `UID ` before it for the UID form (a command of its own)."""

    name: bytes
    states: frozenset[State]
    parse: Parse[A]
    run: Run[A]
    traits: Traits = field(default_factory=Traits)


AnyCommand = Command[Any]


def nothing(cursor: Cursor, dialect: object) -> None:
    """The reader of a command without arguments."""
    cursor.eol()
