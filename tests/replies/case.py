"""A reply with its right reading, and what the cases are built with.

One rule: a case says what a careful person would read; where two readings are possible the expected
one releases nothing.
"""

import base64
from dataclasses import dataclass

from tests.replies.clients import ADDRESS, broken, head, whole


@dataclass(frozen=True, slots=True)
class Case:
    """A mail and its right reading. `new_text` None: not compared. `near_miss` None: not compared."""

    name: str
    raw: bytes
    decision: str
    new_text: str | None = None
    near_miss: str | None = None
    auto: bool = False


ATTRIBUTION = f"On Tue, 3 Mar 2026 at 09:14, Assistant <{ADDRESS}> wrote:"


def encoded(text: bytes, content_type: str, transfer: str = "base64") -> bytes:
    body = base64.encodebytes(text).decode() if transfer == "base64" else text.decode("latin-1")
    return whole(head(f"Content-Type: {content_type}", f"Content-Transfer-Encoding: {transfer}"), body, "latin-1")


def file_part(name: str, kind: str = "text/plain", text: str = "approve", how: str = "attachment") -> str:
    return f'Content-Type: {kind}; name="{name}"\nContent-Disposition: {how}; filename="{name}"\n\n{text}'


def page(words: str, extra: str = "") -> str:
    return f'<html>{extra}<body><div>{words}</div><blockquote type="cite">{broken()}</blockquote></body></html>'
