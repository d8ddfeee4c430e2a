"""One web page as text: its address judged at every step, its redirects followed, its bytes turned into words.

The rule: a name is resolved once for each step, and the connection goes to exactly the address that was judged, so
that a name which changes its mind between the two gains nothing. Everything happens within one span of time.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from agents.extract import Unreadable, extract
from agents.web import address, http
from agents.web.address import Allowed, IpAddress, Refused, Target
from agents.web.http import Answer

Resolve = Callable[[str, int], Awaitable[Sequence[IpAddress]]]
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SNIFFED: Final = 4096
_META: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]{0,200}>(.{0,500}?)</title>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one page may take: bytes, seconds, redirects."""

    size: int
    seconds: float
    redirects: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page as text. `url` is where it stood in the end, `note` what is left out."""

    url: str
    text: str
    note: str = ""


async def resolve(host: str, port: int) -> Sequence[IpAddress]:
    """The addresses of a host, as the system resolves it. Forms such as 0x7f.1 and 2130706433 come out as what they
    are. Raises OSError.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    plain = dict.fromkeys(str(place[0]).partition("%")[0] for *_, place in found)
    return [ipaddress.ip_address(one) for one in plain]


async def fetch(
    url: str,
    bounds: Bounds,
    allowed: Allowed,
    *,
    enter: Callable[[str], None] = lambda host: None,
    find: Resolve = resolve,
    trust: ssl.SSLContext | None = None,
) -> Page:
    """Fetch a page. `enter` is told each host before it is asked, and may raise Refused. Raises Refused."""
    try:
        async with asyncio.timeout(bounds.seconds):
            target, answer = await _follow(address.read(url), bounds, allowed, enter, find, trust)
            return await _as_text(target, answer, bounds.size)
    except TimeoutError:
        raise Refused(f"the page did not come within {bounds.seconds:g} seconds") from None


async def _follow(
    target: Target,
    bounds: Bounds,
    allowed: Allowed,
    enter: Callable[[str], None],
    find: Resolve,
    trust: ssl.SSLContext | None,
) -> tuple[Target, Answer]:
    seen: set[str] = set()
    while True:
        if target.url in seen:
            raise Refused("the page leads round in a circle")
        seen.add(target.url)
        try:
            enter(target.host)
            answer = await _ask(target, bounds.size, allowed, find, trust)
            if answer.status not in REDIRECTS or not answer.location:
                return target, answer
            target = _next(target, answer.location)
        except Refused as no:
            raise Refused(no.why, foreign=len(seen) > 1) from None
        if len(seen) > bounds.redirects:
            raise Refused(f"the page leads on more than {bounds.redirects} times")


async def _ask(target: Target, most: int, allowed: Allowed, find: Resolve, trust: ssl.SSLContext | None) -> Answer:
    try:
        found = await find(target.host, target.port)
    except OSError:
        raise Refused(f"{target.host} is not known") from None
    place = address.reachable(target.host, found, allowed)
    try:
        return await http.get(target, place, most, trust)
    except ssl.SSLError as fault:
        raise Refused(f"{target.host} has no valid certificate ({fault.reason or 'TLS failed'})") from None
    except OSError as fault:
        raise Refused(f"{target.host} cannot be reached ({type(fault).__name__})") from None


def _next(target: Target, location: str) -> Target:
    following = address.read(urljoin(target.url, location))
    if target.scheme == "https" and following.scheme == "http":
        raise Refused("the page leads from an encrypted address to one that is not")
    return following


async def _as_text(target: Target, answer: Answer, most: int) -> Page:
    if not 200 <= answer.status < 300:
        raise Refused(f"{target.host} answered with status {answer.status}")
    name = target.path.partition("?")[0].rpartition("/")[2]
    kind = _with_charset(answer.media_type or "text/html", answer.body)
    if not answer.whole and answer.body[:5] == b"%PDF-":
        raise Refused(f"the file is larger than {most:,} bytes")
    try:
        found = await extract(name, kind, answer.body)
    except Unreadable as fault:
        raise Refused(f"the page cannot be read: {fault.why}") from None
    notes = [found.note, "" if answer.whole else f"only the first {most:,} bytes of the page"]
    return Page(target.url, _with_title(kind, answer.body, found.text), "; ".join(note for note in notes if note))


def _with_charset(media_type: str, body: bytes) -> str:
    """The media type with the charset that the page itself names, when the server named none."""
    if "charset" in media_type.lower() or "html" not in media_type.lower():
        return media_type
    named = _META.search(body[:_SNIFFED])
    return f"{media_type}; charset={named[1].decode('ascii')}" if named else media_type


def _with_title(kind: str, body: bytes, text: str) -> str:
    if "html" not in kind:
        return text
    from html import unescape

    found = _TITLE.search(body[: 16 * _SNIFFED].decode("utf-8", "replace"))
    title = " ".join(unescape(found[1]).split()) if found else ""
    return f"{title}\n\n{text}" if title and not text.startswith(title) else text
