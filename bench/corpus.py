"""A synthetic mailbox: mails like those people have, the same ones every time.

The rule: message `n` depends on the seed and on `n` alone. Sizes are 2 to 20 kB; 30 % are plain text, 50 % have a
second form in HTML, 20 % an attachment; some text parts are quoted-printable or base64; threads by References;
dates spread over 400 days; 70 % are read and some have keywords.
"""

import base64
import quopri
import random
import time
from dataclasses import dataclass
from functools import cache
from typing import Final

NEEDLE: Final = "zanzibarium"  # in the body of one message in a hundred
SUBJECT: Final = "quarterlyfish"  # in the subject of one thread in fifty
SINCE: Final = "1-Jun-2024"  # about half of the messages are newer
_START: Final = 1_700_000_000
_HOUR: Final = 3600
_SPAN: Final = 86_400 * 400


@dataclass(frozen=True, slots=True)
class Mail:
    """A message with what APPEND says of it."""

    flags: str
    date: str
    raw: bytes


class Corpus:
    """Makes messages by their number."""

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        source = random.Random(seed)
        self._words = _vocabulary(source)
        self._weights = [1.0 / (rank + 3) for rank in range(len(self._words))]
        self._paragraphs = [self._paragraph(source) for _ in range(400)]
        self._files = [_base64(source.randbytes(source.randint(1500, 6000))) for _ in range(60)]
        self._people = [self._person(source) for _ in range(300)]
        self._parents: dict[int, int | None] = {}

    def mails(self, first: int, end: int) -> list[Mail]:
        """The messages from one number up to but not including another."""
        return [self.mail(number) for number in range(first, end)]

    def mail(self, number: int) -> Mail:
        """Message `number`."""
        source = random.Random(self.seed * 31 + number)
        flags = [
            flag
            for share, flag in ((0.7, "\\Seen"), (0.15, "\\Answered"), (0.05, "\\Flagged"), (0.08, "$Label1"))
            if source.random() < share
        ]
        date = time.strftime("%d-%b-%Y %H:%M:%S +0000", time.gmtime(_moment(number)))
        return Mail(" ".join(flags), date, self.raw(number))

    def message_id(self, number: int) -> str:
        return f"<{(number * 2654435761 + self.seed) & 0xFFFFFFFF:08x}.{number}@mail{number % 7}.example>"

    def raw(self, number: int) -> bytes:
        """The bytes of message `number`."""
        source = random.Random(self.seed * 1_000_003 + number)
        head = self._header(number, source)
        text = "\r\n\r\n".join(source.choices(self._paragraphs, k=source.randint(2, 10))) + "\r\n"
        if number % 100 == 7:
            text += f"\r\nThe secret {NEEDLE} arrives.\r\n"
        return ("\r\n".join(head) + "\r\n" + self._content(number, text, source)).encode()

    def _content(self, number: int, text: str, source: random.Random) -> str:
        """The Content-Type of the whole, and the body."""
        kind = source.random()
        plain = _part("plain", text, source.choice((None, None, None, "quoted-printable", "base64")))
        if kind < 0.3:
            return plain
        html = _part("html", "<html><body><p>" + text.replace("\r\n\r\n", "</p>\r\n<p>") + "</p></body></html>\r\n")
        inner = f"=_alt_{number}_{source.getrandbits(32):x}"
        both = _multipart("alternative", inner, [plain, html])
        if kind < 0.8:
            return both
        attached = (
            f'Content-Type: application/octet-stream; name="file{number}.bin"\r\n'
            f'Content-Disposition: attachment; filename="file{number}.bin"\r\n'
            f"Content-Transfer-Encoding: base64\r\n\r\n{source.choice(self._files)}"
        )
        return _multipart("mixed", f"=_mix_{number}_{source.getrandbits(32):x}", [both, attached])

    def _header(self, number: int, source: random.Random) -> list[str]:
        chain = self._chain(number)
        sender, *others = source.sample(self._people, source.randint(2, 5))
        date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(_moment(number)))
        lines = [f"Return-Path: <{sender[1]}>"]
        lines += [_received(hop, sender[1], others[0][1], date, source) for hop in range(source.randint(2, 4))]
        lines.append(_signature(sender[1], source))
        lines.append(f'From: "{sender[0]}" <{sender[1]}>')
        lines.append("To: " + ",\r\n\t".join(f'"{name}" <{address}>' for name, address in others))
        lines.append(f"Subject: {self._subject(chain[0] if chain else number, reply=bool(chain))}")
        lines += [f"Date: {date}", f"Message-ID: {self.message_id(number)}"]
        if chain:
            lines.append(f"In-Reply-To: {self.message_id(chain[-1])}")
            lines.append("References: " + "\r\n\t".join(map(self.message_id, chain)))
        if source.random() < 0.2:
            lines.append(f"List-Id: <{source.choice(self._words)}.lists.example>")
        return [*lines, "X-Mailer: bench/1.0", "MIME-Version: 1.0"]

    def _subject(self, root: int, *, reply: bool) -> str:
        source = random.Random(self.seed * 17 + root)
        subject = " ".join(self._some(source, source.randint(3, 8)))
        if root % 50 == 3:
            subject += f" {SUBJECT}"
        if root % 20 == 1:
            subject = f"=?UTF-8?B?{base64.b64encode(('Übergröße ' + subject[:20]).encode()).decode()}?="
        return f"Re: {subject}" if reply else subject

    def _chain(self, number: int) -> list[int]:
        """The messages it answers, the first one of the thread in front."""
        chain: list[int] = []
        parent = self._parent(number)
        while parent is not None and len(chain) < 12:
            chain.append(parent)
            parent = self._parent(parent)
        return chain[::-1]

    def _parent(self, number: int) -> int | None:
        if number not in self._parents:
            source = random.Random(self.seed * 7919 + number)
            alone = number == 0 or source.random() < 0.4
            self._parents[number] = None if alone else max(0, number - 1 - int(source.expovariate(1 / 40.0)))
        return self._parents[number]

    def _some(self, source: random.Random, count: int) -> list[str]:
        return source.choices(self._words, weights=self._weights, k=count)

    def _paragraph(self, source: random.Random) -> str:
        lines, line = [], ""
        for word in self._some(source, source.randint(30, 90)):
            if len(line) + len(word) > 72:
                lines.append(line)
                line = ""
            line += f" {word}" if line else word
        return "\r\n".join([*lines, line])

    def _person(self, source: random.Random) -> tuple[str, str]:
        first, last, domain = self._some(source, 3)
        return f"{first.title()} {last.title()}", f"{first}.{last}@{domain}.example"


