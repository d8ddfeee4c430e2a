"""UIDONLY (RFC 9586): numbers are not spoken any more: UIDFETCH in place of FETCH, VANISHED in place of EXPUNGE.

The mode is read where numbers are written (sync, base.fetch, base.search) and where commands are let in (session).
"""

from types import MappingProxyType
from typing import Final

from bridge.imap import sync
from bridge.imap.dialect import Extension, Mode, announces

EXTENSION: Final = Extension(
    name="UIDONLY",
    announce=announces(b"UIDONLY"),
    enables=MappingProxyType({b"UIDONLY": (Mode.UIDONLY,)}),
    tell_gone=(Mode.UIDONLY, sync.vanished),
    implies=("ENABLE",),
    default=False,
)
