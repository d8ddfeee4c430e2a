"""What messages are put in order by: dates, sizes and subjects as they are stored, and one rendering beside them.

The rule: one call is one query over the UIDs it was given; nothing is parsed but what has no stored rendering yet.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from mailstore import content
from mailstore.errors import NotStored
from mailstore.model import ContentId, Mailbox, Millis, Uid
from mailstore.parse import parse
from mailstore.renderings import Renderer
from mailstore.transaction import ReadTx


class OrderRow(NamedTuple):
    """One message. `sent` is its Date field, or the internal date where that cannot be read (RFC 5256 section 2.2).
    Sizes in bytes; `rendered` is b"" when no rendering was asked for."""

    uid: Uid
    internal_date: Millis
    sent: Millis
    size: int
    base_subject: str
    rendered: bytes


def rows(
    tx: ReadTx, mailbox: Mailbox, uids: Sequence[int], rendering: tuple[str, Renderer | None] | None = None
) -> list[OrderRow]:
    """The messages with these UIDs, ascending; those that are gone are left out. Raises NotStored where the rendering
    is not stored and no renderer came with its name."""
    name, render = rendering or ("", None)
    found = []
    for row in tx.all("mailstore.search.order", mailbox=mailbox.id, uids=json.dumps(list(uids)), rendering=name):
        uid, content_id, internal_date, size, sent, base_subject, rendered = row
        if rendered is None and name:
            if render is None:
                raise NotStored(f"not all messages have {name}")
            rendered = render(parse(content.body(tx, ContentId(content_id))))
        found.append(
            OrderRow(uid, internal_date, internal_date if sent is None else sent, size, base_subject, rendered or b"")
        )
    return found
