"""How runs begin: by a letter, by a task given to a specialist, or by the user's word.

The rule: a letter's key, a call's key, a retry's key each start at most one run (UNIQUE), and everything that a run
begins with is written in the same transaction.
"""

import json
from dataclasses import dataclass, replace
from typing import Final

from agents import audit, ids, journal, mails, store, threads
from agents.codec import dump
from agents.events import RunChanged
from agents.letter import Attachment, Letter, Origin
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.states import RunState
from agents.store import Call, Run
from agents.tool import Delegate

DAY_MS: Final = 86_400_000
_FOREIGN: Final = {
    Origin.DROPPED: "the mail you handed over",
    Origin.FORWARDED: "the mail you forwarded",
    Origin.HOOK: "what the hook received",
}


@dataclass(frozen=True, slots=True)
class Received:
    """What became of a letter: `started` a run, `fed` to the active one, or a `duplicate`. `state` is the run's state
    then.
    """

    run: str | None
    outcome: str
    state: str = ""


def receive(tx: WriteTx, office: Office, letter: Letter) -> Received:
    """Take a letter in: start a run, or feed the active run of its thread and agent. The same key again changes
    nothing.
    """
    row = tx.one("agents.letters.find", account=letter.account, key=letter.key)
    if row is not None:
        return Received(row["run"], "duplicate")
    active = tx.one("agents.runs.active_of_agent", account=letter.account, thread=letter.thread, agent=letter.agent)
    if active is None or active["cancel_at"] is not None:
        run = start(tx, office, letter, letter.key, letter.origin)
        _remember(tx, office, letter, run, "taken")
        return Received(run, "started", RunState.QUEUED)
    _remember(tx, office, letter, active["id"], "pending")
    _mark_foreign(tx, office, active["id"], letter)
    tx.after(office.bells.runs)
    return Received(active["id"], "fed", active["state"])


def _remember(tx: WriteTx, office: Office, letter: Letter, run: str, state: str) -> None:
    tx.run(
        "agents.letters.add",
        account=letter.account,
        key=letter.key,
        run=run,
        body=dump(letter),
        state=state,
        now=office.now(),
    )


def start(
    tx: WriteTx, office: Office, letter: Letter, fire_key: str, origin: str, told: str = "", ident: str = ""
) -> str:
    """Begin a run with a letter; it takes over the mark of its thread. Returns its id, which may be given."""
    line = threads.line(tx, letter.account, letter.thread)
    earlier = tx.value("agents.runs.thread_taint", **line)
    sources = tx.all("agents.runs.thread_taints", **line)
    letter = replace(letter, model=letter.model or _picked(tx, office, letter))
    told = told or _told(tx, letter)
    run = _add(
        tx,
        office,
        Begin(
            letter.account, letter.agent, letter.thread, letter.model, letter.subject, fire_key, origin, bool(earlier)
        ),
        answers=letter.answers,
        message=letter.message,
        ident=ident,
    )
    for row in sources:
        journal.mark(tx, office, run, row["source"])
    journal.append_letter(tx, office, run, letter, told)
    _mark_foreign(tx, office, run, letter)
    return run


def _picked(tx: ReadTx, office: Office, letter: Letter) -> str | None:
    """The model that the user picked by its tag in this thread before: it stays until they pick another."""
    where = {"account": letter.account, "thread": letter.thread, "agent": letter.agent}
    tag: str | None = tx.value("agents.runs.thread_model", **where)
    return tag if tag in office.models else None


def _mark_foreign(tx: WriteTx, office: Office, run: str, letter: Letter) -> None:
    """A letter that carries text of others marks its run when it comes, not when it is read."""
    source = _FOREIGN.get(letter.origin)
    if source is None and letter.foreign.strip():
        source = "the mail you forwarded"
    if source is None and letter.quoted.strip() and not letter.answers:
        source = "the text you quoted"
    if source is not None:
        journal.mark(tx, office, run, source)


def _told(tx: ReadTx, letter: Letter) -> str:
    """Which of our earlier mails a letter answers, unless it is the newest; or what its thread was forked from."""
    origin = threads.forked(tx, letter.account, letter.thread)
    if (
        origin is not None
        and tx.one("agents.runs.last_of_thread", account=letter.account, thread=letter.thread) is None
    ):
        return (
            f'This thread goes on from your mail "{origin.subject}" of {mails.moment(origin.at)}, apart from the rest.'
        )
    answered = tx.one("agents.outbox.by_ref", account=letter.account, ref=letter.answers) if letter.answers else None
    newest = tx.one("agents.outbox.last_of_thread", account=letter.account, thread=letter.thread)
    if answered is None or newest is None or answered["key"] == newest["key"]:
        return ""
    subject = json.loads(answered["body"])["mail"]["subject"]
    return f'The user answers an earlier mail of yours: "{subject}" of {mails.moment(answered["created"])}.'


