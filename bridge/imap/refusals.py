"""The one door through which errors leave: every typed refusal becomes one NO or BAD; anything else is not for peers.

Rule: a text that reaches the peer was written for the peer. An error without a row here goes on to the transport pump,
which logs it with its traceback and has the session answer in general words.
"""

from types import MappingProxyType
from typing import Final

from bridge.imap.command import Refused
from bridge.imap.wire.errors import ParseError
from mailstore.errors import StoreError

# Store codes to RFC 5530 response codes.
_CODES: Final = MappingProxyType(
    {
        "already-exists": b"ALREADYEXISTS",
        "no-such-mailbox": b"NONEXISTENT",
        "no-such-account": b"UNAVAILABLE",
        "has-children": b"HASCHILDREN",
        "cannot-modify": b"CANNOT",
        "bad-name": b"CANNOT",
        "bad-flag": b"CANNOT",
        "quota-over": b"LIMIT",
        "full": b"UNAVAILABLE",
        "broken": b"UNAVAILABLE",
        "closed": b"UNAVAILABLE",
    }
)
GENERAL: Final = Refused("Internal error; it has been logged", b"SERVERBUG")


def as_refusal(error: ParseError | StoreError) -> Refused:
    """What to answer for a typed error."""
    if isinstance(error, ParseError):
        code = error.code.encode("ascii") if error.code else None
        return Refused(error.message, code, bad=error.status == "BAD")
    return Refused(_sentence(str(error)), _CODES.get(error.code))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text else "Refused"
