"""Every setting with its default, as frozen data; a default stands here and nowhere else.

Reading files and the environment is config/load.py; a module that needs a setting takes the piece of `Settings`
it needs as an argument. Each field says what it is in `help`, and what is allowed in `low` and `high`; the loader
and the reference page read these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar
from zoneinfo import ZoneInfo

from config.secrets import Secret
from config.zone import machine_zone
from config.zone import zone as zone_named

T = TypeVar("T")

KIB: Final = 1024
MIB: Final = 1024 * 1024
MAX_PORT: Final = 65535
SCRAM: Final = "AUTH=SCRAM-SHA-256"  # the IMAP extension
DEMO_MODEL: Final = "demo"
DEFAULT_AGENT: Final = "assistant"
DEFAULT_SKILL: Final = "summariser"

LogLevel = Literal["debug", "info", "warning", "error"]
RelayTls = Literal["starttls", "implicit", "none"]
Provider = Literal["demo", "litellm"]
Extensions = Literal["same", "default", "all"] | tuple[str, ...]
Takes = Literal["images", "documents"]
FetchMode = Literal["off", "ask", "allow"]
Scheme = Literal["github", "stripe", "slack", "standard", "plain"]
Results = Literal["answered", "always", "never"]


def _holds(names: tuple[str, ...], wanted: str) -> bool:
    return any(name.upper() == wanted for name in names)


def option(default: T, help: str, *, low: float | None = None, high: float | None = None, key: str = "") -> T:
    """A field with its default; `low` and `high` are inclusive; `key` is its name in files where Python's differs."""
    made: T = field(default=default, metadata={"help": help, "low": low, "high": high, "key": key})
    return made


