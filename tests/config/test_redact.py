"""The log is one line a record, and holds no secret, no body and no forged line."""

import base64
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from config.load import load
from config.redact import QUIET_LOGGERS, Redactor, adopt, start_logging
from config.secrets import Secret
from config.settings import Settings

VALUE = "canary/5e2b+x"


@pytest.fixture
def restored() -> Iterator[None]:
    """Give the process its logging back."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture
def log(tmp_path: Path, restored: None) -> tuple[logging.Logger, io.StringIO, Redactor]:
    stream = io.StringIO()
    redactor = start_logging(Settings(tmp_path), stream)
    return logging.getLogger("bridge.test"), stream, redactor


Log = tuple[logging.Logger, io.StringIO, Redactor]


def test_a_record_is_time_level_logger_event_and_fields(log: Log) -> None:
    logger, stream, _ = log
    logger.warning("login refused", extra={"account": "ada", "peer": "127.0.0.1", "why": "wrong password"})
    line = stream.getvalue()
    at, rest = line.split(" ", 1)
    assert at.endswith("Z")
    assert len(at) == len("2026-11-30T09:12:41.123Z")
    assert rest == 'warning bridge.test "login refused" account=ada peer=127.0.0.1 why="wrong password"\n'


def test_a_value_cannot_forge_a_line_or_turn_the_direction(log: Log) -> None:
    logger, stream, _ = log
    logger.warning("name %s", 'x"\n2026 error forged\u202e\x1b[2J')
    assert stream.getvalue().count("\n") == 1
    assert '"name x\\"\\n2026 error forged\\u202e\\x1b[2J"' in stream.getvalue()


def test_content_is_shown_by_its_size(log: Log) -> None:
    logger, stream, _ = log
    logger.warning("stored", extra={"body": "dear diary", "raw": b"1234", "other": b"bytes", "token": "t0k3n"})
    assert "body=[10 characters] raw=[4 bytes] other=[5 bytes] token=[5 characters]" in stream.getvalue()


def test_long_values_are_cut(log: Log) -> None:
    logger, stream, _ = log
    logger.warning("x", extra={"names": "a" * 5000})
    assert len(stream.getvalue()) < 500
    assert "[5000 characters]" in stream.getvalue()


def test_learned_secrets_go_in_every_form(log: Log) -> None:
    logger, stream, redactor = log
    redactor.learn(VALUE, "")
    packed = base64.b64encode(VALUE.encode()).decode()
    logger.warning("a %s b %s", VALUE, quote(VALUE, safe=""), extra={"url": f"http://h/?k={VALUE}", "b64": packed})
    try:
        raise ValueError(f"server said {VALUE}")
    except ValueError:
        logger.exception("failed")
    text = stream.getvalue()
    assert text.count("[redacted]") == 5
    assert VALUE not in text
    assert packed.rstrip("=") not in text


def test_a_configured_secret_is_blotted_once_it_has_been_revealed() -> None:
    secret = Secret("env:KEY", environ={"KEY": VALUE})
    redactor = Redactor([secret])
    secret.reveal()
    assert redactor.clean(f"<{VALUE}>") == "<[redacted]>"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("to action+6f3kq2w5@postroom.internal", "to action+[redacted]@postroom.internal"),
        ("to hook+backup.abc123@x", "to hook+[redacted]@x"),
        ("to assistant+haiku@x", "to assistant+haiku@x"),
        ("Authorization: Bearer abcdefgh1234", "Authorization: [redacted]"),
        ("key sk-proj-abcdefgh", "key [redacted]"),
        ("AUTH PLAIN AGFkYQBwdw==", "AUTH PLAIN [redacted]"),
        ("a1 LOGIN ada hunter2", "a1 LOGIN ada [redacted]"),
        ("a1 AUTHENTICATE PLAIN AGFkYQBwdw==", "a1 AUTHENTICATE PLAIN [redacted]"),
    ],
)
def test_credentials_and_one_time_addresses_go_by_their_look(text: str, clean: str) -> None:
    assert Redactor().clean(text) == clean


def test_a_traceback_is_one_field_with_its_cause(log: Log) -> None:
    logger, stream, _ = log
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise RuntimeError("outer") from error
    except RuntimeError:
        logger.exception("broke")
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert "test_a_traceback_is_one_field_with_its_cause" in text
    assert text.index("KeyError: 'inner' | then") < text.index("RuntimeError: outer")


def test_libraries_that_log_lines_and_addresses_are_quiet(log: Log) -> None:
    _, stream, _ = log
    library = logging.getLogger("mail.log")
    library.info("<< AUTH PLAIN x")
    logging.getLogger("httpx2").info("POST http://h/?key=k")
    assert stream.getvalue() == ""
    own = logging.getLogger("LiteLLM")
    own.addHandler(logging.StreamHandler(stream))
    adopt("LiteLLM")
    own.warning("once")
    assert stream.getvalue().count("once") == 1


def test_the_level_is_the_settings(tmp_path: Path, restored: None) -> None:
    stream = io.StringIO()
    start_logging(load(home=tmp_path, environ={"POSTROOM_LOG__LEVEL": "error"}), stream)
    logging.getLogger("bridge").warning("hidden")
    logging.getLogger("bridge").error("shown")
    assert "hidden" not in stream.getvalue()
    assert "shown" in stream.getvalue()
