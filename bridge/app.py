"""The composition root: puts store, runtime, post and the services together, starts them and ends them in order.

The rule: everything is made here and handed in; no other module finds a part by itself. What is accepted before a stop
is kept, and what waits is found again by the next start.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agents import bundle, clerk, discover, guide
from agents.catalogue import Catalogue
from agents.handbook import Handbook
from agents.mcp.servers import Servers, line_limit
from agents.offer import Offer
from agents.planner import Planner
from agents.ports import Dispatch, Relay
from agents.runtime import Runtime
from agents.toolbox import Toolbox
from bridge.ahead import read_ahead
from bridge.auth import Authenticator
from bridge.control.server import ControlServer
from bridge.crash import CrashProbe
from bridge.imap.items import RENDERERS
from bridge.imap.service import ImapService
from bridge.net.listener import Listener
from bridge.net.memory import look_for_garbage_seldom
from bridge.net.tls import Certificates, ensure_certificates
from bridge.norelay import NoRelay
from bridge.post.accept import Accept
from bridge.post.acting import Acting
from bridge.post.compose import compose_outside
from bridge.post.courier import Courier
from bridge.post.folders import Folders
from bridge.post.forks import Forks
from bridge.post.hooks import Hooks
from bridge.post.identity import MAX_BYTES, Lookup, dns_txt
from bridge.post.intake import Intake
from bridge.post.notes import NoteMail
from bridge.post.ports import StoreMail
from bridge.post.route import Directory
from bridge.post.space import PatientDatabase, Space
from bridge.post.toolnews import tell_drift
from bridge.post.triggers import TriggerMail
from bridge.signing import ensure_key, signer
from bridge.smtp.service import SmtpService
from bridge.sql import series as bridge_series
from bridge.watched import Watched
from bridge.web.autoconfig import Places
from bridge.web.service import WebService
from bridge.webhooks import Webhooks
from config.load import child_environment
from config.paths import DataFolder
from config.settings import Settings
from mailstore import accounts
from mailstore.sqlite import ReadTx, Series, WriteTx
from mailstore.store import Store

if TYPE_CHECKING:
    from bridge.post.outward import Outward

log = logging.getLogger(__name__)

DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the server listens, and the file of the authority that clients have to trust."""

    imap: int
    imaps: int
    smtp: int
    smtps: int
    web: int
    ca: str

    def as_dict(self) -> dict[str, int | str]:
        return asdict(self)