@dataclass(frozen=True, slots=True)
class Begin:
    """What a new run is made of."""

    account: int
    agent: str
    thread: str
    model: str | None
    subject: str
    fire_key: str
    origin: str
    taint: bool


def _add(
    tx: WriteTx,
    office: Office,
    begin: Begin,
    *,
    answers: str | None = None,
    message: str | None = None,
    parent: Run | None = None,
    parent_call: str | None = None,
    ident: str = "",
) -> str:
    now = office.now()
    run = ident or ids.new_id(now)
    tx.run(
        "agents.runs.add",
        **{
            name: getattr(begin, name)
            for name in ("account", "agent", "thread", "model", "subject", "fire_key", "origin")
        },
        id=run,
        root=parent.root if parent else run,
        parent=parent.id if parent else None,
        parent_call=parent_call,
        depth=1 if parent else 0,
        answers=answers,
        message=message,
        taint=int(begin.taint),
        deadline=now + office.limits(begin.agent).run_days * DAY_MS,
        now=now,
    )
    audit.record(tx, now, begin.account, "run.started", run, None, agent=begin.agent, origin=begin.origin)
    tx.emit(RunChanged(run, begin.account, RunState.QUEUED))
    tx.after(office.bells.runs)
    tx.after(office.bells.clock)
    tx.after(lambda: office.bells.activity(run))
    return run


def spawn(tx: WriteTx, office: Office, parent: Run, call: Call, task: Delegate) -> str:
    """Begin a child run with a task; it shares the parent's purse and takes over its mark. Returns its id."""
    begin = Begin(
        account=parent.account,
        agent=task.skill,
        thread=parent.thread,
        model=parent.model,
        subject=parent.subject,
        fire_key=call.idem_key,
        origin="delegated",
        taint=parent.taint,
    )
    run = _add(tx, office, begin, parent=parent, parent_call=call.id)
    journal.mark_from(tx, office, run, parent)
    journal.append_letter(tx, office, run, _task_letter(tx, office, parent, task))
    return run


def _task_letter(tx: ReadTx, office: Office, parent: Run, task: Delegate) -> Letter:
    """A task as the letter that a specialist reads: the task in words, material as foreign text, files by reference or
    name.
    """
    known = earlier_attachments(tx, parent)
    wanted = [file for file in known if {file.ref, file.name} & set(task.attachments)]
    latest = journal.letters_of(tx, parent.id)[-1]
    return replace(
        latest,
        key=f"task.{parent.id}",
        agent=task.skill,
        text=task.task,
        quoted="",
        foreign=task.material,
        sender=parent.agent,
        at=office.now(),
        attachments=tuple(wanted),
        answers=None,
        message_id=None,
        origin=Origin.TYPED,
    )


def earlier_attachments(tx: ReadTx, run: Run) -> tuple[Attachment, ...]:
    """Every file that a run may name: those of its thread for an agent, those handed over for a specialist."""
    if run.depth:
        letters = journal.letters_of(tx, run.id)
    else:
        rows = tx.all("agents.steps.thread_users", **threads.line(tx, run.account, run.thread))
        letters = tuple(journal.letter_of(store.json_object(row["body"])) for row in rows)
    return tuple({file.ref: file for letter in letters for file in letter.attachments}.values())


def trusted_attachments(tx: ReadTx, office: Office, run: Run) -> frozenset[str]:
    """Refs of the files that count as the owner's own words (DECISIONS 31): those of letters that they typed, where
    the agent's setting says so. Files that came along with forwarded text are foreign whatever the setting.
    """
    profile = office.profile(store.get_run(tx, run.root).agent)
    if profile is None or not profile.attachments_trusted:
        return frozenset()
    rows = tx.all("agents.steps.thread_users", **threads.line(tx, run.account, run.thread))
    letters = [journal.letter_of(store.json_object(row["body"])) for row in rows]
    typed = [letter for letter in letters if letter.origin is Origin.TYPED and not letter.foreign]
    return frozenset(file.ref for letter in typed for file in letter.attachments)
