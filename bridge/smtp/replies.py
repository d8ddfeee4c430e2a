"""What the server says, with an enhanced status code (RFC 3463, RFC 2034) on every reply that may have one.

The rule: a reply is one line of printable text; nothing of an exception and nothing unprintable of the peer gets in.
"""

import re
from typing import Final

_HAS_STATUS: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?: |$)")
_DEFAULT_STATUS: Final = {
    "221": "2.0.0",
    "250": "2.0.0",
    "252": "2.5.0",
    "421": "4.3.2",
    "451": "4.3.0",
    "452": "4.3.1",
    "454": "4.7.0",
    "500": "5.5.2",
    "501": "5.5.4",
    "502": "5.5.1",
    "503": "5.5.1",
    "504": "5.5.4",
    "535": "5.7.8",
    "550": "5.7.1",
    "552": "5.3.4",
    "553": "5.1.3",
    "554": "5.6.0",
    "555": "5.5.4",
}
MAX_TEXT: Final = 480  # RFC 5321 section 4.5.3.1.5: 512 with code and CRLF


def with_status(reply: str) -> str:
    """A reply line ("250 OK") with its enhanced status code; greetings (220) and 3xx have none."""
    code, text = reply[:3], reply[4:]
    status = _DEFAULT_STATUS.get(code)
    return reply if status is None or _HAS_STATUS.match(text) else f"{code} {status} {text}"


def line(code: int, status: str, text: str) -> str:
    """A reply; `text` is brought to one line of printable characters."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return f"{code} {status} {' '.join(clean.split())}"[:MAX_TEXT]
