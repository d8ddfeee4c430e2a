"""Sent: one copy of each mail that was sent, whoever files it and in whatever order (DECISIONS 11).

The rule: a client appends to Sent what it has submitted, and the server files what was submitted. The two are matched
by Message-ID, else by From, To, Subject, a Date within two minutes and the body. With the same bytes the first one
stays and is named to the second comer. With different bytes (a Bcc that only the client knows) the client's is the one
that stays. Only a server's copy is ever matched with a client's: two that a client appends are two messages.
"""

import hashlib
from dataclasses import dataclass
from sqlite3 import Row

from mailstore import flags
from mailstore.content import Prepared, storable
from mailstore.model import EmailId, FlagOp, Mailbox, ThreadId, Uid
from mailstore.parse import Head, split_headers
from mailstore.parse.envelope import build_envelope
from mailstore.transaction import ReadTx, WriteTx

FILED = 1  # the server's copy, in the column `filed`; 2 is added once it has met its twin


@dataclass(frozen=True, slots=True)
class Match:
    """The copy in Sent that is the same mail."""

    email: EmailId
    uid: Uid
    thread: ThreadId
    same_bytes: bool
    row: Row


def likeness(prepared: Prepared) -> bytes | None:
    """A hash of From, To, Subject and body; None without a Date, as nothing could be matched by it then."""
    head = prepared.head
    if head.sent is None:
        return None
    digest = hashlib.sha256(b"\0".join(_parts(prepared.raw[: head.header_size], head.subject)))
    digest.update(b"\0\0" + prepared.raw[head.header_size :].rstrip())
    return digest.digest()[:16]


def _parts(header: bytes, subject: str) -> list[bytes]:
    envelope = build_envelope(split_headers(header))
    written = [b"%b@%b" % (address.mailbox or b"", address.host or b"") for address in (*envelope.from_, *envelope.to)]
    return [*(address.lower() for address in written), subject.encode("utf-8", "replace")]


def match(tx: ReadTx, mailbox: Mailbox, prepared: Prepared, like: bytes | None, *, filed: bool) -> Match | None:
    """The copy that the other side put into Sent: a client's when the server files (`filed`), else the server's."""
    rows = _by_message_id(tx, mailbox, prepared.head, filed) or _by_likeness(tx, mailbox, prepared, like, filed)
    if not rows:
        return None
    content = tx.value("mailstore.content.by-hash", hash=prepared.hash)
    row = next((row for row in rows if row["content"] == content), rows[0])
    return Match(EmailId(row["id"]), Uid(row["uid"]), ThreadId(row["thread"]), row["content"] == content, row)


def _by_message_id(tx: ReadTx, mailbox: Mailbox, head: Head, filed: bool) -> list[Row]:
    """The server matches whatever is there (it may be filing again), a client only what the server filed."""
    if head.message_id is None:
        return []
    rows = tx.all(
        "mailstore.messages.sent-by-message-id",
        account=mailbox.account,
        mailbox=mailbox.id,
        message_id=storable(head.message_id),
    )
    return [row for row in rows if filed or row["filed"] & FILED]


def _by_likeness(tx: ReadTx, mailbox: Mailbox, prepared: Prepared, like: bytes | None, filed: bool) -> list[Row]:
    """Only copies that have not met their twin: who sends the same words twice keeps two mails."""
    if like is None:
        return []
    rows = tx.all(
        "mailstore.messages.sent-by-likeness",
        account=mailbox.account,
        mailbox=mailbox.id,
        likeness=like,
        sent=prepared.head.sent,
    )
    return [row for row in rows if row["filed"] == (0 if filed else FILED)]


def met(tx: WriteTx, email: EmailId) -> None:
    """This copy has met its twin from the other side."""
    tx.run("mailstore.messages.matched", email=email)


def seen(tx: WriteTx, mailbox: Mailbox, uid: Uid, op: FlagOp) -> None:
    """The second comer's \\Seen goes onto the copy that stays."""
    flags.store(tx, mailbox, [uid], op, ["\\Seen"])
