"""The user of a server that keeps dying: writes errands, answers what is asked, and tries again as mail clients do.

The rule: a mail is accepted when its 250 (or the APPEND's OK) was read, and not before. What was not accepted is sent
again, the same bytes with the same Message-ID; what was accepted is never sent again.
"""

import email
import email.policy
import email.utils
import smtplib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any, Final, Literal

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientError

from bridge.sink import Delivered
from tests.crash.lives import ADDRESS, PASSWORD, USER, House, Life

HOST: Final = "127.0.0.1"
PATIENCE: Final = 45.0
STEP: Final = 0.08
AGENT: Final = "assistant@postroom.internal"
HANDOVER: Final = "Agents/Assistant"
ENDED: Final = frozenset({"done", "failed", "cancelled", "stuck", "expired"})
NOTES: Final = (
    "The team met on Tuesday in the small hall. We decided to ship the reader in May. Bob writes the handbook by May. "
    "The printer costs 300 EUR. Nobody wants the old logo back. The next meeting is on Friday at ten.\n"
)

Copy = Literal["none", "after", "racing"]


class Gone(Exception):
    """The server has died."""


@dataclass(eq=False)
class Posted:
    """A mail on its way: by submission, with a copy for Sent perhaps, or dropped into the hand-over folder."""

    mail: EmailMessage
    copy: Copy = "none"
    dropped: bool = False
    accepted: bool = False
    filed: bool = False
    tries: int = 0
    raw: bytes = b""

    def __post_init__(self) -> None:
        self.raw = self.mail.as_bytes()  # once: with each time it is flattened Python chooses other boundaries

    @property
    def message_id(self) -> str:
        return str(self.mail["Message-ID"])

    @property
    def settled(self) -> bool:
        return self.accepted and (self.filed or self.copy == "none")


@dataclass(frozen=True)
class Kind:
    """What sort of errand: the words of the task, and what the user answers to each thing that is asked.

    `sends` are the least and the most mails that may leave. `answer` gets the question's text and whether the mail to
    the outside world has arrived there.
    """

    words: str
    answer: Callable[[str, bool], str] = lambda text, arrived: "approve"
    attached: bool = True
    dropped: bool = False
    copy: Copy = "none"
    sends: tuple[int, int] = (0, 0)


def approve(text: str, arrived: bool) -> str:
    return "approve"


def reject(text: str, arrived: bool) -> str:
    return "reject: not before Friday"


def paste(text: str, arrived: bool) -> str:
    return f"Summarise this:\n\n{NOTES}"


SEND: Final = "Summarise the attached notes and send the summary to {to}"
KINDS: Final = {
    "send": Kind(SEND, approve, sends=(1, 1)),
    "reject": Kind(SEND, reject),
    "ask": Kind("Summarise the attached notes", paste, attached=False),
    "delegate": Kind("Summarise the attached notes"),
    "draft": Kind("Draft a mail to {to} with a summary of the attached notes"),
    "drop": Kind("Here are the notes of Tuesday.", dropped=True),
    "copy": Kind(SEND, reject, copy="racing"),
    "cut": Kind(SEND, approve, sends=(1, 1)),
}


