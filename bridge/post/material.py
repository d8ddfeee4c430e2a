"""A mail as material: what an agent is handed of one that nobody here vouches for.

The rule: the program says who it is from and what it is called, inside the text that is marked as untrusted; a long one
is cut with its reference, by which the whole can be read.
"""

from typing import Final

from bridge.post.content import body_text
from bridge.post.ports import ref
from mailstore.model import EmailId
from mailstore.parse import Message

LONGEST: Final = 32 * 1024
_HEADERS: Final = ("From", "To", "Subject", "Date")


def material(email: EmailId, message: Message, raw: bytes) -> str:
    """The mail as text: who, what, when, and what it says."""
    told = ((name, message.headers.get(name.lower())) for name in _HEADERS)
    lines = [f"{name}: {' '.join(value.split())[:500]}" for name, value in told if value]
    body = body_text(message, raw)
    if len(body) > LONGEST:
        more = f"[cut here: {len(body) - LONGEST} more characters; the whole mail is {ref(email)}]"
        body = f"{body[:LONGEST]}\n{more}"
    return "\n".join([*lines, "", body])
