"""Thread words: stop, retry, continue, status, help, and "raise to 2 EUR".

The rule: a word acts on the runs of its own thread and account only, once a mail, and always has an answer.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from agents import audit, budget, ending, journal, mails, requests, runs, store, threads
from agents.codec import dump
from agents.letter import Letter
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.states import RunState
from agents.store import Run

RENAME: Final = re.compile(r"rename(?:\s+to\s+|\s*:\s*)(\S.{0,200})", re.IGNORECASE)
_RAISE: Final = re.compile(r"raise\s+to\s+(\d+(?:[.,]\d+)?)\s*(?:eur|€)?\s*[.!]?", re.IGNORECASE)
_MOST_EUR: Final = Decimal(1_000_000)
HELP: Final = """\
Words that stand alone as your whole answer:

- `stop` ends what runs in this thread
- `retry` begins the last task again
- `continue` lets a paused task go on; `raise to 2 EUR` sets its limit
- `status` says what runs and what waits
- `rename to ...` gives this thread another name
- `fork` begins a new thread that goes on from the mail you answer; forwarding that mail to the agent does so too
- `help` shows this

Anything else you write goes to the agent. A request is answered with `approve`, `reject`, `edit`, or in your words."""


@dataclass(frozen=True, slots=True)
class Word:
    """What a word came to. `text` is the answer to the user; `mailed` True means that a mail of the run says it
    already.
    """

    outcome: str
    text: str
    run: str | None = None
    mailed: bool = False


@dataclass(frozen=True, slots=True)
class _Case:
    tx: WriteTx
    office: Office
    account: int
    thread: str
    word: str
    letter: Letter

    def active(self) -> list[Run]:
        rows = self.tx.all("agents.runs.active_of_thread", account=self.account, thread=self.thread)
        return [store.to_run(row) for row in rows]

    def last(self) -> Run | None:
        row = self.tx.one("agents.runs.last_of_thread", account=self.account, thread=self.thread)
        return store.to_run(row) if row else None


def is_word(text: str) -> bool:
    """Whether a whole text is a thread word."""
    plain = text.strip().lower().rstrip(".!")
    named = _RAISE.fullmatch(text.strip()) or RENAME.fullmatch(" ".join(text.split()))
    return plain in _WORDS or named is not None


def thread_word(tx: WriteTx, office: Office, account: int, thread: str, word: str, letter: Letter) -> Word:
    """Act on a word, once for each mail."""
    if tx.one("agents.letters.find", account=account, key=letter.key) is not None:
        return Word("duplicate", "This was done when your mail came first.", mailed=True)
    plain = word.strip().lower().rstrip(".!")
    case = _Case(tx, office, account, thread, plain, letter)
    handler = _WORDS.get(plain) or (_raise if _RAISE.fullmatch(plain) else _help)
    answer = handler(case)
    tx.run(
        "agents.letters.add",
        account=account,
        key=letter.key,
        run=answer.run,
        body=dump(letter),
        state="taken",
        now=office.now(),
    )
    audit.record(tx, office.now(), account, f"word.{answer.outcome}", answer.run, None, word=plain[:40])
    return answer


def _stop(case: _Case) -> Word:
    stopped = [run for run in case.active() if ending.cancel(case.tx, case.office, run, "You stopped it.")]
    if not stopped:
        return Word("nothing", "Nothing runs in this thread, so there is nothing to stop.")
    return Word("stopped", "Stopped.", stopped[0].id, mailed=True)


def _retry(case: _Case) -> Word:
    active = case.active()
    hurried = [run for run in active if run.state is RunState.WAITING_TIME]
    for run in hurried:
        case.tx.run("agents.models.hurry", run=run.id, now=case.office.now())
        requests.requeue(case.tx, case.office, run.id)
    if hurried:
        return Word("retried", "It is tried again now.", hurried[0].id)
    if active:
        return Word("active", f"It is still at work, so it was not begun again. {_states(case, active)}", active[0].id)
    return _again(case, "The user wants this task begun again.")


def _continue(case: _Case) -> Word:
    active = case.active()
    paused = [run for run in active if _family_waits(case, run)]
    crowded = [run for run in paused if _has_unasked(case, run)]
    for run in paused:
        what = "asked" if run in crowded else "times"
        _add_limits(case, run, **{what: int(run.raised.get(what, 0)) + 1})
    if crowded:
        return Word("continued", "It goes on, as far as there is room for its requests.", crowded[0].id)
    if paused:
        return Word("continued", "It goes on, with the same limits once more.", paused[0].id)
    if active:
        return Word("active", f"It does not wait for that. {_states(case, active)}", active[0].id)
    return _again(case, "The user wants this task continued from where it ended.")


def _raise(case: _Case) -> Word:
    found = _RAISE.fullmatch(case.word)
    wanted = Decimal(found[1].replace(",", ".")) if found else Decimal(0)
    amount = int(min(wanted, _MOST_EUR) * budget.MICRO)
    active = case.active()
    for run in active:
        _add_limits(case, run, cost_u=amount)
    if not active:
        return Word("nothing", "Nothing runs in this thread, so there is no limit to raise.")
    holds = budget.caps(case.office, active[0], {**active[0].raised, "cost_u": amount}).cost_u
    return Word("raised", f"Its limit is {budget.euros(holds)} EUR now.", active[0].id)


def _family_waits(case: _Case, run: Run) -> bool:
    children = case.tx.all("agents.runs.children", run=run.id)
    return RunState.WAITING_BUDGET in {run.state, *(RunState(row["state"]) for row in children)}


def _has_unasked(case: _Case, run: Run) -> bool:
    """Whether a run or a task of it waits with calls that its user was not asked about, for want of room."""
    family = [run.id, *(row["id"] for row in case.tx.all("agents.runs.children", run=run.id))]
    return any(case.tx.all("agents.calls.unasked", run=one) for one in family)


def _add_limits(case: _Case, run: Run, **more: int) -> None:
    case.tx.run("agents.runs.raise", run=run.id, raised=json.dumps({**run.raised, **more}), now=case.office.now())
    if case.tx.run("agents.runs.requeue_budget", root=run.id, now=case.office.now()):
        case.tx.after(case.office.bells.runs)


def _again(case: _Case, told: str) -> Word:
    """Begin the last task of the thread again, knowing what it did before."""
    last = case.last()
    if last is None:
        return Word("nothing", "Nothing was begun in this thread yet.")
    old = journal.letters_of(case.tx, last.id)[-1]
    letter = replace(old, message=case.letter.message, message_id=case.letter.message_id, at=case.letter.at)
    run = runs.start(case.tx, case.office, letter, f"{case.word}.{case.letter.key}", "retry", told)
    return Word("started", "It begins again.", run)


def _rename(case: _Case) -> Word:
    found = RENAME.fullmatch(" ".join(case.letter.text.split()))
    if found is None:
        return Word("nothing", 'Write "rename to" and the new name, alone as the whole text.')
    name = threads.rename(case.tx, case.office, case.account, case.thread, found[1])
    return Word("renamed", f'This thread is called "{name}" from now on.')


def _status(case: _Case) -> Word:
    active = case.active()
    last = case.last()
    if active:
        return Word("status", _states(case, active), active[0].id)
    if last is None:
        return Word("status", "Nothing was begun in this thread yet.")
    return Word(
        "status",
        f"Nothing runs. The last task ended as {last.state.value} on {mails.moment(last.ended or 0)}.",
        last.id,
    )


def _help(_: _Case) -> Word:
    return Word("help", HELP)


_SAID: Final[Mapping[RunState, str]] = {
    RunState.QUEUED: "is about to go on",
    RunState.RUNNING: "is at work",
    RunState.WAITING_APPROVAL: "waits for your approval",
    RunState.WAITING_USER: "waits for your answer",
    RunState.WAITING_TIME: "waits to try again",
    RunState.WAITING_BUDGET: "is paused at a limit",
    RunState.WAITING_UNKNOWN: "waits for you to say what became of something",
    RunState.WAITING_CHILD: "waits for a specialist",
    RunState.WAITING_SEND: "waits for a mail to go out",
}


def _states(case: _Case, active: list[Run]) -> str:
    return " ".join(_state(case.tx, case.office, run) for run in active)


def _state(tx: ReadTx, office: Office, run: Run) -> str:
    used = mails.spent(tx, office, run)
    cost = f", {used.cost:.3f} EUR" if used.cost else ""
    name = mails.display(office, run.agent, run.depth)
    return f"{name} {_SAID[run.state]}: {used.model_calls} model calls, {used.tools} tools{cost} so far."


_WORDS: Final[Mapping[str, Callable[[_Case], Word]]] = {
    "stop": _stop,
    "retry": _retry,
    "continue": _continue,
    "status": _status,
    "help": _help,
    "rename": _rename,
}
