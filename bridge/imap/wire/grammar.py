"""One compiled expression a production of RFC 3501 section 9, and the tables of words that go with them.

Rule: every expression is linear (possessive where it repeats), matches bytes, and never matches NUL: a NUL in a
command's text is the framer's mark for a literal and cannot come from the peer.
"""

import re
from types import MappingProxyType
from typing import Final

LITERAL_MARK: Final = b"\x00"

# atom-specials = ( ) { SP CTL % * " \ ]; CHAR is 7-bit.
ATOM: Final = re.compile(rb'[^\x00-\x20\x7f-\xff(){%*"\\\]]++')
# ASTRING-CHAR = ATOM-CHAR / resp-specials, so "]" may stand in an astring.
ASTRING_ATOM: Final = re.compile(rb'[^\x00-\x20\x7f-\xff(){%*"\\]++')
# list-char adds the wildcards.
LIST_ATOM: Final = re.compile(rb'[^\x00-\x20\x7f-\xff(){"\\]++')
# The body of a quoted string. Eight-bit bytes are let through here (old clients put Latin-1 and UTF-8 passwords in
# quotes); who cannot use them refuses them.
QUOTED: Final = re.compile(rb'"((?>[^"\\\r\n\x00]*(?:\\["\\][^"\\\r\n\x00]*)*))"')
ESCAPE: Final = re.compile(rb'\\(["\\])')
NUMBER: Final = re.compile(rb"[0-9]++")
# A flag is an atom, or an atom behind a backslash. "\*" is no flag a client may name.
FLAG: Final = re.compile(rb'\\?+[^\x00-\x20\x7f-\xff(){%*"\\\]]++')
FLAGS: Final = re.compile(rb"\(((?>(?:%b(?: %b)*)?))\)" % (FLAG.pattern, FLAG.pattern))
SEQUENCE_SET: Final = re.compile(rb"(?>(?:[0-9]++|\*)(?::(?:[0-9]++|\*))?(?:,(?:[0-9]++|\*)(?::(?:[0-9]++|\*))?)*)")
DATE: Final = re.compile(rb'(?:([0-9]{1,2})-([A-Za-z]{3})-([0-9]{4})|"([0-9]{1,2})-([A-Za-z]{3})-([0-9]{4})")')
DATE_TIME: Final = re.compile(
    rb'"([ 0-9]?[0-9])-([A-Za-z]{3})-([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([+-])([0-9]{2})([0-9]{2})"'
)
# What names a fetch item, a status item, a search key or a parameter: letters, digits, dots and hyphens.
WORD: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9.\-]*+")
BASE64: Final = re.compile(rb"(?>(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)")
SPACES_TO_END: Final = re.compile(rb" *+\Z")

# tag = 1*<any ASTRING-CHAR except "+">
TAG: Final = re.compile(rb'[^\x00-\x20\x7f-\xff(){%*"\\+]++')
# A whole command's head. "UID X" is one name: what follows the word UID is a command of its own.
COMMAND: Final = re.compile(
    rb'([^\x00-\x20\x7f-\xff(){%*"\\+]++) ((?:[Uu][Ii][Dd] )?[A-Za-z][A-Za-z0-9.\-]*+)(?=[ \x00]|\Z)'
)
# The end of a line that announces a literal: {n}, {n+} and, for literal8, ~{n} and ~{n+}.
LITERAL_END: Final = re.compile(rb"(~?)\{([0-9]{1,18})(\+?)\}\Z")
# Looks like an announcement, but its length cannot be known: {+5}, {5++}, {-1}, {10^30}.
BROKEN_LITERAL_END: Final = re.compile(rb"\{[+\-]*[0-9]+[+\-]*\}\Z")
# True for a text whose quotes are all closed.
QUOTES_CLOSED: Final = re.compile(rb'(?>[^"]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"]*)*)', re.DOTALL)

MONTHS: Final = MappingProxyType(
    {
        name: number
        for number, name in enumerate(
            (b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"), start=1
        )
    }
)
SYSTEM_FLAGS: Final = MappingProxyType(
    {
        "\\seen": "\\Seen",
        "\\answered": "\\Answered",
        "\\flagged": "\\Flagged",
        "\\draft": "\\Draft",
        "\\deleted": "\\Deleted",
        "\\recent": "\\Recent",
    }
)
MAX_NUMBER: Final = 0xFFFF_FFFF
MAX_NUMBER64: Final = 0x7FFF_FFFF_FFFF_FFFF
