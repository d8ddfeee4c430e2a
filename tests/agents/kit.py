"""A runtime on a real SQLite file, with a scripted model, tools that count their effects, and a relay that can fail at
any phase.

A test makes a `World`, hands it letters, and waits for what must become true; a wait is bounded and looks after
commits, never at a clock.
"""

import asyncio
import dataclasses
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from agents.approvals import Decided, Decision
from agents.letter import Attachment, Field, File, Kind, Letter, Outgoing, OutsideMail
from agents.llm import Model, ToolSpec
from agents.ports import (
    Approver,
    AttachmentData,
    Dispatch,
    MailNotFound,
    MailSummary,
    MailText,
    Phases,
    Probe,
    ReadTx,
    RelayRefused,
    RelayUncertain,
    WriteTx,
)
from agents.profile import Profile
from agents.requests import RequestInfo
from agents.runs import Received
from agents.runtime import Runtime
from agents.tool import (
    Args,
    Ask,
    BaseTool,
    Delegate,
    Described,
    Plan,
    Risk,
    SendOut,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
    Within,
)
from agents.toolbox import Toolbox
from agents.tools import read_result
from agents.words import Word
from config.settings import Agent, Approvals, Limits, Settings
from mailstore.errors import Full
from mailstore.sqlite import Database, Series
from tests.agents.script import ScriptedModel, Turn

T = TypeVar("T")
NOW = 1_796_000_000_000
BOUND = 30.0
SERIES = Series("agents", resources.files("agents") / "sql")


class FakeClock:
    """Stands still until it is told."""

    def __init__(self, now: int = NOW) -> None:
        self.at = now

    def now(self) -> int:
        return self.at

    def advance(self, *, seconds: float = 0, hours: float = 0) -> None:
        self.at += int(seconds * 1000 + hours * 3_600_000)


@dataclass
class FakeRelay:
    """Keeps what it took. `fate` says what becomes of the next mails: ok, connect, refuse4, refuse5, drop (taken, but
    no answer).
    """

    fate: str = "ok"
    taken: list[Dispatch] = field(default_factory=list)
    configured: bool = True
    name: str = "relay.example.net"
    sender: str = "ada@example.org"
    gate: asyncio.Event | None = None
    effects: "Effects | None" = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def deliver(self, dispatch: Dispatch, phases: Phases) -> str:
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.fate == "connect":
            raise OSError("connection refused")
        if self.fate in ("refuse4", "refuse5"):
            raise RelayRefused(self.fate == "refuse5", "no such user" if self.fate == "refuse5" else "try later")
        await phases.data_sent()
        self.taken.append(dispatch)
        if self.effects is not None:
            self.effects.record(f"mail:{dispatch.message_id}")
        if self.fate == "drop":
            raise RelayUncertain("the connection was lost before the answer")
        return "250 queued as 1"


class FakeMail:
    """A mailbox with one attachment, and whoever is the second approver of everything that needs one."""

    second: Approver | None = None

    async def search(self, account: int, query: str, limit: int) -> list[MailSummary]:
        return []

    async def read(self, account: int, ref: str) -> MailText:
        raise MailNotFound(ref)

    async def attachment(self, account: int, ref: str) -> AttachmentData:
        if ref != "ref-notes":
            raise MailNotFound(ref)
        return AttachmentData("notes.txt", "text/plain", b"The meeting moved to Friday.\n")

    def contents(self, tx: ReadTx, account: int, refs: Sequence[str]) -> tuple[File, ...]:
        return tuple(File("notes.txt", "text/plain", b"The meeting moved to Friday.\n") for _ in refs)

    def draft(self, tx: WriteTx, account: int, draft: OutsideMail, key: str) -> str:
        return f"draft-{key}"

    def approver(self, tx: WriteTx, account: int, names: Sequence[str]) -> Approver | None:
        return self.second