@dataclass(eq=False)
class Errand:
    """One thing the user wants, and how far it is."""

    kind: Kind
    number: int
    posted: list[Posted] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    doubted: bool = False
    ends: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        mail = compose(AGENT, self.subject, self.kind.words.format(to=self.to))
        if self.kind.attached:
            mail.add_attachment(NOTES, filename="notes.txt")
        self.posted.append(Posted(mail, self.kind.copy, self.kind.dropped))

    @property
    def subject(self) -> str:
        return f"Errand {self.number}"

    @property
    def to(self) -> str:
        """The outside person, another one for each errand."""
        return f"maya.{self.number}@example.org"

    def hears(self, mail: EmailMessage) -> bool:
        """Whether a mail belongs to this errand's thread."""
        chain = f"{mail['References'] or ''} {mail['In-Reply-To'] or ''}"
        return any(posted.message_id in chain for posted in self.posted)

    def read(self, mail: EmailMessage, arrived: bool) -> None:
        """Take notice of a mail from the agent, and write the answer it asks for."""
        message_id = str(mail["Message-ID"])
        if "action+" in str(mail["Reply-To"] or ""):
            if message_id not in self.answered:
                self.answered.add(message_id)
                self.posted.append(Posted(self._answer(mail, arrived), self.kind.copy))
        elif str(mail["Postroom-State"]) in ENDED and message_id not in self.ends:
            self.ends.append(message_id)

    def _answer(self, mail: EmailMessage, arrived: bool) -> EmailMessage:
        text = str(mail.get_body(("plain",)).get_content())  # type: ignore[union-attr]  # ours always has one
        if str(mail["Subject"]).startswith("Did this happen?"):
            self.doubted = True
            words = "done" if arrived else "skip"
        else:
            words = self.kind.answer(text, arrived)
        quoted = "\n".join(f"> {line}".rstrip() for line in text.splitlines())
        made = compose(str(mail["Reply-To"]), f"Re: {mail['Subject']}", f"{words}\n\nAssistant wrote:\n{quoted}\n")
        made["In-Reply-To"] = str(mail["Message-ID"])
        made["References"] = f"{mail['References'] or ''} {mail['Message-ID']}".strip()
        return made

    @property
    def over(self) -> bool:
        return bool(self.ends) and all(posted.settled for posted in self.posted)


def compose(to: str, subject: str, text: str) -> EmailMessage:
    """A mail as a client writes it."""
    mail = EmailMessage(policy=email.policy.SMTP)
    mail["From"], mail["To"], mail["Subject"] = ADDRESS, to, subject
    mail["Date"] = email.utils.localtime()
    mail["Message-ID"] = email.utils.make_msgid(domain="client.example")
    mail.set_content(text)
    return mail


class User:
    """Carries errands through however many lives of the server."""

    def __init__(self, house: House, errands: Sequence[Errand] = (), patience: float = PATIENCE) -> None:
        self.house = house
        self.errands = list(errands)
        self.patience = patience
        self.seen: dict[int, str] = {}
        self.uidvalidity = 0

    def live(self, life: Life) -> bool:
        """Do what can be done in one life of the server; whether all errands are over. Raises Gone when it died."""
        with alive(life), Connections(life) as desk:
            news = time.monotonic()
            while True:
                for errand in self.errands:
                    for posted in errand.posted:
                        self._post(desk, posted)
                if self._look(desk):
                    news = time.monotonic()
                if all(errand.over for errand in self.errands):
                    return True
                if all(posted.settled for errand in self.errands for posted in errand.posted):
                    desk.idle()
                if time.monotonic() - news > self.patience:
                    missing = [errand.subject for errand in self.errands if not errand.over]
                    raise AssertionError(f"nothing came for {self.patience} s; still waiting for {missing}")

    def _post(self, desk: "Connections", posted: Posted) -> None:
        if posted.settled:
            return
        posted.tries += 1
        if posted.dropped:
            desk.put(HANDOVER, posted)
            posted.accepted = True
            return
        if posted.copy == "racing" and not posted.filed:
            racing = threading.Thread(target=_file_beside, args=(desk.life, posted))
            racing.start()
            try:
                desk.submit(posted)
            finally:
                racing.join()
        else:
            desk.submit(posted)
        if posted.copy != "none" and not posted.filed:
            desk.put("Sent", posted)
            posted.filed = True

    def _look(self, desk: "Connections") -> bool:
        """Read what is new in INBOX; whether there was anything."""
        before = len(self.seen)
        self.uidvalidity = self.uidvalidity or desk.uidvalidity
        assert desk.uidvalidity == self.uidvalidity, "INBOX has another UIDVALIDITY"
        for uid, mail in desk.newer(max(self.seen, default=0)):
            self.seen[uid] = str(mail["Message-ID"])
            for errand in self.errands:
                if errand.hears(mail):
                    errand.read(mail, bool(self.arrived(errand)))
        return len(self.seen) > before

    def arrived(self, errand: Errand) -> list[Delivered]:
        """What came of an errand in the outside world."""
        return [message for message in self.house.sink.messages if errand.to in message.recipients]


