"""The way out: hands one mail to the configured relay by SMTP and says what became of it, or that this is unknown.

The rule (DECISIONS 30): `data_sent` is durable before the first byte of the body leaves. A failure before that means
nothing was sent. After it, a reply of the relay decides; no reply means the outcome is unknown, and is never guessed.
"""

import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

import aiosmtplib
from aiosmtplib import errors
from aiosmtplib.protocol import SMTPProtocol

from agents.ports import Dispatch, Phases, Probe, RelayRefused, RelayUncertain
from bridge.smtp import content
from config.secrets import SecretError
from config.settings import Relay as RelaySettings

FINAL_SECONDS: Final = 600.0  # RFC 5321 section 4.5.3.2.6: after the final dot a server may think for ten minutes
MAX_REPLY: Final = 300
_DOT_AT_START: Final = re.compile(rb"^\.", re.MULTILINE)

Compose = Callable[[Dispatch], bytes]
"""The mail as bytes, with Message-ID, and DKIM-signed where there is a key of the From domain."""


class SmtpRelay:
    """agents.ports.Relay over SMTP. One connection a mail. `tls_context` None means the system's authorities."""

    configured = True

    def __init__(
        self,
        settings: RelaySettings,
        compose: Compose,
        *,
        probe: Probe | None = None,
        tls_context: ssl.SSLContext | None = None,
        final_seconds: float = FINAL_SECONDS,
    ) -> None:
        self._settings = settings
        self._compose = compose
        self._probe = probe
        self._tls_context = tls_context
        self._final_seconds = max(final_seconds, settings.timeout) if final_seconds == FINAL_SECONDS else final_seconds

    @property
    def name(self) -> str:
        """The relay's host, as the user knows it."""
        return self._settings.host

    @property
    def sender(self) -> str:
        """The From address of mail that names none."""
        return self._settings.sender

    async def deliver(self, dispatch: Dispatch, phases: Phases) -> str:
        """Send once; the relay's reply. Raises RelayRefused (nothing was sent) or RelayUncertain."""
        raw = self._bytes(dispatch)
        client = self._client()
        try:
            await self._open(client)
            protocol = await self._envelope(client, dispatch, raw)
            await phases.data_sent()
            return await self._body(protocol, raw)
        finally:
            _leave(client)

    def _bytes(self, dispatch: Dispatch) -> bytes:
        if not dispatch.mail.to:
            raise RelayRefused(True, "the mail has no recipient")
        raw = self._compose(dispatch)
        if not raw.endswith(b"\r\n"):
            raw += b"\r\n"
        fault = content.fault(raw)
        if fault is not None:
            raise RelayRefused(True, f"not sent: {fault}")
        return raw

    def _client(self) -> aiosmtplib.SMTP:
        settings = self._settings
        try:
            password = settings.password.reveal() if settings.password is not None else None
        except SecretError as error:
            raise RelayRefused(True, f"the relay's password cannot be read: {error}") from error
        return aiosmtplib.SMTP(
            hostname=settings.host,
            port=settings.port,
            username=settings.username or None,
            password=password if settings.username else None,
            use_tls=settings.tls == "implicit",
            start_tls=settings.tls == "starttls",
            tls_context=self._tls_context,
            timeout=settings.timeout,
            local_hostname=_ascii_domain(settings.sender) or "localhost",
        )

    async def _open(self, client: aiosmtplib.SMTP) -> None:
        """Connect, encrypt, log in."""
        self._point("relay.connect.before")
        try:
            await client.connect()
            if client.is_ehlo_or_helo_needed:
                await client.ehlo()
        except (errors.SMTPException, OSError, ValueError) as error:
            _refused(error, f"the relay {self.name} could not be used")
        self._point("relay.connect.after")

    async def _envelope(self, client: aiosmtplib.SMTP, dispatch: Dispatch, raw: bytes) -> SMTPProtocol:
        """MAIL, RCPT and DATA up to the 354. All recipients or none: a mail half sent cannot be repeated."""
        recipients = [_wire_address(to, client) for to in dispatch.mail.to]
        bounces = _wire_address(self._settings.bounce_mailbox or self._settings.sender, client)
        utf8 = not all(address.isascii() for address in (bounces, *recipients))
        options = ["SMTPUTF8"] if utf8 else []
        if not raw.isascii():
            if not client.supports_extension("8bitmime"):
                raise RelayRefused(True, f"the relay {self.name} takes no 8-bit mail")
            options.append("BODY=8BITMIME")
        encoding = "utf-8" if utf8 else "ascii"
        try:
            await client.mail(bounces, options=options, encoding=encoding)
            for recipient in recipients:
                await client.rcpt(recipient, encoding=encoding)
            reply = await client.execute_command(b"DATA")
        except (errors.SMTPException, OSError, ValueError) as error:
            _refused(error, f"the relay {self.name} did not take the mail")
        protocol = client.protocol
        if reply.code != 354 or protocol is None:
            raise RelayRefused(reply.code >= 500, _told(self.name, reply.code, reply.message))
        return protocol

    async def _body(self, protocol: SMTPProtocol, raw: bytes) -> str:
        """The body and its dot, then the reply that decides."""
        self._point("relay.data.before")
        try:
            protocol.write(_DOT_AT_START.sub(b"..", raw) + b".\r\n")
            reply = await protocol.read_response(timeout=self._final_seconds)
        except errors.SMTPResponseException as error:
            raise RelayUncertain(f"the relay {self.name} gave an answer that cannot be read") from error
        except (errors.SMTPException, OSError) as error:
            raise RelayUncertain(
                f"the connection to the relay {self.name} was lost after the mail was handed over"
            ) from error
        self._point("relay.data.after")
        if 200 <= reply.code < 300:
            return _one_line(f"{reply.code} {reply.message}")
        if 400 <= reply.code < 600:
            raise RelayRefused(reply.code >= 500, _told(self.name, reply.code, reply.message))
        raise RelayUncertain(f"the relay {self.name} gave an answer that makes no sense: {reply.code}")

    def _point(self, name: str) -> None:
        if self._probe is not None:
            self._probe.point(name)


