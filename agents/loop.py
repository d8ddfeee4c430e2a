"""The agent loop as one pure function: what a run is, to what happens next.

The rule: `decide` reads nothing but its argument and has no effect; everything it knows was committed before. Whoever
performs the action commits exactly what it did, and asks again.
"""

from dataclasses import dataclass
from typing import Final

from agents.budget import Caps, Over, Totals, over_model, over_tools
from agents.states import ENDED, CallState, PlanKind, RunState, StepKind
from agents.store import Call, Try
from agents.tool import Risk

READS_AT_ONCE: Final = 4
MAX_EMPTY: Final = 2
MAX_STRAYS: Final = 3
MAX_REPEATS: Final = 5
OPEN_REQUESTS: Final = "open_requests"
_TOO_MANY: Final = Over(OPEN_REQUESTS, "as many of your requests wait for a decision as may")


@dataclass(frozen=True, slots=True)
class View:
    """Everything that counts about a run right now.

    `last` is the kind of the newest journal entry, `wants_calls` whether that is a model reply with calls, which are
    then `calls`; `unasked` are those that wait for the user and stand in no request yet, `room` whether one may be
    opened. `tries` are the model calls already made for the next entry; `letters` wait to be read; `empties` counts
    empty replies at the end of the journal.
    """

    state: RunState
    cancelled: str | None
    overdue: bool
    now: int
    seq: int
    last: StepKind | None
    text: str
    wants_calls: bool
    calls: tuple[Call, ...]
    tries: tuple[Try, ...]
    letters: int
    empties: int
    unknown_tools: int
    bad_args: int
    repeats: int
    totals: Totals
    caps: Caps
    unasked: tuple[str, ...] = ()
    room: bool = True


@dataclass(frozen=True, slots=True)
class TakeLetters:
    """Append the waiting letters to the journal."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model for entry `seq`, the `attempt`th time."""

    seq: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Start:
    """Take these calls in hand: several reads, or one call that does something."""

    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskUser:
    """Ask about these calls, for which there was no room before."""

    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collect:
    """Every call of the turn has its result: append them to the journal."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Give the lease back until something comes, or until a time."""

    state: RunState
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A limit is reached: wait for the user's `continue`, and tell them."""

    over: Over


@dataclass(frozen=True, slots=True)
class Finish:
    """The run ends. `text` is the result, or why there is none."""

    state: RunState
    text: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """The run has ended already."""


Action = TakeLetters | CallModel | Start | AskUser | Collect | Wait | Pause | Finish | Nothing


def decide(view: View) -> Action:
    """The next action of a run."""
    if view.state in ENDED:
        return Nothing()
    if view.cancelled is not None:
        return Finish(RunState.CANCELLED, view.cancelled)
    if view.overdue:
        return Finish(RunState.EXPIRED, "It was not finished in time, and nothing is done any more.")
    if view.wants_calls:
        return _calls(view)
    if why := _stuck(view):
        return Finish(RunState.STUCK, why)
    if view.last is StepKind.MODEL:
        return Finish(RunState.DONE, view.text)
    if view.letters:
        return TakeLetters()
    return _model(view)


def _calls(view: View) -> Action:
    ready = [call for call in view.calls if call.state is CallState.APPROVED]
    startable = [call for call in ready if call.not_before <= view.now]
    if startable:
        over = over_tools(view.totals, view.caps)
        return Pause(over) if over else Start(_together(startable))
    if all(call.ended is not None for call in view.calls):
        return Collect()
    if view.unasked:
        return AskUser(view.unasked) if view.room else Pause(_TOO_MANY)
    return _wait(view, ready)


def _together(startable: list[Call]) -> tuple[str, ...]:
    """Reads go first and side by side, so that what waits for nobody is done; everything else goes one by one, in
    order.
    """
    reads = [call.id for call in startable if call.risk is Risk.READ and call.plan is PlanKind.ACT]
    return tuple(reads[:READS_AT_ONCE]) if reads else (startable[0].id,)


def _wait(view: View, ready: list[Call]) -> Wait:
    # A call that asks its user within itself waits as a question does.
    states = {(call.state, PlanKind.ASK if call.asked else call.plan) for call in view.calls if call.ended is None}
    if any(state is CallState.UNKNOWN for state, _ in states):
        return Wait(RunState.WAITING_UNKNOWN)
    if any(state is CallState.WAITING_APPROVAL and plan is not PlanKind.ASK for state, plan in states):
        return Wait(RunState.WAITING_APPROVAL)
    if (CallState.WAITING_APPROVAL, PlanKind.ASK) in states:
        return Wait(RunState.WAITING_USER)
    if (CallState.STARTED, PlanKind.DELEGATE) in states:
        return Wait(RunState.WAITING_CHILD)
    if ready:
        return Wait(RunState.WAITING_TIME, min(call.not_before for call in ready))
    return Wait(RunState.WAITING_SEND)


def _stuck(view: View) -> str:
    if view.repeats >= MAX_REPEATS:
        return "It asked for the same thing over and over, with the same outcome."
    if view.unknown_tools >= MAX_STRAYS:
        return "It kept asking for tools that do not exist."
    if view.bad_args >= MAX_STRAYS:
        return "It kept giving tools arguments that they cannot use."
    return ""


def _model(view: View) -> Action:
    if view.empties > MAX_EMPTY:
        return Finish(RunState.FAILED, f"The model gave no answer, {view.empties} times in a row.")
    failed = [one for one in view.tries if one.state == "failed"]
    if failed and failed[-1].retry_at is None:
        return Finish(RunState.FAILED, _why(failed))
    if failed and failed[-1].retry_at is not None and failed[-1].retry_at > view.now:
        return Wait(RunState.WAITING_TIME, failed[-1].retry_at)
    if over := over_model(view.totals, view.caps):
        return Pause(over)
    return CallModel(view.seq, len(view.tries))


def _why(failed: list[Try]) -> str:
    """Why no model answered: the last one's reason, or each one's where several were asked."""
    last = {one.model: one.text for one in failed}
    if len(last) == 1:
        return failed[-1].text
    return "none of the models could be used. " + " ".join(f"{model}: {text}" for model, text in last.items())
