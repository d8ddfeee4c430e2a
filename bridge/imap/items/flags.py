"""Items that come from the mailbox index and the row itself: UID, FLAGS, RFC822.SIZE, INTERNALDATE; and flag texts.

Rule: the text of a flag set is made once for each set and shared by all messages that have it.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from bridge.imap.items.item import FetchItem, Needs, plain
from bridge.imap.wire import render

SYSTEM_FLAGS: Final = (
    (2, b"\\Answered"),
    (4, b"\\Flagged"),
    (16, b"\\Deleted"),
    (1, b"\\Seen"),
    (8, b"\\Draft"),
    (32, b"\\Recent"),
)
RECENT: Final = 32


class Flags(Protocol):
    """A set of flags as the index keeps it (mailstore's FlagSet): bits, keywords, and a small number naming the set."""

    @property
    def id(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def keywords(self) -> tuple[str, ...]: ...


def flags_text(bits: int, keywords: Iterable[str] = ()) -> bytes:
    r"""What stands between the parentheses of FLAGS: `\Seen $Label`."""
    names = [name for bit, name in SYSTEM_FLAGS if bits & bit]
    names.extend(keyword.encode("ascii", "replace") for keyword in keywords)
    return b" ".join(names)


class FlagTexts:
    """Texts by set number, for one session or for all; `\\Recent` is the session's own and is asked for apart."""

    __slots__ = ("_plain", "_recent")

    def __init__(self) -> None:
        self._plain: dict[int, bytes] = {}
        self._recent: dict[int, bytes] = {}

    def one(self, flags: Flags, *, recent: bool = False) -> bytes:
        return self.keyed(flags.id, flags.bits, flags.keywords, recent=recent)

    def keyed(self, key: int, bits: int, keywords: Iterable[str], *, recent: bool = False) -> bytes:
        """The same for a set that is at hand in pieces: its number, bits and keywords."""
        texts = self._recent if recent else self._plain
        text = texts.get(key)
        if text is None:
            text = texts[key] = flags_text(bits | RECENT if recent else bits & ~RECENT, keywords)
        return text

    def many(self, sets: Sequence[Flags], *, recent: bool = False) -> list[bytes]:
        """A column of texts, all of them with `\\Recent` or none."""
        texts = self._recent if recent else self._plain
        try:
            return [texts[flags.id] for flags in sets]
        except KeyError:
            return [self.one(flags, recent=recent) for flags in sets]


UID: Final = plain(b"UID", lambda batch: batch.uids, Needs(), value=b"%d")
FLAGS: Final = plain(b"FLAGS", lambda batch: batch.flags, Needs(flags=True), value=b"(%b)")
SIZE: Final = plain(b"RFC822.SIZE", lambda batch: [row.size for row in batch.rows], Needs(facts=True), value=b"%d")
INTERNALDATE: Final = plain(
    b"INTERNALDATE",
    lambda batch: [render.internal_date(row.internal_date, row.zone) for row in batch.rows],
    Needs(facts=True),
)

ITEMS: Final[tuple[FetchItem, ...]] = (UID, FLAGS, SIZE, INTERNALDATE)