def port(default: int, help: str) -> int:
    """A port to listen on; 0 lets the system choose a free one."""
    return option(default, help, low=0, high=MAX_PORT)


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the server listens; every port may be 0 (a free one)."""

    hosts: tuple[str, ...] = option(("127.0.0.1", "::1"), "addresses to listen on; others than loopback need TLS")
    imap: int = port(1143, "IMAP with STARTTLS")
    imaps: int = port(1993, "IMAP over TLS")
    smtp: int = port(1025, "submission with STARTTLS")
    smtps: int = port(1465, "submission over TLS")
    web: int = port(8025, "set-up page, webhooks, health and metrics")


@dataclass(frozen=True, slots=True)
class Imap:
    """IMAP: what is announced and the limits of one account or session."""

    extensions: Literal["default", "all"] | tuple[str, ...] = option("default", '"default", "all" or a list of names')
    extensions_imap: Extensions = option("same", 'those of the port `imap` alone; "same": as `extensions` says')
    extensions_imaps: Extensions = option("same", 'those of the port `imaps` alone; "same": as `extensions` says')
    max_sessions: int = option(200, "sessions one account may have open", low=1, high=100_000)
    append_limit: int = option(50 * MIB, "largest message to append, in bytes", low=64 * KIB, high=1024 * MIB)
    message_limit: int = option(100_000, "messages one command takes, with MESSAGELIMIT", low=1000, high=1_000_000)
    idle_seconds: int = option(1800, "silence after which a session is logged out", low=1800, high=86_400)

    @property
    def offers_scram(self) -> bool:
        """Whether SCRAM-SHA-256 is offered anywhere; only then is kept what it needs of passwords."""
        chosen = (self.extensions, self.extensions_imap, self.extensions_imaps)
        return any(each == "all" or (not isinstance(each, str) and _holds(each, SCRAM)) for each in chosen)


@dataclass(frozen=True, slots=True)
class Smtp:
    """Submission limits."""

    max_size: int = option(50 * MIB, "largest message to accept, in bytes", low=64 * KIB, high=1024 * MIB)
    max_recipients: int = option(100, "recipients of one message", low=1, high=10_000)


@dataclass(frozen=True, slots=True)
class Folders:
    """Where later mail of a thread goes that the user has filed."""

    follow: bool = option(False, "true: to the thread's folder; false: to INBOX")


@dataclass(frozen=True, slots=True)
class Relay:
    """The outside mail server; without one no agent can send mail and outside recipients are refused."""

    host: str = option("", "name or address of the relay")
    sender: str = option("", "address that outgoing mail comes from", key="from")
    port: int = option(587, "its port", low=1, high=MAX_PORT)
    tls: RelayTls = option("starttls", '"starttls", "implicit", or "none" (to this machine only)')
    username: str = option("", "login at the relay; empty for none")
    password: Secret | None = option(None, "reference to the password: env:NAME, file:PATH or keyring:SERVICE/NAME")
    bounce_mailbox: str = option("", "outside mailbox that bounces come back to; empty: the sender's")
    timeout: int = option(60, "seconds for each step of the conversation", low=1, high=600)
    dkim_domain: str = option("", "sign outgoing mail whose From is of this domain (DKIM); empty: unsigned")
    dkim_selector: str = option("postroom", "name of the signing key in DNS; `postroom dkim` prints its record")


@dataclass(frozen=True, slots=True)
class Outside:
    """Deciding from your usual mail address, off by default: requests leave by the relay, signed answers count."""

    enabled: bool = option(False, "true: requests are sent out and a watched mailbox is read for answers")
    addresses: tuple[str, ...] = option((), "your real addresses; requests go to the first, answers count from each")
    account: str = option("", "whose requests these are; empty: the first account's (`user`)")
    reply_to: str = option("", "address that answers go to, name+TOKEN@domain must reach it; empty: the relay's `from`")
    host: str = option("", "IMAP server of the mailbox that answers arrive in")
    port: int = option(993, "its port", low=1, high=MAX_PORT)
    tls: RelayTls = option("implicit", '"implicit", "starttls", or "none" (to this machine only)')
    username: str = option("", "login there")
    password: Secret | None = option(None, "reference to the password: env:NAME, file:PATH or keyring:SERVICE/NAME")
    mailbox: str = option("INBOX", "mailbox that answers arrive in")
    fresh_hours: float = option(24, "age at which a signature no longer counts, in hours", low=0.1, high=168)
    poll_seconds: int = option(60, "seconds between looks where the server has no IDLE", low=1, high=3600)
    results: Results = option("answered", 'ends of tasks that go there: "answered" from there, "always", or "never"')


@dataclass(frozen=True, slots=True)
class Webhooks:
    """HTTP requests on the web port that begin a task, off by default. Each is made by `postroom triggers add`."""

    enabled: bool = option(False, "true: POST /hooks/ACCOUNT/NAME with the secret of a webhook is obeyed")
    max_bytes: int = option(64 * KIB, "largest body to accept, in bytes", low=256, high=MIB)


@dataclass(frozen=True, slots=True)
class Signature:
    """How a service signs its calls of the webhook of this name; with it a signature counts, and no secret."""

    name: str
    account: str = option("", "whose webhook it is; empty: the first account's (`user`)")
    scheme: Scheme = option("plain", "as GitHub, Stripe, Slack, Standard Webhooks sign, or the body alone (plain)")
    key: Secret | None = option(None, "reference to the signing key: env:NAME, file:PATH or keyring:SERVICE/NAME")
    header: str = option("X-Signature", "where a plain signature stands: HMAC-SHA256 of the body, hex or base64")


@dataclass(frozen=True, slots=True)
class WatchedMailbox:
    """A mailbox of the outside world that a trigger may watch, by IMAP and read-only: `mailbox NAME`."""

    name: str
    account: str = option("", "whose it is here; empty: the first account's (`user`)")
    host: str = option("", "IMAP server")
    port: int = option(993, "its port", low=1, high=MAX_PORT)
    tls: RelayTls = option("implicit", '"implicit", "starttls", or "none" (to this machine only)')
    username: str = option("", "login there")
    password: Secret | None = option(None, "reference to the password: env:NAME, file:PATH or keyring:SERVICE/NAME")
    mailbox: str = option("INBOX", "mailbox to watch")
    max_bytes: int = option(
        10 * MIB, "largest mail to take, in bytes; a larger one is told of", low=1024, high=50 * MIB
    )
    poll_seconds: int = option(60, "seconds between looks where the server has no IDLE", low=1, high=3600)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run, an agent and a day may cost. At a limit a run pauses with what it has and says so by mail."""

    model_calls: int = option(30, "model calls of a run", low=1, high=10_000)
    tool_calls: int = option(60, "tool calls of a run", low=1, high=10_000)
    tokens: int = option(200_000, "tokens of a run, in and out", low=100)
    cost_run_eur: float = option(0.50, "money of a run, in EUR", low=0)
    cost_agent_day_eur: float = option(2.0, "money of one agent in a day, in EUR", low=0)
    cost_day_eur: float = option(5.0, "money of all agents in a day, in EUR", low=0)
    unknown_price_eur: float = option(
        10.0, "EUR for a million tokens that count where a model's price is not known", low=0
    )
    run_minutes: int = option(20, "active minutes of a run", low=1, high=10_080)
    run_days: int = option(7, "age at which an unfinished run ends", low=1, high=365)
    model_seconds: int = option(120, "seconds for a whole model call", low=1, high=3600)
    first_byte_seconds: int = option(30, "seconds until a model's first byte", low=1, high=3600)
    tool_seconds: int = option(60, "seconds for a tool call", low=1, high=3600)
    result_bytes: int = option(32 * KIB, "tool result given to the model, in bytes; the rest becomes a file", low=256)
    result_file_bytes: int = option(10 * MIB, "largest tool result kept, in bytes; a larger one ends the call", low=256)
    runs: int = option(4, "runs at once", low=1, high=64)
    runs_per_agent: int = option(2, "runs of one agent at once", low=1, high=64)
    children: int = option(3, "tasks a run may delegate", low=0, high=32)
    open_approvals: int = option(100, "open requests of an account", low=1, high=1000)
    mails_per_hour: int = option(30, "mails an agent may send in an hour", low=1, high=10_000)
    fires_per_hour: int = option(
        60, "times an hour that one webhook, hook or watched mailbox is obeyed", low=1, high=10_000
    )


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its address is `NAME@domain`. Those named are all there are; without any there is `assistant`.

    `tools` None means all; `limits` None means the general ones.
    """

    name: str
    display: str = option("", "name shown in From and in its hand-over folder")
    model: str = option(DEMO_MODEL, "tag of its model in [models]")
    fallbacks: tuple[str, ...] = option((), "tags of models that stand in when it cannot be used, in their order")
    skills: tuple[str, ...] = option((), "skills it may delegate to")
    tools: tuple[str, ...] | None = option(None, "tools it may use; left out: all")
    trust_attachments: bool = option(False, "true: the owner's attachments count as the owner's own words")
    memory: bool = option(True, "false: it keeps and reads no notes, also where an account has turned memory on")
    instructions: str = option("", "what it should always know or do, given to the model as trusted text")
    two: tuple[str, ...] = option((), "tools that two people must approve, besides those of [approvals]")
    second: tuple[str, ...] = option((), "who may be the second, before those of [approvals]")
    limits: Limits | None = option(None, "limits that differ from the general ones")


@dataclass(frozen=True, slots=True)
class Model:
    """A model under its tag: `assistant+TAG@domain` picks it for a thread. Prices are EUR for a million tokens."""

    name: str
    provider: Provider = option("litellm", '"demo" or "litellm"')
    model: str = option("", "the provider's name for it, such as anthropic/claude-sonnet")
    api_base: str = option("", "address of the provider; empty: its usual one")
    api_key: Secret | None = option(None, "reference to the key: env:NAME, file:PATH or keyring:SERVICE/NAME")
    context_tokens: int | None = option(None, "size of its context window", low=1000)
    takes: tuple[Takes, ...] | None = option(None, '"images", "documents" (PDF); left out: as LiteLLM knows it')
    price_in: float | None = option(None, "EUR for a million tokens in", low=0)
    price_out: float | None = option(None, "EUR for a million tokens out", low=0)


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetching web pages for agents. Private places (this machine, the local network) are refused unless allowed."""

    mode: FetchMode = option("ask", '"off", "ask" (each page waits for approval) or "allow"')
    allow_private: tuple[str, ...] = option((), "private hosts, addresses and networks that may be reached")
    max_bytes: int = option(5 * MIB, "most that is read of a page, in bytes, unpacked", low=1024, high=100 * MIB)
    seconds: int = option(30, "seconds for a page with all its redirects", low=1, high=600)
    redirects: int = option(5, "redirects that are followed", low=0, high=20)
    per_minute: int = option(20, "pages of one host in a minute", low=1, high=10_000)


