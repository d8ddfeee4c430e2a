"""The language model as the runtime sees it: one request, one reply, typed errors.

The rule: a model has no state and no effect. It never retries by itself (the runtime's journal owns retries), it
returns tool arguments as the raw text it was given, and it says None, never 0, for what it does not know (usage,
cost).
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from agents.letter import Attachment


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool. `schema` is a JSON Schema object for the arguments; `annotations` are a server's
    hints.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """Hash of the whole definition: an approval is bound to it, and a changed one is not what was approved."""
        body = [self.name, self.description, self.schema, dict(self.annotations)]
        return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SentCall:
    """A tool call in a history given to a model: our own id and arguments that are always a JSON object."""

    id: str
    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A file given to a model as it is, because the model takes its kind."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a user (or the program on their behalf) says. `text` is for language models: all of it, foreign text
    wrapped and marked.

    `words` are the user's own new words alone and `attachments` the files that came along: what a rule-based model
    reads. `parts` are those of them that the model is shown as they are.
    """

    text: str
    words: str = ""
    attachments: tuple[Attachment, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said before, with the calls it wanted."""

    text: str
    calls: tuple[SentCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultMessage:
    """The one result of one call. `ok` is False when it was refused, failed, expired or was never valid."""

    call_id: str
    name: str
    text: str
    ok: bool = True


Message = UserMessage | AssistantMessage | ResultMessage


def unheard(characters: int) -> None:
    """Nobody listens to how far an answer has come."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one model call needs. `max_output` is in tokens, `model` is the configured name (a tag's target or
    the default). A model that streams tells `progress` how many characters of its answer there are; it must not wait.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_output: int
    model: str
    progress: Callable[[int], None] = field(default=unheard, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call as the provider gave it: its own id (possibly repeated or empty) and the arguments as raw text (possibly
    not JSON).
    """

    provider_id: str
    name: str
    raw_args: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as reported by the provider."""

    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One answer. `usage` and `cost` (EUR) are None when the provider does not say: unknown is not free."""

    text: str
    calls: tuple[WantedCall, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """EUR for a million tokens. Used to reserve before a call and to settle when the reply names no cost."""

    input: Decimal
    output: Decimal


class ModelFault(StrEnum):
    """Why a model call failed, as the retry policy sees it."""

    AUTH = "auth"
    RATE = "rate"
    TRANSIENT = "transient"
    CONTEXT = "context"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    GONE = "gone"
    QUOTA = "quota"


class ModelError(Exception):
    """A failed model call. `text` is redacted and fit for the user; `retry_after` is in seconds when the provider
    named a time.
    """

    def __init__(self, kind: ModelFault, text: str, retry_after: float | None = None) -> None:
        super().__init__(f"{kind.value}: {text}")
        self.kind = kind
        self.text = text
        self.retry_after = retry_after


class Model(Protocol):
    """A provider of replies.

    `label` names it in footers ("anthropic/claude-sonnet", "demo (no AI)"), `endpoint` who receives the data (None:
    nobody, it is local), `price` None when unknown, `window` the context window in tokens.
    """

    @property
    def label(self) -> str: ...
    @property
    def demo(self) -> bool: ...
    @property
    def endpoint(self) -> str | None: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def window(self) -> int: ...

    async def complete(self, request: ModelRequest) -> ModelReply:
        """One request, no retries. Raises ModelError only; a cancelled await stops the request."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """A model that has to load something before its price and window are known."""

    async def prepare(self) -> None:
        """Load it. Raises ModelError."""
        ...


@runtime_checkable
class Sees(Protocol):
    """A model that takes other files than text: "images", "documents"."""

    @property
    def takes(self) -> frozenset[str]: ...


def takes(model: Model) -> frozenset[str]:
    """What a model takes besides text."""
    return model.takes if isinstance(model, Sees) else frozenset()
