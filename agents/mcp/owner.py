"""One server's owner: the one task that opens the connection, tends it, leaves it, and opens it again.

The rule: the SDK's client is entered and left in this task and nowhere else, since a transport that dies cancels the
task that entered it; calls run in tasks of their own and only ever wait for them. Opening is bounded, so is leaving;
whatever the SDK raises ends an attempt and never the owner.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agents.effects import watch
from agents.llm import ToolSpec
from agents.mcp import leg
from agents.mcp.asking import Wanted
from agents.mcp.file import ServerConfig
from agents.mcp.http import service
from agents.mcp.leg import Resume
from agents.mcp.outcome import Answer, Forgotten, Lost, Refused, Unreached
from agents.mcp.results import spec_fields
from agents.mcp.state import Busy, Pace, State, Status
from agents.mcp.stdio import Heard, child
from agents.mcp.talk import QUESTION, Talk, Talks
from config.redact import Redactor, escape

T = TypeVar("T")
MOST_TOOLS: Final = 500
MOST_PAGES: Final = 100
DEFINITION_BYTES: Final = 64 * 1024
LET_GO: Final = 2.0
ERROR_CHARACTERS: Final = 300
_FORGOTTEN: Final = ("session terminated", "session not found")
"""What the SDKs say of a request that was turned away at the door. Other words on sessions may come after the act."""
IDEMPOTENCY: Final = "internal.postroom/idempotency-key"

_log = logging.getLogger(__name__)
# The SDK logs what servers write, bodies and all, with tracebacks. What is worth telling of it is in the status.
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


@dataclass(slots=True)
class Link:
    """One open connection. `gone` gets the reason when it is over; `doubted`: a call on it had to be cut off."""

    client: Client
    gone: "asyncio.Future[str]"
    doubted: bool = False
    listing: asyncio.Lock = field(default_factory=asyncio.Lock)


def silent(said: str) -> None:
    """Nobody listens to how far a call is."""


Seen = Callable[[Sequence[ToolSpec]], Awaitable[None]]


class Owner:
    """Keeps one server connected. `seen` is told which tools it lists; `limit` is the longest answer in bytes."""

    def __init__(self, config: ServerConfig, seen: Seen, limit: int, pace: Pace) -> None:
        self.config = config
        self._seen = seen
        self._limit = limit
        self._pace = pace
        redactor = Redactor()
        redactor.learn(*config.secrets())
        self._clean: Callable[[str], str] = lambda text: escape(redactor.clean(text))
        self._heard = Heard(self._clean)
        self._link: Link | None = None
        self._outcome: asyncio.Future[Link | None] = asyncio.get_running_loop().create_future()
        self._hurry = asyncio.Event()
        self._wake = asyncio.Event()
        self._stale = False
        self._stopping = False
        self._said = ""
        self._talks = Talks(self._clean)
        self._busy: dict[int, Busy] = {}
        self._calls = 0
        self.state = State.STARTING
        self.error = ""
        self.starts = 0
        self.about = ""

    def status(self) -> Status:
        """How it is now."""
        return Status(
            name=self.config.name,
            transport=self.config.transport,
            where=self.config.where,
            state=self.state,
            error=self.error,
            about=self.about,
            starts=self.starts,
            garbage=self._heard.garbage,
            lines=tuple(self._heard.errors),
            busy=tuple(self._busy.values()),
        )

    # the owner's task

    async def run(self) -> None:
        """Connect, tend, and connect again, until the task is cancelled."""
        loop, delay, told = asyncio.get_running_loop(), self._pace.first, ""
        while True:
            began = loop.time()
            self.state = State.STARTING
            self.starts += 1
            self.error = await self._attempt(self._tend)
            if self.state is State.STARTING:
                self._tell(None)
            self.state = State.WAITING
            if self.error != told:
                told = self.error
                _log.warning("mcp server lost", extra={"server": self.config.name, "why": told})
            if loop.time() - began > self._pace.stable:
                delay = self._pace.first
            await self._pause(delay)
            delay = min(delay * 2, self._pace.most)

    async def once(self) -> str:
        """Connect, list the tools, leave; returns why that failed, or nothing."""
        task = asyncio.create_task(self._attempt(_at_once), name=f"mcp {self.config.name} test")
        try:
            return await task
        finally:
            task.cancel()

    async def _attempt(self, tend: Callable[[Client, asyncio.Timeout], Awaitable[str]]) -> str:
        """One connection from its opening to its end; returns why it ended."""
        why = "the connection was lost"
        self._said = ""
        try:
            async with self._opened() as (client, bound):
                _bind(bound, None)
                why = await tend(client, bound)
        except asyncio.CancelledError:
            # The SDK cancels the task that opened a connection when its transport dies; that is no wish to stop.
            if self._is_stopped():
                raise
        except BaseExceptionGroup as group:  # the SDK's task groups raise whatever their tasks did, cancels too
            if self._is_stopped():
                raise asyncio.CancelledError from None
            why = self._why(_first(group))
        except Exception as error:  # a server that cannot be used must not end the task that tries again
            why = self._why(error)
        finally:
            self._down(why)
        return why

    def stop(self) -> None:
        """The task is about to be cancelled for good."""
        self._stopping = True

    def _is_stopped(self) -> bool:
        """Whether somebody wants this task to end. The SDK's cancel scopes may take a cancel back that was ours."""
        task = asyncio.current_task()
        return self._stopping or (task is not None and task.cancelling() > 0)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[tuple[Client, asyncio.Timeout]]:
        """A connection whose tools have been listed, and the bound on opening and leaving it. For the owner's task."""
        try:
            async with asyncio.timeout(self._pace.start) as bound, self._client() as client:
                await self._list(client)
                try:
                    yield client, bound
                finally:
                    _bind(bound, self._pace.leave)
        except TimeoutError:
            seconds = self._pace.check if self.state is State.CONNECTED else self._pace.start
            raise TimeoutError(f"it did not answer within {seconds:g} seconds") from None

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        async with Client(
            self._transport(),
            cache=None,
            elicitation_callback=self._elicited,
            message_handler=self._heard_of,
            client_info=types.Implementation(name="postroom", version="1"),
        ) as client:
            self.about = self._about(client)
            yield client

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        if self.config.url:
            return service(self.config, self._limit)
        return child(self.config, self._limit, self._heard, self._ended)

    def _about(self, client: Client) -> str:
        info = client.server_info
        name = f"{info.name} {info.version}" if info else "a server without a name"
        return self._short(f"{name}, protocol {client.protocol_version}")

    async def _tend(self, client: Client, bound: asyncio.Timeout) -> str:
        """Hold a connection until it is over: list the tools again when they may have changed."""
        link = Link(client, asyncio.get_running_loop().create_future())
        self._link = link
        self.state, self.error = State.CONNECTED, ""
        self._tell(link)
        listener = asyncio.create_task(self._listen(client), name=f"mcp {self.config.name} changes")
        try:
            while not link.gone.done():
                await self._until_woken()
                if self._stale and not link.gone.done():
                    self._stale = False
                    _bind(bound, self._pace.check)
                    await self._relist(link)
                    _bind(bound, None)
            return link.gone.result()
        finally:
            self._talks.drop()  # before the client is left: it waits for the answers to what it was asked
            listener.cancel()
            await asyncio.wait({listener})

    async def _until_woken(self) -> None:
        """Until something happened, or until it is time to look at the tools anyway."""
        try:
            async with asyncio.timeout(self._pace.relist):
                await self._wake.wait()
        except TimeoutError:
            self._stale = True
        self._wake.clear()

    async def _listen(self, client: Client) -> None:
        """Be told of changed tools, where the protocol has a stream for it; elsewhere `_heard_of` is told."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._changed()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, asyncio.CancelledError):
            return
        except BaseExceptionGroup:  # a task group of the SDK that ended with its connection; the owner hears of it
            return

    async def _heard_of(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed()

    def _changed(self) -> None:
        self._stale = True
        self._wake.set()

    async def _elicited(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        """The server asks within a call, as the older protocol has it."""
        return await self._talks.elicited(params)

    async def _relist(self, link: Link) -> None:
        async with link.listing:
            await self._list(link.client)
            link.doubted = False

    async def _list(self, client: Client) -> None:
        """Ask for all tools and pass them on."""
        found: list[ToolSpec] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [ToolSpec(tool.name, **spec_fields(tool)) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(found) >= MOST_TOOLS:
                break
        unique = {spec.name: spec for spec in found if _size(spec) <= DEFINITION_BYTES}
        if len(unique) < len(found) or len(found) > MOST_TOOLS:
            _log.warning("tools left out: named twice, too large or too many", extra={"server": self.config.name})
        await self._seen(list(unique.values())[:MOST_TOOLS])

    def _ended(self, why: str) -> None:
        """The transport says that it is over."""
        self._said = why
        self.end(self._link, why)

    def end(self, link: Link | None, why: str) -> None:
        """A connection is over: no later call uses it, and the owner leaves it."""
        if link is not None and not link.gone.done():
            link.gone.set_result(why)
        if link is self._link and link is not None:
            self._link = None
            self.error = why
        self._wake.set()

    def _down(self, why: str) -> None:
        self.end(self._link, why)
        self._wake.clear()
        self._stale = False

    def _tell(self, link: Link | None) -> None:
        """Tell those who wait how the attempt came out."""
        self._outcome.set_result(link)
        self._outcome = asyncio.get_running_loop().create_future()

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt; somebody who needs the server shortens it to the first step."""
        await asyncio.sleep(min(seconds, self._pace.first))
        try:
            async with asyncio.timeout(max(0.0, seconds - self._pace.first)):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()

    # calls, each in its caller's task

    async def call(
        self,
        tool: str,
        args: Mapping[str, Any],
        key: str,
        fresh: bool,
        still_so: Callable[[], None],
        resume: Resume | None = None,
        told: Callable[[str], None] = silent,
        run: str = "",
    ) -> Answer | Wanted:
        """Call a tool. `fresh`: list the tools first, so that a connection that has died is noticed before the call,
        and a tool that has changed: `still_so` is asked then, and raises what the call is to raise. `told` hears how
        far it is. Gives Wanted when the server asks the user before it goes on. Raises Unreached, Lost, Refused, and
        Forgotten when the call that `resume` goes on with was kept open and is not any more.
        """
        if resume is not None and resume.held:
            return await self._heard_out(self._answered(key, resume.responses, told), tool)
        link = await self._linked()
        if fresh or link.doubted:
            link = await self._looked(link)
        still_so()

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            said = f"{progress:g}" + (f" of {total:g}" if total else "") + (f", {message}" if message else "")
            talk.told(self._short(said))

        meta: Any = {IDEMPOTENCY: key}
        more = {"progress_callback": tell, "meta": meta}
        made = leg.run(link.client, tool, dict(args), more, resume, self._clean)
        talk = self._talks.begin(key, run, told, link, made)
        return await self._heard_out(talk, tool)

    def _answered(self, key: str, responses: Mapping[str, Any], told: Callable[[str], None]) -> Talk:
        """The call that was kept open, with the answer handed over. Raises Forgotten."""
        talk = self._talks.resume(key)
        if talk is None:
            raise Forgotten
        talk.told = told
        if not talk.say(responses):
            self._talks.end(talk)
            gave = None if talk.task.cancelled() or talk.task.exception() else talk.task.result()
            raise Forgotten(Answer(gave, (), True) if isinstance(gave, types.CallToolResult) else None)
        return talk

    async def _heard_out(self, talk: Talk, tool: str) -> Answer | Wanted:
        """What comes of a call: its answer, or a question that it is parked for."""
        self._calls += 1
        number, asked, told, wanted = self._calls, len(self._talks.declined), talk.told, None

        def tell(said: str) -> None:
            self._busy[number] = Busy(tool, said)
            told(said)

        talk.told = tell
        self._busy[number] = Busy(tool)
        try:
            result = await self._within(talk)
            wanted = result if isinstance(result, Wanted) else None
            return wanted or Answer(result, tuple(self._talks.declined[asked:]))
        finally:
            del self._busy[number]
            talk.told = silent
            if wanted is None or not wanted.held:
                self._talks.end(talk)

    def release(self, run: str) -> None:
        """A run has ended: what is kept open for it is given up."""
        self._talks.drop(run)

    async def _linked(self) -> Link:
        """The open connection, waited for as long as an attempt may take."""
        if self._link is None:
            self._hurry.set()
            await asyncio.wait({self._outcome}, timeout=self._pace.start + self._pace.leave + 2 * self._pace.first)
        if self._link is None:
            raise Unreached(self.error or "it is not connected")
        return self._link

    async def _looked(self, link: Link) -> Link:
        """A connection that has just listed its tools: this one, or one that replaces it."""
        outcome = await watch(self._relist(link), self._pace.check)
        if outcome.timed_out or outcome.error is not None:
            why = f"it did not answer within {self._pace.check:g} seconds" if outcome.timed_out else "it was gone"
            self.end(link, why)
            return await self._linked()
        return link

    async def _within(self, talk: Talk) -> Any:
        """Wait for a call, for a question in it, or for the end of its connection. If the caller is cut off, so is the
        call.
        """
        task, link, kept = talk.task, talk.link, False
        try:
            ends: set[asyncio.Future[Any]] = {task, link.gone, talk.asked}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if kept := talk.asked.done() and not task.done() and not link.gone.done():
                self._talks.hold(talk)
                return Wanted(None, {QUESTION: talk.asked.result()}, held=True)
            if not task.done():
                await asyncio.wait({task}, timeout=LET_GO)
        finally:
            if not task.done() and not kept:
                talk.give_up()
                await self._cut_off(link, task)
        if task.cancelled():
            raise Lost(await self._reason(link))
        if (error := task.exception()) is None:
            return task.result()
        raise await self._meaning(link, error)

    async def _cut_off(self, link: Link, task: "asyncio.Task[T]") -> None:
        """Cancel a call, which tells the server; then have the owner see whether the server still answers."""
        task.cancel()
        await asyncio.wait({task}, timeout=LET_GO)
        if task.done() and not task.cancelled():
            task.exception()
        if not link.gone.done():
            link.doubted = True
            self._changed()

    async def _meaning(self, link: Link, error: BaseException) -> Exception:
        """What an exception of the SDK says about a call."""
        if not isinstance(error, MCPError):
            if link.gone.done() or isinstance(error, BaseExceptionGroup | asyncio.CancelledError):
                return Lost(await self._reason(link))
            return Lost(f"its answer could not be read ({type(error).__name__})")
        if error.code == types.CONNECTION_CLOSED or link.gone.done():
            return Lost(await self._reason(link))
        if error.message.strip(". ").lower() in _FORGOTTEN:
            self.end(link, "it had forgotten the session")
            return Unreached("it had forgotten the session; the connection is made anew")
        if "session" in error.message.lower():
            self.end(link, "it gave the session up")
            return Lost(self._short(error.message))
        if "stream" in error.message.lower():
            return Lost(self._short(error.message))
        return Refused(self._short(error.message), error.code == types.INVALID_PARAMS)

    async def _reason(self, link: Link) -> str:
        """Why a connection ended: the transport knows a moment after the call does."""
        await asyncio.wait({link.gone}, timeout=1.0)
        if not link.gone.done():
            self.end(link, "the connection was lost")
        return link.gone.result()

    def _why(self, error: BaseException) -> str:
        """Why an attempt failed, in words without secrets."""
        if self._said and isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED:
            return self._said
        if isinstance(error, FileNotFoundError):
            return f"there is no program {self._short(self.config.command)}, or its folder is not there"
        if isinstance(error, TimeoutError) and str(error):
            return str(error)
        name = type(error).__name__
        return self._short({"ConnectError": "it cannot be reached"}.get(name, f"{error}" or name))

    def _short(self, text: str) -> str:
        return self._clean(text)[:ERROR_CHARACTERS]


async def _at_once(client: Client, bound: asyncio.Timeout) -> str:
    """Tend a connection by leaving it."""
    return ""


def _bind(bound: asyncio.Timeout, seconds: float | None) -> None:
    """Give a bound its next time, unless its time is over already."""
    if not bound.expired():
        bound.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception in a group of groups that is not a mere cancel."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        plain = [each for each in found.exceptions if not isinstance(each, asyncio.CancelledError)]
        found = (plain or list(found.exceptions))[0]
    return found


def _size(spec: ToolSpec) -> int:
    return len(spec.description) + len(str(spec.schema)) + len(str(spec.annotations))
