"""The port between whoever speaks SMTP and whoever takes mail in: recipients are asked one by one, then the whole mail.

The rule: `accept` returns a Receipt only once the mail is durably kept; nothing is discarded after that.
"""

from dataclasses import dataclass
from typing import Protocol

from bridge.identity import Identity


@dataclass(frozen=True, slots=True)
class Accepted:
    """The recipient is taken."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal as SMTP tells it: reply `code` (4xx: for now), enhanced `status` (RFC 3463), one line of `text`."""

    code: int
    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Client:
    """Where a mail came from: the peer's address, the name it greeted with, whether the line was encrypted."""

    peer: str
    hello: str
    secure: bool


@dataclass(frozen=True, slots=True)
class Envelope:
    """One submitted mail. `raw` is what the client sent: CRLF line ends only, no NUL, dots unstuffed, nothing added."""

    mail_from: str
    recipients: tuple[str, ...]
    raw: bytes
    client: Client
    smtputf8: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """The mail is kept. `reference` is shown to the client in the 250 and written to the log."""

    reference: str


class Submissions(Protocol):
    """Taking mail in. Both calls are made for an authenticated identity only."""

    def recipient(self, identity: Identity, address: str, /) -> Accepted | Refused:
        """Whether mail of this user may go to `address` (as written after RCPT TO, without the angle brackets)."""
        ...

    async def accept(self, identity: Identity, envelope: Envelope, /) -> Receipt | Refused:
        """Keep the mail. Not cancelled when the client goes away; a repeat of the same mail is the same mail."""
        ...

    async def turned_away(self, identity: Identity, client: Client, why: str, /) -> None:
        """A mail of this login was refused, as it says that it is somebody else's: note that somebody tried."""
        ...
