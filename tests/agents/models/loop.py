"""A tiny agent loop for models: real tools over mail kept in memory, with a scripted user.

It does what the runtime does, less the database: it checks arguments, runs reads, starts delegated tasks as a loop of
their own, and asks its scripted user where the runtime would ask the real one.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agents import discover, prompt, schema, skills
from agents.letter import Attachment, File, Letter, OutsideMail
from agents.llm import AssistantMessage, Message, Model, ModelReply, ModelRequest, ResultMessage, SentCall, UserMessage
from agents.offer import Offer
from agents.ports import Approver, AttachmentData, MailNotFound, MailSummary, MailText, ReadTx, WriteTx
from agents.profile import Profile
from agents.schedule import Reminder
from agents.tool import Act, Ask, Delegate, SendOut, Tool, ToolCall, ToolContext, ToolFailed, Within

NOW = 1_795_942_800_000  # Tue 2026-11-30 09:00 UTC would be Monday; see test_times for the days
MAX_TURNS = 20


@dataclass(slots=True)
class MemoryMail:
    """The Mail port over lists; the query grammar of search_mail in a few lines."""

    mails: list[MailText] = field(default_factory=list)
    boxes: dict[str, str] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()
    files: dict[str, AttachmentData] = field(default_factory=dict)
    drafts: list[OutsideMail] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    async def search(self, account: int, query: str, limit: int) -> list[MailSummary]:
        self.queries.append(query)
        words = [word.strip('"') for word in query.split()]
        hits = [mail for mail in self.mails if all(self._fits(mail, word) for word in words)]
        return [
            MailSummary(mail.ref, self.boxes.get(mail.ref, "INBOX"), mail.subject, mail.sender, mail.at, mail.text[:80])
            for mail in sorted(hits, key=lambda mail: -mail.at)[:limit]
        ]

    def _fits(self, mail: MailText, word: str) -> bool:
        key, colon, value = word.partition(":")
        if colon and key == "is":
            return value == "unread" or mail.ref in self.waiting
        where = {"from": mail.sender, "to": " ".join(mail.to), "subject": mail.subject}.get(key) if colon else None
        text = where if where is not None else f"{mail.subject} {mail.sender} {mail.text}"
        return (value.strip('"') if colon else word).lower() in text.lower()

    async def read(self, account: int, ref: str) -> MailText:
        for mail in self.mails:
            if mail.ref == ref:
                return mail
        raise MailNotFound(ref)

    async def attachment(self, account: int, ref: str) -> AttachmentData:
        if ref not in self.files:
            raise MailNotFound(ref)
        return self.files[ref]

    def contents(self, tx: ReadTx, account: int, refs: Sequence[str]) -> tuple[File, ...]:
        found = [self.files[ref] for ref in refs]
        return tuple(File(one.name, one.media_type, one.data) for one in found)

    def draft(self, tx: WriteTx, account: int, draft: OutsideMail, key: str) -> str:
        self.drafts.append(draft)
        return f"draft-{len(self.drafts)}"

    def approver(self, tx: WriteTx, account: int, names: Sequence[str]) -> Approver | None:
        return None


class FixedClock:
    def now(self) -> int:
        return NOW


@dataclass(slots=True)
class MemorySchedule:
    """Keeps reminders in a list."""

    reminders: list[Reminder] = field(default_factory=list)

    def remind(self, tx: WriteTx, account: int, agent: str, thread: str, reminder: Reminder, key: str) -> str:
        self.reminders.append(reminder)
        return f"{reminder.at}{' every ' + reminder.every if reminder.every else ''}"


Decide = Callable[[Mapping[str, Any]], tuple[bool, str]]


def approve(args: Mapping[str, Any]) -> tuple[bool, str]:
    return True, "Sent. The relay said: 250 queued."


def reject(reason: str = "") -> Decide:
    return lambda args: (False, prompt.result_rejected(reason))


def first_then(words: str) -> Decide:
    """A user who answers the first proposal with words and approves the next."""
    said: list[str] = []

    def decide(args: Mapping[str, Any]) -> tuple[bool, str]:
        if not said:
            said.append(words)
            return False, prompt.result_answered(words)
        return approve(args)

    return decide


@dataclass(slots=True)
class Done:
    """What happened in a conversation."""

    calls: list[str] = field(default_factory=list)
    child_calls: list[str] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    proposed: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    tasks: list[Delegate] = field(default_factory=list)
    files: list[tuple[str, ...]] = field(default_factory=list)
    text: str = ""


@dataclass(slots=True)
class Office:
    """One user, one agent, one thread. `answers` are given to ask_user in turn."""

    model: Model
    mail: MemoryMail = field(default_factory=MemoryMail)
    decide: Decide = approve
    answers: list[str] = field(default_factory=list)
    relay: bool = True
    schedule: MemorySchedule | None = None
    with_skills: bool = True
    messages: list[Message] = field(default_factory=list)
    attachments: tuple[Attachment, ...] = ()

    def attach(self, files: Mapping[str, bytes | str]) -> tuple[Attachment, ...]:
        out = []
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            ref = f"m{len(self.mail.files) + 1}"
            kind = "text/plain" if name.endswith((".txt", ".md")) else "application/octet-stream"
            self.mail.files[ref] = AttachmentData(name, kind, data)
            out.append(Attachment(ref, name, kind, len(data)))
        return tuple(out)

    async def write(
        self, text: str, files: Mapping[str, bytes | str] | None = None, subject: str = "A wish", foreign: str = ""
    ) -> Done:
        """A letter from the user, worked on until the model's last word."""
        attached = self.attach(files or {})
        self.attachments += attached
        letter = Letter(
            key=f"k{len(self.messages)}",
            account=1,
            thread="t",
            agent="assistant",
            model=None,
            subject=subject,
            text=text,
            quoted="",
            sender="ada@postroom.internal",
            at=NOW,
            message="m",
            attachments=attached,
            foreign=foreign,
        )
        self.messages.append(prompt.letter_message(letter))
        done = Done()
        system = prompt.system_prompt(ASSISTANT, "assistant@postroom.internal", "Ada", self.skills())
        done.text = await self._work(system, self.messages, self.tools(), done, done.calls)
        return done

    def skills(self) -> tuple[Profile, ...]:
        return skills.load([skills.builtin_folder()]).profiles() if self.with_skills else ()

    def tools(self) -> dict[str, Tool]:
        offer = Offer(relay=self.relay, skills=self.skills, schedule=self.schedule)
        return {tool.spec.name: tool for tool in discover.tools(offer)}

    async def _work(
        self, system: str, messages: list[Message], tools: Mapping[str, Tool], done: Done, log: list[str]
    ) -> str:
        for _ in range(MAX_TURNS):
            specs = tuple(tool.spec for tool in tools.values())
            reply = await self.model.complete(ModelRequest(system, tuple(messages), specs, 4000, "demo"))
            if not reply.calls:
                messages.append(AssistantMessage(reply.text))
                return reply.text
            calls = sent_calls(reply, len(messages))
            messages.append(AssistantMessage(reply.text, calls))
            for call in calls:
                log.append(call.name)
                messages.append(await self._one(call, tools, done))
        raise AssertionError(f"no end after {MAX_TURNS} turns: {log}")

    async def _one(self, call: SentCall, tools: Mapping[str, Tool], done: Done) -> ResultMessage:
        assert call.name in tools, f"{call.name} was not offered"
        tool = tools[call.name]
        assert schema.faults(tool.spec.schema, call.args) == []
        try:
            plan = tool.plan(call.args)
            ok, text = await self._act(plan, tool, call, done)
        except ToolFailed as fault:
            ok, text = False, fault.text
        return ResultMessage(call.id, call.name, text, ok)

    async def _act(self, plan: object, tool: Tool, call: SentCall, done: Done) -> tuple[bool, str]:
        run = ToolCall(call.id, "run", call.id, call.name, call.args)
        ctx = ToolContext(1, "assistant", "t", "run", 1, False, self.attachments, "", self.mail, FixedClock())
        if isinstance(plan, Ask):
            done.asked.append(plan.question)
            return (True, self.answers.pop(0)) if self.answers else (False, prompt.result_expired())
        if isinstance(plan, SendOut):
            tool.describe(call.args)
            done.proposed.append(dict(call.args))
            ok, text = self.decide(call.args)
            if ok:
                done.sent.append(dict(call.args))
            return ok, text
        if isinstance(plan, Delegate):
            return True, await self._delegate(plan, done)
        result = tool.apply(cast("WriteTx", None), run, ctx) if isinstance(plan, Within) else await tool.run(run, ctx)
        assert isinstance(plan, Act | Within)
        return True, prompt.wrap(result.text, result.source) if result.untrusted else result.text

    async def _delegate(self, plan: Delegate, done: Done) -> str:
        done.tasks.append(plan)
        profile = next(skill for skill in self.skills() if skill.name == plan.skill)
        text = plan.task + ("\n\n" + prompt.wrap(plan.material, "material") if plan.material else "")
        attached = tuple(file for file in self.attachments if file.ref in plan.attachments)
        tools = {name: tool for name, tool in self.tools().items() if name in (profile.tools or ())}
        system = prompt.system_prompt(profile, "summariser@postroom.internal", "Ada")
        return prompt.wrap(
            await self._work(system, [UserMessage(text, plan.task, attached)], tools, done, done.child_calls),
            "delegated",
        )


def sent_calls(reply: ModelReply, turn: int) -> tuple[SentCall, ...]:
    return tuple(
        SentCall(f"c{turn}-{number}", call.name, json.loads(call.raw_args)) for number, call in enumerate(reply.calls)
    )


ASSISTANT = Profile("assistant", "Assistant", "")


def texts(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)