def spec(name: str, **properties: str) -> ToolSpec:
    """A tool definition with required arguments of simple types."""
    schema = {
        "type": "object",
        "properties": {
            key: {"type": kind, **({"items": {"type": "string"}} if kind == "array" else {})}
            for key, kind in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }
    return ToolSpec(name, f"{name} for tests", schema)


@dataclass
class Effects:
    """What the tools of a test did to the world, in order."""

    seen: list[str] = field(default_factory=list)
    hold: dict[str, asyncio.Event] = field(default_factory=dict)
    fail: dict[str, BaseException] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    log: Path | None = None

    def record(self, what: str) -> None:
        """Note an effect; with a log it outlives the process, as a real one would."""
        self.seen.append(what)
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(what + "\n")

    async def had(self, name: str, what: str) -> None:
        """One effect of a tool; `hold` keeps it from ending, `fail` makes it end badly after it happened."""
        self.record(what)
        self.changed.set()
        if name in self.hold:
            await self.hold[name].wait()
        if name in self.fail:
            raise self.fail[name]


class Doing(BaseTool):
    """A tool of any name and risk whose effect is counted; its one argument is `what`."""

    def __init__(self, effects: Effects, name: str, risk: Risk, *, untrusted: bool = False, result: str = "") -> None:
        super().__init__(spec(name, what="string"))
        self.risk = risk
        self.effects = effects
        self.untrusted = untrusted
        self.result = result

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        what = call.args["what"]
        await self.effects.had(self.spec.name, f"{self.spec.name}:{what}")
        return ToolResult(self.result or f"{self.spec.name} gave {what}", self.untrusted, f"source of {self.spec.name}")


class Noting(BaseTool):
    """A tool that acts inside the transaction of its result."""

    risk = Risk.WRITE_OWN

    def plan(self, args: Args) -> Plan:
        return Within()

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult(f"noted {call.args['what']}")


class Asking(BaseTool):
    def plan(self, args: Args) -> Plan:
        return Ask(args["question"])


class Delegating(BaseTool):
    risk = Risk.WRITE_OWN

    def plan(self, args: Args) -> Plan:
        return Delegate(args["skill"], args["task"], "", tuple(args.get("attachments", ())))


class Sending(BaseTool):
    risk = Risk.SEND_OUT
    open_world = True

    def plan(self, args: Args) -> Plan:
        return SendOut(OutsideMail(tuple(args["to"]), args["subject"], args["text"]))

    def describe(self, args: Args) -> Described:
        to = tuple(Field("To", address) for address in args["to"])
        fields = (*to, Field("Subject", args["subject"]), Field("Body", args["text"]))
        return Described("Send mail", fields, f"Send mail to {', '.join(args['to'])}")


def toolbox(effects: Effects, *more: Tool) -> Toolbox:
    """Tools of every kind: look, web, note, file (write_user), fire (danger), ask_user, delegate, send_mail."""
    return Toolbox.of(
        Doing(effects, "look", Risk.READ),
        Doing(effects, "web", Risk.READ, untrusted=True),
        Doing(effects, "file", Risk.WRITE_USER),
        Doing(effects, "fire", Risk.DANGER),
        Noting(spec("note", what="string")),
        Asking(spec("ask_user", question="string")),
        Delegating(spec("delegate", skill="string", task="string")),
        Sending(spec("send_mail", to="array", subject="string", text="string")),
        read_result.ReadResult(read_result.SPEC),
        *more,
    )


ASSISTANT = Agent("assistant", display="Assistant", skills=("summariser",))
SUMMARISER = Profile("summariser", "Summariser", "Summarise.", "Summarises texts.")


def make_settings(home: Path, limits: Limits | None = None, approvals: Approvals | None = None) -> Settings:
    agents = {"assistant": ASSISTANT, "other": Agent("other", display="Assistant")}
    return Settings(home, agents=agents, limits=limits or Limits(), approvals=approvals or Approvals())


class Watched(Database):
    """A database that tells when a write has come to its end."""

    changed: asyncio.Event
    full = False

    async def write(self, fn: Callable[[Any], T]) -> T:
        try:
            if self.full:
                raise Full("the disk is full; nothing was kept")
            return await super().write(fn)
        finally:
            self.changed.set()


class World:
    """One data folder, and the runtime that runs on it now."""

    def __init__(
        self, home: Path, model: Model, limits: Limits | None = None, approvals: Approvals | None = None
    ) -> None:
        self.home = home
        self.bound = BOUND
        self.model = model
        self.settings = make_settings(home, limits, approvals)
        self.clock = FakeClock()
        self.probe: Probe | None = None
        self.relay = FakeRelay()
        self.mail = FakeMail()
        self.effects = Effects()
        self.relay.effects = self.effects
        self.tools = toolbox(self.effects)
        self.skills: Mapping[str, Profile] = {"summariser": SUMMARISER}
        self.others: Mapping[str, Model] = {}
        self.letters = itertools.count(1)
        self._changed = asyncio.Event()
        self.effects.changed = self._changed

    async def open(self, start: bool = True) -> "World":
        db = await Watched.open(self.home / "postroom.db", [SERIES], probe=self.probe)
        assert isinstance(db, Watched)
        db.changed = self._changed
        self.db = db
        self.runtime = Runtime(
            self.db,
            self.settings,
            models={"demo": self.model, **self.others},
            tools=self.tools,
            skills=self.skills,
            relay=self.relay,
            mail=self.mail,
            clock=self.clock,
            probe=self.probe,
        )
        if start:
            await self.runtime.start()
        return self

    async def close(self) -> None:
        await self.runtime.stop(grace=0.2)
        await self.db.close()

    async def restart(self) -> None:
        """Stop without grace and start again on the same file, as after a crash that lost nothing committed."""
        await self.runtime.stop(grace=0)
        await self.db.close()
        await self.open()

    async def until(self, true: Callable[[], T | None]) -> T:
        """Wait until something is so; looks after every commit that tells of anything."""
        async with asyncio.timeout(self.bound):
            while not (found := true()):
                self._changed.clear()
                await self._changed.wait()
            return found

    # what goes in

    def letter(self, text: str = "do it", **more: Any) -> Letter:
        number = next(self.letters)
        made = Letter(
            key=f"letter-{number}",
            account=1,
            thread="thread-1",
            agent="assistant",
            model=None,
            subject="A task",
            text=text,
            quoted="",
            sender="you@postroom.internal",
            at=self.clock.now(),
            message=f"ref-{number}",
            message_id=f"<{number}@client>",
        )
        return dataclasses.replace(made, **more)

    async def send(self, text: str = "do it", **more: Any) -> Received:
        letter = self.letter(text, **more)
        return await self.db.write(lambda tx: self.runtime.receive(tx, letter))

    async def word(self, word: str, thread: str = "thread-1", account: int = 1) -> Word:
        letter = self.letter(word)
        return await self.db.write(lambda tx: self.runtime.thread_word(tx, account, thread, word, letter))

    async def decide(self, request: RequestInfo | str, verdict: str, **more: Any) -> Decided:
        which = request if isinstance(request, str) else request.id
        decision = Decision(
            **{
                "account": 1,
                "request": which,
                "verdict": verdict,
                "by": "you@postroom.internal",
                "via": "mail",
                "at": self.clock.now(),
                **more,
            }
        )
        return await self.db.write(lambda tx: self.runtime.decide(tx, decision))

    # what comes out

    def rows(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """Rows straight from the file, for checking."""
        import sqlite3

        connection = sqlite3.connect(self.home / "postroom.db")
        connection.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in connection.execute(sql, params)]
        finally:
            connection.close()

    def state(self, run: str | None) -> str:
        rows = self.rows("SELECT state FROM runs WHERE id = ?", run)
        return str(rows[0]["state"]) if rows else "none"

    async def wait_for(self, run: str | None, *states: str) -> str:
        return await self.until(lambda: state if (state := self.state(run)) in states else None)

    async def ended(self, run: str | None) -> str:
        return await self.wait_for(run, "done", "failed", "cancelled", "stuck", "expired")

    async def request(self, number: int = 0) -> RequestInfo:
        """An open request (the oldest, or a later one) once there is one and its run waits for it."""

        def find() -> RequestInfo | None:
            found = self.db.read(lambda tx: self.runtime.waiting(tx, 1))
            return found[number] if len(found) > number and self.state(found[number].run).startswith("wait") else None

        return await self.until(find)

    def mails(self, *kinds: Kind) -> list[Outgoing]:
        """Everything in the outbox for the user, in order; without kinds all but Activity."""
        found = self.db.read(lambda tx: self.runtime.take_letters(tx, 1000))
        return [mail for mail in found if (mail.kind in kinds if kinds else mail.kind is not Kind.ACTIVITY)]

    def calls(self, run: str | None) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM tool_calls WHERE run = ? ORDER BY seq, idx", run)


NOTES = Attachment("ref-notes", "notes.txt", "text/plain", 29)


@asynccontextmanager
async def world(
    home: Path,
    turns: Sequence[Turn] | Mapping[str, Sequence[Turn]],
    *,
    limits: Limits | None = None,
    approvals: Approvals | None = None,
    **model: Any,
) -> AsyncIterator[World]:
    """A started world whose model follows a script."""
    scripts = turns if isinstance(turns, Mapping) else {"": turns}
    made = await World(home, ScriptedModel(scripts, **model), limits, approvals).open()
    try:
        yield made
    finally:
        await made.close()
