"""What sets a trigger off from outside: a webhook's request, a mail to a hook, a mail in a watched mailbox.

The rule: what comes is taken once for its key, with the row of its run's beginning, in the transaction that the other
side is answered after; it is untrusted material for a task that the owner set, and never words of the owner.
"""

from dataclasses import dataclass, replace
from typing import Final

from agents import codec, ending, ids, store, trigger_fire
from agents.events import TriggerChanged
from agents.letter import Attachment, Letter, Origin
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.trigger import Trigger

HOUR_MS: Final = 3_600_000
SAME_BODY_MS: Final = 600_000
"""Without a key of its own, what comes again with the same bytes this soon is the same delivery."""

MOST_WAITING: Final = 100


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came. `key` makes it one (empty: its bytes do, for ten minutes), `digest` is the hash of its bytes.

    `text` is handed to the agent as untrusted, under the name `source`. A mail that is kept has a `message`
    reference. `refusable`: whoever sends it can be told to come again, so that nothing has to be left out.
    """

    key: str
    digest: str
    source: str
    text: str
    message: str = ""
    message_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    refusable: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a delivery: begun, waiting, again (the same came before), skipped; or refused as other (its key
    came with other bytes), busy, full, often, off. `run` is the run that it began or begins.
    """

    outcome: str
    run: str = ""

    @property
    def is_kept(self) -> bool:
        return self.outcome in ("begun", "waiting", "again", "skipped")


def deliver(tx: WriteTx, office: Office, item: Trigger, delivery: Delivery) -> Taken:
    """Take what came to a trigger."""
    now = office.now()
    key = delivery.key and f"key.{delivery.key}"
    if key:
        before = tx.one("agents.triggers.delivered", trigger=item.id, key=key)
    else:
        since = now - SAME_BODY_MS
        before = tx.one("agents.triggers.delivered_lately", trigger=item.id, hash=delivery.digest, since=since)
    if before is not None and before["state"] == "failed":
        # Nobody was handed it: it may come again.
        tx.run("agents.triggers.take_back", trigger=item.id, key=before["key"])
    elif before is not None:
        same = before["hash"] == delivery.digest
        return Taken("again" if same else "other", before["run"] or "")
    if (reason := refusal(tx, office, item)) is not None:
        return Taken(reason)
    under_way = tx.value("agents.triggers.under_way", trigger=item.id) is not None
    if under_way and item.overlap == "skip" and delivery.refusable:
        return Taken("busy")
    return _take(tx, office, item, delivery, key or f"body.{now}.{delivery.digest}")


def refusal(tx: ReadTx, office: Office, item: Trigger) -> str | None:
    """Why a trigger takes nothing right now: off, often, full; None when it does."""
    if item.state != "active":
        return "off"
    most = office.settings.limits.fires_per_hour
    if tx.value("agents.triggers.lately", trigger=item.id, since=office.now() - HOUR_MS) >= most:
        return "often"
    return "full" if tx.value("agents.triggers.how_many_wait", trigger=item.id) >= MOST_WAITING else None


def _take(tx: WriteTx, office: Office, item: Trigger, delivery: Delivery, key: str) -> Taken:
    now, under_way = office.now(), tx.value("agents.triggers.under_way", trigger=item.id)
    behind = tx.value("agents.triggers.line_end", trigger=item.id)
    due = now if behind is None else max(now, behind + 1)
    row = {"trigger": item.id, "key": key, "hash": delivery.digest, "now": now, "due": due}
    if under_way is not None and item.overlap == "skip":
        tx.run("agents.triggers.deliver", **row, state="skipped", run=None, letter=None)
        trigger_fire.note(tx, office, item, "left out, as the run before it had not ended", fired=0)
        tx.emit(TriggerChanged(item.id, item.account))
        return Taken("skipped")
    if under_way is not None and item.overlap == "replace":
        tx.run("agents.triggers.pass_over", trigger=item.id)
        ending.cancel(tx, office, store.get_run(tx, under_way), "The next run of its trigger has begun.")
    run = ids.new_id(now)
    letter = codec.dump(_letter(item, delivery, key, now))
    tx.run("agents.triggers.forget_fires", trigger=item.id, before=now - trigger_fire.KEPT_MS)
    tx.run("agents.triggers.deliver", **row, state="waiting", run=run, letter=letter)
    trigger_fire.try_on(tx, office, item)
    begun = tx.value("agents.triggers.fire_state", trigger=item.id, key=key) == "fired"
    tx.emit(TriggerChanged(item.id, item.account))
    return Taken("begun" if begun else "waiting", run)


def _letter(item: Trigger, delivery: Delivery, key: str, now: int) -> Letter:
    """The owner's task, and what came as material that nobody here vouches for."""
    return Letter(
        key=f"{item.id}.{key}",
        account=item.account,
        thread=item.thread,
        agent=item.agent,
        model=None,
        subject=item.title,
        text=item.text,
        quoted="",
        sender=delivery.source,
        at=now,
        message=delivery.message,
        message_id=delivery.message_id,
        attachments=tuple(replace(file, outside=True) for file in delivery.attachments),
        origin=Origin.HOOK,
        foreign=delivery.text.strip() or "(nothing)",
    )
