"""What a tool is: a specification, a risk, a description for the user, and one of five ways to act.

The rule: `plan` and `describe` are pure, so that what was shown is what runs; only `run` touches the world, and only
`apply` the database, inside the transaction that stores its result.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from agents.letter import Attachment, Field, File, OutsideMail
from agents.llm import ToolSpec
from agents.ports import Clock, Mail, ReadTx, WriteTx
from agents.profile import Profile

Args = Mapping[str, Any]

DELEGATE: Final = "delegate"
"""The name of the one tool whose plan is Delegate; a run that may not delegate is not offered it."""

FETCH: Final = "fetch_page"
"""The name of the tool whose argument `url` leaves for a host of the web: that host has received data."""


class Risk(StrEnum):
    """What a call may do, from harmless to dangerous. From write_user on it asks; a leave spares all but danger."""

    READ = "read"
    WRITE_OWN = "write_own"
    WRITE_USER = "write_user"
    SEND = "send"
    SEND_OUT = "send_out"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class Act:
    """Await `run`: an effect in the world, or a read that takes time."""


@dataclass(frozen=True, slots=True)
class Within:
    """Call `apply` in the transaction that stores the result: a database effect that cannot happen twice."""


@dataclass(frozen=True, slots=True)
class Delegate:
    """Start a child run of `skill` with `task`; the call ends when the child does. `attachments` are handed on by
    reference.
    """

    skill: str
    task: str
    material: str = ""
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the user; the call ends with their answer in words."""

    question: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SendOut:
    """Put an outbox row of kind "mail"; the call ends when the row does. `attachments` name files of the thread."""

    mail: OutsideMail
    attachments: tuple[str, ...] = ()


Plan = Act | Within | Delegate | Ask | SendOut


@dataclass(frozen=True, slots=True)
class Described:
    """How one call is shown in a request: `title` as a short imperative ("Send mail"), fields in the order the user
    should read.

    `subject` completes the request's subject when it is the only item ("Send mail to ann@example.net").
    """

    title: str
    fields: tuple[Field, ...]
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call that asked its user (ToolAsks) is told when it goes on: its own state, and the answer in words;
    `declined`: the user will not say.
    """

    state: Mapping[str, Any]
    words: str
    declined: bool


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call, as it runs. `idem_key` is the same in every try and is never seen by the model."""

    id: str
    run: str
    idem_key: str
    name: str
    args: Args
    asked: Asked | None = None


def unheard(said: str) -> None:
    """Nobody listens to how far a call has come."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of its run. The database is only there in `apply`.

    `trusted` holds the refs of attachments that count as the owner's own words (DECISIONS 31). `progress` may be told
    how far the call has come, in a few words, as often as one likes.
    """

    account: int
    agent: str
    thread: str
    run: str
    step: int
    tainted: bool
    attachments: tuple[Attachment, ...]
    user_words: str
    mail: Mail
    clock: Clock
    trusted: frozenset[str] = frozenset()
    subject: str = ""
    progress: Callable[[str], None] = unheard


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave. `untrusted` text marks the run, and `source` says to the user where it came from ("notes.txt
    (your attachment)").

    `files` go with the run's next result mail. `notice` is mailed to the user at once (from `apply` only).
    """

    text: str
    untrusted: bool = False
    source: str = ""
    files: tuple[File, ...] = ()
    notice: str = ""


class ToolFailed(Exception):
    """The call did nothing and says why; the model gets the text as an error result. `untrusted` and `source` are as in
    ToolResult: others may have written the reason.
    """

    def __init__(self, text: str, untrusted: bool = False, source: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.untrusted = untrusted
        self.source = source


class ToolAsks(Exception):
    """The call needs an answer of the user before it goes on. It is parked, and run again with `Asked`; `state` is kept
    for it, as JSON. `untrusted` and `source`: others wrote the question.
    """

    def __init__(
        self,
        question: str,
        choices: tuple[str, ...],
        state: Mapping[str, Any],
        untrusted: bool = False,
        source: str = "",
    ) -> None:
        super().__init__(question)
        self.question = question
        self.choices = choices
        self.state = state
        self.untrusted = untrusted
        self.source = source


class ToolUncertain(Exception):
    """The call may or may not have happened (a connection died under it). The user is asked."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Tool(Protocol):
    """One tool. `idempotent` means that a repeat with the same idem_key is harmless; `open_world` that its arguments
    leave the machine; `lasting` that what it writes is read by later runs.
    """

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def risk(self) -> Risk: ...
    @property
    def idempotent(self) -> bool: ...
    @property
    def open_world(self) -> bool: ...
    @property
    def timeout(self) -> float: ...
    @property
    def lasting(self) -> bool: ...

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        """Whether it is offered to this profile in this account now, beside what the profile allows."""
        ...

    def plan(self, args: Args) -> Plan:
        """How this call acts. Pure. Raises ToolFailed when the arguments cannot be acted on."""
        ...

    def describe(self, args: Args) -> Described:
        """How this call is shown to the user. Pure; the values are exactly those that run."""
        ...

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """Act (for plan Act). Raises ToolFailed or ToolUncertain."""
        ...

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """Act inside `tx` (for plan Within). Raises ToolFailed, and then must have written nothing."""
        ...


class BaseTool:
    """What most tools share: harmless unless said otherwise, shown as one line an argument, acting by `run`."""

    risk: Risk = Risk.READ
    idempotent: bool = False
    open_world: bool = False
    timeout: float = 60.0
    lasting: bool = False

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return True

    def plan(self, args: Args) -> Plan:
        return Act()

    def describe(self, args: Args) -> Described:
        title = self.spec.name.replace("_", " ").capitalize()
        return Described(title, tuple(Field(name, show(value)) for name, value in args.items()))

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        raise ToolFailed(f"{self.spec.name} cannot be run this way.")

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        raise ToolFailed(f"{self.spec.name} cannot be run this way.")


def show(value: Any) -> str:
    """An argument as the user reads it: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
