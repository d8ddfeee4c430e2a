"""Reading messages: rows for FETCH, bytes, and where a message is.

The rule: one call is one join over the UIDs it was given; messages that are gone are left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from sqlite3 import Row
from typing import Final, cast, overload

from mailstore import content
from mailstore import keywords as words
from mailstore.copies import living
from mailstore.errors import NotStored
from mailstore.facts import Facts
from mailstore.lookup import get
from mailstore.model import (
    AccountId,
    ContentId,
    EmailId,
    EmailInfo,
    FetchRow,
    Mailbox,
    MailboxId,
    StoredRow,
    ThreadId,
    Uid,
)
from mailstore.renderings import Renderer, columns
from mailstore.standing import spans
from mailstore.transaction import ReadTx

JOINED: Final = "abc"  # as many renderings come with the row itself; more than that are asked for apart
COLUMNS: Final = 13  # of the query that are a FetchRow's first fields; the renderings follow
_CONTENT: Final = FetchRow._fields.index("content")
_KEYWORD_SET: Final = FetchRow._fields.index("keyword_set")
_NONE_JOINED: Final[Mapping[str, str | None]] = {f"rendering_{letter}": None for letter in JOINED}
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

    `renderers` makes what is not stored yet (`Store.renderers`). Raises NotStored for what it does not make.
    """
    joined = {f"rendering_{letter}": name for letter, name in zip(JOINED, renderings, strict=False)}
    rows = tx.all("mailstore.messages.fetch", mailbox=mailbox.id, uids=spans(uids), **{**_NONE_JOINED, **joined})
    keywords = {number: words.names(tx, number) for number in {row[_KEYWORD_SET] for row in rows}}
    heads = _headers(tx, rows) if header else {}
    rendered = _rendered(tx, rows, renderings, renderers)
    return [
        FetchRow._make((*row[:COLUMNS], keywords[row[_KEYWORD_SET]], heads.get(row[_CONTENT]), each))
        for row, each in zip(rows, rendered, strict=True)
    ]


class StoredRows(Sequence[StoredRow]):
    """Rows of messages whose facts are known, and their stored renderings as columns; the rows are only made for who
    looks at them."""

    def __init__(self, facts: Facts, heads: Sequence[bytes | None], forms: Mapping[str, Sequence[bytes]]) -> None:
        self.forms = forms
        self._facts = facts
        self._heads = heads

    @cached_property
    def _rows(self) -> list[StoredRow]:
        facts = self._facts
        fixed = (facts.contents, facts.sizes, facts.header_sizes, facts.dates, facts.zones)
        rendered = zip(*self.forms.values(), strict=True) if self.forms else repeat((), len(self))
        return list(map(StoredRow._make, zip(*fixed, self._heads, rendered, strict=True)))

    def __len__(self) -> int:
        return len(self._facts.contents)

    def __iter__(self) -> Iterator[StoredRow]:
        return iter(self._rows)

    @overload
    def __getitem__(self, at: int) -> StoredRow: ...
    @overload
    def __getitem__(self, at: slice) -> list[StoredRow]: ...
    def __getitem__(self, at: int | slice) -> StoredRow | list[StoredRow]:
        return self._rows[at]


def stored(
    tx: ReadTx,
    facts: Facts,
    renderings: Sequence[str] = (),
    header: bool = False,
    *,
    renderers: Mapping[str, Renderer] = _NO_RENDERERS,
) -> StoredRows | None:
    """The same of messages whose facts are known, without looking at the messages again; None when something is not
    stored: a rendering that `renderers` does not make, or the bytes of a message that left and has been swept."""
    contents = cast("list[ContentId]", facts.contents.tolist())
    heads: Sequence[bytes | None] = [None] * len(contents)
    forms = columns(tx, contents, renderings, renderers)
    if forms is None:
        return None
    if header:
        found = content.headers(tx, contents, dict(zip(contents, facts.header_sizes, strict=True)))
        if not all(map(found.__contains__, contents)):
            return None
        heads = [*map(found.__getitem__, contents)]
    return StoredRows(facts, heads, forms)


def _headers(tx: ReadTx, rows: Sequence[Row]) -> dict[ContentId, bytes]:
    sizes = {ContentId(row["content"]): row["header_size"] for row in rows}
    return content.headers(tx, list(sizes), sizes)


def _rendered(
    tx: ReadTx, rows: Sequence[Row], names: Sequence[str], renderers: Mapping[str, Renderer]
) -> Iterable[tuple[bytes, ...]]:
    """For each row the renderings asked for: the first ones came with it; where that is not enough all are got now."""
    if not names:
        return [()] * len(rows)
    joined = [[row[COLUMNS + at] for row in rows] for at in range(min(len(names), len(JOINED)))]
    if len(joined) == len(names) and not any(None in column for column in joined):
        return zip(*joined, strict=True)
    forms = columns(tx, [ContentId(row[_CONTENT]) for row in rows], names, renderers)
    if forms is None:
        raise NotStored(f"not all of these are stored: {', '.join(names)}")
    return zip(*(forms[name] for name in names), strict=True)


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
