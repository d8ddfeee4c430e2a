"""The message of a trigger in the mailbox Automations: what it does, when it comes next, what came of it last.

The rule: made from the row alone, so that it can be written again at any time; a newer one takes the place of the
older.
"""

from typing import Final

from agents import ids, mails, outbox, trigger
from agents.letter import Kind, Outgoing
from agents.office import Office
from agents.ports import WriteTx
from agents.trigger import Trigger

SENDER: Final = "schedule"
"""The local part that these messages come from, and that answers to them go to."""

_HEADS: Final = {
    "active": "Active",
    "paused": "Paused: nothing happens until it goes on",
    "off": "Off: its message is in Trash",
    "failed": "Stopped, as it could not be done",
}
_LATE: Final = {
    "once": "A time that was missed is made up for once, and the mail says how late it is.",
    "skip": "A time that was missed is left out.",
    "all": "Times that were missed are made up for, up to ten of them.",
}
_SECRETS: Final = {
    "webhook": "`postroom triggers secret {spec}` in a terminal makes a new secret and shows it once.",
    "hook": "`postroom triggers secret {spec}` in a terminal makes a new address and shows it once.",
}
WEBHOOKS_OFF: Final = "Webhooks are off until the settings say `enabled = true` under [webhooks]."
_OVERLAP: Final = {
    "skip": "What comes while a run goes on is left out.",
    "queue": "What comes while a run goes on waits until it has ended.",
    "replace": "What comes while a run goes on ends that run.",
}
_HOW: Final = (
    'Answer this message with "run now", "pause", "resume" or "delete", alone as the whole text. To delete this '
    "message is to delete the schedule; in Trash it is only switched off."
)


def put(tx: WriteTx, office: Office, item: Trigger) -> None:
    """Queue the trigger's message as it is now."""
    tx.run("agents.triggers.revise", id=item.id)
    key = f"{item.series}.{item.revision + 1}"
    mail = Outgoing(
        key=key,
        kind=Kind.AUTOMATION,
        account=item.account,
        agent=SENDER,
        thread=item.thread,
        subject=f"[{item.state}] {item.title}: {item.rule.words()}",
        body=body(office, item),
        state=item.state,
        run="",
        step=item.revision + 1,
        message_id=ids.message_id(key, office.settings.domain),
        unread=False,
        series=item.series,
    )
    outbox.put(tx, office, mail, taint=item.taint)


def trigger_of_key(key: str) -> str | None:
    """The trigger whose message has this outbox key."""
    ident, mark, _ = key.partition(".trigger.")
    return ident if mark else None


def body(office: Office, item: Trigger) -> str:
    """The text of the message, as Markdown."""
    zone = "" if item.is_event else f" ({item.zone})"
    lines = [f"{_HEADS[item.state]}.", f"- When: {item.rule.words()}{zone}"]
    if item.state == "active" and not item.is_event:
        lines.append(f"- Next: {trigger.upcoming(item.rule, item.tz, office.now())}")
    if item.said:
        lines.append(f'- You wrote: "{item.said}"')
    if item.last:
        lines.append(f"- Last: {item.last}")
    what = "It reminds you of" if item.act == "remind" else f"{mails.display(office, item.agent)} gets this task"
    quoted = "\n".join(f"    {line}" for line in item.text.splitlines())
    taken = ["This was set by a task that had read untrusted text."] if item.taint else []
    policy = [_LATE[item.late]] if not item.is_event else _event_lines(office, item)
    return "\n\n".join([lines[0], "\n".join(lines[1:]), f"{what}:", quoted, *taken, *policy, _HOW])


def _event_lines(office: Office, item: Trigger) -> list[str]:
    off = item.kind == "webhook" and not office.settings.webhooks.enabled
    secret = [WEBHOOKS_OFF] if off else []
    secret += [_SECRETS[item.kind].format(spec=item.spec)] if item.kind in _SECRETS else []
    return ["What comes is handed over as untrusted text.", _OVERLAP[item.overlap], *secret]
