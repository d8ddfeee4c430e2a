"""The routes of the web port (Starlette). Imported when the first connection comes.

The rule: only the names of this server are answered (a page elsewhere that points its own name here gets 421), and
every answer forbids framing, sniffing and loading from elsewhere.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bridge.web import hooks
from bridge.web.autoconfig import Places, apple, thunderbird
from bridge.web.page import setup_page
from bridge.webhooks import Webhooks

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the pages are made from, asked at each request. `names` are the host names answered to, lower case."""

    places: Callable[[], Places]
    agents: Callable[[], list[str]]
    gauges: Callable[[], dict[str, int]]
    user: str
    names: frozenset[str]
    hooks: Webhooks


def make_site(facts: Facts) -> Starlette:
    """The application."""
    routes = [
        Route("/", _guarded(facts, lambda _: HTMLResponse(setup_page(facts.places(), facts.agents())))),
        Route("/health", _guarded(facts, lambda _: JSONResponse({"status": "ok"}))),
        Route("/metrics", _guarded(facts, lambda _: PlainTextResponse(metrics(facts.gauges())))),
        Route("/ca.pem", _guarded(facts, lambda _: _file(facts.places().ca.encode(), "application/x-x509-ca-cert"))),
        Route("/postroom.mobileconfig", _guarded(facts, lambda _: _profile(facts))),
    ]
    autoconfig = _guarded(facts, lambda _: _file(thunderbird(facts.places()).encode(), "text/xml"))
    paths = ("/mail/config-v1.1.xml", "/.well-known/autoconfig/mail/config-v1.1.xml")
    hook = _guarded(facts, lambda request: hooks.answer(request, facts.hooks))
    called = Route("/hooks/{account}/{name}", hook, methods=["POST"])
    return Starlette(routes=[*routes, called, *(Route(path, autoconfig) for path in paths)])


def _guarded(
    facts: Facts, answer: Callable[[Request], Response | Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        if not is_known_host(request.headers.get("host", ""), facts.names):
            return PlainTextResponse("This server does not go by that name.\n", status_code=421)
        found = answer(request)
        response = found if isinstance(found, Response) else await found
        response.headers.update(_HEADERS)
        return response

    return handle


def is_known_host(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header names this server: a configured name, or an address of this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name in names:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def metrics(gauges: dict[str, int]) -> str:
    """Gauges in the text format of Prometheus."""
    return "".join(f"# TYPE postroom_{name} gauge\npostroom_{name} {value}\n" for name, value in sorted(gauges.items()))


def _file(data: bytes, media_type: str) -> Response:
    return Response(data, media_type=media_type)


def _profile(facts: Facts) -> Response:
    return _file(apple(facts.places(), facts.user), "application/x-apple-aspen-config")
