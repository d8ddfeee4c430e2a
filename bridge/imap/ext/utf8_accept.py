"""UTF8=ACCEPT (RFC 6855): names of mailboxes in UTF-8 both ways, and APPEND UTF8 (~{n} ...). Turned on by ENABLE.

Messages with UTF-8 in their headers are kept and given as they are to everybody; old clients show them well enough.
"""

from types import MappingProxyType
from typing import Final

from bridge.imap.command import Refused
from bridge.imap.dialect import AppendData, Extension, Mode, announces
from bridge.imap.session import Session
from bridge.imap.wire.cursor import Blob, Cursor


def _parse(cursor: Cursor) -> bytes | Blob:
    """`(~{n} ...)`; Thunderbird sends it so, some leave the "~" out."""
    cursor.byte(b"(")
    literal = cursor.any_literal()
    cursor.byte(b")")
    return literal


async def _gather(session: Session, literal: bytes | Blob) -> bytes:
    if Mode.UTF8 not in session.modes:
        raise Refused("ENABLE UTF8=ACCEPT comes first", bad=True)
    return session.blob(literal.number) if isinstance(literal, Blob) else literal


EXTENSION: Final = Extension(
    name="UTF8=ACCEPT",
    announce=announces(b"UTF8=ACCEPT"),
    append_data=(AppendData(b"UTF8", _parse, _gather),),
    enables=MappingProxyType({b"UTF8=ACCEPT": (Mode.UTF8,)}),
    implies=("ENABLE",),
    default=False,
)