def _leave(client: aiosmtplib.SMTP) -> None:
    """Say QUIT without waiting for an answer: what became of the mail is settled, and is to be written down now."""
    with suppress(errors.SMTPException):
        if client.protocol is not None:
            client.protocol.write(b"QUIT\r\n")
    client.close()


def _refused(error: Exception, what: str) -> NoReturn:
    """Nothing was sent: for good when the relay said so for good, or when trying again cannot help."""
    match error:
        case errors.SMTPResponseException():
            permanent = 500 <= error.code < 600
            raise RelayRefused(permanent, f"{what}: {_one_line(f'{error.code} {error.message}')}") from error
        case errors.SMTPNotSupported() | ValueError():
            raise RelayRefused(True, f"{what}: {_one_line(str(error))}") from error
        case _:
            permanent = isinstance(error.__cause__ or error, ssl.SSLCertVerificationError)
            raise RelayRefused(permanent, f"{what}: {_one_line(str(error)) or type(error).__name__}") from error


def _told(name: str, code: int, message: str) -> str:
    return f"the relay {name} did not take the mail: {_one_line(f'{code} {message}')}"


def _one_line(text: str) -> str:
    clean = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(clean.split())[:MAX_REPLY]


def _wire_address(address: str, client: aiosmtplib.SMTP) -> str:
    """An address as the relay takes it: a non-ASCII domain as punycode, a non-ASCII local part only by SMTPUTF8."""
    local = address.rpartition("@")[0]
    if not local or any(char.isspace() or not char.isprintable() or char in "<>" for char in address):
        raise RelayRefused(True, "an address of the mail is malformed")
    if local.isascii():
        return f"{local}@{_ascii_domain(address)}"
    if not client.supports_extension("smtputf8"):
        raise RelayRefused(True, f"the relay takes no addresses beyond ASCII, such as {address}")
    return address


def _ascii_domain(address: str) -> str:
    domain = address.rpartition("@")[2]
    try:
        return domain.encode("idna").decode() if not domain.isascii() else domain
    except UnicodeError:
        raise RelayRefused(True, "a domain of the mail is malformed") from None