@dataclass(frozen=True, slots=True)
class Files:
    """Folders that agents may use are granted with `postroom folders`; here is who else may grant them."""

    by_mail: tuple[Path, ...] = option((), "folders in which an account may grant folders by mail to help@")


@dataclass(frozen=True, slots=True)
class Skills:
    """Folders of the user's skills, beside those of the data folder."""

    folders: tuple[Path, ...] = option((), "folders that hold skill folders")


@dataclass(frozen=True, slots=True)
class Approvals:
    """How long a request waits. `remind_hours` counts back from the expiry."""

    expire_hours: float = option(72, "hours until a request expires, which means not done", low=0.01, high=8760)
    remind_hours: float = option(24, "hours before the expiry at which it is repeated once; 0: never", low=0, high=8760)
    grace_seconds: int = option(0, "seconds between an approval and the act, for a change of mind", low=0, high=3600)
    two: tuple[str, ...] = option((), "tools that two people must approve, of every agent and skill: names, server.*")
    second: tuple[str, ...] = option((), "who is the second: names of accounts here; the first that is not the owner")


@dataclass(frozen=True, slots=True)
class Log:
    """The log on standard error."""

    level: LogLevel = option("info", '"debug", "info", "warning" or "error"')


def default_agents() -> Mapping[str, Agent]:
    """The agents of an installation that names none."""
    return MappingProxyType({DEFAULT_AGENT: Agent(DEFAULT_AGENT, display="Assistant", skills=(DEFAULT_SKILL,))})