def _vocabulary(source: random.Random) -> list[str]:
    words: set[str] = set()
    while len(words) < 4000:
        syllables = (source.choice("bcdfghjklmnprstvwz") + source.choice("aeiou") for _ in range(source.randint(1, 4)))
        words.add("".join(syllables) + source.choice(("", "n", "s", "r")))
    found = sorted(words)
    source.shuffle(found)
    return found


@cache
def _moment(number: int) -> int:
    return _START + number * _HOUR % _SPAN + number


def _base64(data: bytes) -> str:
    return base64.encodebytes(data).replace(b"\n", b"\r\n").decode()


def _part(subtype: str, body: str, encoding: str | None = None) -> str:
    if encoding == "base64":
        body = _base64(body.encode())
    elif encoding == "quoted-printable":
        text = f"{body}naïve café — ünïcode\n".replace("\r\n", "\n")
        body = quopri.encodestring(text.encode()).replace(b"\n", b"\r\n").decode()
    return (
        f"Content-Type: text/{subtype}; charset=utf-8\r\nContent-Transfer-Encoding: {encoding or '7bit'}\r\n\r\n{body}"
    )


def _multipart(subtype: str, boundary: str, parts: list[str]) -> str:
    inner = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts)
    return f'Content-Type: multipart/{subtype}; boundary="{boundary}"\r\n\r\n{inner}--{boundary}--\r\n'


def _received(hop: int, sender: str, recipient: str, date: str, source: random.Random) -> str:
    domain = sender.partition("@")[2]
    return (
        f"Received: from mx{hop}.{domain} (mx{hop} [192.0.2.{source.randint(1, 254)}])\r\n"
        f"\tby relay{hop}.example (Postfix) with ESMTPS id {source.getrandbits(48):012X}\r\n\tfor <{recipient}>; {date}"
    )


def _signature(sender: str, source: random.Random) -> str:
    hashed = base64.b64encode(source.randbytes(32)).decode()
    signed = "\r\n\t ".join(base64.b64encode(source.randbytes(48)).decode() for _ in range(4))
    return (
        f"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d={sender.partition('@')[2]}; s=s1;\r\n"
        f"\th=from:to:subject:date:message-id;\r\n\tbh={hashed};\r\n\tb={signed}"
    )
