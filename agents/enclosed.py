"""The text of a mail that came as a file: who wrote it, and what its parts say; further files in it are named.

The rule: its bytes are hostile: only a bounded beginning is parsed, by the tolerant old policy, and whatever the parser
cannot take is refused in words.
"""

import email
from collections.abc import Callable
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from itertools import islice

MAX_BYTES = 2_000_000
MAX_PARTS = 200
_HEADS = ("From", "To", "Date", "Subject")


class TooDeep(Exception):
    """Its parts are nested beyond what a parser follows."""


def enclosed_text(data: bytes, decode: Callable[[bytes, str], str], words_of: Callable[[str], str]) -> str:
    """The mail as text. `decode` turns a part's bytes and its type into text, `words_of` HTML into words. Raises
    TooDeep.
    """
    try:
        message = email.message_from_bytes(data[:MAX_BYTES])
        parts = list(islice(message.walk(), MAX_PARTS))
    except RecursionError:
        raise TooDeep from None
    heads = [f"{name}: {_plain(str(message[name]))}" for name in _HEADS if message[name]]
    texts = {kind: [_text(part, decode) for part in parts if _is_body(part, kind)] for kind in ("plain", "html")}
    body = texts["plain"] or [words_of(text) for text in texts["html"]]
    names = [_plain(str(part.get_filename() or part.get_content_type())) for part in parts if _is_file(part)]
    attached = [f"Attached to it, and not read: {', '.join(names)}"] if names else []
    return "\n\n".join(["\n".join(heads), *(text.strip() for text in body), *attached]).strip()


def _is_file(part: Message) -> bool:
    return not part.is_multipart() and not (_is_body(part, "plain") or _is_body(part, "html"))


def _is_body(part: Message, kind: str) -> bool:
    shown = part.get_content_disposition() != "attachment" and not part.get_filename()
    return shown and part.get_content_type() == f"text/{kind}"


def _text(part: Message, decode: Callable[[bytes, str], str]) -> str:
    data = part.get_payload(decode=True)
    return decode(data if isinstance(data, bytes) else b"", str(part.get("Content-Type", "")))


def _plain(value: str) -> str:
    """A header's value on one line, decoded where that is possible."""
    try:
        value = str(make_header(decode_header(value)))
    except (MessageError, UnicodeError, LookupError, ValueError):
        pass
    return " ".join(value.split())
