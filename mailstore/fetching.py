"""Reading messages: rows for FETCH, bytes, and where a message is.

The rule: one call is one join over the UIDs it was given; messages that are gone are left out.
"""

import json
from collections.abc import Mapping, Sequence
from sqlite3 import Row

from mailstore import content
from mailstore import keywords as words
from mailstore.content import Renderer
from mailstore.copies import living
from mailstore.lookup import get
from mailstore.model import (
    AccountId,
    ContentId,
    EmailId,
    EmailInfo,
    FetchRow,
    Mailbox,
    MailboxId,
    ThreadId,
    Uid,
    email_object_id,
    flag_key,
    thread_object_id,
)
from mailstore.transaction import ReadTx

_NO_RENDERERS: Mapping[str, Renderer] = {}


def fetch(
    tx: ReadTx,
    mailbox: Mailbox,
    uids: Sequence[Uid],
    renderings: Sequence[str] = (),
    header: bool = False,
    *,
    renderers: Mapping[str, Renderer] = _NO_RENDERERS,
) -> list[FetchRow]:
    """The messages with these UIDs, ascending, with the stored renderings asked for and, if wanted, their headers.

    `renderers` makes what is not stored yet (`Store.renderers`); without it a missing rendering is a KeyError.
    """
    rows = tx.all("mailstore.messages.fetch", mailbox=mailbox.id, uids=json.dumps(list(uids)))
    contents = [ContentId(row["content"]) for row in rows]
    columns = [content.renderings(tx, contents, name, renderers) for name in renderings]
    rendered = list(zip(*([column[each] for each in contents] for column in columns), strict=True))
    sizes = {ContentId(row["content"]): row["header_size"] for row in rows}
    heads = content.headers(tx, contents, sizes) if header else {}
    keyword_sets = {number: words.names(tx, number) for number in {row["keywords"] for row in rows}}
    return [
        _row(row, keyword_sets[row["keywords"]], heads.get(contents[at]), rendered[at] if rendered else ())
        for at, row in enumerate(rows)
    ]


def _row(row: Row, keywords: tuple[str, ...], header: bytes | None, rendered: tuple[bytes, ...]) -> FetchRow:
    uid, email, content_id, size, internal_date, saved, modseq, bits, keyword_set, thread, origin, header_size = row
    return FetchRow(
        uid,
        email,
        content_id,
        size,
        internal_date,
        saved,
        modseq,
        bits,
        keywords,
        thread,
        email_object_id(origin),
        thread_object_id(thread),
        header_size,
        header,
        rendered,
        flag_key(bits, keyword_set),
    )


def locate(tx: ReadTx, email: EmailId) -> list[tuple[Mailbox, Uid]]:
    """Every place of a message, or of the copies that stand for it: the stored one first, then the views."""
    rows = tx.all("mailstore.messages.locate", emails=json.dumps(living(tx, email)))
    return [(get(tx, MailboxId(row["mailbox"])), Uid(row["uid"])) for row in rows]


def email(tx: ReadTx, email: EmailId) -> EmailInfo | None:
    """What is known of a message; None when it is gone."""
    row = tx.one("mailstore.messages.info", email=email)
    if row is None:
        return None
    return EmailInfo(
        id=EmailId(row["id"]),
        account=AccountId(row["account"]),
        content=ContentId(row["content"]),
        thread=ThreadId(row["thread"]),
        message_id=row["message_id"],
        subject=row["subject"],
        internal_date=row["internal_date"],
        sent=row["sent"],
        size=row["size"],
        flags_bits=row["flags"],
        keywords=words.names(tx, row["keywords"]),
    )


def by_message_id(tx: ReadTx, account: AccountId, message_id: str) -> list[EmailId]:
    """The account's messages with this Message-ID (angle brackets included), oldest first."""
    rows = tx.all("mailstore.messages.by-message-id", account=account, message_id=content.storable(message_id))
    return [EmailId(row["id"]) for row in rows]