def default_models() -> Mapping[str, Model]:
    """The built-in models; they are there whatever else is configured."""
    return MappingProxyType({DEMO_MODEL: Model(DEMO_MODEL, provider="demo", model="demo")})


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the whole installation.

    `home` is the data folder; `debug_*` belong to the crash tests and appear on no page.
    """

    home: Path
    domain: str = option("postroom.internal", "mail domain of users and agents")
    user: str = option("you", "name of the first account; its address is this name at the domain")
    require_tls: bool = option(True, "false: login without TLS, on loopback only")
    languages: tuple[str, ...] = option(("en",), "languages whose words decide in replies")
    timezone: str = option("", "IANA zone of schedules, such as Europe/Berlin; empty: that of this machine")
    listen: Listen = field(default_factory=Listen)
    imap: Imap = field(default_factory=Imap)
    smtp: Smtp = field(default_factory=Smtp)
    folders: Folders = field(default_factory=Folders)
    relay: Relay | None = None
    outside: Outside = field(default_factory=Outside)
    webhooks: Webhooks = field(default_factory=Webhooks)
    mailboxes: Mapping[str, WatchedMailbox] = field(default_factory=lambda: MappingProxyType({}))
    signatures: Mapping[str, Signature] = field(default_factory=lambda: MappingProxyType({}))
    agents: Mapping[str, Agent] = field(default_factory=default_agents)
    models: Mapping[str, Model] = field(default_factory=default_models)
    skills: Skills = field(default_factory=Skills)
    fetch: Fetch = field(default_factory=Fetch)
    files: Files = field(default_factory=Files)
    limits: Limits = field(default_factory=Limits)
    approvals: Approvals = field(default_factory=Approvals)
    log: Log = field(default_factory=Log)
    debug_crash_at: str = option("", "")
    debug_points_file: Path | None = option(None, "")

    def address(self, local_part: str) -> str:
        """The full address of a local part."""
        return f"{local_part}@{self.domain}"

    def zone(self) -> ZoneInfo:
        """The time zone of the user: the one that is set, else the machine's."""
        return zone_named(self.timezone) or machine_zone()

    def limits_of(self, agent: str) -> Limits:
        """The limits that hold for an agent; the general ones for a name that is not configured (a skill)."""
        known = self.agents.get(agent)
        return known.limits if known is not None and known.limits is not None else self.limits

    def two_of(self, agent: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tools of an agent or skill that two people must approve, and who may be the second."""
        known, general = self.agents.get(agent), self.approvals
        own = (known.two, known.second) if known is not None else ((), ())
        return (*own[0], *general.two), (*own[1], *general.second)

    def secrets(self) -> tuple[Secret, ...]:
        """Every secret that the settings refer to, for the redaction of logs."""
        found: list[Any] = [self.relay.password] if self.relay else []
        found.append(self.outside.password)
        found += [model.api_key for model in self.models.values()]
        found += [watched.password for watched in self.mailboxes.values()]
        found += [signed.key for signed in self.signatures.values()]
        return tuple(secret for secret in found if secret is not None)
