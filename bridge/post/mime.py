"""The bytes of a mail we write: headers, encodings, multiparts (RFC 5322, 2045-2047, 2231).

The rule: rendered from the same input, the bytes are the same for ever, and no value can add a header. Message-IDs are
folded only between ids and never encoded, because clients drop such headers (python/cpython#79986).
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.header import Header
from email.utils import format_datetime
from urllib.parse import quote

CRLF = "\r\n"
_LINE = 76
_IDS_FIRST, _IDS_LAST = 1, 20
_ATOM_NAME = re.compile(r"[A-Za-z0-9 !#$%&'*+/=?^_`{|}~-]*\Z")
_ID = re.compile(r"<[^<>\s]+>")


@dataclass(frozen=True, slots=True)
class Entity:
    """One MIME entity: its header lines (without line ends) and its body, already encoded."""

    headers: tuple[str, ...]
    body: bytes

    def render(self) -> bytes:
        return "".join(line + CRLF for line in self.headers).encode("ascii") + CRLF.encode() + self.body


def clean(value: str) -> str:
    """`value` on one line: control characters, which could end a header, become blanks."""
    return "".join(" " if ord(char) < 32 or ord(char) == 127 else char for char in value).strip()


def text_header(name: str, value: str) -> str:
    """An unstructured header, with encoded words where it is not ASCII (RFC 2047)."""
    value = clean(value)
    if value.isascii():
        return f"{name}: {_fold(value, len(name) + 2)}"
    encoded = Header(value, "utf-8", maxlinelen=_LINE, header_name=name).encode(linesep=CRLF)
    return f"{name}: {encoded}"


def _fold(value: str, used: int) -> str:
    lines, line = [], ""
    for word in value.split(" "):
        if line and used + len(line) + 1 + len(word) > _LINE:
            lines.append(line)
            line, used = word, 1
        else:
            line = f"{line} {word}" if line else word
    return (CRLF + " ").join([*lines, line])


def mailbox(display: str, address: str) -> str:
    """A name and its address (RFC 5322 3.4). The address must be ASCII without blanks or angle brackets."""
    display = clean(display)
    if not display:
        return f"<{address}>"
    if not display.isascii():
        return f"{Header(display, 'utf-8', maxlinelen=_LINE).encode(linesep=CRLF)} <{address}>"
    if _ATOM_NAME.match(display):
        return f"{display} <{address}>"
    quoted = display.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" <{address}>'


def id_header(name: str, ids: Sequence[str]) -> str:
    """In-Reply-To or References: folded only between ids; of a long chain the first and the last twenty."""
    ids = [found for one in ids for found in _ID.findall(one)]
    if len(ids) > _IDS_FIRST + _IDS_LAST:
        ids = [*ids[:_IDS_FIRST], *ids[-_IDS_LAST:]]
    return f"{name}: {(CRLF + ' ').join(ids)}"


def date_header(millis: int) -> str:
    """Date in the local zone of this machine, which is the user's."""
    return f"Date: {format_datetime(datetime.fromtimestamp(millis / 1000).astimezone())}"


def text_entity(subtype: str, text: str) -> Entity:
    """A text part in UTF-8: as it is where it is short ASCII lines, else quoted-printable."""
    text = text.replace("\r\n", "\n").rstrip("\n")
    lines = text.split("\n")
    if text.isascii() and "\r" not in text and all(len(line) <= 78 and not line.endswith(" ") for line in lines):
        encoding, body = "7bit", CRLF.join(lines).encode("ascii")
    else:
        encoding, body = "quoted-printable", CRLF.join(map(_quoted_printable, lines)).encode("ascii")
    return Entity(
        (f"Content-Type: text/{subtype}; charset=utf-8", f"Content-Transfer-Encoding: {encoding}"), body + CRLF.encode()
    )


def _quoted_printable(line: str) -> str:
    data = line.encode("utf-8", "replace")
    encoded = binascii.b2a_qp(data, quotetabs=False, istext=True).decode("ascii")
    return encoded.replace("\r", "=0D").replace("=\n", "=\r\n")


def file_entity(name: str, media_type: str, data: bytes) -> Entity:
    """An attachment in base64 with its name in RFC 2231 form where it is not ASCII."""
    body = base64.encodebytes(data).replace(b"\n", b"\r\n")
    kind = media_type if re.fullmatch(r"[\w.+-]+/[\w.+-]+", media_type, re.ASCII) else "application/octet-stream"
    return Entity(
        (
            f"Content-Type: {kind};{CRLF} {_parameter('name', name)}",
            f"Content-Disposition: attachment;{CRLF} {_parameter('filename', name)}",
            "Content-Transfer-Encoding: base64",
        ),
        body,
    )


def _parameter(key: str, value: str) -> str:
    value = clean(value).replace("/", "_") or "file"
    if value.isascii() and len(value) < 60:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{key}="{escaped}"'
    whole = quote(value, safe="")
    if len(whole) < 60:
        return f"{key}*=utf-8''{whole}"
    pieces = re.findall(r"(?:%..|[^%]){1,20}", whole)
    first = "utf-8''"
    return f";{CRLF} ".join(f"{key}*{n}*={first if n == 0 else ''}{piece}" for n, piece in enumerate(pieces))


def multipart(subtype: str, parts: Iterable[Entity], seed: str) -> Entity:
    """A multipart whose boundary is made from `seed`, so that the same mail has the same bytes.

    "=_" cannot stand in a quoted-printable body, and not in base64; a 7bit part that holds it by chance is not ours.
    """
    boundary = "=_" + hashlib.sha256(f"{subtype}\0{seed}".encode()).hexdigest()[:28]
    chunks = [f"--{boundary}{CRLF}".encode() + part.render() for part in parts]
    body = CRLF.encode().join([*chunks, f"--{boundary}--{CRLF}".encode()])
    return Entity((f'Content-Type: multipart/{subtype};{CRLF} boundary="{boundary}"',), body)
