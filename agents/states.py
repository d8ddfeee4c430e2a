"""Every state machine of the runtime as an enum, with its ends.

The rule: an end is never left. The database holds the same (CHECK constraints and triggers in sql/schema.sql); a test
compares the two.
"""

from enum import StrEnum
from typing import Final


class RunState(StrEnum):
    """A run is queued, held by a worker, waiting (a row, never a task), or ended."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    WAITING_USER = "waiting_user"
    WAITING_TIME = "waiting_time"
    WAITING_BUDGET = "waiting_budget"
    WAITING_UNKNOWN = "waiting_unknown"
    WAITING_CHILD = "waiting_child"
    WAITING_SEND = "waiting_send"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    STUCK = "stuck"
    EXPIRED = "expired"


class StepKind(StrEnum):
    """What one journal entry is. A note is the program's: an empty reply of the model. A compact entry is a model's
    summary of everything up to an earlier entry, which stays where it is.
    """

    USER = "user"
    MODEL = "model"
    RESULTS = "results"
    NOTE = "note"
    COMPACT = "compact"


class CallState(StrEnum):
    """A tool call. `unknown` waits for the user's word; everything from `done` on is an end with exactly one result."""

    WAITING_APPROVAL = "waiting_approval"
    APPROVED = "approved"
    STARTED = "started"
    UNKNOWN = "unknown"
    DONE = "done"
    FAILED = "failed"
    INVALID = "invalid"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class PlanKind(StrEnum):
    """How a call acts (see agents.tool); `none` for a call that was never valid."""

    NONE = "none"
    ACT = "act"
    WITHIN = "within"
    DELEGATE = "delegate"
    ASK = "ask"
    MAIL = "mail"


class RequestKind(StrEnum):
    """What is wanted of the user: leave for a call, words, or what became of a call."""

    APPROVAL = "approval"
    QUESTION = "question"
    UNKNOWN = "unknown"


class RequestState(StrEnum):
    """A request mail. `mixed`: its items were decided differently."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    MIXED = "mixed"
    ANSWERED = "answered"
    EDITED = "edited"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    CONFIRMED = "confirmed"
    SKIPPED = "skipped"


class OutboxState(StrEnum):
    """An outgoing mail. Only kind "mail" knows the phases of a relay."""

    QUEUED = "queued"
    SENDING = "sending"
    DATA_SENT = "data_sent"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    WITHDRAWN = "withdrawn"


ENDED: Final = frozenset(
    {RunState.DONE, RunState.FAILED, RunState.CANCELLED, RunState.STUCK, RunState.EXPIRED},
)
OPEN_CALLS: Final = frozenset(
    {CallState.WAITING_APPROVAL, CallState.APPROVED, CallState.STARTED, CallState.UNKNOWN},
)
