"""`fetch_page`: a page of the web as text. What it says is foreign and marks the run.

The rule: the address is the only thing that leaves, and no private place is reached (agents/web). `fetch.mode` says
whether each page waits for the user ("ask") or not ("allow"); a marked run asks for every address its user did not
write, in either mode.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.tool import (
    FETCH,
    Args,
    BaseTool,
    Described,
    Plan,
    Risk,
    Tool,
    ToolCall,
    ToolContext,
    ToolFailed,
    ToolResult,
)
from agents.web import address
from config.settings import Fetch

_MINUTE_MS: Final = 60_000
SPEC = ToolSpec(
    FETCH,
    "Fetch one page of the web (http or https) and read it as text: HTML, plain text, JSON, PDF. It only reads; it "
    "cannot log in, fill in forms or run scripts.",
    {
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "title": "Address",
                "minLength": 8,
                "maxLength": address.MAX_URL,
                "description": "The whole address.",
            }
        },
        "required": ["url"],
        "additionalProperties": False,
    },
)


class FetchPage(BaseTool):
    """A repeat is harmless: a page is asked for, nothing is sent but its address."""

    idempotent = True
    open_world = True

    def __init__(self, settings: Fetch, find: Callable[..., Any] | None = None, trust: Any = None) -> None:
        super().__init__(SPEC)
        self.risk = Risk.READ if settings.mode == "allow" else Risk.SEND_OUT
        self.timeout = settings.seconds + 30.0
        self._settings = settings
        self._allowed = address.Allowed.of(settings.allow_private)
        self._asked: dict[str, deque[int]] = {}
        self._more = {"trust": trust} | ({"find": find} if find else {})

    def plan(self, args: Args) -> Plan:
        _read(args["url"])
        return super().plan(args)

    def describe(self, args: Args) -> Described:
        target = _read(args["url"])
        shown = Field("Address", args["url"], f"it asks {target.host}; the address is all that leaves")
        return Described("Fetch a web page", (shown,), f"Fetch a page of {target.host}")

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        page = await asyncio.to_thread(import_module, "agents.web.page")  # h11 comes with it, on first use
        most = self._settings
        bounds = page.Bounds(most.max_bytes, most.seconds, most.redirects)
        source = f"web page {call.args['url']}"
        try:
            found = await page.fetch(
                call.args["url"], bounds, self._allowed, enter=lambda host: self._enter(host, ctx), **self._more
            )
        except address.Refused as no:
            raise ToolFailed(f"Not fetched: {no.why}.", no.foreign, source) from None
        head = f"Page {found.url}" + (f" [{found.note}]" if found.note else "")
        return ToolResult(f"{head}\n\n{found.text or '[The page holds no text.]'}", untrusted=True, source=source)

    def _enter(self, host: str, ctx: ToolContext) -> None:
        """Count a host's pages; too many within a minute are refused, whoever asks."""
        now = ctx.clock.now()
        asked = self._asked.setdefault(host, deque())
        while asked and asked[0] <= now - _MINUTE_MS:
            asked.popleft()
        if len(asked) >= self._settings.per_minute:
            wait = (asked[0] + _MINUTE_MS - now + 999) // 1000
            raise address.Refused(f"{host} was asked {len(asked)} times within a minute; try again in {wait} seconds")
        asked.append(now)
        for other in [name for name, times in self._asked.items() if not times or times[-1] <= now - _MINUTE_MS]:
            if other != host:
                del self._asked[other]


def _read(url: str) -> address.Target:
    try:
        return address.read(url)
    except address.Refused as no:
        raise ToolFailed(f"url: {no.why}.") from None


def make(offer: Offer) -> Tool | None:
    return FetchPage(offer.fetch) if offer.fetch.mode != "off" else None
