"""COMPRESS=DEFLATE on a connection: both directions, pipelined, hostile."""

import zlib
from pathlib import Path

import pytest

from bridge.net.deflate import MOST, DeflateError, Inflater
from config.settings import Imap
from tests.imap.harness import Client, House, house_settings, letter, open_house


class Compressed:
    """The client's side of the two streams."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.out = zlib.compressobj(9, zlib.DEFLATED, -15)
        self.into = zlib.decompressobj(-15)
        self.heard = b""

    def packed(self, text: bytes) -> bytes:
        return self.out.compress(text) + self.out.flush(zlib.Z_SYNC_FLUSH)

    async def until(self, end: bytes) -> bytes:
        """What is heard up to and with the line that begins so."""
        while b"\r\n" + end not in b"\r\n" + self.heard or not self.heard.endswith(b"\r\n"):
            if not self.client.inbox:
                await self.client._more()
            self.heard += self.into.decompress(bytes(self.client.inbox))
            self.client.inbox.clear()
        heard, self.heard = self.heard, b""
        return heard


async def begun(house: House) -> Compressed:
    client = await house.login()
    client.send(b"c COMPRESS DEFLATE\r\n")
    assert await client.line() == b"c OK DEFLATE is on\r\n"
    return Compressed(client)


async def test_everything_after_the_ok_is_compressed(tmp_path: Path) -> None:
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as house:
        await house.append("INBOX", letter("hello", "word " * 20_000))
        both = await begun(house)
        both.client.send(both.packed(b"a SELECT INBOX\r\nb FETCH 1 BODY.PEEK[]\r\n"))
        heard = await both.until(b"b OK")
        assert b"* 1 EXISTS\r\n" in heard
        assert heard.count(b"word ") == 20_000
        for byte in both.packed(b"d NOOP\r\n"):
            both.client.send(bytes([byte]))
        assert await both.until(b"d OK") == b"d OK NOOP completed\r\n"
        both.client.send(both.packed(b"e COMPRESS DEFLATE\r\n"))
        assert b"e NO [COMPRESSIONACTIVE]" in await both.until(b"e NO")


async def test_news_of_idle_is_compressed_too(tmp_path: Path) -> None:
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as house:
        both = await begun(house)
        both.client.send(both.packed(b"a SELECT INBOX\r\ni IDLE\r\n"))
        await both.until(b"+ idling")
        await house.append("INBOX", letter("hello"))
        assert b"* 1 EXISTS" in await both.until(b"* 1 EXISTS")
        both.client.send(both.packed(b"DONE\r\n"))
        await both.until(b"i OK")


async def test_what_is_not_compressed_ends_the_connection(tmp_path: Path) -> None:
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as house:
        both = await begun(house)
        both.client.send(b"\xff\xff\xff NOOP\r\n")
        assert b"* BYE" in await both.until(b"* BYE")
        await both.client.settle()
        assert both.client.closed


async def test_what_came_with_the_command_belongs_to_the_stream(tmp_path: Path) -> None:
    """A client may begin to compress as soon as it has sent the command's line (it knows that it will be accepted)."""
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as house:
        client = await house.login()
        both = Compressed(client)
        client.send(b"c COMPRESS DEFLATE\r\n" + both.packed(b"a NOOP\r\n"))
        assert await client.line() == b"c OK DEFLATE is on\r\n"
        both.heard = both.into.decompress(bytes(client.inbox))
        client.inbox.clear()
        assert await both.until(b"a OK") == b"a OK NOOP completed\r\n"


def test_a_bomb_is_refused() -> None:
    bomb = zlib.compress(b"\0" * (MOST + 1), 9, wbits=-15)
    with pytest.raises(DeflateError, match="Too much"):
        Inflater()(bomb)
