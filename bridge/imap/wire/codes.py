"""Response codes in brackets: RFC 3501 section 7.1, RFC 4315, RFC 5530, RFC 9051 section 7.1.

Rule: a code is named here or it is not sent; `Code` holds the plain words, functions build those with arguments.
"""

from collections.abc import Iterable
from enum import Enum

from bridge.imap.wire import render


class Code(Enum):
    """Codes without arguments; `value` is what stands between the brackets."""

    ALERT = b"ALERT"
    ALREADYEXISTS = b"ALREADYEXISTS"
    AUTHENTICATIONFAILED = b"AUTHENTICATIONFAILED"
    AUTHORIZATIONFAILED = b"AUTHORIZATIONFAILED"
    CANNOT = b"CANNOT"
    CLIENTBUG = b"CLIENTBUG"
    CLOSED = b"CLOSED"
    CONTACTADMIN = b"CONTACTADMIN"
    CORRUPTION = b"CORRUPTION"
    EXPIRED = b"EXPIRED"
    EXPUNGEISSUED = b"EXPUNGEISSUED"
    HASCHILDREN = b"HASCHILDREN"
    INUSE = b"INUSE"
    LIMIT = b"LIMIT"
    NOMODSEQ = b"NOMODSEQ"
    NONEXISTENT = b"NONEXISTENT"
    NOPERM = b"NOPERM"
    NOTIFICATIONOVERFLOW = b"NOTIFICATIONOVERFLOW"
    NOTSAVED = b"NOTSAVED"
    OVERQUOTA = b"OVERQUOTA"
    PARSE = b"PARSE"
    PRIVACYREQUIRED = b"PRIVACYREQUIRED"
    READ_ONLY = b"READ-ONLY"
    READ_WRITE = b"READ-WRITE"
    SERVERBUG = b"SERVERBUG"
    TOOBIG = b"TOOBIG"
    TRYCREATE = b"TRYCREATE"
    UIDNOTSTICKY = b"UIDNOTSTICKY"
    UNAVAILABLE = b"UNAVAILABLE"
    UIDREQUIRED = b"UIDREQUIRED"
    UNKNOWN_CTE = b"UNKNOWN-CTE"
    USEATTR = b"USEATTR"


def appenduid(uidvalidity: int, uids: Iterable[int]) -> bytes:
    """RFC 4315: the UIDs the appended messages got."""
    return b"APPENDUID %d %b" % (uidvalidity, render.number_set(uids))


def copyuid(uidvalidity: int, source: Iterable[int], target: Iterable[int]) -> bytes:
    """RFC 4315: source and target UIDs, pairwise in the same order."""
    return b"COPYUID %d %b %b" % (uidvalidity, render.number_set(source), render.number_set(target))


def badevent(events: Iterable[str]) -> bytes:
    """RFC 5465 section 3.1: the events that NOTIFY knows."""
    return b"BADEVENT (%b)" % " ".join(events).encode("ascii")


def badcharset(charsets: Iterable[str]) -> bytes:
    """RFC 3501 section 6.4.4: the charsets that SEARCH knows."""
    return b"BADCHARSET (%b)" % " ".join(charsets).encode("ascii")


def capability(names: Iterable[str]) -> bytes:
    return b"CAPABILITY " + " ".join(names).encode("ascii")


def permanentflags(flags: Iterable[str]) -> bytes:
    r"""With `\*` among the flags where new keywords may be made."""
    return b"PERMANENTFLAGS " + render.flag_list(flags)


def uidvalidity(number: int) -> bytes:
    return b"UIDVALIDITY %d" % number


def uidnext(number: int) -> bytes:
    return b"UIDNEXT %d" % number


def unseen(number: int) -> bytes:
    """The sequence number of the first unseen message."""
    return b"UNSEEN %d" % number


def highestmodseq(number: int) -> bytes:
    return b"HIGHESTMODSEQ %d" % number


def mailboxid(object_id: str) -> bytes:
    """RFC 8474: the mailbox's own id, which no other mailbox ever has."""
    return b"MAILBOXID (%b)" % object_id.encode("ascii")


def messagelimit(limit: int, lowest: int | None = None) -> bytes:
    """RFC 9738: how many messages a command takes, and the lowest UID of those it took (None: it took none)."""
    return b"MESSAGELIMIT %d" % limit if lowest is None else b"MESSAGELIMIT %d %d" % (limit, lowest)


def modified(numbers: Iterable[int]) -> bytes:
    """RFC 7162: messages that a conditional STORE left alone."""
    return b"MODIFIED " + render.number_set(numbers)


def bracketed(code: Code | bytes) -> bytes:
    """`[CODE ...]`."""
    return b"[%b]" % (code.value if isinstance(code, Code) else code)
