"""Firing: what happens when a trigger's time has come.

The rule: taking a local minute, what follows from it, and the next time are one transaction, and a minute that was
taken never comes again: a crash anywhere, a clock set back, a second start fire nothing twice.
"""

import logging
from dataclasses import replace
from typing import Final

from agents import codec, ending, ids, journal, mails, outbox, runs, store, trigger
from agents.events import TriggerChanged
from agents.letter import Kind, Letter, Origin, Outgoing
from agents.office import Office
from agents.ports import Database, ReadTx, WriteTx
from agents.states import RunState
from agents.trigger import Trigger
from agents.wall import Occurrence, shown, span
from config.zone import zone as zone_named

_log = logging.getLogger(__name__)
LATE_MS: Final = 120_000
"""From here on a time counts as missed, and its mail says how late it is."""

ATTEMPTS: Final = 3
PAUSES_MS: Final = (60_000, 300_000)
MADE_UP: Final = 10
KEPT_MS: Final = 400 * 86_400_000


class CannotFire(Exception):
    """What a trigger wants is not possible; the text says why, for the user."""


async def fire_due(db: Database, office: Office) -> None:
    """Fire everything whose time has come, each in a transaction of its own. Raises what even the record of a failed
    try raises (a full disk).
    """
    faults: list[Exception] = []
    for row in db.read(lambda tx: tx.all("agents.triggers.due", now=office.now())):
        try:
            await _attempt(db, office, row["id"])
        except Exception as fault:  # not even its failure could be written down: the others first
            faults.append(fault)
    if faults:
        raise faults[0]


async def _attempt(db: Database, office: Office, ident: str) -> None:
    try:
        await db.write(lambda tx: fire(tx, office, ident))
    except CannotFire as fault:
        why = str(fault)
        await db.write(lambda tx: failed(tx, office, ident, why))
    except Exception:  # one broken trigger must not keep back the others; it is tried again, and then said so by mail
        _log.exception("a trigger could not fire", extra={"trigger": ident})
        await db.write(lambda tx: failed(tx, office, ident, "a fault of the program; the log names it"))


def fire(tx: WriteTx, office: Office, ident: str) -> None:
    """Fire a trigger whose time has come, and set its next time. Raises CannotFire, and then nothing has happened."""
    item, now = trigger.find(tx, ident), office.now()
    if item is None or item.wake_at is None or item.wake_at > now:
        return
    if item.is_event:
        go_on(tx, office, item)
        trigger.move(tx, now, item, "active")
        return
    if item.due_at is None or item.due_key is None:
        return
    if zone_named(item.zone) is None:
        raise CannotFire(f'the time zone "{item.zone}" is not known here any more')
    due: Occurrence | None = Occurrence(item.due_at, item.due_key)
    for _ in range(MADE_UP if item.late == "all" else 1):
        if due is None or due.at > now:
            break
        _take(tx, office, item, due)
        due = trigger.next_free(tx, item, due.at)
    _advance(tx, office, item)


def _take(tx: WriteTx, office: Office, item: Trigger, due: Occurrence) -> None:
    """One time of a trigger: taken, and acted on unless its policies say otherwise."""
    now = office.now()
    if not tx.run("agents.triggers.fire", trigger=item.id, key=due.key, due=due.at, now=now, state="fired"):
        return
    late = now - due.at
    if late > LATE_MS and item.late == "skip":
        _skip(tx, office, item, due.key, f"left out, as it was missed by {span(late)}")
    else:
        act(tx, office, item, due.key, due.at)


def _advance(tx: WriteTx, office: Office, item: Trigger) -> None:
    now = office.now()
    tx.run("agents.triggers.forget_fires", trigger=item.id, before=now - KEPT_MS)
    following = trigger.next_free(tx, item, now)
    trigger.move(tx, now, item, "active" if following else "done", following)
    if following is None:
        trigger.over(tx, now, item)


def act(tx: WriteTx, office: Office, item: Trigger, key: str, due: int) -> None:
    """Do what a trigger is for, once for this key."""
    if item.act == "remind":
        _remind(tx, office, item, key, due)
        return
    under_way = tx.value("agents.triggers.under_way", trigger=item.id)
    if under_way is not None and item.overlap == "skip":
        _skip(tx, office, item, key, "left out, as the run before it had not ended")
    elif under_way is not None and item.overlap == "queue":
        _queue(tx, office, item, key)
    else:
        if under_way is not None:
            ending.cancel(tx, office, store.get_run(tx, under_way), "The next run of its schedule has begun.")
        _start(tx, office, item, key, due)


def _skip(tx: WriteTx, office: Office, item: Trigger, key: str, why: str) -> None:
    tx.run("agents.triggers.fired", trigger=item.id, key=key, state="skipped", run=None)
    note(tx, office, item, why, fired=0)


