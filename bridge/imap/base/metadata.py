"""Annotations on the wire (RFC 5464): reading entry names, and the METADATA line that several extensions write.

Rule: entry names are compared and kept in lower case, begin with /private/ or /shared/, and hold no wildcard.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import astring, mailbox_name, string
from mailstore import annotations
from mailstore.model import AccountId, Mailbox
from mailstore.sqlite import ReadTx

_ENTRY: Final = re.compile(r"/(?:private|shared)(?:/[!-$&-)+-.0-~]+)+")
MAX_ENTRIES: Final = 200
SPECIAL_USE: Final = "/private/specialuse"
"""What a mailbox is for (RFC 6154 section 4): it has this entry of itself, and nobody can set it."""


def read_entry(cursor: Cursor) -> str:
    start = cursor.pos
    entry = cursor.astring().decode("ascii", "replace").lower()
    if not _ENTRY.fullmatch(entry):
        cursor.pos = start
        cursor.fail("Not the name of an entry")
    return entry


def read_entries(cursor: Cursor) -> list[str]:
    """One entry, or several in parentheses."""
    if cursor.peek() != b"(":
        return [read_entry(cursor)]
    entries = cursor.parenthesised(partial(read_entry, cursor))
    if len(entries) > MAX_ENTRIES:
        cursor.fail("Too many entries")
    return entries


def entries_of(tx: ReadTx, account: AccountId, mailbox: Mailbox | None) -> dict[str, bytes]:
    """The entries of a mailbox, or, without one, of the account."""
    found = annotations.of(tx, account, mailbox)
    if mailbox is not None and mailbox.special_use:
        found[SPECIAL_USE] = mailbox.special_use.encode("ascii")
    return found


def metadata_line(name: str, values: Mapping[str, bytes | None], *, utf8: bool) -> bytes:
    """`* METADATA "INBOX" (/private/comment "x")`; NIL for what is not there."""
    parts = b" ".join(
        astring(entry.encode("ascii")) + b" " + (b"NIL" if value is None else string8(value))
        for entry, value in values.items()
    )
    return b"* METADATA %b (%b)\r\n" % (mailbox_name(name, utf8), parts)


def string8(value: bytes) -> bytes:
    """A string, or a binary literal for what holds NUL."""
    return b"~{%d}\r\n%b" % (len(value), value) if b"\x00" in value else string(value)


def wanted(entries: Sequence[str], there: Mapping[str, bytes], depth: int | None) -> dict[str, bytes | None]:
    """Of what is there, the entries asked for and, to a depth (None: any), what is below them."""
    found: dict[str, bytes | None] = {}
    for entry in entries:
        if depth == 0:
            found[entry] = there.get(entry)
            continue
        for name, value in there.items():
            below = name.startswith(f"{entry}/") and (depth is None or name.count("/") - entry.count("/") <= depth)
            if name == entry or below:
                found[name] = value
    return found
