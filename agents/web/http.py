"""One GET over HTTP/1.1 to an address that was judged before, with every amount bounded.

The rule: the connection goes to the given address and to no other; of an answer no more is read, and no more unpacked,
than was asked for. Parsing is h11's; it does no input or output.
"""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import h11

from agents.web.address import IpAddress, Refused, Target

AGENT: Final = "Postroom (a person's mail assistant)"
ACCEPT: Final = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.5"
_CHUNK: Final = 64 * 1024
_MAX_HEAD: Final = 64 * 1024
_GZIP: Final = ("gzip", "x-gzip")


@dataclass(frozen=True, slots=True)
class Answer:
    """A final answer. `whole` is False when the body was longer than what was read of it."""

    status: int
    media_type: str
    location: str
    body: bytes
    whole: bool


async def get(target: Target, address: IpAddress, most: int, trust: ssl.SSLContext | None = None) -> Answer:
    """Ask for a page; at most `most` bytes of its body are kept, unpacked. Raises Refused, OSError, ssl.SSLError.

    It has no time limit of its own: the caller has one around the whole.
    """
    secure = (trust or await asyncio.to_thread(ssl.create_default_context)) if target.scheme == "https" else None
    name = target.host if secure else None
    try:
        async with _connected(address, target.port, secure, name) as (reader, writer):
            speaking = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
            writer.write(_request(speaking, target))
            await writer.drain()
            return await _answer(speaking, reader, most)
    except h11.RemoteProtocolError:
        raise Refused(f"{target.host} does not speak HTTP properly") from None


@asynccontextmanager
async def _connected(
    address: IpAddress, port: int, secure: ssl.SSLContext | None, name: str | None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(str(address), port, ssl=secure, server_hostname=name, limit=_CHUNK)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()  # we say "Connection: close", and wait for no goodbye


def _request(speaking: h11.Connection, target: Target) -> bytes:
    fields = [
        ("Host", target.authority),
        ("User-Agent", AGENT),
        ("Accept", ACCEPT),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]
    asked = speaking.send(h11.Request(method="GET", target=target.path, headers=fields)) or b""
    return asked + (speaking.send(h11.EndOfMessage()) or b"")


async def _answer(speaking: h11.Connection, reader: asyncio.StreamReader, most: int) -> Answer:
    head = await _event(speaking, reader)
    while isinstance(head, h11.InformationalResponse):
        head = await _event(speaking, reader)
    if not isinstance(head, h11.Response):
        raise Refused("the connection ended without an answer")
    fields = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in head.headers}
    status = head.status_code
    if not 200 <= status < 300:
        return Answer(status, "", fields.get("location", ""), b"", True)
    unpacker = _unpacker(fields.get("content-encoding", ""))
    body, whole = await _body(speaking, reader, most, unpacker)
    return Answer(status, fields.get("content-type", ""), "", body, whole)


async def _event(speaking: h11.Connection, reader: asyncio.StreamReader) -> object:
    while (event := speaking.next_event()) is h11.NEED_DATA:
        speaking.receive_data(await reader.read(_CHUNK))
    return event


def _unpacker(coding: str) -> "zlib._Decompress | None":
    """What unpacks a body; None for one that is not packed. Raises Refused for a packing nobody asked for."""
    coding = coding.lower()
    if coding in ("", "identity"):
        return None
    if coding in _GZIP:
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    raise Refused("the page is packed in a way that was not asked for")


async def _body(
    speaking: h11.Connection, reader: asyncio.StreamReader, most: int, unpacker: "zlib._Decompress | None"
) -> tuple[bytes, bool]:
    """The body up to `most` bytes, and whether that is all of it. Neither what comes nor what it unpacks to can be more
    in memory than that and one chunk.
    """
    kept, came = bytearray(), 0
    while not isinstance(event := await _event(speaking, reader), h11.EndOfMessage | h11.ConnectionClosed):
        if not isinstance(event, h11.Data):
            continue
        came += len(event.data)
        kept += event.data if unpacker is None else _unpack(unpacker, bytes(event.data), most + 1 - len(kept))
        if len(kept) > most or came > most:
            return bytes(kept[:most]), False
    return bytes(kept), True


def _unpack(unpacker: "zlib._Decompress", data: bytes, room: int) -> bytes:
    try:
        return unpacker.decompress(data, max(room, 1))
    except zlib.error:
        raise Refused("the page is packed, and damaged") from None
