"""The calendar behind `remind_me` and `schedule`: words and times become triggers.

The rule: it computes and writes rows, and rings no bell; whoever watches the triggers hears of them in the same
transaction.
"""

from typing import Final
from zoneinfo import ZoneInfo

from agents import automation, trigger, trigger_secret
from agents.ports import Clock, WriteTx
from agents.rule import Event, Rule, SpecFault
from agents.schedule import Planned, Reading, Reminder
from agents.tool import ToolFailed
from agents.wall import to_wall, wall_after
from config.settings import Settings
from config.zone import zone as zone_named

_TITLE: Final = 70


class Planner:
    """Implements agents.schedule.Calendar on the rows of agents.trigger."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._agents = tuple(settings.agents)
        self._zone = settings.zone()
        self._clock = clock

    def remind(self, tx: WriteTx, account: int, agent: str, thread: str, reminder: Reminder, key: str) -> str:
        spec = f"every {reminder.every} from {reminder.at}" if reminder.every else reminder.at
        text = reminder.text
        new = trigger.New(
            account=account,
            agent=agent,
            thread=thread,
            act="remind",
            spec=spec,
            zone=self._zone.key,
            title=_short(text),
            text=text,
            key=key,
            taint=reminder.tainted,
        )
        return self._set(tx, new)

    def read(self, when: str, zone: str) -> Reading:
        rule, known = self._rule(when), self._known(zone)
        if isinstance(rule, Event):
            if rule.kind == "mailbox" and rule.name not in self._settings.mailboxes:
                raise ToolFailed(f'when: the settings describe no mailbox "{rule.name}" under [mailboxes]')
            return Reading(rule.words(), rule.spec, "", "", is_event=True)
        coming = trigger.upcoming(rule, known, self._clock.now())
        return Reading(rule.words(), rule.spec, known.key, coming)

    def agents(self) -> tuple[str, ...]:
        return self._agents

    def plan(self, tx: WriteTx, account: int, thread: str, planned: Planned, key: str) -> str:
        names = ("agent", "act", "title")
        rule = self._rule(planned.when)
        spec, event = rule.spec, isinstance(rule, Event)
        new = trigger.New(
            account=account,
            thread=thread,
            spec=spec,
            said=self._still_said(planned.said, spec),
            zone=self._known(planned.zone).key,
            text=planned.task,
            key=key,
            taint=planned.tainted,
            late=planned.late or ("all" if event else "once"),
            overlap=planned.overlap or ("queue" if event else "skip"),
            **{name: getattr(planned, name) for name in names},
        )
        coming = self._set(tx, new)
        return self._door(tx, new, planned) if event else f"Next: {coming}"

    def _door(self, tx: WriteTx, new: trigger.New, planned: Planned) -> str:
        """How it is set off. The address of a mail hook is told where no model provider hears it; the secret of a
        webhook never is by mail.
        """
        kind, name = new.spec.split()
        item = trigger.named(tx, new.account, kind, name)
        if item is None or kind == "mailbox":
            return "It begins with the next mail that comes in there."
        if kind == "webhook" or not planned.by_rules:
            what = "secret" if kind == "webhook" else "address"
            off = "" if kind == "hook" or self._settings.webhooks.enabled else f" {automation.WEBHOOKS_OFF}"
            return f"In a terminal, `postroom triggers secret {new.spec}` makes its {what} and shows it once.{off}"
        token = trigger_secret.new_secret()
        trigger_secret.give(tx, self._clock.now(), item, token)
        address = self._settings.address(f"hook+{name}.{token}")
        return f"Its address, told only now: {address}"

    def _still_said(self, said: str, spec: str) -> str:
        """The user's words for the time, unless they changed the time afterwards."""
        try:
            return said if self._rule(said).spec == spec else ""
        except ToolFailed:  # words that mean a date: another day they would mean another
            return said

    def _set(self, tx: WriteTx, new: trigger.New) -> str:
        try:
            made = trigger.create(tx, self._clock.now(), new)
        except SpecFault as fault:
            raise ToolFailed(f"Not set: {fault}.") from None
        if made.is_event:
            return ""
        coming = trigger.upcoming(made.rule, made.tz, self._clock.now(), 1 if made.kind == "once" else 3)
        return f"{coming} ({made.zone})"

    def _rule(self, when: str) -> Rule:
        """A `when` that means the same whenever it is read: relative words are refused."""
        try:
            return trigger.read_rule(when)[1]
        except SpecFault as unread:
            fault = unread
        from agents import plain  # on first use: its patterns make a start slower

        at = self._clock.now()
        try:
            found = plain.read(when, to_wall(at, self._zone), lambda step: wall_after(at, step, self._zone))
        except SpecFault as wrong:
            raise ToolFailed(f"when: {wrong}") from None
        if found is None:
            raise ToolFailed(f"when: {fault}")
        kind, rule = trigger.read_rule(found.when)
        if kind == "once":
            raise ToolFailed(f'when: give "{when}" as a date and time, such as {found.when}')
        return rule

    def _known(self, name: str) -> ZoneInfo:
        found = zone_named(name) if name else self._zone
        if found is None:
            raise ToolFailed(f'zone: "{name}" is no time zone; write a name such as Europe/Berlin')
        return found


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1].rstrip()}…"
