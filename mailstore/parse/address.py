"""Address lists as ENVELOPE wants them (RFC 3501, 7.4.2): raw bytes, groups, routes, names in comments.

One rule: any bytes give a list, in one pass; what is no address becomes the nearest thing a client can show.
"""

import re
from dataclasses import dataclass

from mailstore.parse.headers import decode_header, unfold

MAX_ADDRESSES = 5000
MAX_VALUE = 262_144  # bytes of a field that are looked at


@dataclass(frozen=True, slots=True)
class Address:
    """One address. A group starts with (None, None, name, None) and ends with all None.

    An address without a domain has host b"", because NIL there would start a group.
    """

    name: bytes | None
    route: bytes | None
    mailbox: bytes | None
    host: bytes | None

    @property
    def display(self) -> str:
        """The name, decoded; empty when there is none."""
        return decode_header(self.name) if self.name else ""

    @property
    def spec(self) -> str:
        """`local@host` as text, or empty for group marks."""
        if self.mailbox is None or self.host is None:
            return ""
        return f"{decode_header(self.mailbox)}@{decode_header(self.host)}" if self.host else decode_header(self.mailbox)


_GROUP_END = Address(None, None, None, None)
_ATOM = rb"[^\s\"(),.:;<>@\[\]\\\x00-\x1f]++"
_DOTTED = _ATOM + rb"(?>(?:\." + _ATOM + rb")*)"
_PLAIN = re.compile(
    rb"[ \t]*+(?:(?:\"([^\"\\]*+)\"[ \t]*+|([^\"(),:;<>@\[\]\\]*+))<(" + _DOTTED + rb")@(" + _DOTTED + rb")>"
    rb"|(" + _DOTTED + rb")@(" + _DOTTED + rb"))[ \t]*+(?:,|\Z)"
)
_TOKEN = re.compile(
    rb"(?P<space>[ \t\r\n\0]+)|(?P<quoted>\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z))|(?P<literal>\[[^\]]*\]?)"
    rb"|(?P<mark>[<>@,;:.(])|(?P<atom>[^\s\"\[<>@,;:.(\0]+)",
    re.DOTALL,
)
_COMMENT_MARK = re.compile(rb"\\.|[()]", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


def parse_addresses(value: bytes) -> tuple[Address, ...]:
    """The addresses of one field value (several fields are joined with a comma by the caller)."""
    value = unfold(value)[:MAX_VALUE]
    found: list[Address] = []
    at = 0
    while at < len(value) and len(found) < MAX_ADDRESSES:
        match = _PLAIN.match(value, at)
        if match is None:
            _Reader(value, at, found).read()
            break
        quoted, words, local, host, bare, bare_host = match.groups()
        name = quoted if quoted is not None else b" ".join(words.split()) if words else None
        found.append(Address(name or None, None, local or bare, host or bare_host))
        at = match.end()
    return tuple(found[:MAX_ADDRESSES])


class _Reader:
    """The slow road: a token at a time, for values that the pattern of plain addresses does not take."""

    __slots__ = ("at", "comment", "found", "group", "value", "words")

    def __init__(self, value: bytes, at: int, found: list[Address]) -> None:
        self.value, self.at, self.found = value, at, found
        self.group = False
        self.words: list[bytes] = []
        self.comment: bytes | None = None

    def read(self) -> None:
        while (token := self._next()) and len(self.found) < MAX_ADDRESSES:
            kind, text = token
            if kind != "mark" or text == b".":
                self.words.append(b" " if kind == "space" else text)
            elif text == b"<":
                self._angle()
            elif text == b"@":
                self._bare()
            elif text == b":" and not self.group:
                self.found.append(Address(None, None, _phrase(self.words) or b"", None))
                self.group = True
                self._clear()
            elif text in b",;:":
                self._end(text)
        self._end(b"")
        if self.group:
            self.found.append(_GROUP_END)

    def _end(self, mark: bytes) -> None:
        """Words that no "@" followed are a local part without a domain."""
        local = _phrase(self.words)
        if local:
            self.found.append(Address(self.comment or None, None, local, b""))
        self._clear()
        if mark == b";" and self.group:
            self.found.append(_GROUP_END)
            self.group = False

    def _clear(self) -> None:
        self.words, self.comment = [], None

    def _angle(self) -> None:
        name = _phrase(self.words) or self.comment
        route = self._route()
        local, mark = self._until(b"@>,;")
        host, mark = self._until(b">,;") if mark == b"@" else (b"", mark)
        if local or host or name:
            self.found.append(Address(name or None, route, local, host))
        self._skip_to_end(mark)

    def _route(self) -> bytes | None:
        """The obsolete source route `@a,@b:` (RFC 5322, 4.4); None when there is none."""
        start = self.at
        colon = self.value.find(b":", start)
        close = self.value.find(b">", start)
        if self.value[start : start + 1] != b"@" or colon < 0 or (0 <= close < colon):
            return None
        self.at = colon + 1
        return self.value[start:colon].strip() or None

    def _bare(self) -> None:
        local = _spec(self.words)
        self._clear()
        host, mark = self._until(b",;<")
        if mark == b"<":  # `a@b <a@b>`: what came first was meant as the name
            self.words = [local + b"@" + host]
            self._angle()
            return
        self.found.append(Address(self.comment or None, None, local, host))
        self._skip_to_end(mark)

    def _until(self, stops: bytes) -> tuple[bytes, bytes]:
        words: list[bytes] = []
        while token := self._next():
            kind, text = token
            if kind == "mark" and text in stops:
                return _spec(words), text
            if kind != "space":
                words.append(text)
        return _spec(words), b""

    def _skip_to_end(self, mark: bytes) -> None:
        """To the comma or semicolon after an address; a comment on the way names an address without a name."""
        self._clear()
        while mark not in (b",", b";") and (token := self._next()):
            mark = token[1] if token[0] == "mark" else b""
        if self.comment and self.found and self.found[-1].name is None and self.found[-1].mailbox is not None:
            last = self.found[-1]
            self.found[-1] = Address(self.comment, last.route, last.mailbox, last.host)
        self._clear()
        if mark == b";" and self.group:
            self.found.append(_GROUP_END)
            self.group = False

    def _next(self) -> tuple[str, bytes] | None:
        while match := _TOKEN.match(self.value, self.at):
            self.at = match.end()
            if match.group() == b"(":
                self._read_comment()
                continue
            return match.lastgroup or "", match.group()
        return None

    def _read_comment(self) -> None:
        depth, start = 1, self.at
        for match in _COMMENT_MARK.finditer(self.value, start):
            depth += {b"(": 1, b")": -1}.get(match.group(), 0)
            if not depth:
                self.comment = _unescape(self.value[start : match.start()]).strip()
                self.at = match.end()
                return
        self.comment = self.value[start:].strip()
        self.at = len(self.value)


def _unescape(text: bytes) -> bytes:
    return _ESCAPE.sub(rb"\1", text) if b"\\" in text else text


def _unquote(word: bytes) -> bytes:
    if not word.startswith(b'"'):
        return word
    inner = word[1:-1] if len(word) > 1 and word.endswith(b'"') else word[1:]
    return _unescape(inner)


def _phrase(words: list[bytes]) -> bytes:
    """A display name: quoted strings opened, runs of blanks to one."""
    return b" ".join(b"".join(b" " if w == b" " else _unquote(w) for w in words).split())


def _spec(words: list[bytes]) -> bytes:
    """A local part or domain: blanks between its pieces do not count."""
    return b"".join(_unquote(w) for w in words if w != b" ")
