"""PARTIAL (RFC 9394): pieces of search results and of UID FETCH, for clients that show a page at a time."""

from typing import Final

from bridge.imap.base.partial import PARTIAL, read_piece
from bridge.imap.dialect import Extension, Parameter, announces

EXTENSION: Final = Extension(
    name="PARTIAL",
    announce=announces(b"PARTIAL"),
    search_returns=(PARTIAL,),
    fetch_params=(Parameter(b"PARTIAL", parse=read_piece),),
    implies=("ESEARCH",),
    default=False,
)
