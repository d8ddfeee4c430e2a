"""CATENATE (RFC 4469): a message for APPEND put together from new text and from parts of messages that are here."""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from bridge.imap.command import Refused
from bridge.imap.dialect import AppendData, Extension, announces
from bridge.imap.items.item import Batch
from bridge.imap.items.section import Partial, Section, read_section, section_item
from bridge.imap.session import Session
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Blob, Cursor
from bridge.imap.wire.errors import ParseError
from mailstore import mailboxes, messages
from mailstore.model import Mailbox, Uid
from mailstore.sqlite import ReadTx

MAX_PARTS: Final = 1000
# RFC 5092, relative to this server: /mailbox;UIDVALIDITY=n/;UID=n/;SECTION=s/;PARTIAL=a.b
_URL: Final = re.compile(
    r"/?(?P<mailbox>[^;?]*?)(?:;UIDVALIDITY=(?P<validity>[1-9]\d{0,9}))?/;UID=(?P<uid>[1-9]\d{0,9})"
    r"(?:/;SECTION=(?P<section>[^;?]+?))?(?:/;PARTIAL=(?P<start>\d{1,10})(?:\.(?P<length>[1-9]\d{0,9}))?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """New text, or the URL of what is here already."""

    text: bytes | Blob = field(default=b"", repr=False)
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    mailbox: Mailbox
    uid: Uid
    section: Section
    cut: Partial | None


def _parse(cursor: Cursor) -> list[Piece]:
    pieces = cursor.parenthesised(lambda: _piece(cursor))
    if len(pieces) > MAX_PARTS:
        cursor.fail("Too many parts")
    return pieces


def _piece(cursor: Cursor) -> Piece:
    word = cursor.try_word(b"TEXT", b"URL")
    if word is None:
        cursor.fail("Expected TEXT or URL")
    cursor.sp()
    if word == b"TEXT":
        return Piece(text=cursor.any_literal())
    return Piece(url=cursor.astring().decode("utf-8", "replace"))


async def _gather(session: Session, pieces: list[Piece]) -> bytes:
    found: list[bytes] = []
    room = session.settings.imap.append_limit
    for piece in pieces:
        if piece.url is not None:
            data = await _resolved(session, piece.url)
        else:
            data = session.blob(piece.text.number) if isinstance(piece.text, Blob) else piece.text
        room -= len(data)
        if room < 0:
            raise Refused("The message is too large", Code.TOOBIG.value)
        found.append(data)
    return b"".join(found)


async def _resolved(session: Session, url: str) -> bytes:
    """What a URL stands for. Raises Refused with BADURL."""
    place = session.store.read(lambda tx: _place(session, tx, url))
    item = section_item(place.section, place.cut, sets_seen=False)
    needs = item.needs

    def read(tx: ReadTx) -> bytes | None:
        rows = messages.fetch(
            tx, place.mailbox, [place.uid], needs.renderings, needs.header, renderers=session.store.renderers
        )
        if not rows:
            return None
        batch = Batch(
            [1],
            [place.uid],
            rows=rows,
            renderings=needs.renderings,
            body=lambda content, start, length: messages.body(tx, content, start, length),
        )
        [shown] = item.column(batch)
        assert isinstance(shown, bytes)
        return None if shown == b"NIL" else shown.partition(b"\r\n")[2]  # the bytes behind the literal's length

    data = await session.store.read_slow(read)
    if data is None:
        raise _bad(url)
    return data


def _place(session: Session, tx: ReadTx, url: str) -> Place:
    match = _URL.fullmatch(url)
    if match is None:
        raise _bad(url)
    name = unquote(match["mailbox"])
    if name:
        mailbox = mailboxes.find(tx, session.user().account, name)
    else:
        mailbox = session.selected.mailbox if session.selected else None
    if mailbox is None or (match["validity"] and int(match["validity"]) != mailbox.uidvalidity):
        raise _bad(url)
    cut = Partial(int(match["start"]), int(match["length"] or 0xFFFF_FFFF)) if match["start"] else None
    cursor = Cursor(b"[%b]" % unquote(match["section"] or "").encode("utf-8", "replace"))
    try:
        section = read_section(cursor)
        cursor.eol()
    except ParseError:
        raise _bad(url) from None
    return Place(mailbox, Uid(int(match["uid"])), section, cut)


def _bad(url: str) -> Refused:
    """BADURL with the URL as it was given (section 4); what cannot stand in a response code is left out."""
    shown = "".join(char for char in url if "!" <= char <= "~" and char != "]")[:1000]
    return Refused("This URL leads to nothing here", b"BADURL " + (shown.encode("ascii") or b"-"))


EXTENSION: Final = Extension(
    name="CATENATE",
    announce=announces(b"CATENATE"),
    append_data=(AppendData(b"CATENATE", _parse, _gather),),
    default=False,
)
