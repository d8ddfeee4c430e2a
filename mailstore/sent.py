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
from mailstore.content import Prepared
from mailstore.model import EmailId, FlagOp, Mailbox, ThreadId, Uid
from mailstore.parse import Message
from mailstore.transaction import ReadTx, WriteTx


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
    message = prepared.message
    if message.sent is None:
        return None
    digest = hashlib.sha256(b"\0".join(_parts(message)))
    digest.update(b"\0\0" + prepared.raw[message.header_size :].rstrip())
    return digest.digest()[:16]


def _parts(message: Message) -> list[bytes]:
    addresses = (*message.envelope.from_, *message.envelope.to)
    written = [b"%b@%b" % (address.mailbox or b"", address.host or b"") for address in addresses]
    return [*(address.lower() for address in written), message.subject.encode("utf-8", "replace")]


def match(tx: ReadTx, mailbox: Mailbox, prepared: Prepared, like: bytes | None, *, filed: bool) -> Match | None:
    """The copy that the other side put into Sent: a client's when the server files (`filed`), else the server's."""
    message = prepared.message
    rows: list[Row] = []
    if message.message_id is not None:
        rows = tx.all(
            "mailstore.messages.sent-by-message-id",
            account=mailbox.account,
            mailbox=mailbox.id,
            message_id=message.message_id,
        )
    if not any(_other(row, filed) for row in rows) and like is not None:
        rows = tx.all(
            "mailstore.messages.sent-by-likeness",
            account=mailbox.account,
            mailbox=mailbox.id,
            likeness=like,
            sent=message.sent,
        )
    content = tx.value("mailstore.content.by-hash", hash=prepared.hash)
    candidates = [row for row in rows if _other(row, filed)]
    candidates.sort(key=lambda row: row["content"] != content)
    for row in candidates:
        return Match(
            EmailId(row["id"]), Uid(row["uid"]), ThreadId(row["thread"]), row["content"] == content, row
        )
    return None


def _other(row: Row, filed: bool) -> bool:
    """Whether this copy may be matched: the server's own by anyone (a client, or the server doing it again), a
    client's by the server only."""
    return filed or bool(row["filed"])


def seen(tx: WriteTx, mailbox: Mailbox, uid: Uid, op: FlagOp) -> None:
    """The second comer's \\Seen goes onto the copy that stays."""
    flags.store(tx, mailbox, [uid], op, ["\\Seen"])
