"""OBJECTID (RFC 8474): ids of mailboxes, messages and threads that outlive renaming, moving and copying.

A message has one EMAILID wherever it stands, so a client sees that what is in Action, Unread or All is one message.
"""

from collections.abc import Callable
from typing import Final

from bridge.imap.criteria import Key, SearchKey, SearchReader
from bridge.imap.dialect import Extension, Feature, StatusItem, announces
from bridge.imap.items.item import Needs, plain
from bridge.imap.wire import codes
from mailstore.model import Snapshot, Status, mailbox_object_id
from mailstore.query import EmailIdIs, Query, ThreadIdIs


def _id_key(name: bytes, make: Callable[[str], Query]) -> SearchKey:
    def parse(reader: SearchReader) -> Key:
        reader.cursor.sp()
        query = make(reader.cursor.astring().decode("ascii", "replace"))
        return lambda resolver: query

    return SearchKey(name, parse)


def _status(status: Status, _: object) -> bytes:
    return b"(%b)" % mailbox_object_id(status.uidvalidity).encode("ascii")


def _introduce(snapshot: Snapshot) -> bytes:
    return b"OK [" + codes.mailboxid(mailbox_object_id(snapshot.uidvalidity)) + b"] Id of this mailbox"


EXTENSION: Final = Extension(
    name="OBJECTID",
    announce=announces(b"OBJECTID"),
    fetch_items=(
        plain(
            b"EMAILID",
            lambda batch: [row.email_object_id.encode("ascii") for row in batch.whole],
            Needs(rows=True),
            value=b"(%b)",
        ),
        plain(
            b"THREADID",
            lambda batch: [row.thread_object_id.encode("ascii") for row in batch.whole],
            Needs(rows=True),
            value=b"(%b)",
        ),
    ),
    search_keys=(_id_key(b"EMAILID", EmailIdIs), _id_key(b"THREADID", ThreadIdIs)),
    status_items=(StatusItem(b"MAILBOXID", _status),),
    features=frozenset({Feature.OBJECT_IDS}),
    introduce=_introduce,
    default=False,
)