class WallClock:
    """The time of this machine, UTC milliseconds; `steady` measures spans, without the time that the machine slept."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def steady(self) -> int:
        return time.monotonic_ns() // 1_000_000


class App:
    """A whole Postroom over one data folder. `open`, then `start` to listen and work, then `close`."""

    def __init__(self, settings: Settings, folder: DataFolder, store: Store, probe: CrashProbe | None) -> None:
        self.settings = settings
        self.folder = folder
        self.store = store
        self.clock = WallClock()
        self.space = Space(store.db, self.clock.now)
        self.auth = Authenticator(store, settings)
        self.mcp = self._make_mcp()
        bundle.mend(folder)
        self.skills = Catalogue(settings, self.mcp.usable, partial(guide.with_model, settings), partial(users, store))
        for one in self.skills.left_out():
            log.error("a skill is left out: %s: %s", one.place, "; ".join(one.why))
        for name in sorted(users(store) & settings.agents.keys()):
            log.error("the agent %s cannot be written to: an account has its address", name)
        self._signed = signer(folder.root, settings.relay)
        self.runtime = self._make_runtime(probe)
        self.mcp.on_drift = partial(tell_drift, self.runtime)
        self.directory = partial(directory, store, settings, self.skills)
        self.courier = Courier(store, self.runtime, settings, self.clock.now)
        acting = Acting(self.runtime, self.directory, partial(handover_folders, settings), settings, self.mcp.refresh)
        self.intake = Intake(store, self.runtime, acting, settings, self.clock.now)
        hooks, forks = Hooks(store, self.runtime), Forks(store, self.runtime, self.directory)
        self.accept = Accept(store, self.directory, hooks, forks, self.clock.now, self.intake.wake)
        self.folders = Folders(store, self.runtime, self.intake.wake, self.courier.wake)
        self.trigger_mail = TriggerMail(store, self.runtime.automations)
        self.note_mail = NoteMail(store, self.runtime.memory)
        self.watched = Watched(store, self.runtime, settings)
        self.outward = self._make_outward()
        self.key_lookup: Lookup = dns_txt
        self.ports: Ports | None = None
        self._imap: ImapService | None = None
        self._closing = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def open(cls, settings: Settings, folder: DataFolder) -> "App":
        """Open the store and make everything, without listening or working. Raises StoreError, DiscoveryError."""
        watched = settings.debug_crash_at or settings.debug_points_file
        probe = CrashProbe(settings.debug_crash_at, settings.debug_points_file) if watched else None
        series = [Series("agents", files("agents") / "sql"), bridge_series()]
        store = await Store.open(folder.root, series, renderers=RENDERERS, probe=probe)
        app = cls(settings, folder, store, probe)
        app._closing.push_async_callback(store.close)
        app._closing.push_async_callback(discover.close)
        await store.write(partial(ensure_folders, displays=tuple(handover_folders(settings))))
        if settings.relay is not None and settings.relay.dkim_domain:
            await asyncio.to_thread(ensure_key, folder.root)
        return app

    def _make_mcp(self) -> Servers:
        """The MCP servers of the data folder, known but not started."""
        settings = self.settings
        largest = max(settings.limits_of(agent).result_file_bytes for agent in settings.agents)
        db, limit = PatientDatabase(self.store.db, self.space), line_limit(largest)
        made = Servers(self.folder.mcp_file, child_environment(), db, self.clock, limit)
        made.load()
        for fault in made.said.faults:
            log.error("an MCP server is left out: %s", fault)
        return made

    def _make_runtime(self, probe: CrashProbe | None) -> Runtime:
        settings = self.settings
        relay = self._make_relay(probe)
        planner = Planner(settings, self.clock)
        offer = Offer(
            relay.configured,
            settings.domain,
            self.skills.profiles,
            schedule=planner,
            calendar=planner,
            fetch=settings.fetch,
            db=PatientDatabase(self.store.db, self.space),
            handbook=Handbook(settings, self.skills.profiles),
        )
        built_in = discover.BuiltIn(offer, lambda: self.skills.revision)
        return Runtime(
            PatientDatabase(self.store.db, self.space),
            settings,
            models={
                **discover.models(settings.models, settings.limits),
                clerk.TAG: clerk.Clerk(self.clock, settings.zone()),
                guide.TAG: guide.Guide(),
            },
            tools=Toolbox([built_in.tools, self.mcp.tools]),
            skills=self.skills,
            relay=relay,
            mail=StoreMail(self.store, settings.domain, self.clock.now),
            clock=self.clock,
            probe=probe,
        )

    def _make_relay(self, probe: CrashProbe | None) -> Relay:
        configured = self.settings.relay
        if configured is None:
            return NoRelay()
        from bridge.relay import SmtpRelay  # on first use, as in _make_outward: with it comes the whole of aiosmtplib

        sender = configured.sender

        def compose(dispatch: Dispatch) -> bytes:
            return compose_outside(dispatch.mail, sender, self.settings.user, dispatch.message_id, self.clock.now())

        return SmtpRelay(configured, lambda dispatch: self._signed(compose(dispatch)), probe=probe)

    def _make_outward(self) -> "Outward | None":
        """The road to the user's real address, if it is on. Made before anything can ask, so that nothing is missed."""
        relay = self.settings.relay
        if not self.settings.outside.enabled or relay is None:
            return None
        from bridge.post.outward import Outward
        from bridge.relay import SmtpRelay

        def carry(raw: bytes) -> Relay:
            return SmtpRelay(relay, lambda _: self._signed(raw))

        return Outward(self.store, self.runtime, self.settings, carry, self.clock.now)

    def _open_outside(self, outward: "Outward") -> None:
        """Send what waits for the real address, and watch the mailbox that answers come to."""
        from bridge.post.answers import Answers
        from bridge.watch import Watch

        answers = Answers(self.store, self.runtime, outward, self.settings, self.clock.now, self.key_lookup)
        watch = Watch(self.settings.outside, answers, MAX_BYTES, tell=answers.complain)
        self._spawn("outward", outward.run())
        watch.start()
        self._closing.push_async_callback(watch.close)

    async def start(self) -> Ports:
        """Recover what a crash left, begin to work, and listen. Raises ListenError, RuntimeError."""
        await self.auth.start()
        self._closing.push_async_callback(self.mcp.stop)
        await self.mcp.start()
        await self.runtime.start()
        self._closing.push_async_callback(self.runtime.stop)
        space = self.space.run(self.runtime, self._wake)
        for name, work in (("intake", self.intake.run()), ("courier", self.courier.run()), ("space", space)):
            self._spawn(name, work)
        self._closing.push_async_callback(self._stop_tasks)
        await self.watched.start()
        self._closing.push_async_callback(self.watched.close)
        if self.outward is not None:
            self._open_outside(self.outward)
        self.ports = await self._listen()
        return self.ports

    async def _listen(self) -> Ports:
        settings, hosts = self.settings, self.settings.listen.hosts
        tls = ensure_certificates(self.folder.root, hosts)
        self._spawn("certificates", _renew_daily(tls))
        imap = self._imap = ImapService(self.store, self.auth, settings, tls.context)
        smtp = SmtpService(self.auth, settings, tls.context, self.accept)
        web = self._make_web(hosts)
        listener = Listener()
        for end in (web.close, smtp.close, imap.close, listener.close):
            self._closing.push_async_callback(end)
        ask = settings.listen
        plain, secure = partial(listener.start, hosts), partial(listener.start, hosts, ssl=tls.context)
        return Ports(
            imap=await plain(ask.imap, imap.protocol_factory(False), setting="listen.imap"),
            imaps=await secure(ask.imaps, imap.protocol_factory(True), setting="listen.imaps"),
            smtp=await plain(ask.smtp, smtp.protocol_factory(False), setting="listen.smtp"),
            smtps=await secure(ask.smtps, smtp.protocol_factory(True), setting="listen.smtps"),
            web=await plain(ask.web, web.protocol_factory, setting="listen.web"),
            ca=str(tls.ca_file),
        )

    def _make_web(self, hosts: Sequence[str]) -> WebService:
        settings = self.settings
        return WebService(
            places=self._places,
            agents=lambda: self.directory().addresses(),
            gauges=lambda: self.store.read(gauges),
            user=settings.user,
            names=frozenset({"localhost", settings.domain, *(host.lower() for host in hosts)}),
            hooks=Webhooks(self.store, self.runtime.automations, settings, self.clock.now),
        )

    def _places(self) -> Places:
        if self.ports is None:
            raise RuntimeError("the server does not listen yet")
        ports = self.ports
        ca = Path(ports.ca).read_text("ascii")
        return Places(self.settings.domain, ports.imap, ports.imaps, ports.smtp, ports.smtps, ca)

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work, name=name))

    def _wake(self) -> None:
        """There is space again: what the full disk stopped goes on."""
        self.intake.wake()
        self.courier.wake()

    async def _stop_tasks(self) -> None:
        """Cancel them until they are over: asyncio.wait_for of Python 3.11, also in libraries, can lose a cancel."""
        while waiting := {task for task in self._tasks if not task.done()}:
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting, timeout=1)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def end_sessions(self, password_id: int) -> int:
        """End the IMAP sessions that logged in with a password which is no more; how many there were."""
        return 0 if self._imap is None else self._imap.end_sessions(password_id)

    async def close(self) -> None:
        """Stop listening, say goodbye, finish what is under way, close the store. May be called twice."""
        await self._closing.aclose()
        self.auth.close()


