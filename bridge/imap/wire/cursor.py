"""Reads the text of one command: try-reads return None and stay put, expect-reads raise ParseError with a position.

Rule: the cursor moves only over what it has read; a failed read never leaves it beyond the fault. In the text a NUL
stands for a literal; which one follows from how many NULs lie before it, so moving back needs no bookkeeping.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final, NoReturn, TypeVar

from bridge.imap.wire import grammar, utf7
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.seqset import SAVED, SeqSet

T = TypeVar("T")

MAX_DEPTH: Final = 50


@dataclass(frozen=True, slots=True)
class Blob:
    """A literal that went by as chunks; `number` is that of its BlobStart within the command."""

    number: int
    size: int


Literal = bytes | Blob


class Cursor:
    """A position in a command's text. With `utf8`, strings and mailbox names may be UTF-8 (RFC 6855)."""

    __slots__ = ("_literals", "pos", "text", "utf8")

    def __init__(self, text: bytes, pos: int = 0, literals: list[Literal] | None = None, *, utf8: bool = False) -> None:
        self.text = text
        self.pos = pos
        self._literals = literals if literals is not None else []
        self.utf8 = utf8

    # Machinery

    def fail(self, message: str) -> NoReturn:
        """Refuse the command here."""
        raise ParseError(message, self.pos)

    def match(self, expression: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Read what the expression matches here, or nothing."""
        found = expression.match(self.text, self.pos)
        if found is not None:
            self.pos = found.end()
        return found

    def expect(self, expression: re.Pattern[bytes], what: str) -> bytes:
        found = expression.match(self.text, self.pos)
        if found is None:
            raise ParseError(f"Expected {what}", self.pos)
        self.pos = found.end()
        return found[0]

    def peek(self, size: int = 1) -> bytes:
        """The next bytes of the text, unread; fewer at its end."""
        return self.text[self.pos : self.pos + size]

    @property
    def has_literals(self) -> bool:
        """Whether the text stands for more than it says."""
        return bool(self._literals)

    @property
    def at_end(self) -> bool:
        """Whether nothing but trailing spaces is left."""
        return grammar.SPACES_TO_END.match(self.text, self.pos) is not None

    def try_byte(self, byte: bytes) -> bool:
        if self.text[self.pos : self.pos + 1] != byte:
            return False
        self.pos += 1
        return True

    def byte(self, byte: bytes) -> None:
        if not self.try_byte(byte):
            raise ParseError(f"Expected '{byte.decode('ascii')}'", self.pos)

    def try_sp(self) -> bool:
        return self.try_byte(b" ")

    def sp(self) -> None:
        """Exactly one space."""
        if self.text[self.pos : self.pos + 1] != b" ":
            raise ParseError("Expected a space", self.pos)
        self.pos += 1

    def eol(self) -> None:
        """The end of the command; spaces before it are forgiven."""
        if not self.at_end:
            raise ParseError("Unexpected text after the command", self.pos)
        self.pos = len(self.text)

    def try_word(self, *words: bytes) -> bytes | None:
        """Read one of the words (given upper-case), in any case; nothing if the word here is another or goes on."""
        found = grammar.WORD.match(self.text, self.pos)
        if found is None or (word := found[0].upper()) not in words:
            return None
        self.pos = found.end()
        return word

    def word(self, what: str = "a word") -> bytes:
        """A name made of letters, digits, dots and hyphens, upper-cased."""
        return self.expect(grammar.WORD, what).upper()

    def try_read(self, read: Callable[[], T]) -> T | None:
        """What `read` gives, or None with the cursor where it was, if it refuses."""
        start = self.pos
        try:
            return read()
        except ParseError:
            self.pos = start
            return None

    def parenthesised(self, read: Callable[[], T], *, empty: bool = False) -> list[T]:
        """`"(" item *(SP item) ")"`; with `empty`, also `()`."""
        self.byte(b"(")
        items: list[T] = []
        if empty and self.try_byte(b")"):
            return items
        items.append(read())
        while not self.try_byte(b")"):
            self.sp()
            items.append(read())
        return items

    # Strings

    def try_atom(self) -> bytes | None:
        found = self.match(grammar.ATOM)
        return found[0] if found else None

    def atom(self) -> bytes:
        return self.expect(grammar.ATOM, "an atom")

    def try_quoted(self) -> bytes | None:
        found = self.match(grammar.QUOTED)
        if found is None:
            return None
        raw = found[1]
        return grammar.ESCAPE.sub(rb"\1", raw) if b"\\" in raw else raw

    def try_any_literal(self) -> Literal | None:
        """The literal here, streamed or not, with or without "~"."""
        at = self.pos + 1 if self.text[self.pos : self.pos + 1] == b"~" else self.pos
        if self.text[at : at + 1] != grammar.LITERAL_MARK:
            return None
        self.pos = at + 1
        return self._literals[self.text.count(b"\x00", 0, at)]

    def any_literal(self) -> Literal:
        """A literal of any size (APPEND); literal8 is told by `peek() == b"~"` beforehand."""
        literal = self.try_any_literal()
        if literal is None:
            raise ParseError("Expected a literal", self.pos)
        return literal

    def try_literal(self) -> bytes | None:
        """A literal in memory, without NUL (RFC 3501 CHAR8)."""
        if self.text[self.pos : self.pos + 1] != grammar.LITERAL_MARK:
            return None
        literal = self._literals[self.text.count(b"\x00", 0, self.pos)]
        if isinstance(literal, Blob):
            raise ParseError("Literal too large here", self.pos)
        if b"\x00" in literal:
            raise ParseError("NUL in a string", self.pos)
        self.pos += 1
        return literal

    def literal(self) -> bytes:
        literal = self.try_literal()
        if literal is None:
            raise ParseError("Expected a literal", self.pos)
        return literal

    def try_string(self) -> bytes | None:
        quoted = self.try_quoted()
        return self.try_literal() if quoted is None else quoted

    def string(self) -> bytes:
        """quoted / literal."""
        string = self.try_string()
        if string is None:
            raise ParseError("Expected a string", self.pos)
        return string

    def try_astring(self) -> bytes | None:
        found = self.match(grammar.ASTRING_ATOM)
        return found[0] if found else self.try_string()

    def astring(self) -> bytes:
        """1*ASTRING-CHAR / string. NIL is an astring of three letters."""
        astring = self.try_astring()
        if astring is None:
            raise ParseError("Expected an atom or a string", self.pos)
        return astring

    def nstring(self) -> bytes | None:
        """string / NIL (any case)."""
        string = self.try_string()
        if string is None and not self.try_word(b"NIL"):
            raise ParseError("Expected a string or NIL", self.pos)
        return string

    def base64(self) -> bytes:
        """Decoded base64 (SASL-IR), "=" alone being the empty response (RFC 4959)."""
        start = self.pos
        if self.try_byte(b"="):
            return b""
        found = self.match(grammar.BASE64)
        if found is None or self.peek() not in (b"", b" "):
            self.pos = start
            raise ParseError("Expected base64", start)
        return b64decode(found[0])

    # Numbers and sets

    def number(self, limit: int = grammar.MAX_NUMBER) -> int:
        found = grammar.NUMBER.match(self.text, self.pos)
        if found is None:
            raise ParseError("Expected a number", self.pos)
        if found.end() - found.start() > 20 or (number := int(found[0])) > limit:
            raise ParseError("Number too large", self.pos)
        self.pos = found.end()
        return number

    def nz_number(self, limit: int = grammar.MAX_NUMBER) -> int:
        start = self.pos
        number = self.number(limit)
        if not number:
            self.pos = start
            raise ParseError("Expected a number above zero", start)
        return number

    def number64(self) -> int:
        """A 63-bit number (modification sequences, RFC 7162)."""
        return self.number(grammar.MAX_NUMBER64)

    def try_seqset(self) -> SeqSet | None:
        """A sequence set, or "$" alone."""
        if self.try_byte(b"$"):
            return SAVED
        found = grammar.SEQUENCE_SET.match(self.text, self.pos)
        if found is None:
            return None
        seqset = SeqSet.parse(found[0], self.pos)
        self.pos = found.end()
        return seqset

    def seqset(self) -> SeqSet:
        seqset = self.try_seqset()
        if seqset is None:
            raise ParseError("Expected a set of message numbers", self.pos)
        return seqset

    # Names and flags

    def mailbox(self) -> str:
        """A mailbox name as text; INBOX in any case is "INBOX". A name that is no modified UTF-7 deserves NO."""
        start = self.pos
        raw = self.astring()
        if len(raw) == 5 and raw.upper() == b"INBOX":
            return "INBOX"
        try:
            return self._name(raw)
        except ParseError as error:
            self.pos = start
            raise ParseError(error.message, start, status=error.status, code=error.code) from None

    def list_mailbox(self) -> str:
        """A LIST pattern as text, wildcards in place; what cannot be decoded matches nothing and is no error."""
        found = self.match(grammar.LIST_ATOM)
        raw = found[0] if found else self.try_string()
        if raw is None:
            raise ParseError("Expected a mailbox pattern", self.pos)
        try:
            return self._name(raw)
        except ParseError:
            return utf7.decode_lenient(raw)

    def _name(self, raw: bytes) -> str:
        if not self.utf8:
            return utf7.decode(raw)
        try:
            name = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise ParseError("Mailbox name is not valid UTF-8", status="NO", code="CANNOT") from None
        if any(char < " " or char == "\x7f" for char in name):
            raise ParseError("Control character in a mailbox name", status="NO", code="CANNOT")
        return name

    def flag(self) -> str:
        """A flag or keyword; system flags in their canonical case, keywords as written."""
        return _canonical(self.expect(grammar.FLAG, "a flag").decode("ascii"))

    def flag_list(self) -> list[str]:
        """`"(" [flag *(SP flag)] ")"`."""
        found = self.match(grammar.FLAGS)
        if found is None:  # it is not: say where
            return self.parenthesised(self.flag, empty=True)
        return list(map(_canonical, found[1].decode("ascii").split()))

    def store_flags(self) -> list[str]:
        """A flag list, or flags without parentheses (RFC 3501 store-att-flags)."""
        if self.peek() == b"(":
            return self.flag_list()
        flags = [self.flag()]
        while self.try_sp():
            if self.at_end:
                break
            flags.append(self.flag())
        return flags

    # Dates

    def date(self) -> date:
        """date / DQUOTE date DQUOTE: `1-Jan-2026`, months in any case."""
        start = self.pos
        found = self.match(grammar.DATE)
        if found is None:
            raise ParseError("Expected a date", start)
        day, month, year = (part for part in found.groups() if part is not None)
        try:
            return date(int(year), grammar.MONTHS[month.upper()], int(day))
        except (KeyError, ValueError):
            self.pos = start
            raise ParseError("Not a date of the calendar", start) from None

    def date_time(self) -> tuple[int, int]:
        """`"01-Jan-2026 00:00:00 +0100"`: UTC milliseconds, and how many minutes the clock it names is ahead of UTC."""
        start = self.pos
        found = self.match(grammar.DATE_TIME)
        if found is None:
            raise ParseError("Expected a date and time", start)
        day, month, year, hour, minute, second, sign, zone_hours, zone_minutes = found.groups()
        zone = int(zone_hours) * 60 + int(zone_minutes)
        ahead = -zone if sign == b"-" else zone
        try:
            days = date(int(year), grammar.MONTHS[month.upper()], int(day)).toordinal() - _EPOCH_DAY
        except (KeyError, ValueError):
            days = None
        # A leap second is a legal time; it is the same instant as the second after it.
        clock = int(hour) < 24 and int(minute) < 60 and int(second) <= 60 and zone < _DAY_MINUTES
        if days is None or not clock:
            self.pos = start
            raise ParseError("Not a date of the calendar", start)
        minutes = days * _DAY_MINUTES + int(hour) * 60 + int(minute) - ahead
        return (minutes * 60 + int(second)) * 1000, ahead


def _canonical(flag: str) -> str:
    return grammar.SYSTEM_FLAGS.get(flag.lower(), flag) if flag.startswith("\\") else flag


_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_DAY_MINUTES: Final = 1440
