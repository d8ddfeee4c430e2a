"""How a value is shown before it is approved: nothing hidden, nothing that could pass for the program's own words.

The rule: what is shown can be read back to exactly what will run. Control, direction and invisible characters appear as
escapes, and every line of a value stands behind `| `, so that no argument can imitate the text around it.
"""

import hashlib
import unicodedata
from dataclasses import dataclass

MARK = "| "
GOES_ON = "|+"
_COLUMNS = 92
SHOWN_LIMIT = 32 * 1024
"""Values longer than this, in bytes of UTF-8, are shown by head, tail, length and hash; the whole is attached."""

_SIDE = 4 * 1024
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK_LOOKING = frozenset(
    "\u00a0\u115f\u1160\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u202f\u205f\u2800\u3000\u3164\uffa0"
)


@dataclass(frozen=True, slots=True)
class Shortened:
    """A value as it is shown, and whether the whole has to be attached beside it."""

    text: str
    cut: bool


def visible(text: str) -> str:
    """`text` with what does not show itself as an escape; line ends and tabs stay, a backslash is doubled."""
    return "".join(map(_visible, text.replace("\r\n", "\n")))


def _visible(char: str) -> str:
    if char in "\n\t":
        return char
    if char == "\\":
        return "\\\\"
    if unicodedata.category(char) in _HIDDEN or char in _BLANK_LOOKING or unicodedata.combining(char) > 250:
        return f"\\u{{{ord(char):04x}}}"
    return char


def shorten(text: str) -> Shortened:
    """The value itself, or its ends with length and hash where it is over `SHOWN_LIMIT`."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= SHOWN_LIMIT:
        return Shortened(text, cut=False)
    digest = hashlib.sha256(data).hexdigest()
    head, tail = data[:_SIDE].decode("utf-8", "ignore"), data[-_SIDE:].decode("utf-8", "ignore")
    middle = f"[... {len(data):,} bytes in all, SHA-256 {digest}; the whole is attached ...]"
    return Shortened(f"{head}\n{middle}\n{tail}", cut=True)


def address(value: str) -> str:
    """An address as shown; a domain outside ASCII is followed by its punycode, so that look-alikes stand out."""
    local, at, domain = value.rpartition("@")
    if value.isascii() or not at:
        return visible(value)
    try:
        ascii_domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        ascii_domain = "not a valid domain"
    return f"{visible(local)}@{visible(domain)} ({ascii_domain})" if ascii_domain != domain else visible(value)


def block(name: str, value: str, note: str, width: int) -> list[str]:
    """One field as lines behind `| `: the name in a column of `width`, later lines of the value under the first.

    A line too long for a screen is broken by us and goes on behind `|+`, so that no client wraps it past the mark.
    """
    labels = [visible(name).ljust(width)]
    shown: list[str] = []
    for line in value.split("\n"):
        pieces = _pieces(line, max(_COLUMNS - width, 20))
        shown.append(f"{MARK}{labels.pop() if labels else ' ' * width} {pieces[0]}".rstrip())
        shown += [f"{GOES_ON}{' ' * width} {piece}".rstrip() for piece in pieces[1:]]
    if note and len(shown) == 1 and len(shown[0]) + len(note) < _COLUMNS:
        return [f"{shown[0]}   ({note})"]
    return [*shown, f"{MARK}{' ' * width} ({note})"] if note else shown


def _pieces(line: str, room: int) -> list[str]:
    """`line` cut into pieces of at most `room` characters, at blanks where there are any; joined they are the line."""
    pieces = []
    while len(line) > room:
        cut = line.rfind(" ", room // 2, room) + 1 or room
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line]
