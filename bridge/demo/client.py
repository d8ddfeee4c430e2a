"""The demo's mail client: IMAPClient for IMAP, smtplib for submission, both over STARTTLS with the authority checked.

The rule: blocking calls only, each to be run in a thread; what a client of a user would do and nothing more.
"""

import smtplib
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, localtime, make_msgid, parseaddr
from typing import Any, Final

from imapclient import IMAPClient
from imapclient.exceptions import IMAPClientError

from bridge.demo.server import Ports
from bridge.demo.story import Story

HOST: Final = "localhost"
SECONDS: Final = 60.0
SHORT_STEP_SECONDS: Final = 0.25
STEP_SECONDS: Final = 10.0
PROGRAM: Final = "Postroom demo"


class NothingCame(Exception):
    """What was waited for did not appear in the mailbox."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail in a mailbox, read without marking it."""

    uid: int
    flags: frozenset[str]
    message: EmailMessage

    @property
    def subject(self) -> str:
        return str(self.message["Subject"] or "")

    @property
    def text(self) -> str:
        """The plain-text part."""
        part = self.message.get_body(("plain",))
        return str(part.get_content()) if part is not None else ""

    @property
    def message_id(self) -> str:
        return str(self.message["Message-ID"] or "").strip()

    def answers(self, message_id: str) -> bool:
        """Whether it belongs to the thread of another."""
        return message_id in f"{self.message['References'] or ''} {self.message['In-Reply-To'] or ''}"


@dataclass(frozen=True, slots=True)
class Account:
    """Where to log in, and as whom."""

    ports: Ports
    address: str
    name: str
    password: str

    def tls(self) -> ssl.SSLContext:
        """Trusts the server's own authority and nobody else."""
        return ssl.create_default_context(cafile=self.ports.ca)


class Mailbox:
    """An IMAP session with one mailbox open."""

    def __init__(self, account: Account, name: str) -> None:
        self.name = name
        self.idling = threading.Event()
        self._imap: Any = IMAPClient(HOST, port=account.ports.imap, ssl=False, timeout=STEP_SECONDS)
        self._imap.starttls(account.tls())
        self._imap.login(account.name, account.password)
        self._imap.select_folder(name)

    def mails(self, criteria: Sequence[str] = ("ALL",)) -> list[Mail]:
        """What is in the mailbox now, oldest first."""
        uids = self._imap.search(list(criteria))
        found = self._imap.fetch(uids, ["FLAGS", "BODY.PEEK[]"]) if uids else {}
        return [_mail(uid, found[uid]) for uid in sorted(found)]

    def wait(self, criteria: Sequence[str], *, step: float = STEP_SECONDS) -> tuple[Mail, bool]:
        """The first mail that fits, waited for by IDLE; and whether it was IDLE that told of it.

        `step` is how long the first IDLE lasts at most. IMAPClient does not see what the server says in one piece with
        its answer to IDLE until that IDLE ends, so a caller whose mail may come just then asks for a short one.
        """
        deadline, told = time.monotonic() + SECONDS, False
        while not (mails := self.mails(criteria)):
            if time.monotonic() > deadline:
                there = "; ".join(mail.subject for mail in self.mails()) or "nothing"
                raise NothingCame(f"not in {self.name} after {SECONDS:.0f} s; there is: {there}")
            told, step = self._idle(step), min(2 * step, STEP_SECONDS)
        return mails[0], told

    def _idle(self, seconds: float) -> bool:
        """Wait for the server to speak; whether it did."""
        self._imap.idle()
        self.idling.set()
        told = bool(self._imap.idle_check(timeout=seconds))
        _, rest = self._imap.idle_done()
        return told or bool(rest)

    def append(self, raw: bytes) -> None:
        """File a copy of a sent mail, as clients do."""
        self._imap.append(self.name, raw, [b"\\Seen"])

    def close(self) -> None:
        """Log out; a server that has gone is no matter."""
        with suppress(OSError, IMAPClientError):
            self._imap.logout()
        with suppress(OSError, IMAPClientError):
            self._imap.shutdown()


def _mail(uid: int, data: Any) -> Mail:
    flags = frozenset(flag.decode() for flag in data[b"FLAGS"])
    return Mail(uid, flags, message_from_bytes(data[b"BODY[]"], policy=SMTP))


def submit(account: Account, message: EmailMessage) -> None:
    """Send by authenticated submission over STARTTLS, then file the copy in Sent by IMAP."""
    raw = message.as_bytes()
    with smtplib.SMTP(HOST, account.ports.smtp, timeout=STEP_SECONDS) as smtp:
        smtp.starttls(context=account.tls())
        smtp.login(account.name, account.password)
        smtp.sendmail(account.address, [parseaddr(str(message["To"]))[1]], raw)
    sent = Mailbox(account, "Sent")
    sent.append(sent_copy(raw))
    sent.close()


def sent_copy(raw: bytes) -> bytes:
    """What the client files: the very bytes, as there is no Bcc that only it should know."""
    return raw


def task(account: Account, story: Story) -> EmailMessage:
    """The user's mail with the attachment."""
    message = _new(account)
    message["To"] = f"{story.agent}@{account.address.rpartition('@')[2]}"
    message["Subject"] = story.subject
    message.set_content(f"{story.text}\n")
    message.add_attachment(story.attachment, filename=story.attachment_name)
    return message


def answer(account: Account, request: Mail, word: str) -> EmailMessage:
    """A reply as a mail client writes it: to the Reply-To, threaded, the new words above the quoted original."""
    message = _new(account)
    original = request.message
    message["To"] = str(original["Reply-To"] or original["From"])
    message["Subject"] = f"Re: {request.subject}"
    message["In-Reply-To"] = request.message_id
    message["References"] = " ".join([*str(original["References"] or "").split(), request.message_id])
    quoted = "\n".join(f"> {line}".rstrip() for line in request.text.splitlines())
    message.set_content(f"{word}\n\nOn {original['Date']}, {original['From']} wrote:\n{quoted}\n")
    return message


def _new(account: Account) -> EmailMessage:
    message = EmailMessage(SMTP)
    message["From"] = f"{account.name.capitalize()} <{account.address}>"
    message["Date"] = format_datetime(localtime())
    message["Message-ID"] = make_msgid(domain=account.address.rpartition("@")[2])
    message["User-Agent"] = PROGRAM
    return message
