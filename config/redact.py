"""The log: one line a record, structured, and never a secret, a body or an argument in it.

A record is an event in plain words and fields: `log.info("login refused", extra={"account": "ada", "peer": peer})`.
Fields whose names say that they carry content are shown by their size only, and so is every bytes value; known
secret values and one-time addresses are blotted out of the finished line, wherever they come from.
"""

import base64
import logging
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, TextIO
from urllib.parse import quote

from config.secrets import Secret
from config.settings import Settings

BLOT: Final = "[redacted]"
MAX_FIELD_CHARACTERS: Final = 300
MAX_TRACE_CHARACTERS: Final = 6000
STANDARD_FIELDS: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
CONTENT_FIELDS: Final = frozenset({
    "args_json", "arguments", "attachment", "body", "content", "data", "html", "message_text", "password", "prompt",
    "raw", "reply", "result", "secret", "subject", "text", "token",
})  # packed, to be seen at a glance  # fmt: skip

ONE_TIME_ADDRESS: Final = re.compile(r"\b(action|hook)\+[A-Za-z0-9._-]+@")
CREDENTIALS: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}|\bsk-[A-Za-z0-9_-]{8,}")
AUTH_LINE: Final = re.compile(r"\b(AUTH(?:ENTICATE)? (?:PLAIN|LOGIN)|LOGIN \S+) \S+")
UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\\]")
PLAIN_VALUE: Final = re.compile(r"[^\s\"=]+")

QUIET_LOGGERS: Final = (
    "LiteLLM", "aiosqlite", "apscheduler", "asyncio", "httpcore", "httpcore2", "httpx", "httpx2", "imapclient", "mail",
    "mcp", "openai", "uvicorn",
)  # packed, to be seen at a glance  # fmt: skip
"""Libraries whose info lines carry URLs, SMTP lines or bodies."""


class Redactor:
    """Blots secret values out of text. It learns the configured secrets as they are revealed, others by `learn`."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._secrets = tuple(secrets)
        self._learned: frozenset[str] = frozenset()

    def learn(self, *values: str) -> None:
        """Blot these values too: app passwords as they are made, tokens of tools."""
        self._learned = self._learned | {value for value in values if value}

    def clean(self, text: str) -> str:
        """The text without secrets."""
        for value in sorted(self._forms(), key=len, reverse=True):
            text = text.replace(value, BLOT)
        text = ONE_TIME_ADDRESS.sub(rf"\1+{BLOT}@", text)
        text = AUTH_LINE.sub(rf"\1 {BLOT}", text)
        return CREDENTIALS.sub(BLOT, text)

    def _forms(self) -> set[str]:
        """Every known value as it is written, quoted in an address, escaped in a log line and in base64."""
        revealed = (secret.revealed() for secret in self._secrets)
        forms: set[str] = set()
        for value in (*self._learned, *(each for each in revealed if each)):
            forms |= {value, quote(value), quote(value, safe=""), escape(value)}
            forms.add(base64.b64encode(value.encode(errors="surrogateescape")).decode().rstrip("="))
        return forms


class LineFormatter(logging.Formatter):
    """Renders a record as `time level logger "event" field=value ...` on one line, and cleans the whole."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """The finished line. A traceback becomes the field `trace`, its lines joined."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        parts = [at, record.levelname.lower(), record.name, _value(record.getMessage(), always_quoted=True)]
        parts += [f"{name}={value}" for name, value in _fields(record)]
        return self._redactor.clean(" ".join(parts))


def _fields(record: logging.LogRecord) -> Iterator[tuple[str, str]]:
    for name, value in vars(record).items():
        if name in STANDARD_FIELDS or name.startswith("_"):
            continue
        yield name, _sized(value) if name in CONTENT_FIELDS or isinstance(value, bytes) else _value(str(value))
    if record.exc_info and record.exc_info[1] is not None:
        yield "trace", _value(_trace(record.exc_info[1]), limit=MAX_TRACE_CHARACTERS)


def _sized(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    return f"[{len(str(value))} characters]"


def _trace(error: BaseException) -> str:
    """Where it happened, without source lines of others' data: frames, then type and a short text."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    short = text if len(text) <= MAX_FIELD_CHARACTERS else text[:MAX_FIELD_CHARACTERS] + "..."
    own = " > ".join([*frames, f"{type(error).__name__}: {short}"])
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return own if cause is None or cause is error else f"{_trace(cause)} | then {own}"


def _value(text: str, *, always_quoted: bool = False, limit: int = MAX_FIELD_CHARACTERS) -> str:
    short = text if len(text) <= limit else f"{text[:limit]}... [{len(text)} characters]"
    safe = escape(short)
    if PLAIN_VALUE.fullmatch(safe) and not always_quoted:
        return safe
    return '"' + safe.replace('"', '\\"') + '"'


def escape(text: str) -> str:
    """Control, line-breaking and direction-changing characters as escapes, so that a value cannot forge a line."""
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def start_logging(settings: Settings, stream: TextIO | None = None) -> Redactor:
    """Send every record of the process to `stream` (standard error) in our form; return the redactor to teach."""
    redactor = Redactor(settings.secrets())
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter(redactor))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log.level.upper())
    for name in QUIET_LOGGERS:
        adopt(name)
    return redactor


def adopt(name: str) -> None:
    """Take a library's logger under ours: no handlers of its own, warnings and worse only. Again after its import."""
    logger = logging.getLogger(name)
    logger.handlers = []
    logger.propagate = True
    logger.setLevel(logging.WARNING)
