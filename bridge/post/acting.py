"""What a mail does: for each of its recipients a task, an answer, a decision, a thread word, or nothing.

The rule: machine-made mail does nothing; a drop never decides; a word to a thread acts only on the sender's own thread.
All of it happens in one transaction, and each act is keyed by the mail, so that a repeat does nothing.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from agents import audit, guide, lookup
from agents.letter import Letter, Origin
from agents.runtime import Runtime
from agents.seconds import Seat
from bridge.post import deciding, folder_words, forks, hooks, leaves, memory_words, notices, toolnews
from bridge.post.incoming import Incoming
from bridge.post.ports import ref
from bridge.post.route import (
    SCHEDULE,
    Directory,
    Target,
    ToAction,
    ToAgent,
    ToHelp,
    ToHook,
    ToSchedule,
    ToSkill,
    ToUser,
)
from bridge.post.shown import visible
from bridge.submissions import Refused
from config.settings import Settings
from mailstore import accounts, messages
from mailstore.model import AccountId, EmailId, EmailInfo, Millis
from mailstore.sqlite import ReadTx, WriteTx

_ABOUT: Final = ("status", "help", "retry", "continue", "rename", "fork", "branch")
"""Words that ask about the work or push it: under an open request they neither decide it nor close it."""


_NOT_YOURS: Final = "The task is somebody else's: you can approve or refuse what it asks."


_NO_QUESTION: Final = frozenset({"", "help", "hilfe", "aide", "ayuda"})


@dataclass(frozen=True, slots=True)
class Arrival:
    """A row of arrivals. `recipients` are addresses, or for a drop the name of its folder."""

    id: int
    account: AccountId
    email: EmailId
    dropped: bool
    recipients: tuple[str, ...]
    key: str
    via: str
    at: Millis


@dataclass(frozen=True, slots=True)
class _Case:
    """One mail being acted on."""

    tx: WriteTx
    arrival: Arrival
    info: EmailInfo
    mail: Incoming
    answered: set[str] = field(default_factory=set)
    """The requests that it was taken as an answer to: however many of its addresses lead to one, it answers it once."""

    @property
    def asked(self) -> notices.Asked:
        return notices.Asked.of(self.info, self.arrival.key)


class Acting:
    """Made once. `folders` gives the agent of a hand-over folder's name; `tools_seen` is called when somebody may have
    approved a changed tool.
    """

    def __init__(
        self,
        runtime: Runtime,
        directory: Callable[[], Directory],
        folders: Callable[[], dict[str, str]],
        settings: Settings,
        tools_seen: Callable[[], None],
    ) -> None:
        self._tools_seen = tools_seen
        self._runtime = runtime
        self._directory = directory
        self._folders = folders
        self._settings = settings
        self._domain = settings.domain

    def act(self, tx: WriteTx, arrival: Arrival, info: EmailInfo, mail: Incoming) -> str:
        """Do what the mail says. Returns the state of its row: done, or machine."""
        case = _Case(tx, arrival, info, mail)
        if arrival.dropped:
            self._drop(case)
            return "done"
        called = [address for address in arrival.recipients if address.startswith(hooks.MARK)]
        for address in called:
            self._to_hook(case, address.removeprefix(hooks.MARK))
        if mail.machine:
            return "done" if called else "machine"
        directory = self._directory()
        for target in dict.fromkeys(directory.resolve(one) for one in arrival.recipients if one not in called):
            self._for_target(case, target)
        return "done"

    def _to_hook(self, case: _Case, ident: str) -> None:
        """The one address that machines may write to."""
        told = hooks.set_off(case.tx, self._runtime, case.arrival.account, ident, case.info, case.mail)
        if told is not None:
            notices.say(case.tx, self._runtime, case.asked, "help", told)

    def _for_target(self, case: _Case, target: Target | Refused) -> None:
        match target:
            case ToAction(token=token):
                self._reply(case, token, "")
            case ToAgent(agent=agent, model=model):
                self._to_agent(case, agent, model)
            case ToSkill(skill=skill):
                self._to_agent(case, skill, None)
            case ToSchedule():
                self._to_schedule(case)
            case ToHelp():
                self._to_help(case)
            case ToUser() | ToHook() | Refused():
                return  # delivered when it was taken in, or refused then

    def _to_help(self, case: _Case) -> None:
        """Words that the program obeys are answered by it, a question by the guide, everything else by an overview."""
        told, directory = self._help(case), self._directory()
        asked = (case.mail.words or case.info.subject).strip(" .!?\n").lower()
        if told is None and asked not in _NO_QUESTION and guide.SKILL in directory.skills:
            self._to_agent(case, guide.SKILL, None)
            return
        self._say(case, "help", told or notices.HELP.format(addresses=", ".join(directory.addresses())))

    def _help(self, case: _Case) -> str | None:
        """What is said to the program itself: about standing approvals, memory, folders. None: about something else."""
        owner = accounts.get(case.tx, case.arrival.account)
        by = owner.address if owner else ""
        account, words = case.arrival.account, case.mail.words
        told = leaves.obey(case.tx, self._runtime, account, words, by, case.arrival.via)
        told = told or self._tool_news(case, by) or self._memory(case, by)
        told = told or folder_words.obey(case.tx, self._settings, account, words, by, case.arrival.via)
        packed = next((file.name for file in case.mail.attachments if file.name.lower().endswith(".zip")), None)
        return told if told or packed is None else notices.SKILL_FILE.format(name=visible(packed))

    def _tool_news(self, case: _Case, by: str) -> str | None:
        """What is said to the mail that told of a changed tool of an MCP server."""
        arrival, message = case.arrival, case.mail.message
        answered = (*message.in_reply_to, *message.references[-1:])
        sender = deciding.Sender(arrival.account, by, arrival.via, arrival.at)
        told = toolnews.answer(case.tx, answered, case.mail, sender)
        if told is not None:
            case.tx.after(self._tools_seen)
        return told

    def _memory(self, case: _Case, by: str) -> str | None:
        """What is said to a note's message, or of memory as a whole."""
        memory, account, message = self._runtime.memory, case.arrival.account, case.mail.message
        answered = (*message.in_reply_to, *message.references[-1:])
        told = memory_words.answer(case.tx, memory, account, answered, case.mail.words)
        key = case.arrival.key
        return told or memory_words.obey(case.tx, memory, account, case.mail.words, key, by, case.arrival.via)

    # --- replies to requests

    def _reply(self, case: _Case, token: str | None, agent: str) -> bool:
        """Treat the mail as an answer to a request. False: it answers none."""
        account = case.arrival.account
        bound = deciding.bind(case.tx, self._runtime, account, token, case.mail)
        if bound.fault:
            self._note_unmatched(case, bound)
            code = bound.request.code if bound.request else ""
            where = f"Request {code} still waits. " if code and bound.request and bound.request.state == "open" else ""
            text = f"Nothing was done: your mail could not be matched, as {bound.fault}. {where}".strip()
            how = 'Answer the request mail itself (the newest one in the mailbox Action) with "approve" or "reject".'
            self._say(case, bound.request.agent if bound.request else "help", f"{text}\n\n{how}")
            return True
        if bound.request is None:
            return False
        if bound.request.id in case.answered:
            return True
        asks_about = case.mail.command in _ABOUT and deciding.is_decided_by_word(bound.request)
        if bound.request.state == "open" and asks_about and bound.request.seat is Seat.SECOND:
            self._say(case, bound.request.agent, notices.near_miss(bound.request.code, _NOT_YOURS, case.mail.words))
            return True
        if bound.request.state == "open" and asks_about:
            self._act_on_word(case, bound.request.agent, None, bound.request.thread)
            return True
        owner = accounts.get(case.tx, account)
        sender = deciding.Sender(account, owner.address if owner else "", case.arrival.via, case.arrival.at)
        if token is None and bound.request.state != "open" and case.mail.reading.decision in ("respond", "none"):
            return False  # talk about something decided long ago is talk
        case.answered.add(bound.request.id)
        answer = deciding.decide(case.tx, self._runtime, bound.request, case.mail, sender, case.arrival.key)
        if answer is not None:
            self._say(case, bound.request.agent, answer)
        return True

    def _note_unmatched(self, case: _Case, bound: deciding.Bound) -> None:
        """Whoever answers a request that is not theirs, or two at once, decides nothing: the trail says so."""
        arrival, request = case.arrival, bound.request
        owner = accounts.get(case.tx, arrival.account)
        facts = {"by": owner.address if owner else "", "via": arrival.via, "message": arrival.key}
        run, subject = (request.run, request.id) if request else (None, None)
        facts |= {"rule": bound.rule, "why": bound.fault}
        audit.record(case.tx, arrival.at, arrival.account, "decision.refused", run, subject, **facts)

    # --- schedules

    def _to_schedule(self, case: _Case) -> None:
        """A word to a schedule, in answer to its message or in the thread it was set in; else a new schedule."""
        kept, account, message = self._runtime.automations, case.arrival.account, case.mail.message
        answered = (*message.in_reply_to, *message.references[-1:])
        word = kept.word(case.mail.words)
        item = kept.of_mail(case.tx, account, answered)
        if item is None and word is not None:
            item = kept.of_thread(case.tx, account, str(case.info.thread))
        if item is not None and word is not None:
            self._say(case, SCHEDULE, kept.obey(case.tx, item, word, case.arrival.key))
        elif item is not None:
            self._say(case, SCHEDULE, notices.NO_WORD.format(title=item.title))
        elif kept.is_message(case.tx, account, answered):
            self._say(case, SCHEDULE, "Nothing was done: this schedule is over, or was deleted.")
        else:
            self._to_agent(case, SCHEDULE, None)

    # --- letters

    def _to_agent(self, case: _Case, agent: str, model: str | None) -> None:
        address = f"{agent}@{self._domain}"
        if case.mail.named_in(address, "cc") and not case.mail.named_in(address, "to"):
            return  # it reads along: the mail is in the thread, and no run begins
        if self._reply(case, None, agent):
            return
        if self._word(case, agent, model) or self._decides_nothing(case, agent):
            return
        if not (case.mail.words or case.mail.foreign or case.mail.attachments or case.info.subject.strip()):
            self._say(case, agent, "Your mail was empty, so nothing was started. Write what you would like done.")
            return
        self._runtime.receive(case.tx, self._letter(case, agent, model))

    def _decides_nothing(self, case: _Case, agent: str) -> bool:
        """A decision that answers another mail of a thread in which requests wait, such as a notice about one: it is
        none, and no words for the agent either.
        """
        if case.mail.reading.decision not in ("approve", "reject", "edit"):
            return False
        if codes := lookup.open_codes(case.tx, case.arrival.account, str(case.info.thread)):
            self._say(case, agent, notices.UNBOUND.format(codes=", ".join(codes)))
        return bool(codes)

    def _word(self, case: _Case, agent: str, model: str | None) -> bool:
        """Treat the mail as a thread word. One that begins a thread of its own is answered too: it means another."""
        command, known = case.mail.command, self._is_known_thread(case)
        if command is None or (not known and (command == "help" or case.mail.attachments or case.mail.foreign)):
            return False
        self._act_on_word(case, agent, model, str(case.info.thread), "" if known else f" {notices.OTHER_THREAD}")
        return True

    def _act_on_word(self, case: _Case, agent: str, model: str | None, thread: str, hint: str = "") -> None:
        if case.mail.command in ("fork", "branch"):
            self._fork(case, agent, thread)
            return
        letter = replace(self._letter(case, agent, model), thread=thread)
        word = self._runtime.thread_word(case.tx, letter.account, thread, case.mail.command or "", letter)
        if not word.mailed:
            self._say(case, agent, word.text + hint)

    def _fork(self, case: _Case, agent: str, thread: str) -> None:
        """A thread that goes on from the mail that is answered; its first mail waits for what is to be done there."""
        account = case.arrival.account
        origin = self._runtime.point(case.tx, account, case.mail.message.in_reply_to, thread)
        if origin is None:
            self._say(case, agent, forks.NOTHING)
            return
        made = forks.begin(case.tx, self._runtime, account, origin)
        asked = replace(
            case.asked, thread=str(made), subject=f"{_plain_subject(origin.subject)} (fork)", message_id=None
        )
        notices.say(case.tx, self._runtime, asked, origin.agent, forks.SAID.format(subject=origin.subject))

    def _is_known_thread(self, case: _Case) -> bool:
        return lookup.knows_thread(case.tx, case.arrival.account, str(case.info.thread))

    def _letter(self, case: _Case, agent: str, model: str | None) -> Letter:
        mail = case.mail
        letter = Letter(
            key=hashlib.sha256(f"{case.arrival.key.partition('#')[0]}:{agent}".encode()).hexdigest(),
            account=case.arrival.account,
            thread=str(case.info.thread),
            agent=agent,
            model=model,
            subject=case.info.subject,
            text=mail.words,
            quoted=mail.quoted,
            sender=mail.message.headers.get("from") or "",
            at=case.arrival.at,
            message=ref(case.arrival.email),
            message_id=case.info.message_id,
            attachments=mail.attachments,
            origin=Origin.FORWARDED if mail.foreign else Origin.TYPED,
            foreign=mail.foreign,
            answers=_answered(case.tx, case.arrival.account, mail),
        )
        return forks.without_own(case.tx, self._runtime, case.arrival.account, letter, mail)

    # --- drops

    def _drop(self, case: _Case) -> None:
        """A message put into Agents/<Name>: material for that agent, all of it untrusted, never a decision."""
        agent = self._folders().get(case.arrival.recipients[0])
        if agent is None:
            return
        mail = case.mail
        whole = "\n\n".join(part for part in (mail.words, mail.quoted, mail.foreign) if part)
        self._runtime.receive(
            case.tx,
            Letter(
                key=hashlib.sha256(f"{case.arrival.key}:{agent}".encode()).hexdigest(),
                account=case.arrival.account,
                thread=str(case.info.thread),
                agent=agent,
                model=None,
                subject=case.info.subject,
                text="",
                quoted="",
                sender=mail.message.headers.get("from") or "",
                at=case.arrival.at,
                message=ref(case.arrival.email),
                message_id=case.info.message_id,
                attachments=mail.attachments,
                origin=Origin.DROPPED,
                foreign=whole,
            ),
        )

    def _say(self, case: _Case, agent: str, body: str) -> None:
        notices.say(case.tx, self._runtime, case.asked, agent, body)


def _plain_subject(subject: str) -> str:
    return subject[3:].strip() if subject.lower().startswith("re:") else subject


def _answered(tx: ReadTx, account: AccountId, mail: Incoming) -> str | None:
    """The mail of this account that is answered, by reference."""
    for message_id in mail.message.in_reply_to:
        found = messages.by_message_id(tx, account, message_id)
        if found:
            return ref(found[0])
    return None
