"""Sending a mail as the local user, and the list of what wants them.

The rule: `send` goes through the same door as SMTP submission (bridge.submissions), so it is kept, filed and acted on
just so.
"""

from typing import Final

from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import BAD_REQUEST, REFUSED, Args, ControlError, Json
from bridge.control.who import DEVICE, chosen
from bridge.identity import Identity
from bridge.submissions import Client, Envelope, Refused
from mailstore import mailboxes, messages
from mailstore.errors import NoSuchMailbox
from mailstore.model import SEEN, AccountId, FetchRow, Mailbox
from mailstore.parse import parse
from mailstore.sqlite import ReadTx

SHOWN: Final = 50
MOST: Final = 1000
DEFAULT_MAILBOXES: Final = ("Action", "INBOX")


async def send(desk: Desk, args: Args, payload: bytes) -> Json:
    """Send the mail in `payload` (RFC 5322, CRLF, without From) to the recipients, as SMTP submission would."""
    account = chosen(desk, args.optional("account"))
    recipients = args.texts("to")
    args.done()
    if not recipients or not payload:
        raise ControlError(BAD_REQUEST, "a mail needs at least one recipient and a text")
    if len(recipients) > desk.settings.smtp.max_recipients or len(payload) > desk.settings.smtp.max_size:
        raise ControlError(REFUSED, "the mail is too large or has too many recipients")
    identity = Identity(account.id, account.name, account.address, DEVICE, 0)
    for recipient in recipients:
        answer = desk.accept.recipient(identity, recipient)
        if isinstance(answer, Refused):
            raise ControlError(REFUSED, answer.text)
    client = Client(peer="", hello=DEVICE, secure=True)
    raw = f"From: {account.address}\r\n".encode() + payload
    receipt = await desk.accept.accept(identity, Envelope(account.address, recipients, raw, client, smtputf8=True))
    if isinstance(receipt, Refused):
        raise ControlError(REFUSED, receipt.text)
    return {"reference": receipt.reference, "from": account.address, "to": list(recipients)}


async def inbox(desk: StoreDesk, args: Args) -> Json:
    """The newest mails of the mailboxes (Action and INBOX unless named), newest first. Times are UTC ms."""
    account = chosen(desk, args.optional("account"))
    names, count = args.texts("mailboxes") or DEFAULT_MAILBOXES, min(args.number("count", SHOWN), MOST)
    args.done()
    found = await desk.store.read_slow(lambda tx: [_listed(tx, account.id, name, count) for name in names])
    return {"account": account.address, "mailboxes": found}


def _listed(tx: ReadTx, account: AccountId, name: str, count: int) -> Json:
    mailbox = mailboxes.find(tx, account, name)
    if mailbox is None or not mailbox.selectable:
        raise NoSuchMailbox(f"there is no mailbox {name}")
    status = mailboxes.status(tx, mailbox)
    rows = _newest(tx, mailbox, count)
    mails = [_mail(row) for row in reversed(rows)]
    return {"name": mailbox.name, "messages": status.messages, "unseen": status.unseen, "mails": mails}


def _newest(tx: ReadTx, mailbox: Mailbox, count: int) -> list[FetchRow]:
    newest = [row["uid"] for row in tx.all("bridge.look.newest", mailbox=mailbox.id, count=count)]
    return messages.fetch(tx, mailbox, sorted(newest), header=True)


def _mail(row: FetchRow) -> Json:
    message = parse(row.header or b"")
    return {
        "uid": row.uid,
        "from": message.headers.get("from") or "",
        "subject": message.subject,
        "at": row.internal_date,
        "seen": bool(row.flags_bits & SEEN),
        "keywords": list(row.keywords),
    }
