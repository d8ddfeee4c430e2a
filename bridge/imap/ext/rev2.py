"""IMAP4rev2 (RFC 9051): the base of the extensions it has taken in, and, once it is turned on, its own ways.

With the mode on there is no \\Recent and no UNSEEN in SELECT, but LIST; SEARCH is answered by ESEARCH; flags that are
told unasked come with their UID; names are UTF-8, composed when they are made, and told with OLDNAME to who wrote them
otherwise. What rev2 has dropped (CHECK, LSUB, RFC822.TEXT, the RECENT key) is still understood.
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
