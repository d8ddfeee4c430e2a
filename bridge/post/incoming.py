"""A stored mail as intake sees it: whose it is, what it answers, what its owner wrote, and what came with it.

The rule: pure reading of bytes that nobody vouches for; it raises on no mail, and what the owner did not type is kept
apart from what they did.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agents.letter import Attachment
from bridge.post.content import body_text, files
from bridge.post.ports import ref
from mailstore.model import EmailId
from mailstore.parse import Message

if TYPE_CHECKING:
    from bridge.post.reading import Reading

WORDS: Final = frozenset({"stop", "retry", "continue", "status", "help", "fork", "branch"})
_RAISE: Final = re.compile(r"raise to \d{1,6}(?:[.,]\d{1,2})?(?: ?(?:eur|€))?", re.IGNORECASE)
_RENAME: Final = re.compile(r"rename(?: to |: ?)\S.{0,200}", re.IGNORECASE)
FORWARD: Final = re.compile(r"\s*(?:fwd?|wg|tr|rv|enc|i|vs|vl|doorst)\s*:", re.IGNORECASE)
"""How the subject of a forwarded mail begins, as clients write it."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One mail, read. `words` is what the owner typed, `quoted` what they quoted, `foreign` what they passed on."""

    email: EmailId
    message: Message
    raw: bytes
    reading: "Reading"
    words: str
    quoted: str
    foreign: str
    attachments: tuple[Attachment, ...]

    @property
    def machine(self) -> bool:
        return self.reading.auto

    @property
    def command(self) -> str | None:
        """The thread word that is the whole text, if it is one (PRODUCT section 3)."""
        said = " ".join(self.words.split()).strip(" .!").lower()
        if _RENAME.fullmatch(said):
            return "rename"
        return said if said in WORDS or _RAISE.fullmatch(said) else None

    def named_in(self, address: str, field: str) -> bool:
        """Whether an address stands in To or Cc."""
        envelope = self.message.envelope
        listed = envelope.to if field == "to" else envelope.cc
        return any(_plain(one.spec) == address.lower() for one in listed)


def read(email: EmailId, raw: bytes, message: Message, reading: "Reading") -> Incoming:
    """A mail and the reading of it, taken apart for an agent."""
    forwarded = _is_forward(message)
    rest = _without(body_text(message, raw), reading.new_text)
    return Incoming(
        email=email,
        message=message,
        raw=raw,
        reading=reading,
        words=reading.new_text.strip(),
        quoted="" if forwarded else reading.quoted,
        foreign=rest if forwarded else "",
        attachments=attachments(email, message),
    )


def attachments(email: EmailId, message: Message) -> tuple[Attachment, ...]:
    """Every file of a mail, by reference; sizes are as transferred."""
    found = files(message)
    return tuple(Attachment(ref(email, part.section), name, part.media_type, part.size) for name, part in found)


def _plain(spec: str) -> str:
    """An address without its tag, in lower case."""
    local, _, domain = spec.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


def _is_forward(message: Message) -> bool:
    return bool(FORWARD.match(message.subject)) and not message.in_reply_to


def _without(whole: str, words: str) -> str:
    """The lines of `whole` that are not among the owner's words, in order."""
    own = {line.strip() for line in words.splitlines()}
    return "\n".join(line for line in whole.splitlines() if line.strip() not in own).strip()
