"""What the rest of the program may ask of the triggers: find one, and do what its owner says.

The rule: a trigger belongs to one account and exists for no other; every word is answered in a sentence.
"""

import re
from collections.abc import Iterable
from typing import Final

from agents import audit, automation, trigger, trigger_event, trigger_fire, trigger_secret
from agents.events import RunEnded, TriggerChanged, TriggerRemoved
from agents.office import Office
from agents.ports import Database, ReadTx, WriteTx
from agents.rule import SpecFault
from agents.trigger import New, Trigger
from agents.trigger_event import Delivery, Taken
from agents.trigger_secret import Opened
from agents.wall import shown
from config.zone import zone as zone_named

WORDS: Final = ("run now", "pause", "resume", "delete")
_SPELLINGS: Final = {
    **{word: word for word in WORDS},
    "run": "run now",
    "stop": "pause",
    "continue": "resume",
    "remove": "delete",
    "jetzt ausführen": "run now",
    "pausieren": "pause",
    "anhalten": "pause",
    "fortsetzen": "resume",
    "weiter": "resume",
    "löschen": "delete",
}


class Automations:
    """The triggers of one runtime. Keeps their messages and the clock in step by itself."""

    def __init__(self, office: Office, db: Database) -> None:
        self._office = office
        db.on(TriggerChanged, self._changed)
        db.on(RunEnded, self._ended)

    def _changed(self, tx: WriteTx, event: TriggerChanged) -> None:
        item = trigger.find(tx, event.trigger)
        if item is not None and item.state not in ("done", "off"):
            automation.put(tx, self._office, item)
        tx.after(self._office.bells.clock)

    def _ended(self, tx: WriteTx, event: RunEnded) -> None:
        trigger_fire.run_ended(tx, self._office, event.run, event.state)

    def all(self, tx: ReadTx, account: int) -> list[Trigger]:
        """The triggers of an account that are not over, oldest first."""
        return trigger.of_account(tx, account)

    def of_mail(self, tx: ReadTx, account: int, message_ids: Iterable[str]) -> Trigger | None:
        """The trigger whose message (any state of it) has one of these Message-IDs."""
        for one in message_ids:
            key = tx.value("agents.triggers.own_key", account=account, message_id=one)
            ident = automation.trigger_of_key(key) if key else None
            item = trigger.find(tx, ident) if ident else None
            if item is not None and item.account == account:
                return item
        return None

    def is_message(self, tx: ReadTx, account: int, message_ids: Iterable[str]) -> bool:
        """Whether one of these Message-IDs is that of a trigger's message, also of one that is gone."""
        keys = (tx.value("agents.triggers.own_key", account=account, message_id=one) for one in message_ids)
        return any(key is not None and automation.trigger_of_key(key) is not None for key in keys)

    def of_thread(self, tx: ReadTx, account: int, thread: str) -> Trigger | None:
        """The one trigger that was set in a thread; None when there is none, or several."""
        found = trigger.of_thread(tx, account, thread)
        return found[0] if len(found) == 1 else None

    def of_ref(self, tx: ReadTx, account: int, ref: str) -> Trigger | None:
        """The trigger that a stored message shows now."""
        row = tx.one("agents.outbox.by_ref", account=account, ref=ref)
        ident = automation.trigger_of_key(row["key"]) if row else None
        item = trigger.find(tx, ident) if ident else None
        return item if item is not None and item.account == account else None

    def of_newest(self, tx: ReadTx, account: int, message_id: str) -> Trigger | None:
        """The trigger whose newest message has this Message-ID."""
        key = tx.value("agents.triggers.own_key", account=account, message_id=message_id)
        item = self.of_mail(tx, account, (message_id,))
        return item if item is not None and key == f"{item.series}.{item.revision}" else None

    def make(self, tx: WriteTx, new: New, secret: str | None = None) -> tuple[Trigger, str]:
        """Set a trigger with its secret, given or made here (the only time it is told; empty where the kind has none).

        Raises SpecFault.
        """
        now = self._office.now()
        if self._office.profile(new.agent) is None:
            raise SpecFault(f'there is no agent "{new.agent}"; there is {", ".join(self._office.settings.agents)}')
        item = trigger.create(tx, now, new)
        if item.kind not in trigger_secret.WITH_SECRET:
            return item, ""
        return item, self.renew(tx, item, secret)

    def renew(self, tx: WriteTx, item: Trigger, secret: str | None = None) -> str:
        """Another secret, given or made here, for a webhook or hook; the old one stops counting. Raises SpecFault."""
        made = secret if secret is not None else trigger_secret.new_secret()
        trigger_secret.give(tx, self._office.now(), item, made)
        return made

    def active(self, tx: ReadTx, kind: str) -> list[Trigger]:
        """Every active trigger of a kind, of every account."""
        return trigger.of_kind(tx, kind)

    def open_by(self, tx: ReadTx, account: int | None, kind: str, name: str, secret: str) -> Opened:
        """The webhook or mail hook that a name and a secret open."""
        return trigger_secret.open_by(tx, account, kind, name, secret)

    def deliver(self, tx: WriteTx, item: Trigger, delivery: Delivery) -> Taken:
        """Take what came to a trigger from outside, once for its key."""
        return trigger_event.deliver(tx, self._office, item, delivery)

    def refusal(self, tx: ReadTx, item: Trigger) -> str | None:
        """Why a trigger takes nothing right now: off, often, full; None when it does."""
        return trigger_event.refusal(tx, self._office, item)

    def fail(self, tx: WriteTx, item: Trigger, why: str) -> None:
        """It cannot go on as it is: it stops, and its owner is told by mail."""
        trigger_fire.stop(tx, self._office, item, why)

    def note(self, tx: WriteTx, item: Trigger, what: str) -> None:
        """What came of the last time, for its message."""
        trigger_fire.note(tx, self._office, item, what, fired=0)
        tx.emit(TriggerChanged(item.id, item.account))

    def describe(self, item: Trigger) -> str:
        """A trigger in the words of its message."""
        return automation.body(self._office, item)

    def word(self, text: str) -> str | None:
        """The word that a whole text is, if it is one for a trigger."""
        return _SPELLINGS.get(re.sub(r"[\s.!]+", " ", text).strip().lower())

    def obey(self, tx: WriteTx, item: Trigger, word: str, key: str) -> str:
        """Do what the owner says; `key` makes it happen once. Returns what was done, for the owner."""
        audit.record(tx, self._office.now(), item.account, f"trigger.{word.replace(' ', '_')}", None, item.id)
        if word == "run now":
            return self._run_now(tx, item, key)
        if word == "pause":
            return self._pause(tx, item)
        if word == "resume":
            return self._resume(tx, item)
        trigger.remove(tx, self._office.now(), item, "the owner said so")
        return f'Deleted: "{item.title}" does not happen any more.'

    def _run_now(self, tx: WriteTx, item: Trigger, key: str) -> str:
        now, mark = self._office.now(), f"now.{key}"
        if not tx.run("agents.triggers.fire", trigger=item.id, key=mark, due=now, now=now, state="fired"):
            return f'"{item.title}" was begun by this mail before.'
        try:
            trigger_fire.act(tx, self._office, item, mark, now)
        except trigger_fire.CannotFire as fault:
            tx.run("agents.triggers.fired", trigger=item.id, key=mark, state="failed", run=None)
            return f"Not done: {fault}."
        tx.emit(TriggerChanged(item.id, item.account))
        state = tx.value("agents.triggers.fire_state", trigger=item.id, key=mark)
        if state == "skipped":
            return f'Not begun: the run of "{item.title}" before it has not ended.'
        if state == "waiting":
            return f'"{item.title}" begins when the run before it has ended.'
        return f'Begun now: "{item.title}".' + ("" if item.is_event else " Its usual times stay as they are.")

    def _pause(self, tx: WriteTx, item: Trigger) -> str:
        if item.state == "paused":
            return f'"{item.title}" was paused already.'
        trigger.move(tx, self._office.now(), item, "paused")
        return f'Paused: "{item.title}" does not happen until you answer with "resume".'

    def _resume(self, tx: WriteTx, item: Trigger) -> str:
        now = self._office.now()
        if item.is_event:
            return self._resume_event(tx, item)
        if item.state == "active":
            return f'"{item.title}" is active; next: {trigger.upcoming(item.rule, item.tz, now, 1)}.'
        following = trigger.next_free(tx, item, now) if zone_named(item.zone) else None
        if following is None:
            return f'Not done: the time of "{item.title}" has passed. "run now" does it at once.'
        trigger.move(tx, now, item, "active", following)
        return f'Active again: "{item.title}"; next: {shown(following.at, item.tz)}.'

    def _resume_event(self, tx: WriteTx, item: Trigger) -> str:
        if item.state == "active":
            return f'"{item.title}" is active.'
        trigger.move(tx, self._office.now(), item, "active")
        trigger_fire.try_on(tx, self._office, trigger.get(tx, item.id))
        return f'Active again: "{item.title}", {item.rule.words()}.'

    def trashed(self, tx: WriteTx, item: Trigger) -> None:
        """Its message was moved to Trash: it is switched off."""
        if item.state in ("active", "paused"):
            self._still(tx, item, "off")

    def restored(self, tx: WriteTx, item: Trigger) -> None:
        """Its message came back from Trash: it is there again, and paused until the owner says more."""
        if item.state == "off":
            trigger.move(tx, self._office.now(), item, "paused")

    def gone(self, tx: WriteTx, item: Trigger) -> None:
        """Its message was destroyed: it is deleted."""
        if item.state != "done":
            trigger.remove(tx, self._office.now(), item, "its message was deleted")

    def forget(self, tx: WriteTx, account: int) -> None:
        """Delete every trigger of an account that is removed."""
        for item in trigger.of_account(tx, account):
            tx.emit(TriggerRemoved(item.id, account, item.series))
        tx.run("agents.triggers.forget", account=account)
        tx.after(self._office.bells.clock)

    def _still(self, tx: WriteTx, item: Trigger, state: str) -> None:
        """Another state without a new message."""
        now = self._office.now()
        tx.run("agents.triggers.move", id=item.id, state=state, due_at=None, due_key=None, wake_at=None, now=now)
        tx.run("agents.triggers.withdraw", series=item.series, now=now)
        tx.after(self._office.bells.clock)
