"""What the runtime tells the rest of the program, inside the transaction in which it happens (`Database.on`).

The rule: an event names rows, it carries no content; a subscriber reads what it needs with the transaction it is given.
"""

from dataclasses import dataclass

from agents.states import RequestState, RunState


@dataclass(frozen=True, slots=True)
class RequestOpened:
    """A request waits for the user. `key` is the outbox key of its mail."""

    request: str
    account: int
    thread: str
    key: str


@dataclass(frozen=True, slots=True)
class RequestClosed:
    """A request no longer waits; `state` says how it ended."""

    request: str
    account: int
    thread: str
    key: str
    state: RequestState


@dataclass(frozen=True, slots=True)
class RunChanged:
    """A run has another state."""

    run: str
    account: int
    state: RunState


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run has ended; its last mail is in the outbox of the same transaction."""

    run: str
    account: int
    thread: str
    state: RunState


@dataclass(frozen=True, slots=True)
class OutboxQueued:
    """An outgoing mail waits to be delivered."""

    key: str
    kind: str


@dataclass(frozen=True, slots=True)
class TriggerChanged:
    """A trigger was set, has fired, or has another state: its message and the clock have to follow."""

    trigger: str
    account: int


@dataclass(frozen=True, slots=True)
class TriggerRemoved:
    """A trigger is over: its message goes. `series` is what the message stands under."""

    trigger: str
    account: int
    series: str


@dataclass(frozen=True, slots=True)
class NoteChanged:
    """A note was kept, or has other words: its message has to follow."""

    note: str
    account: int


@dataclass(frozen=True, slots=True)
class NoteRemoved:
    """A note was forgotten: its message goes. `series` is what the message stands under."""

    note: str
    account: int
    series: str
