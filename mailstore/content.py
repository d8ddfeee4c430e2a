"""The bytes of messages: kept once however often a message is copied, in chunks of 256 KiB, never changed.

The rule: content goes only after its last message (`sweep`), some time later and in small steps, so that expunging a
thousand messages does not wait for their bytes. Whoever finds content by its hash may use it until the sweep has run.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mailstore.model import ContentId
from mailstore.parse import Message, parse
from mailstore.standing import spans
from mailstore.transaction import ReadTx, WriteTx

CHUNK_BITS = 16  # of a chunk's id, its number
CHUNK_BYTES = 256 * 1024
SWEEP = 64  # contents looked at in one step
FEW = 4  # contents that are looked up one by one, which costs less than to send a list of them along
DENSE = 2  # so many contents are passed over rather than looked for, for each that is wanted

Renderer = Callable[[Message], bytes]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A message ready to be stored: its bytes, and all that costs time to find out about them."""

    raw: bytes
    hash: bytes
    message: Message
    rendered: tuple[tuple[str, bytes], ...]


def prepare(raw: bytes, renderers: Mapping[str, Renderer]) -> Prepared:
    """Parse and render a message. Pure; takes any bytes."""
    message = parse(raw)
    rendered = tuple((name, render(message)) for name, render in renderers.items())
    return Prepared(raw, hashlib.sha256(raw).digest(), message, rendered)


def keep(tx: WriteTx, prepared: Prepared) -> ContentId:
    """The content with these bytes, stored now unless it is there already."""
    there = tx.value("mailstore.content.by-hash", hash=prepared.hash)
    if there is not None:
        return ContentId(there)
    message = prepared.message
    content = tx.insert(
        "mailstore.content.insert",
        hash=prepared.hash,
        size=len(prepared.raw),
        header_size=message.header_size,
        message_id=None if message.message_id is None else storable(message.message_id),
        subject=storable(message.subject),
        base_subject=storable(message.base_subject),
        sent=message.sent,
        sent_day=sent_day(message),
    )
    for number, start in enumerate(range(0, len(prepared.raw) or 1, CHUNK_BYTES)):
        data = prepared.raw[start : start + CHUNK_BYTES]
        tx.run("mailstore.content.insert-chunk", id=content << CHUNK_BITS | number, data=data)
    _keep_rendered(tx, ContentId(content), prepared.rendered)
    return ContentId(content)


def _keep_rendered(tx: WriteTx, content: ContentId, rendered: Sequence[tuple[str, bytes]]) -> None:
    rows = [{"name": name, "content": content, "bytes": text} for name, text in rendered]
    if rows and tx.many("mailstore.content.insert-rendered", rows) < len(rows):  # one of them is met for the first time
        tx.many("mailstore.content.add-rendering", rows)
        tx.many("mailstore.content.insert-rendered", rows)


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


def renderings(
    tx: ReadTx, contents: Sequence[ContentId], name: str, renderers: Mapping[str, Renderer]
) -> dict[ContentId, bytes]:
    """One kind of rendering of these contents; one that is not stored (of a new version) is made now."""
    rows = tx.all("mailstore.content.rendered", name=name, contents=json.dumps(list(contents)))
    found = {ContentId(row["content"]): row["bytes"] for row in rows}
    for content in contents:
        if content not in found:
            found[content] = renderers[name](parse(body(tx, content)))
    return found


def stored_renderings(tx: ReadTx, contents: Sequence[int], name: str) -> dict[int, bytes]:
    """One kind of rendering of these contents as far as it is stored, and perhaps of some between them."""
    return tx.pairs("mailstore.content.rendered-in", name=name, ranges=_ranges(contents))


def _ranges(contents: Sequence[int]) -> str:
    """Contents as queries take them: in one range when at least every other one in it is wanted, so that they are read
    in one sweep; else in runs."""
    if contents and (last := max(contents)) - (first := min(contents)) < DENSE * len(contents):
        return json.dumps([(first, last)])
    return spans(contents)


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


def sent_day(message: Message) -> int | None:
    """The day of the Date field as written, in its own zone; days since 1970-01-01."""
    if message.sent is None:
        return None
    return (message.sent + _zone_millis(message)) // 86_400_000


def _zone_millis(message: Message) -> int:
    written = (message.envelope.date or b"").split(b"(")[0].split()
    zone = written[-1] if written else b""
    if len(zone) != 5 or zone[:1] not in (b"+", b"-") or not zone[1:].isdigit():
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[3:])
    return (minutes if zone[:1] == b"+" else -minutes) * 60_000


def storable(text: str) -> str:
    """The text with what UTF-8 cannot hold replaced: hostile mail must not stop an append."""
    return text.encode("utf-8", "replace").decode("utf-8")
