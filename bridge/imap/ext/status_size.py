"""STATUS=SIZE (RFC 8438): the bytes of a mailbox, from its counter."""

from typing import Final

from bridge.imap.dialect import Extension, StatusItem, announces

EXTENSION: Final = Extension(
    name="STATUS=SIZE",
    announce=announces(b"STATUS=SIZE"),
    status_items=(StatusItem(b"SIZE", lambda status, _: b"%d" % status.size),),
)
