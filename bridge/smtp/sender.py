"""Whose mail is it? The From of a submitted mail must be one address, and the login's.

The rule: a From that two programs could read differently is refused. The header decides nothing (the login does), but
people and agents read it, so it must not say another name.
"""

from bridge.from_line import from_address, from_values
from bridge.smtp.paths import same_address


def refusal(header: bytes, address: str) -> str | None:
    """Why this header may not be sent by the user of `address`, or None. `header` has CRLF line ends."""
    values = from_values(header)
    if not values:
        return "the message has no From header"
    if len(values) > 1:
        return "the message has more than one From header"
    written = from_address(values[0])
    if written is None:
        return "the From header must hold exactly one plain address"
    if not same_address(written, address):
        return f"the From header must be your own address, {address}"
    return None
