"""Fetching pages from a real server on loopback that does what the web does."""

import asyncio
import gzip
import ipaddress
import ssl
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agents.web.address import Allowed, IpAddress, Refused
from agents.web.page import Bounds, Page, fetch, resolve
from bridge.net.tls import ensure_certificates
from tests.agents.web.server import Gone, Site, bomb, endless, silent, site

LOOPBACK = Allowed.of(["127.0.0.0/8"])
BOUNDS = Bounds(64 * 1024, 20.0, 3)


@pytest.fixture
async def web() -> AsyncIterator[Site]:
    async with site() as made:
        yield made


async def got(web: Site, path: str, bounds: Bounds = BOUNDS) -> Page:
    return await fetch(web.url(path), bounds, LOOPBACK)


async def refused(web: Site, path: str, bounds: Bounds = BOUNDS) -> str:
    with pytest.raises(Refused) as caught:
        await got(web, path, bounds)
    return caught.value.why


async def test_a_page_is_its_title_and_its_words(web: Site) -> None:
    html = b"<html><head><title>The  &amp; Club</title><style>p{}</style></head><body><p>Open on Friday.</p>"
    web.page("/club", html + b"<script>alert(1)</script><ul><li>Tea<li>Cake</ul></body></html>")
    page = await got(web, "/club")
    assert page.text == "The & Club\n\nOpen on Friday.\n\n- Tea\n- Cake"
    assert (page.url, page.note) == (web.url("/club"), "")


async def test_the_request_says_nothing_of_the_user(web: Site) -> None:
    web.page("/x", b"ok", "text/plain")
    await got(web, "/x")
    names = sorted(line.partition(":")[0].lower() for line in web.asked[0].split("\r\n")[1:] if line)
    assert names == ["accept", "accept-encoding", "connection", "host", "user-agent"]


async def test_a_private_place_is_refused_before_it_is_asked(web: Site) -> None:
    web.page("/secret", b"the router's password", "text/plain")
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1"):
        with pytest.raises(Refused, match=r"not a place on the public internet|is not known"):
            await fetch(web.url("/secret", host), BOUNDS, Allowed())
    assert web.asked == []


async def test_a_redirect_to_a_private_place_is_refused_before_it_is_asked(web: Site) -> None:
    web.redirect("/out", "http://169.254.169.254/latest/meta-data/")
    web.redirect("/six", f"http://[::ffff:7f00:1]:{web.port}/secret")
    only_this = Allowed.of(["127.0.0.1"])
    for path, place in (("/out", "169.254.169.254"), ("/six", "")):
        with pytest.raises(Refused) as caught:
            await fetch(web.url(path), BOUNDS, Allowed.of(["no.example"]) if path == "/six" else only_this)
        assert place in caught.value.why
    assert web.heads("/secret") == []


async def test_a_name_is_resolved_once_and_that_address_is_connected_to(web: Site) -> None:
    """The answers of a rebinding name server: public for the check, private for the connection."""
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])

    async def find(host: str, port: int) -> Sequence[IpAddress]:
        return [ipaddress.ip_address(text) for text in next(answers)]

    web.page("/", b"hello", "text/plain")
    page = await fetch(web.url("/", "rebind.example"), BOUNDS, LOOPBACK, find=find)
    assert page.text == "hello"
    assert f"Host: rebind.example:{web.port}".lower() in web.asked[0].lower()
    with pytest.raises(Refused, match=r"10\.0\.0\.1"):
        await fetch(web.url("/", "rebind.example"), BOUNDS, LOOPBACK, find=find)


async def test_redirects_are_followed_to_a_limit(web: Site) -> None:
    for number in range(5):
        web.redirect(f"/{number}", f"/{number + 1}", "301 Moved Permanently")
    web.page("/5", b"<p>there")
    web.page("/there", b"<p>there")
    web.redirect("/one", "there")
    assert (await got(web, "/one")).url == web.url("/there")
    assert await refused(web, "/0") == "the page leads on more than 3 times"
    assert (await got(web, "/0", Bounds(1024, 20, 5))).text == "there"


async def test_a_circle_is_noticed(web: Site) -> None:
    web.redirect("/a", "/b")
    web.redirect("/b", "/a")
    web.redirect("/self", "/self")
    assert "circle" in await refused(web, "/a")
    assert "circle" in await refused(web, "/self")


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://u:p@127.0.0.1/", "gopher://x/", "http://127.0.0.1:22/"]
)
async def test_a_redirect_to_what_is_no_page_is_refused(web: Site, location: str) -> None:
    web.redirect("/r", location)
    await refused(web, "/r")


