"""The bytes of messages: kept once however often a message is copied, in chunks of 256 KiB, never changed.

The rule: content goes only after its last message (`sweep`), some time later and in small steps, so that expunging a
thousand messages does not wait for their bytes. Whoever finds content by its hash may use it until the sweep has run.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from mailstore.model import ContentId
from mailstore.parse import Head, Message, parse, parse_head
from mailstore.standing import spans
from mailstore.transaction import ReadTx, WriteTx

CHUNK_BITS = 16  # of a chunk's id, its number
CHUNK_BYTES = 256 * 1024
SWEEP = 64  # contents looked at in one step
FEW = 4  # contents that are looked up one by one, which costs less than to send a list of them along


class Prepared:
    """A message ready to be stored: its bytes, their hash, and what its header says. The rest is read when it is asked
    for (`message`), and by whoever makes the renderings, behind the commit."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.hash = hashlib.sha256(raw).digest()
        self.head: Head = parse_head(raw)

    @cached_property
    def message(self) -> Message:
        """The whole message, parsed."""
        return parse(self.raw)


def keep(tx: WriteTx, messages: Sequence[Prepared]) -> list[ContentId]:
    """The contents with the bytes of these messages, each stored now unless it is there already."""
    first: int = tx.value("mailstore.content.next-id")
    wished = range(first, first + len(messages))
    made = tx.many("mailstore.content.insert", [_row(at, each) for at, each in zip(wished, messages, strict=True)])
    found = [*wished]
    if made < len(messages):
        found = [tx.value("mailstore.content.by-hash", hash=each.hash) for each in messages]
    new = [(at, each.raw) for at, here, each in zip(wished, found, messages, strict=True) if at == here]
    tx.many("mailstore.content.insert-chunk", [row for at, raw in new for row in _chunks(at, raw)])
    return [ContentId(each) for each in found]


def _row(content: int, prepared: Prepared) -> dict[str, Any]:
    head = prepared.head
    return {
        "id": content,
        "hash": prepared.hash,
        "size": len(prepared.raw),
        "header_size": head.header_size,
        "message_id": None if head.message_id is None else storable(head.message_id),
        "subject": storable(head.subject),
        "base_subject": storable(head.base_subject),
        "sent": head.sent,
        "sent_day": head.sent_day,
    }


def _chunks(content: int, raw: bytes) -> Iterator[dict[str, Any]]:
    for number, start in enumerate(range(0, len(raw) or 1, CHUNK_BYTES)):
        yield {"id": content << CHUNK_BITS | number, "data": raw[start : start + CHUNK_BYTES]}


def exists(tx: ReadTx, content: ContentId) -> bool:
    """Whether the bytes of a content have not been swept."""
    return tx.value("mailstore.content.chunk-size", id=content << CHUNK_BITS) is not None


def body(tx: ReadTx, content: ContentId, start: int = 0, length: int | None = None) -> bytes:
    """Bytes of a content from `start`; to its end when no length is given. Only the chunks asked for are read."""
    if length is not None and length <= 0:
        return b""
    base = content << CHUNK_BITS
    first = base + min(start // CHUNK_BYTES, (1 << CHUNK_BITS) - 1)
    last = base + (1 << CHUNK_BITS) - 1
    if length is not None:
        last = min(last, base + (start + length - 1) // CHUNK_BYTES)
    rows = tx.all("mailstore.content.chunks", first=first, last=last)
    data: bytes = rows[0]["data"] if len(rows) == 1 else b"".join(row["data"] for row in rows)
    skip = start - (first - base) * CHUNK_BYTES
    if skip == 0 and (length is None or length >= len(data)):
        return data
    return data[skip:] if length is None else data[skip : skip + length]


def body_reader(tx: ReadTx, contents: Sequence[ContentId]) -> Callable[[ContentId, int, int | None], bytes]:
    """`body` for these contents (start and length as there), whose first chunks are read here and now, all at once."""
    return chunk_reader(tx, first_chunks(tx, contents))


def first_chunks(tx: ReadTx, contents: Sequence[int]) -> dict[int, bytes]:
    """The first chunks of these contents; those that have been swept are left out."""
    if len(contents) > FEW:
        return tx.pairs("mailstore.content.first-chunks", ranges=spans(contents))
    found = {content: tx.value("mailstore.content.chunk", id=content << CHUNK_BITS) for content in contents}
    return {content: data for content, data in found.items() if data is not None}


def chunk_reader(tx: ReadTx, first: Mapping[int, bytes]) -> Callable[[ContentId, int, int | None], bytes]:
    """`body` for contents whose first chunks are at hand."""

    def read(content: ContentId, start: int, length: int | None) -> bytes:
        data = first.get(content)
        if data is None or len(data) == CHUNK_BYTES:
            return body(tx, content, start, length)
        return data[start:] if length is None else data[start : start + max(0, length)]

    return read


def headers(tx: ReadTx, contents: Sequence[ContentId], sizes: Mapping[ContentId, int]) -> dict[ContentId, bytes]:
    """The headers of these contents, with the empty line; `sizes` are the header sizes."""
    found: dict[ContentId, bytes] = {}
    for row in tx.all("mailstore.content.heads", contents=json.dumps(list(contents))):
        content = ContentId(row["id"])
        found[content] = body(tx, content, 0, sizes[content]) if row["header"] is None else row["header"]
    return found


def sweep(tx: WriteTx, limit: int = SWEEP) -> list[ContentId]:
    """Delete up to `limit` contents that no message has any more; returns them. Empty when there is nothing to do."""
    rows = tx.all("mailstore.content.orphans", limit=limit)
    looked_at = json.dumps([row["content"] for row in rows])
    unused = [ContentId(row["content"]) for row in rows if not row["used"]]
    contents = json.dumps(unused)
    tx.run("mailstore.content.forget-orphans", contents=looked_at)
    if unused:
        tx.run("mailstore.content.delete-chunks", contents=contents)
        tx.run("mailstore.content.delete-rendered", contents=contents)
        tx.run("mailstore.content.delete", contents=contents)
    return unused


def storable(text: str) -> str:
    """The text with what UTF-8 cannot hold replaced: hostile mail must not stop an append."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
