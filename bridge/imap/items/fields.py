"""The header fields that mail clients ask for when they list a mailbox, stored apart from the message.

Rule: what is stored are the bytes as the message has them. A header that cannot be put together again byte by byte
from its fields (a blank before a colon, a line that is no field) is not stored here, and is read from the message.
"""

import re
from collections.abc import Callable, Collection
from typing import Final

from mailstore.parse import Message

FIELDS_RENDERING: Final = "imap.fields.1"

LISTED: Final = frozenset(
    b"""autocrypt bcc cc content-class content-description content-language content-transfer-encoding content-type date
    delivered-to disposition-notification-to from importance in-reply-to keywords lines list-archive list-help list-id
    list-owner list-post list-subscribe list-unsubscribe mail-followup-to mail-reply-to message-id mime-version
    newsgroups organization precedence priority references reply-to return-receipt-to sender sensitivity subject
    thread-index thread-topic to user-agent x-label x-mailer x-msmail-priority x-original-to x-priority
    x-universally-unique-identifier""".split()
)
"""Lower case. A version of the rendering has one list: a change here takes a new name."""

_MARK: Final = b"\0"


def render_fields(message: Message) -> bytes:
    """Name in lower case, NUL, field as written with its CRLF, NUL, and so on; empty when the bytes do not add up."""
    fields = [(name.encode("latin-1"), value) for name, value in message.headers]
    whole = sum(len(name) + len(value) + 3 for name, value in fields) + 2
    if whole != message.header_size or any(value.count(b"\n") != value.count(b"\r\n") for _, value in fields):
        return b""
    kept = [(name.lower(), b"%b:%b\r\n" % (name, value)) for name, value in fields if name.lower() in LISTED]
    if any(_MARK in field for _, field in kept):
        return b""
    return _MARK + b"".join(name + _MARK + field + _MARK for name, field in kept)


def are_listed(names: Collection[bytes]) -> bool:
    """Whether all these fields are among the stored ones."""
    return all(name.lower() in LISTED for name in names)


def picker(names: Collection[bytes]) -> Callable[[bytes], bytes]:
    """From what `render_fields` made, unless it is empty: the wanted fields, in order, and the closing empty line."""
    wanted = b"|".join(re.escape(name.lower()) for name in names)
    # No field holds a mark. The one behind a field is left, as the next name begins with it.
    fields_of = re.compile(rb"\0(?:%b)\0([^\0]*+)" % wanted).findall
    return lambda stored: b"".join(fields_of(stored)) + b"\r\n"