def _queue(tx: WriteTx, office: Office, item: Trigger, key: str) -> None:
    """One time may wait for the run before it; more would only pile up. What came from outside does not come again."""
    if not item.is_event and tx.one("agents.triggers.waiting", trigger=item.id) is not None:
        _skip(tx, office, item, key, "left out, as another run waits already")
        return
    tx.run("agents.triggers.fired", trigger=item.id, key=key, state="waiting", run=None)
    note(tx, office, item, "waits until the run before it has ended", fired=0)


def note(tx: WriteTx, office: Office, item: Trigger, what: str, fired: int = 1) -> None:
    """Remember what came of the last time."""
    now = office.now()
    tx.run("agents.triggers.note", id=item.id, last=f"{shown(now, item.tz)}, {what}", fired=fired, now=now)


def _remind(tx: WriteTx, office: Office, item: Trigger, key: str, due: int) -> None:
    """The mail of a reminder: in the thread it was asked for in, unread, at the time."""
    now, mail_key = office.now(), f"{item.id}.remind.{key}"
    text = " ".join(item.text.split())
    mail = Outgoing(
        key=mail_key,
        kind=Kind.REMINDER,
        account=item.account,
        agent=item.agent,
        thread=item.thread,
        subject=f"Reminder: {text if len(text) <= 90 else f'{text[:89].rstrip()}…'}",
        body="\n\n".join([item.text, *_remarks(tx, office, item, now, due)]),
        state="done",
        run="",
        step=0,
        message_id=ids.message_id(mail_key, office.settings.domain),
        in_reply_to=_newest(tx, item),
    )
    outbox.put(tx, office, mail, taint=item.taint)
    note(tx, office, item, "reminded you")


def _remarks(tx: ReadTx, office: Office, item: Trigger, now: int, due: int) -> list[str]:
    """What the program adds to a reminder: how late it is, when the next one comes, and who wanted it."""
    lines = [late_words(item, now, due)] if now - due > LATE_MS else []
    if item.kind != "once" and (following := trigger.next_free(tx, item, now)) is not None:
        where = "Its message in the mailbox Automations ends or pauses it."
        words = item.rule.words()
        lines.append(f"{words[0].upper()}{words[1:]} ({item.zone}); next: {shown(following.at, item.tz)}. {where}")
    if item.taint:
        lines.append("This was set by a task that had read untrusted text.")
    return lines


def late_words(item: Trigger, now: int, due: int) -> str:
    """How late it is, in a sentence."""
    return f"This is {span(now - due)} late: it was due {shown(due, item.tz)}, when Postroom was at rest."


def _newest(tx: ReadTx, item: Trigger) -> str | None:
    """The Message-ID of the newest mail of the thread, which the next one answers."""
    found: str | None = tx.value("agents.lookup.newest", account=item.account, thread=item.thread)
    return found


def go_on(tx: WriteTx, office: Office, item: Trigger) -> None:
    """Begin what waits first, unless the run before it goes on. Raises CannotFire, and then nothing has happened."""
    waiting = tx.one("agents.triggers.waiting", trigger=item.id)
    if waiting is None or tx.value("agents.triggers.under_way", trigger=item.id) is not None:
        return
    if waiting["letter"] is None:
        _start(tx, office, item, waiting["key"], office.now())
    else:
        _begin(tx, office, item, waiting["key"], codec.load(Letter, waiting["letter"]), waiting["run"])


def _start(tx: WriteTx, office: Office, item: Trigger, key: str, due: int) -> None:
    """Begin the run of a schedule, in the schedule's own thread."""
    now = office.now()
    late = now - due > LATE_MS
    letter = Letter(
        key=f"{item.id}.{key}",
        account=item.account,
        thread=item.thread,
        agent=item.agent,
        model=None,
        subject=f"{item.title} ({span(now - due)} late)" if late else item.title,
        text="\n\n".join([item.text, *([f"({late_words(item, now, due)})"] if late else [])]),
        quoted="",
        sender="Postroom, by your schedule",
        at=now,
        message="",
        origin=Origin.SCHEDULE,
    )
    _begin(tx, office, item, key, letter)


def _begin(tx: WriteTx, office: Office, item: Trigger, key: str, letter: Letter, ident: str = "") -> None:
    """Begin a run with a letter, answering the newest mail of the trigger's thread unless it is a mail itself."""
    if office.profile(item.agent) is None:
        raise CannotFire(f'there is no agent "{item.agent}" any more')
    letter = replace(letter, message_id=letter.message_id or _newest(tx, item))
    run = runs.start(tx, office, letter, letter.key, letter.origin, ident=ident)
    if item.taint:
        journal.mark(tx, office, run, "the task that set this schedule")
    tx.run("agents.triggers.fired", trigger=item.id, key=key, state="fired", run=run)
    note(tx, office, item, "begun")


