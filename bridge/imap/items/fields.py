"""The header fields that mail clients ask for when they list a mailbox, stored apart from the message.

Rule: what is stored are the bytes as the message has them. A header that cannot be put together again byte by byte
from its fields (a blank before a colon, a line that is no field) is not stored here, and is read from the message.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from mailstore.parse import Message

FIELDS_RENDERING: Final = "imap.fields.2"

LISTED: Final = frozenset(
    b"""autocrypt bcc cc content-class content-description content-language content-transfer-encoding content-type date
    delivered-to disposition-notification-to from importance in-reply-to keywords lines list-archive list-help list-id
    list-owner list-post list-subscribe list-unsubscribe mail-followup-to mail-reply-to message-id mime-version
    newsgroups organization precedence priority references reply-to return-receipt-to sender sensitivity subject
    thread-index thread-topic to user-agent x-label x-mailer x-msmail-priority x-original-to x-priority
    x-universally-unique-identifier""".split()
)
"""Lower case. A version of the rendering has one list: a change here takes a new name."""

_NUMBERS: Final = {name: number for number, name in enumerate(sorted(LISTED))}
_MOST: Final = 255  # fields, as their number is one byte
_ORDERS: Final = 512  # orders of fields that a picker remembers
_END: Final = b"\r\n"

Cut = Callable[[bytes], bytes]


def render_fields(message: Message) -> bytes:
    """How many fields, which (a byte for each), where each begins in what is stored here and where the last one ends
    (four bytes each), and the fields as written with their CRLF. Empty when the bytes of the header do not add up, or
    hold a NUL, which may not be sent."""
    fields = [(name.encode("latin-1"), value) for name, value in message.headers]
    whole = sum(len(name) + len(value) + 3 for name, value in fields) + 2
    if whole != message.header_size or any(value.count(b"\n") != value.count(b"\r\n") for _, value in fields):
        return b""
    kept = [(_NUMBERS[name.lower()], b"%b:%b\r\n" % (name, value)) for name, value in fields if name.lower() in LISTED]
    if len(kept) > _MOST or any(b"\0" in field for _, field in kept):
        return b""
    bounds = accumulate((len(field) for _, field in kept), initial=1 + len(kept) + 4 * (len(kept) + 1))
    head = bytes((len(kept), *(number for number, _ in kept))) + struct.pack(f"<{len(kept) + 1}I", *bounds)
    return head + b"".join(field for _, field in kept)


def are_listed(names: Collection[bytes]) -> bool:
    """Whether all these fields are among the stored ones."""
    return all(name.lower() in LISTED for name in names)


def picker(names: Collection[bytes]) -> Callable[[Iterable[bytes]], list[bytes]]:
    """From what `render_fields` made of some messages, none of it empty: of each the wanted fields, in its order, and
    the closing empty line.

    Most messages have their fields in one of few orders, and what is wanted of an order is a few slices; where they
    begin and end is all that is read of a message.
    """
    wanted = {_NUMBERS[name.lower()] for name in names}
    cuts: dict[bytes, Cut] = {}

    def learn(order: bytes) -> Cut:
        if len(cuts) >= _ORDERS:
            cuts.clear()
        return cuts.setdefault(order, _cut(order, wanted))

    def pick(all_stored: Iterable[bytes]) -> list[bytes]:
        known = cuts.get
        return [(known(order := stored[: stored[0] + 1]) or learn(order))(stored) for stored in all_stored]

    return pick


def _cut(order: bytes, wanted: Collection[int]) -> Cut:
    """What takes the wanted fields out of anything stored whose fields are in this order."""
    runs: list[list[int]] = []
    for at, number in enumerate(order[1:]):
        if number in wanted:
            if runs and runs[-1][1] == at:
                runs[-1][1] = at + 1
            else:
                runs.append([at, at + 1])
    edges = [edge for run in runs for edge in run]
    layout = "".join("I" if at in edges else "4x" for at in range(len(order)))
    bounds = struct.Struct(f"<{len(order)}x{layout}").unpack_from
    return _CUTS.get(len(runs), _cut_many)(bounds)


Bounds = Callable[[bytes], tuple[int, ...]]


def _cut_none(_: Bounds) -> Cut:
    return lambda stored: _END


def _cut_one(bounds: Bounds) -> Cut:
    def cut(stored: bytes) -> bytes:
        first, last = bounds(stored)
        return stored[first:last] + _END

    return cut


def _cut_two(bounds: Bounds) -> Cut:
    def cut(stored: bytes) -> bytes:
        first, last, then, end = bounds(stored)
        return stored[first:last] + stored[then:end] + _END

    return cut


def _cut_many(bounds: Bounds) -> Cut:
    def cut(stored: bytes) -> bytes:
        edges = iter(bounds(stored))
        return b"".join([stored[first:last] for first, last in zip(edges, edges, strict=True)]) + _END

    return cut


_CUTS: Final[Mapping[int, Callable[[Bounds], Cut]]] = MappingProxyType({0: _cut_none, 1: _cut_one, 2: _cut_two})