async def serve(
    settings: Settings, folder: DataFolder, *, on_ready: Callable[[Ports], None], stop: asyncio.Event
) -> None:
    """Run a server until `stop` is set. `on_ready` is called once everything listens."""
    app = await App.open(settings, folder)
    control = ControlServer(app, folder)
    try:
        ports = await app.start()
        await control.start()
        on_ready(ports)
        log.info("ready", extra=ports.as_dict())
        await asyncio.to_thread(read_ahead)
        look_for_garbage_seldom()
        await stop.wait()
    finally:
        await control.close()
        await app.close()
    log.info("stopped")


def users(store: Store) -> frozenset[str]:
    """The names of the accounts there are now, in small letters."""
    return frozenset(store.read(lambda tx: {account.name.lower() for account in accounts.all(tx)}))


def directory(store: Store, settings: Settings, skill_names: Collection[str]) -> Directory:
    """Who has an address now."""
    users = store.read(lambda tx: {account.name.lower(): int(account.id) for account in accounts.all(tx)})
    return Directory(
        domain=settings.domain,
        users=users,
        agents=frozenset(settings.agents),
        skills=frozenset(skill_names),
        models=frozenset(settings.models),
        relay=settings.relay is not None,
    )


def gauges(tx: ReadTx) -> dict[str, int]:
    """How much there is and how much waits, for the metrics page."""
    states = {row["state"]: row["n"] for row in tx.all("bridge.gauges.runs")}
    return {
        "mail_waiting": tx.value("bridge.gauges.arrivals"),
        "letters_waiting": tx.value("bridge.gauges.letters"),
        "requests_open": tx.value("bridge.gauges.requests"),
        "accounts": tx.value("bridge.gauges.accounts"),
        **{f"runs_{state}": number for state, number in states.items()},
    }


def handover_folders(settings: Settings) -> dict[str, str]:
    """The names of the hand-over folders, and whose they are."""
    return {agent.display or name.capitalize(): name for name, agent in settings.agents.items()}


def ensure_folders(tx: WriteTx, displays: tuple[str, ...]) -> None:
    """Give every account the hand-over folders of the configured agents."""
    for account in accounts.all(tx):
        accounts.ensure_handover(tx, account.id, displays)


def first_account(tx: ReadTx) -> bool:
    """Whether there is nobody yet."""
    return not accounts.all(tx)


async def _renew_daily(tls: Certificates) -> None:
    while True:
        await asyncio.sleep(DAY_SECONDS)
        if await asyncio.to_thread(tls.renew):
            log.info("the server certificate was renewed")