async def test_an_endless_body_is_cut_and_that_is_said(web: Site) -> None:
    web.handlers["/endless"] = endless
    page = await got(web, "/endless")
    assert page.note == "only the first 65,536 bytes of the page"
    assert len(page.text) <= 64 * 1024


async def test_a_gzip_bomb_is_unpacked_no_further_than_the_limit(web: Site) -> None:
    web.handlers["/bomb"] = bomb
    page = await got(web, "/bomb")
    assert page.note == "only the first 65,536 bytes of the page"
    assert page.text == "0" * 64 * 1024


async def test_what_is_packed_is_unpacked_and_damage_is_said(web: Site) -> None:
    web.page("/gz", gzip.compress(b"packed words"), "text/plain", Content_Encoding="gzip")
    web.page("/bad", b"\x1f\x8bnonsense", "text/plain", Content_Encoding="gzip")
    web.page("/br", b"x", "text/plain", Content_Encoding="br")
    assert (await got(web, "/gz")).text == "packed words"
    assert "damaged" in await refused(web, "/bad")
    assert "not asked for" in await refused(web, "/br")


@pytest.mark.parametrize("part", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nso far "])
async def test_a_page_that_does_not_come_is_given_up(web: Site, part: bytes) -> None:
    """Silence, and a body that stops in the middle: the time is for the whole, not for each read."""

    async def slow(writer: asyncio.StreamWriter, gone: Gone) -> None:
        writer.write(part)
        await silent(writer, gone)

    web.handlers["/slow"] = slow
    assert await refused(web, "/slow", Bounds(1024, 0.3, 3)) == "the page did not come within 0.3 seconds"


async def test_a_dripping_page_is_given_up_although_something_always_comes(web: Site) -> None:
    drops = 0

    async def drip(writer: asyncio.StreamWriter, gone: Gone) -> None:
        nonlocal drops
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while not gone.done():
            writer.write(b".")
            drops += 1
            await writer.drain()
            await asyncio.wait({gone}, timeout=0.02)

    web.handlers["/drip"] = drip
    assert "within 0.5 seconds" in await refused(web, "/drip", Bounds(10_000_000, 0.5, 3))
    assert drops > 1


async def test_faults_of_servers_are_sentences(web: Site) -> None:
    async def garbage(writer: asyncio.StreamWriter, gone: Gone) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        await writer.drain()

    async def cut(writer: asyncio.StreamWriter, gone: Gone) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()

    async def long_head(writer: asyncio.StreamWriter, gone: Gone) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n")
        await writer.drain()

    async def nothing(writer: asyncio.StreamWriter, gone: Gone) -> None:
        return

    web.handlers.update({"/garbage": garbage, "/cut": cut, "/head": long_head, "/nothing": nothing})
    for path in ("/garbage", "/cut", "/head"):
        assert "does not speak HTTP properly" in await refused(web, path)
    assert await refused(web, "/nothing")
    assert "status 404" in await refused(web, "/none")
    web.page("/picture", b"\x89PNG", "image/png")
    assert "image/png" in await refused(web, "/picture")


async def test_a_port_nobody_listens_on_is_a_sentence() -> None:
    async with site() as closed:
        port = closed.port
    with pytest.raises(Refused, match="cannot be reached"):
        await fetch(f"http://127.0.0.1:{port}/", BOUNDS, LOOPBACK)


async def test_charsets_come_from_the_header_or_the_page(web: Site) -> None:
    web.page("/header", "Füße".encode("latin-1"), "text/plain; charset=iso-8859-1")
    web.page("/meta", b'<head><meta charset="koi8-r"></head><p>' + "мир".encode("koi8-r"))
    web.page("/utf", "naïve".encode(), "text/plain")
    web.page("/json", b'{"a": 1}', "application/ld+json")
    assert (await got(web, "/header")).text == "Füße"
    assert (await got(web, "/meta")).text == "мир"
    assert (await got(web, "/utf")).text == "naïve"
    assert (await got(web, "/json")).text == '{"a": 1}'


async def test_certificates_are_checked(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path, ["127.0.0.1"])
    async with site(made.context) as web:
        web.page("/", b"sealed", "text/plain")
        with pytest.raises(Refused, match="no valid certificate"):
            await got(web, "/")
        trust = ssl.create_default_context(cafile=str(made.ca_file))
        assert (await fetch(web.url("/"), BOUNDS, LOOPBACK, trust=trust)).text == "sealed"
        web.redirect("/down", web.url("/").replace("https", "http"))
        with pytest.raises(Refused, match="not"):
            await fetch(web.url("/down"), BOUNDS, LOOPBACK, trust=trust)


async def test_the_system_resolves_odd_spellings_to_what_they_are() -> None:
    assert str((await resolve("localhost", 80))[0]) in ("127.0.0.1", "::1")
