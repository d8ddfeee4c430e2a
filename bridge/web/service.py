"""The web service: a protocol for each connection, made by uvicorn once somebody comes.

The rule: an idle server carries no web framework; the first connection imports it (0.3 s, once).
"""

import asyncio
import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bridge.web.autoconfig import Places
from bridge.webhooks import Webhooks

log = logging.getLogger(__name__)


class WebService:
    """`protocol_factory` is what a listener calls. The callables are asked at each request."""

    def __init__(
        self,
        *,
        places: Callable[[], Places],
        agents: Callable[[], list[str]],
        gauges: Callable[[], dict[str, int]],
        user: str,
        names: frozenset[str],
        hooks: Webhooks,
    ) -> None:
        facts: dict[str, Any] = {"places": places, "agents": agents, "gauges": gauges, "user": user, "names": names}
        self._facts = {**facts, "hooks": hooks}
        self._config: Any = None
        self._state: Any = None

    def protocol_factory(self) -> asyncio.Protocol:
        """A connection's protocol."""
        if self._config is None:
            self._load()
        protocol: asyncio.Protocol = self._protocol(config=self._config, server_state=self._state, app_state={})
        return protocol

    def _load(self) -> None:
        site = import_module("bridge.web.site")
        uvicorn = import_module("uvicorn")
        app = site.make_site(site.Facts(**self._facts))
        self._config = uvicorn.Config(
            app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False, server_header=False,
            h11_max_incomplete_event_size=16 * 1024, limit_concurrency=100, timeout_keep_alive=15,
        )  # packed, to be seen at a glance  # fmt: skip
        self._config.load()
        self._state = import_module("uvicorn.server").ServerState()
        self._protocol = import_module("uvicorn.protocols.http.h11_impl").H11Protocol
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)

    async def close(self) -> None:
        """End every connection; answers under way are finished."""
        if self._state is None:
            return
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(set(self._state.tasks), timeout=2.0)
