"""Who wrote a mail, read so strictly that no two programs can read it differently: the From field as one plain address.

The rule: what could be read in two ways is read as nothing. The text proves nothing; whether it is true is known from
the login, or from a signature.
"""

import re
from typing import Final

_FIELD: Final = re.compile(rb"[^\r\n]*(?:\r\n[ \t][^\r\n]*)*")
_QUOTED: Final = r"\"(?:[^\"\\]|\\.)*\""
_DOT_ATOM: Final = r"[^\s()<>\[\]:;@\\,\"]+"
_ADDRESS: Final = rf"(?:{_QUOTED}|{_DOT_ATOM})@(?:\[[^\]\[\\\s]*\]|{_DOT_ATOM})"
# One character at a time in the name, and no space that two parts could both take: hostile values cost linear time.
_NAME: Final = rf"(?:{_QUOTED}|[^()<>@,:;\"\\])*"
_MAILBOX: Final = re.compile(rf"{_NAME}<\s*(?P<angle>{_ADDRESS})\s*>|(?P<bare>{_ADDRESS})")


def from_values(header: bytes) -> list[str]:
    """Every From field's value, unfolded. "From :" counts too: some programs read it as From."""
    fields = (match[0] for match in _FIELD.finditer(header) if match[0])
    split = (field.partition(b":") for field in fields)
    return [
        value.replace(b"\r\n", b"").decode("utf-8", "surrogateescape")
        for name, colon, value in split
        if colon and name.strip().lower() == b"from"
    ]


def from_address(value: str) -> str | None:
    """The one address of a From value; None for none, several, a group, or what is not plainly one of them."""
    without = _without_comments(value)
    match = None if without is None else _MAILBOX.fullmatch(without.strip())
    if match is None:
        return None
    found: str | None = match["angle"] or match["bare"]
    return found


def _without_comments(value: str) -> str | None:
    """The value with each comment (RFC 5322 section 3.2.2, nested ones too) as a space; None when one does not end."""
    kept: list[str] = []
    depth, quoted, escaped = 0, False, False
    for char in value:
        if escaped or char == "\\":
            escaped = not escaped
        elif char == '"' and not depth:
            quoted = not quoted
        elif char == "(" and not quoted:
            depth += 1
            kept.append(" ")
            continue
        elif char == ")" and not quoted:
            if depth == 0:
                return None
            depth -= 1
            continue
        if not depth:
            kept.append(char)
    return None if depth or quoted or escaped else "".join(kept)
