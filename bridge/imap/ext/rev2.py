"""IMAP4rev2 (RFC 9051): the base of the extensions it has taken in, and, once it is turned on, its own ways.

With the mode on there is no \\Recent and no UNSEEN in SELECT, but LIST; SEARCH is answered by ESEARCH, and names are
UTF-8. What rev2 has dropped (RFC822.TEXT, LSUB, the RECENT key) is still understood.
"""

from types import MappingProxyType
from typing import Final

from bridge.imap.base.mailboxes import DELETED
from bridge.imap.dialect import Extension, Feature, Mode, announces

EXTENSION: Final = Extension(
    name="IMAP4rev2",
    announce=announces(b"IMAP4rev2"),
    enables=MappingProxyType({b"IMAP4REV2": (Mode.REV2,)}),
    status_items=(DELETED,),
    features=frozenset({Feature.CLOSED_CODE}),
    implies=(
        "BINARY",
        "ENABLE",
        "ESEARCH",
        "IDLE",
        "LIST-EXTENDED",
        "LIST-STATUS",
        "LITERAL+",
        "MOVE",
        "NAMESPACE",
        "SASL-IR",
        "SEARCHRES",
        "SPECIAL-USE",
        "STATUS=SIZE",
        "UIDPLUS",
        "UNSELECT",
    ),
    default=False,
)