class Connections:
    """The client's connections in one life of the server: IMAP with INBOX open, and SMTP when it is needed."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.uidvalidity = 0
        self._stack = ExitStack()
        self._smtp: smtplib.SMTP | None = None

    def __enter__(self) -> "Connections":
        with self._stack:
            self._imap = self._stack.enter_context(imap_session(self.life))
            self.uidvalidity = int(self._imap.select_folder("INBOX", readonly=True)[b"UIDVALIDITY"])
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def submit(self, posted: Posted) -> None:
        """Submit a mail, unless it was accepted before."""
        if posted.accepted:
            return
        if self._smtp is None:
            self._smtp = self._stack.enter_context(smtp_session(self.life))
        refused = self._smtp.sendmail(ADDRESS, str(posted.mail["To"].addresses[0].addr_spec), posted.raw)
        assert not refused, refused
        posted.accepted = True

    def put(self, folder: str, posted: Posted) -> None:
        """Append; returns after the OK. Who lost an OK looks first: on any server a second APPEND is a second mail."""
        if posted.tries == 1 or not holds(self._imap, folder, posted.message_id):
            self._imap.append(folder, posted.raw, [b"\\Seen"])
        self._imap.select_folder("INBOX", readonly=True)

    def newer(self, uid: int) -> Iterator[tuple[int, EmailMessage]]:
        """What came to INBOX after this UID."""
        uids = [one for one in self._imap.search(["UID", f"{uid + 1}:*"]) if one > uid]
        found = self._imap.fetch(uids, ["BODY.PEEK[]"]) if uids else {}
        for one in sorted(found):
            yield one, email.message_from_bytes(found[one][b"BODY[]"], policy=email.policy.default)

    def idle(self) -> None:
        """Wait until the server speaks; not for ever, as IMAPClient does not show what came with the answer to IDLE."""
        self._imap.idle()
        self._imap.idle_check(timeout=STEP)
        self._imap.idle_done()


@contextmanager
def imap_session(life: Life) -> Iterator[Any]:
    """An IMAP connection, logged in."""
    imap = IMAPClient(HOST, port=life.ports["imap"], ssl=False, timeout=PATIENCE)
    try:
        imap.login(USER, PASSWORD)
        yield imap
    finally:
        with suppress(OSError, IMAPClientError):
            imap.shutdown()


@contextmanager
def smtp_session(life: Life) -> Iterator[smtplib.SMTP]:
    """A connection to the submission port, logged in."""
    smtp = smtplib.SMTP(HOST, life.ports["smtp"], "client.example", timeout=PATIENCE)
    try:
        smtp.login(USER, PASSWORD)
        yield smtp
    finally:
        smtp.close()


def holds(imap: Any, folder: str, message_id: str) -> bool:
    """Whether a folder has a mail of this Message-ID."""
    imap.select_folder(folder, readonly=True)
    return bool(imap.search(["HEADER", "Message-ID", message_id]))


def _file_beside(life: Life, posted: Posted) -> None:
    """File the Sent copy over another connection; if the server dies meanwhile it is filed later."""
    with suppress(OSError, IMAPClientError), imap_session(life) as imap:
        if posted.tries == 1 or not holds(imap, "Sent", posted.message_id):
            imap.append("Sent", posted.raw, [b"\\Seen"])
        posted.filed = True


@contextmanager
def alive(life: Life) -> Iterator[None]:
    """Errors of a connection are Gone when the server has died, and faults when it has not."""
    if not life.ready():
        raise Gone
    try:
        yield
    except (OSError, IMAPClientError) as error:
        if life.ended(5.0):
            raise Gone from None
        raise AssertionError(f"the server lives, and a client failed: {error!r}\n{life.text()}") from error
