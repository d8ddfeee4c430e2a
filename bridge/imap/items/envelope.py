"""ENVELOPE (RFC 3501 section 7.4.2), rendered once from the parsed header and stored.

Rule: ten fields, always; a missing one is NIL, an address list is never `()`, and any bytes can stand in any field.
"""

from collections.abc import Sequence
from typing import Final

from bridge.imap.items.item import FetchItem, Needs, plain
from bridge.imap.wire.render import nstring
from mailstore.parse import Address, Envelope

ENVELOPE_RENDERING: Final = "imap.envelope.1"


def render_envelope(envelope: Envelope) -> bytes:
    """`(date subject from sender reply-to to cc bcc in-reply-to message-id)`."""
    lists = (envelope.from_, envelope.sender, envelope.reply_to, envelope.to, envelope.cc, envelope.bcc)
    parts = [
        nstring(envelope.date),
        nstring(envelope.subject),
        *(_addresses(addresses) for addresses in lists),
        nstring(envelope.in_reply_to),
        nstring(envelope.message_id),
    ]
    return b"(" + b" ".join(parts) + b")"


def _addresses(addresses: Sequence[Address]) -> bytes:
    if not addresses:
        return b"NIL"
    return b"(" + b"".join(map(_address, addresses)) + b")"


def _address(address: Address) -> bytes:
    fields = (address.name, address.route, address.mailbox, address.host)
    return b"(" + b" ".join(map(nstring, fields)) + b")"


ITEMS: Final[tuple[FetchItem, ...]] = (
    plain(b"ENVELOPE", lambda batch: batch.rendering(ENVELOPE_RENDERING), Needs(renderings=(ENVELOPE_RENDERING,))),
)
