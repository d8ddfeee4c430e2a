"""What SORT and THREAD look at beside dates and sizes: names, addresses and Message-IDs, stored once with the message.

Rule: one line each, folded as they are compared, so that sorting a mailbox reads and splits and does nothing else.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from mailstore.folding import fold
from mailstore.parse import Address, Message, is_reply

KEYS_RENDERING: Final = "imap.keys.1"
_QUOTED_ID: Final = re.compile(r'\n<"((?:[^"\\\n]|\\[^\n])*)"@')
_ESCAPED: Final = re.compile(r"\\(.)")
_SECOND: Final = r"\1"


class Keys(NamedTuple):
    """The first mailbox of From, To and Cc; how From and To are shown (RFC 5957); whether the subject is that of a
    reply; the Message-ID; and the messages this one refers to, the oldest first."""

    from_: str
    to: str
    cc: str
    display_from: str
    display_to: str
    replies: bool
    message_id: str
    references: tuple[str, ...]


def render_keys(message: Message) -> bytes:
    envelope = message.envelope
    lines = [
        _mailbox(envelope.from_),
        _mailbox(envelope.to),
        _mailbox(envelope.cc),
        _display(envelope.from_),
        _display(envelope.to),
        "1" if is_reply(message.subject) else "",
        message.message_id or "",
        *(message.references or message.in_reply_to[:1]),
    ]
    return "\n".join(_line(line) for line in lines).encode("utf-8", "replace")


def read_keys(rendered: bytes) -> Keys:
    text = rendered.decode("utf-8")
    from_, to, cc, display_from, display_to = map(collate, text.split("\n", 5)[:5])
    _, _, _, _, _, replies, message_id, *references = (_unquoted(text) if '"' in text else text).split("\n")
    return Keys(from_, to, cc, display_from, display_to, bool(replies), message_id, tuple(references))


def _unquoted(text: str) -> str:
    """Message-IDs whose first part stands in quotes are the same without (RFC 5256 section 3)."""
    return _QUOTED_ID.sub(lambda found: f"\n<{_ESCAPED.sub(_SECOND, found[1])}@", text)


def collate(text: str) -> str:
    """Folded text as i;unicode-casemap compares it (RFC 5051, which RFC 5256 section 2.1 asks for).

    That collation looks at capitals, so `[` and `_` stand behind the letters, and takes accents apart, so é follows e.
    """
    return text.upper() if text.isascii() else unicodedata.normalize("NFKD", text.upper())


def _line(text: str) -> str:
    return " ".join(text.split()) if not text.isprintable() else text


def _first(addresses: Sequence[Address]) -> Address | None:
    """The first address that is not the name of a group."""
    return next((address for address in addresses if address.mailbox and address.host is not None), None)


def _mailbox(addresses: Sequence[Address]) -> str:
    """The part before the @ of the first address."""
    first = _first(addresses)
    return fold((first.mailbox or b"").decode("utf-8", "replace")) if first else ""


def _display(addresses: Sequence[Address]) -> str:
    """The name of the first address, or else the address."""
    first = _first(addresses)
    return fold(first.display or first.spec) if first else ""