def failed(tx: WriteTx, office: Office, ident: str, why: str) -> None:
    """A try that failed: try again later, and after the last one say so by mail and go on with the next time."""
    item, now = trigger.find(tx, ident), office.now()
    if item is None or item.state != "active":
        return
    if item.attempts + 1 < ATTEMPTS:
        tx.run("agents.triggers.attempt", id=item.id, wake_at=now + PAUSES_MS[item.attempts], now=now)
        tx.emit(TriggerChanged(item.id, item.account))
        return
    if item.is_event:
        _give_up(tx, office, item, why)
        return
    if item.due_at is None or item.due_key is None:
        return
    tx.run("agents.triggers.fire", trigger=item.id, key=item.due_key, due=item.due_at, now=now, state="failed")
    note(tx, office, item, f"failed: {why}", fired=0)
    following = trigger.next_free(tx, item, now) if zone_named(item.zone) else None
    trigger.move(tx, now, item, "active" if following else "failed", following)
    due = shown(item.due_at or office.now(), item.tz)
    body = (
        f'Not done: the schedule "{item.title}" could not begin what was due {due}, {ATTEMPTS} times: {why}.\n\n'
        'What to do: put the cause right, then answer its message in the mailbox Automations with "run now".'
    )
    _failure_mail(tx, office, item, f"{item.id}.failed.{item.due_key}", body)


def stop(tx: WriteTx, office: Office, item: Trigger, why: str) -> None:
    """A trigger that cannot go on as it is: it stops, and its owner is told by mail."""
    note(tx, office, item, f"failed: {why}", fired=0)
    trigger.move(tx, office.now(), item, "failed")
    body = (
        f'Stopped: "{item.title}" cannot go on: {why}.\n\n'
        'What to do: put the cause right, then answer its message in the mailbox Automations with "resume".'
    )
    _failure_mail(tx, office, item, f"{item.id}.failed.{office.now()}", body)


def _give_up(tx: WriteTx, office: Office, item: Trigger, why: str) -> None:
    """What came cannot be begun: it is told, and nothing more is taken until the owner says so."""
    lost = tx.run("agents.triggers.give_up", trigger=item.id)
    note(tx, office, item, f"failed: {why}", fired=0)
    trigger.move(tx, office.now(), item, "failed")
    body = (
        f'Not done: "{item.title}" could not begin, {ATTEMPTS} times: {why}. What came meanwhile ({lost}) was handed '
        "to nobody, and nothing more is taken.\n\n"
        'What to do: put the cause right, then answer its message in the mailbox Automations with "resume".'
    )
    _failure_mail(tx, office, item, f"{item.id}.failed.{office.now()}", body)


def _failure_mail(tx: WriteTx, office: Office, item: Trigger, key: str, body: str) -> None:
    mail = Outgoing(
        key=key,
        kind=Kind.FAILURE,
        account=item.account,
        agent=item.agent,
        thread=item.thread,
        subject=mails.reply_subject(item.title),
        body=body,
        state=RunState.FAILED,
        run="",
        step=0,
        message_id=ids.message_id(key, office.settings.domain),
        in_reply_to=_newest(tx, item),
    )
    outbox.put(tx, office, mail, taint=item.taint)


def run_ended(tx: WriteTx, office: Office, run: str, state: RunState) -> None:
    """A run of a schedule has ended: remember how, and begin the one that waits for it."""
    row = tx.one("agents.triggers.of_run", run=run)
    if row is None:
        return
    item = trigger.to_trigger(row)
    note(tx, office, item, state.value, fired=0)
    waiting = tx.one("agents.triggers.waiting", trigger=item.id)
    if item.is_event:
        if item.state == "active":
            try_on(tx, office, item)
    elif waiting is not None:
        if office.profile(item.agent) is None or item.state == "off":
            _skip(tx, office, item, waiting["key"], "left out")
        else:
            _start(tx, office, item, waiting["key"], office.now())
    if item.state not in ("done", "off"):
        tx.emit(TriggerChanged(item.id, item.account))


def try_on(tx: WriteTx, office: Office, item: Trigger) -> None:
    """Begin what waits first; what cannot begin is tried again later, and no sooner for what comes meanwhile."""
    if item.wake_at is not None:
        return
    try:
        go_on(tx, office, item)
    except CannotFire as fault:
        failed(tx, office, item.id, str(fault))


def realign(tx: WriteTx, office: Office) -> None:
    """The clock was set: a next time that now lies too far ahead is computed again."""
    now = office.now()
    for row in tx.all("agents.triggers.waiting_long", now=now):
        item = trigger.to_trigger(row)
        found = trigger.next_free(tx, item, now)
        if found is not None and item.due_at is not None and found.at < item.due_at:
            trigger.move(tx, now, item, "active", found)
