"""Who answers at `schedule@`: reads a time (or what else sets a task off) and a task in plain words, and proposes the
schedule. No language model.

The rule: it acts like any model. It only proposes; what it read stands in the request, and nothing is armed without the
owner's word.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from typing import Any, Final

from agents import occasion, prompt
from agents.llm import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    Price,
    ResultMessage,
    Usage,
    UserMessage,
    WantedCall,
)
from agents.ports import Clock
from agents.profile import Profile
from agents.rule import SpecFault
from agents.tools.schedule import NAME
from agents.wall import to_wall, wall_after

TAG: Final = "schedule"
PROFILE: Final = Profile(TAG, "Schedule", "", "Sets schedules from plain words.", (NAME,), (), TAG)
_SUBJECT: Final = re.compile(r"^Subject: (.*)$", re.MULTILINE)
_REPLY: Final = re.compile(r"^(?:(?:re|aw|antw|sv)\s*:\s*)+", re.IGNORECASE)
_REMIND: Final = re.compile(
    r"^(?:please\s+|bitte\s+)?(?:remind\s+(?:me|us)|erinnere?\s+(?:mich|uns))\b[\s,]*(?:to|that|about|of|an|daran|dass)?\b\s*",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(r":\s+\S")
"""A task behind the time: "every day at 18:00: only the urgent ones"."""

_HOW: Final = (
    'Write when and what, for example: "every weekday at 8: summarise my inbox", "jeden Montag um 9:30 offene Aufgaben '
    'auflisten", "tomorrow at 14:00 remind me to call Ann", "first of the month at noon: ...", or cron text such as '
    '"0 8 * * 1-5 ...". Or what sets it off: "when mail comes to the hook backup: say what failed", "webhook deploy: '
    '...", "watch the mailbox office: ...".'
)


@dataclass(frozen=True, slots=True)
class Clerk:
    """See agents.llm.Model."""

    clock: Clock
    zone: tzinfo
    label: str = "fixed rules (no AI)"
    demo: bool = True
    endpoint: str | None = None
    price: Price | None = field(default_factory=lambda: Price(Decimal(0), Decimal(0)))
    window: int = 1_000_000

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Propose what the last words ask for, or say how it went."""
        last = request.messages[-1]
        if isinstance(last, ResultMessage):
            return self._told(request.messages, last)
        return self._propose(_words(last), _subject(request.messages), {})

    def _told(self, messages: Sequence[Message], result: ResultMessage) -> ModelReply:
        if result.ok:
            how = "Armed, as you changed it." if result.text.startswith(prompt.CHANGED) else "Armed."
            return _say(f"{how} {result.text.strip().splitlines()[-1]}\n\n{_ENDS}")
        if result.text.startswith(prompt.ANSWERED):
            said = result.text.removeprefix(prompt.ANSWERED).strip()
            return self._propose(said, "", _last_args(messages))
        return _say(f"Not scheduled. {result.text}")

    def _later(self, at: int, step: timedelta) -> datetime:
        return wall_after(at, step, self.zone)

    def _propose(self, words: str, subject: str, before: dict[str, Any]) -> ModelReply:
        """A call of the tool for a time that stands in the words, else in the subject. `before` is what was proposed
        and not taken.
        """
        from agents import plain  # on first use: its patterns make a start slower

        if (upon := occasion.read(words) or occasion.read(subject)) is not None:
            return _upon(upon, words, subject, before)
        at = self.clock.now()
        now, later = to_wall(at, self.zone), partial(self._later, at)
        try:
            found = plain.read(words, now, later)
            title = subject
            if found is None and subject:
                found, title = plain.read(subject, now, later), ""
                task = words.strip() or (found.rest if found else "")
            else:
                task = found.rest if found else ""
        except SpecFault as fault:
            return _say(f"Not scheduled: {fault}.\n\n{_HOW}")
        if found is None:
            return _say(f"Not scheduled: no time could be read in your mail.\n\n{_HOW}")
        if before and not _BEHIND.search(words):
            task = before.get("task", "")  # words about the time alone
        task = task or before.get("task", "") or subject
        if not task.strip():
            return _say(f'Not scheduled: "{found.said}" says when, but not what.\n\n{_HOW}')
        remind = _REMIND.match(task)
        what = task[remind.end() :].strip() if remind else task.strip()
        args = {
            "when": found.when,
            "task": f"{what[:1].upper()}{what[1:]}",
            "title": before.get("title") or title or (found.rest if found.rest and not words else _first(what)),
            "zone": str(self.zone),
            "said": found.said[:300],
            "act": "remind" if remind else before.get("act", "run"),
        }
        return _call(args)


def _upon(upon: occasion.Occasion, words: str, subject: str, before: dict[str, Any]) -> ModelReply:
    """A call of the tool for a task that something outside sets off."""
    named_above = occasion.read(words) is None
    task = upon.rest or (words.strip() if named_above else "") or before.get("task", "")
    title = "" if named_above else subject
    if not task:
        task = title
    if not task:
        return _say(f'Not scheduled: "{upon.said}" says what sets it off, but not what is to be done.\n\n{_HOW}')
    args = {"when": upon.when, "task": f"{task[:1].upper()}{task[1:]}", "said": upon.said[:300], "act": "run"}
    return _call({**args, "title": before.get("title") or title or _first(task)})


_ENDS: Final = 'Its message in the mailbox Automations shows it: "pause" or "delete" there ends it.'


def _words(message: Message) -> str:
    return message.words if isinstance(message, UserMessage) else message.text


def _subject(messages: Sequence[Message]) -> str:
    """The subject of the newest letter, without its reply marks."""
    letters = [message for message in messages if isinstance(message, UserMessage) and "Subject:" in message.text]
    found = _SUBJECT.search(letters[-1].text) if letters else None
    return _REPLY.sub("", found[1]).strip() if found else ""


def _last_args(messages: Sequence[Message]) -> dict[str, Any]:
    calls = [call for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    return dict(calls[-1].args) if calls else {}


def _first(text: str) -> str:
    line = text.strip().splitlines()[0]
    line = line if len(line) <= 70 else f"{line[:69].rstrip()}…"
    return f"{line[:1].upper()}{line[1:]}".rstrip(" .")


def _say(text: str) -> ModelReply:
    return ModelReply(text, (), "stop", Usage(0, 0), Decimal(0))


def _call(args: dict[str, Any]) -> ModelReply:
    wanted = WantedCall("schedule-1", NAME, json.dumps(args, ensure_ascii=False))
    return ModelReply("", (wanted,), "tool_calls", Usage(0, 0), Decimal(0))
