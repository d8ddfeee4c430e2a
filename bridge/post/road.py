"""The road to the user's real address: who sends, where answers go, and the mails that leave by it.

The rule: what is shown out there is what is shown at home, byte for byte of each value; only addresses and the token
are others, and a token of one place opens nothing in the other.
"""

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents.letter import File, Outgoing
from bridge.post import letters, mime
from bridge.post.shown import visible
from config.settings import Settings
from mailstore import accounts
from mailstore.model import AccountId, Millis
from mailstore.sqlite import ReadTx

MAX_FILES: Final = 10 * 1024 * 1024
"""Files that an end of a task takes along, in bytes together; more than that is named, and lies at home."""
_OWN_ID: Final = re.compile(r"<(?:ask|again)\.([a-z2-7]{26})@")
_ELSEWHERE: Final = (
    "The same mail lies in your mailbox at home. Answer it there: an answer from here decides nothing and begins "
    "nothing."
)


@dataclass(frozen=True, slots=True)
class Road:
    """Addresses of the road: who sends, where answers go, who may decide (the first of them gets the requests)."""

    account: AccountId
    sender: str
    reply_to: str
    allowed: tuple[str, ...]

    @property
    def domain(self) -> str:
        """The domain of the Message-IDs that go out."""
        return self.sender.rpartition("@")[2]

    def answer_address(self, token: str) -> str:
        """Where an answer to the request with this token goes."""
        local, _, domain = self.reply_to.rpartition("@")
        return f"{local}+{token}@{domain}"

    def message_id(self, kind: str, token: str) -> str:
        """The Message-ID of a request (`ask`) or its reminder (`again`): answers name it."""
        return f"<{kind}.{token}@{self.domain}>"

    def token_in(self, message_id: str) -> str | None:
        """The token in a Message-ID of ours."""
        found = _OWN_ID.match(message_id.lower())
        return found[1] if found and message_id.lower().endswith(f"@{self.domain.lower()}>") else None


def road_of(tx: ReadTx, settings: Settings) -> Road | None:
    """The road that the settings describe; None when it is off, or its account is not there."""
    outside, relay = settings.outside, settings.relay
    if not outside.enabled or relay is None:
        return None
    owner = accounts.find(tx, outside.account or settings.user, settings.domain)
    if owner is None:
        return None
    return Road(owner.id, relay.sender, outside.reply_to or relay.sender, outside.addresses)


def compose_ask(outgoing: Outgoing, road: Road, kind: str, token: str, display: str, at: Millis) -> bytes:
    """A request for the real address, saying what the one at home says; only addresses and token are others."""
    address = road.answer_address(token)
    written = letters.write(outgoing, display, address)
    seed = road.message_id(kind, token)
    head = [
        f"From: {mime.mailbox(f'{display} (Postroom)', road.sender)}",
        f"To: <{road.allowed[0]}>",
        f"Reply-To: {mime.mailbox('Postroom', address)}",
        mime.text_header("Subject", f"Reminder: {outgoing.subject}" if kind == "again" else outgoing.subject),
        *_tail(seed, at),
    ]
    if kind == "again":
        head.insert(-2, mime.id_header("In-Reply-To", [road.message_id("ask", token)]))
    return _whole(head, _entity(written, (*written.files, *outgoing.files), seed))


def compose_answer(row: sqlite3.Row, road: Road) -> bytes:
    """A short answer of the program to what came from the real address."""
    made = hashlib.sha256(f"{row['request']} {row['in_reply_to']}".encode()).hexdigest()[:32]
    head = [
        f"From: {mime.mailbox('Postroom', road.sender)}",
        f"To: <{row['recipient']}>",
        mime.text_header("Subject", row["subject"]),
        *_answers(row),
        *_tail(f"<answer.{made}@{road.domain}>", row["created"]),
    ]
    return _whole(head, mime.text_entity("plain", row["body"].rstrip() + "\n"))


def compose_result(outgoing: Outgoing, road: Road, row: sqlite3.Row, display: str) -> bytes:
    """The end of a task, or its pause, for whoever wrote about it from the real address."""
    small = sum(len(file.data) for file in outgoing.files) <= MAX_FILES
    left = () if small else tuple(file.name for file in outgoing.files)
    note = f"{_ELSEWHERE} Left out here, as it is too large: {', '.join(map(visible, left))}." if left else _ELSEWHERE
    written = letters.write(replace(outgoing, body=f"{outgoing.body.rstrip()}\n\n{note}"), display, "")
    seed = f"<result.{hashlib.sha256(outgoing.key.encode()).hexdigest()[:32]}@{road.domain}>"
    head = [
        f"From: {mime.mailbox(f'{display} (Postroom)', road.sender)}",
        f"To: <{row['recipient']}>",
        mime.text_header("Subject", outgoing.subject),
        *_answers(row),
        *_tail(seed, row["created"]),
    ]
    return _whole(head, _entity(written, outgoing.files if small else (), seed))


def _entity(written: letters.Written, files: Sequence[File], seed: str) -> mime.Entity:
    """Both forms of a mail, with its files."""
    both = mime.multipart(
        "alternative", [mime.text_entity("plain", written.text), mime.text_entity("html", written.html)], seed
    )
    attached = [mime.file_entity(file.name, file.media_type, file.data) for file in files]
    return mime.multipart("mixed", [both, *attached], seed) if attached else both


def _whole(head: Sequence[str], entity: mime.Entity) -> bytes:
    return "".join(line + mime.CRLF for line in head).encode("ascii") + entity.render()


def _answers(row: sqlite3.Row) -> list[str]:
    """The fields that name the mail which is answered, if any."""
    answered = row["in_reply_to"]
    return [mime.id_header(name, [answered]) for name in ("In-Reply-To", "References")] if answered else []


def _tail(message_id: str, at: Millis) -> list[str]:
    return [
        mime.date_header(at),
        f"Message-ID: {message_id}",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
    ]
