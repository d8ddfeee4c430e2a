"""One SMTP connection: aiosmtpd's command loop, with the parts replaced that matter for safety.

The rule: a 250 after DATA is said only when the mail has been kept; whatever goes wrong inside is "451, try again"
and a line in the log; the connection is never left out of step with the peer.

What aiosmtpd 1.4.6 does otherwise, and why it is overridden here: its size table is shared by all connections; AUTH
cannot wait for a slow check nor be offered under implicit TLS alone; STARTTLS bypasses the event loop's own (uvloop);
DATA is read line by line and has one time limit; bytes after STARTTLS are dropped, not refused.
"""

import asyncio
import logging
from base64 import b64encode
from collections import defaultdict
from contextlib import suppress
from typing import Any, Final, cast

from aiosmtpd.smtp import SMTP, Session

from bridge import scram
from bridge.identity import Identity
from bridge.net.limits import LoginLimited
from bridge.sasl import MAX_RESPONSE, Credentials, SaslCancelled, SaslError, decode_response, exchange
from bridge.smtp import content, replies
from bridge.smtp.paths import Path, PathError, parse_path, same_address
from bridge.smtp.shared import Shared
from bridge.submissions import Client, Envelope, Refused

log = logging.getLogger(__name__)

COMMAND_LIMIT: Final = 1024
READ_SIZE: Final = 32 * 1024  # of the reader: bounds a command line, and how much of DATA is taken at once
CALLS: Final = {
    "NOOP": 100,
    "RSET": 200,
    "EHLO": 20,
    "HELO": 20,
    "AUTH": 10,
    "STARTTLS": 3,
    "HELP": 20,
    "VRFY": 20,
    "*": 10_000,
}
WRONG_PASSWORDS: Final = 5
NULL_SENDER: Final = "<>"
"""How the empty sender of bounces and notices is kept, as aiosmtpd takes an empty one for none."""

BEFORE_LOGIN_SECONDS: Final = 60.0
IDLE_SECONDS: Final = 300.0
ABORT_SECONDS: Final = 5.0
TLS_HANDSHAKE: Final = b"\x16\x03"
IN_THREAD: Final = 1024 * 1024


class Submission(SMTP):
    """One connection. `secure` is True once the line is encrypted; `identity` is who logged in."""

    line_length_limit = READ_SIZE
    command_size_limit = COMMAND_LIMIT

    def __init__(self, shared: Shared, *, secure: bool, loop: asyncio.AbstractEventLoop) -> None:
        self.command_size_limits = defaultdict(lambda: COMMAND_LIMIT)
        self.refused_recipients = 0
        self.shared = shared
        super().__init__(
            object(),
            data_size_limit=shared.max_size,
            enable_SMTPUTF8=True,
            hostname=shared.hostname,
            ident="ESMTP Postroom",
            timeout=BEFORE_LOGIN_SECONDS,
            auth_require_tls=False,
            command_call_limit=CALLS,
            loop=loop,
        )
        self.secure = secure
        self.identity: Identity | None = None
        self.host = ""
        self.wrong_passwords = 0
        self.admitted = False
        self.heard = False

    # -- the connection ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, then greet."""
        peer = transport.get_extra_info("peername")
        self.host = str(peer[0]) if isinstance(peer, tuple) else ""
        self.admitted = self.shared.connections.admit(self.host)
        self.shared.open.add(self)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Give the place back. A mail being kept goes on being kept."""
        self.shared.open.discard(self)
        if self.admitted:
            self.admitted = False
            self.shared.connections.leave(self.host)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Take bytes in; a TLS handshake where clear text is spoken ends the connection at once."""
        if not self.heard:
            self.heard = True
            if not self.secure and data.startswith(TLS_HANDSHAKE):
                log.warning("a client spoke TLS on the STARTTLS port of SMTP; tell it to use STARTTLS or the TLS port")
                self._abort()
                return
        super().data_received(data)

    def goodbye(self, text: str) -> None:
        """Say 421 and close; a peer that does not read is cut off."""
        if self.transport is None or self.transport.is_closing():
            return
        with suppress(ConnectionError):
            self._writer.write(f"421 {text}\r\n".encode())
        self.transport.close()
        self.loop.call_later(ABORT_SECONDS, self._abort)

    async def _handle_client(self) -> None:
        if not self.admitted:
            self.goodbye("4.7.0 too many connections, try again later")
            return
        try:
            await super()._handle_client()
        except ConnectionError:
            self._abort()

    def _timeout_cb(self) -> None:
        self.goodbye("4.4.2 timeout, closing the connection")

    def _abort(self) -> None:
        if self.transport is not None:
            cast(asyncio.Transport, self.transport).abort()

    async def push(self, status: str | bytes) -> None:
        """Send a reply, with the enhanced status code that we promise in EHLO."""
        text = status if isinstance(status, str) else status.decode("utf-8", "replace")
        await self._send(replies.with_status(text))

    async def _send(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "replace") + b"\r\n")
        await self._writer.drain()

    async def handle_exception(self, error: Exception) -> str:
        """The one door of faults: the traceback goes to the log, nothing of it to the peer."""
        if not isinstance(error, ConnectionError):
            log.error("a command of %s failed", self.host or "a client", exc_info=error)
        return "451 4.3.0 Internal error, nothing was kept; try again later"

    # -- greeting ------------------------------------------------------------------------------------------------

    async def smtp_HELO(self, hostname: str | None) -> None:  # noqa: N802 - aiosmtpd finds commands by this name
        """HELO: any name that is one."""
        if not await self._greeted(hostname, extended=False):
            return
        await self._send(f"250 {self.hostname}")

    async def smtp_EHLO(self, hostname: str | None) -> None:  # noqa: N802 - as above
        """EHLO: only what is true now is announced; AUTH not before TLS (DECISIONS 16)."""
        if not await self._greeted(hostname, extended=True):
            return
        self.command_size_limits["AUTH"] = MAX_RESPONSE
        lines = [self.hostname, f"SIZE {self.shared.max_size}", "8BITMIME", "SMTPUTF8", "PIPELINING"]
        lines.append("ENHANCEDSTATUSCODES")
        if not self.secure:
            lines.append("STARTTLS")
        if self._login_allowed:
            lines.append(f"AUTH {' '.join(self.shared.mechanisms)}")
        text = "\r\n".join(f"250-{line}" for line in lines)
        await self._send(f"{text}\r\n250 HELP")

    async def _greeted(self, hostname: str | None, *, extended: bool) -> bool:
        name = (hostname or "").strip()
        if not name or len(name) > 255 or not name.isprintable() or " " in name:
            await self.push("501 5.5.4 Syntax: EHLO hostname")
            return False
        self._set_rset_state()
        self._session.extended_smtp = extended
        self._session.host_name = name
        return True

    def _set_rset_state(self) -> None:
        self.envelope = self._create_envelope()
        self.refused_recipients = 0

    def _set_post_data_state(self) -> None:
        self._set_rset_state()

    @property
    def _session(self) -> Session:
        return cast(Session, self.session)  # no assertion: aiosmtpd looks at every attribute before there is one

    @property
    def _login_allowed(self) -> bool:
        return self.secure or not self.shared.require_tls

    # -- STARTTLS (RFC 3207, DECISIONS 15) -----------------------------------------------------------------------

    async def smtp_STARTTLS(self, arg: str | None) -> None:  # noqa: N802 - as above
        """Encrypt the line. Whatever was sent in clear behind the command closes the connection."""
        if arg:
            await self.push("501 5.5.4 Syntax: STARTTLS")
            return
        if self.secure:
            await self.push("503 5.5.1 TLS is active already")
            return
        transport = cast(asyncio.Transport, self.transport)
        transport.pause_reading()
        if self._unread():
            log.warning("%s sent clear text behind STARTTLS, connection closed", self.host)
            self._abort()
            return
        await self._send("220 2.0.0 Ready to start TLS")
        try:
            encrypted = await self.loop.start_tls(transport, self, self.shared.tls_context, server_side=True)
        except (TimeoutError, OSError):
            # Includes ssl.SSLError: the handshake failed, and there is no clear line to go back to.
            self._abort()
            return
        self._adopt(cast(asyncio.Transport, encrypted))

    def _unread(self) -> bool:
        return bool(self._reader._buffer)  # type: ignore[attr-defined]  # StreamReader tells it no other way

    def _adopt(self, encrypted: asyncio.Transport) -> None:
        """Go on over the new transport with nothing known of the peer. Decrypted bytes may be in the reader already."""
        self.transport = encrypted
        self._reader._transport = encrypted  # type: ignore[attr-defined]  # as aiosmtpd does it: streams cannot switch
        self._writer._transport = encrypted  # type: ignore[attr-defined]  # as above
        self._transport = encrypted
        self._over_ssl = True
        self.secure = True
        self.session = self._create_session()
        self.session.peer = encrypted.get_extra_info("peername")
        self.session.ssl = {}  # aiosmtpd asks only whether it is None
        self._set_rset_state()

    # -- AUTH (RFC 4954) -----------------------------------------------------------------------------------------

    async def smtp_AUTH(self, arg: str | None) -> None:  # noqa: N802 - as above
        """Log in. A wrong password is 535, a limit is 454, so that no client asks the user for another password."""
        if (refusal := self._auth_refusal(arg)) is not None:
            await self.push(refusal)
            return
        mechanism, _, initial = (arg or "").strip().partition(" ")
        try:
            identity = await self._identify(mechanism.upper(), initial.strip())
        except SaslCancelled:
            await self.push("501 5.7.0 Authentication cancelled")
        except SaslError as error:
            await self.push(f"501 5.5.2 {error}")
        except LoginLimited as limit:
            await self.push(f"454 4.7.0 Too many login attempts, try again in {limit.seconds:.0f} seconds")
        else:
            await self._logged_in(identity)

    def _auth_refusal(self, arg: str | None) -> str | None:
        if not self._session.host_name or not self._session.extended_smtp:
            return "503 5.5.1 Send EHLO first"
        if not self._login_allowed:
            return "538 5.7.11 Encryption required: STARTTLS first, or use the TLS port"
        if self.identity is not None:
            return "503 5.5.1 Already authenticated"
        if self._envelope.mail_from:
            return "503 5.5.1 AUTH is not permitted during a mail transaction"
        words = (arg or "").split()
        if not 1 <= len(words) <= 2:
            return "501 5.5.4 Syntax: AUTH mechanism [initial-response]"
        if words[0].upper() not in self.shared.mechanisms:
            return f"504 5.5.4 Use one of {', '.join(self.shared.mechanisms)}"
        return None

    async def _identify(self, mechanism: str, initial: str) -> Identity | None:
        """Who it is, or None. Raises SaslError, LoginLimited."""
        if mechanism == scram.NAME:
            return await self._scram(initial)
        credentials = await self._converse(mechanism, initial)
        return await self.shared.auth.check(credentials.login, credentials.password, peer=self.host)

    async def _scram(self, initial: str) -> Identity | None:
        """RFC 7677; the server's proof is a challenge of its own, answered by an empty line (RFC 4954 section 4)."""
        auth = self.shared.auth
        begun = await auth.scram_begin(
            decode_response(initial.encode()) if initial else await self._ask(b""), peer=self.host
        )
        found = await auth.scram_finish(begun, await self._ask(begun.challenge))
        if found is None:
            return None
        identity, proof = found
        if await self._ask(proof):
            raise SaslError("an empty answer was expected")
        return identity

    async def _ask(self, challenge: bytes) -> bytes:
        await self._send(f"334 {b64encode(challenge).decode()}")
        return decode_response(await self._answer())

    async def _converse(self, mechanism: str, initial: str) -> Credentials:
        dialogue = exchange(mechanism, decode_response(initial.encode()) if initial else None)
        try:
            challenge = next(dialogue)
            while True:
                challenge = dialogue.send(await self._ask(challenge))
        except StopIteration as end:
            return cast(Credentials, end.value)

    async def _answer(self) -> bytes:
        """A line of the exchange; one that is too long is read to its end and refused."""
        long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                long = True
                await self._reader.read(error.consumed)
                continue
            if long or len(line) > MAX_RESPONSE:
                raise SaslError("the answer is too long")
            return line

    async def _logged_in(self, identity: Identity | None) -> None:
        if identity is not None:
            self.identity = identity
            self._session.authenticated = True
            self._timeout_duration = IDLE_SECONDS
            await self.push("235 2.7.0 Authentication successful")
            return
        self.wrong_passwords += 1
        if self.wrong_passwords >= WRONG_PASSWORDS:
            await self.push("535 5.7.8 Wrong user name or password")
            self.goodbye("4.7.0 too many wrong passwords")
            return
        await self.push("535 5.7.8 Wrong user name or password")

    # -- the envelope --------------------------------------------------------------------------------------------

    @property
    def _envelope(self) -> Any:
        return self.envelope  # no assertion: aiosmtpd reads every attribute before there is an envelope

    async def smtp_MAIL(self, arg: str | None) -> None:  # noqa: N802 - as above
        """MAIL FROM: only the login's own address. What a login for hooks sends is a machine's, whatever it says."""
        identity = self.identity
        if identity is None:
            await self.push(self._login_first())
            return
        if self._envelope.mail_from:
            await self.push("503 5.5.1 Nested MAIL command")
            return
        try:
            path = parse_path("FROM", arg)
        except PathError as error:
            await self.push(f"501 5.1.7 {error}")
            return
        refusal = self._mail_refusal(path)
        if refusal is None and not identity.hooks_only and not same_address(path.address, identity.address):
            why = f"You are logged in as {identity.address}; send from that address"
            refusal = await self.shared.turn_away(identity, self._client(), why)
        if refusal is None:
            self._envelope.mail_from = path.address or NULL_SENDER
            self._envelope.smtp_utf8 = "SMTPUTF8" in path.parameters
        await self.push(refusal or "250 2.1.0 Sender OK")

    def _login_first(self) -> str:
        if not self._session.host_name:
            return "503 5.5.1 Send EHLO first"
        if self._login_allowed:
            return "530 5.7.0 Authentication required"
        return "530 5.7.0 Authentication required: STARTTLS first, or use the TLS port"

    def _client(self) -> Client:
        return Client(self.host, str(self._session.host_name), self.secure)

    def _mail_refusal(self, path: Path) -> str | None:
        size = path.parameters.get("SIZE", "0")
        if not size.isascii() or not size.isdigit():
            return "501 5.5.4 SIZE needs a number"
        if len(size) > 15 or int(size) > self.shared.max_size:
            return f"552 5.3.4 The message is larger than {self.shared.max_size} bytes"
        if path.parameters.get("BODY", "7BIT").upper() not in ("7BIT", "8BITMIME"):
            return "501 5.5.4 BODY can be 7BIT or 8BITMIME"
        unknown = path.parameters.keys() - {"SIZE", "BODY", "SMTPUTF8", "AUTH"}
        if unknown or path.parameters.get("SMTPUTF8"):
            return "555 5.5.4 MAIL parameter not recognized"
        return None

    async def smtp_RCPT(self, arg: str | None) -> None:  # noqa: N802 - as above
        """RCPT TO: whoever takes mail in is asked at once, so that the user sees which address is wrong."""
        identity = self.identity
        if identity is None:
            await self.push(self._login_first())
            return
        if not self._envelope.mail_from:
            await self.push("503 5.5.1 MAIL first")
            return
        try:
            path = parse_path("TO", arg)
        except PathError as error:
            await self.push(f"501 5.1.3 {error}")
            return
        await self.push(self._recipient(path, identity))

    def _recipient(self, path: Path, identity: Identity) -> str:
        recipients: list[str] = self._envelope.rcpt_tos
        if not path.address:
            return "501 5.1.3 The recipient is empty"
        if path.parameters:
            return "555 5.5.4 RCPT parameter not recognized"
        if len(recipients) + self.refused_recipients >= self.shared.max_recipients:
            return f"452 4.5.3 No more than {self.shared.max_recipients} recipients in one message"
        answer = self.shared.submissions.recipient(identity, path.address)
        if isinstance(answer, Refused):
            self.refused_recipients += 1
            return replies.line(answer.code, answer.status, answer.text)
        if not any(same_address(path.address, known) for known in recipients):
            recipients.append(path.address)
        return "250 2.1.5 Recipient OK"

    async def smtp_VRFY(self, arg: str | None) -> None:  # noqa: N802 - as above
        """VRFY says nothing about anybody."""
        await self.push("252 2.5.0 Send the mail and see" if self.identity else self._login_first())

    # -- DATA ----------------------------------------------------------------------------------------------------

    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - as above
        """DATA: read to the final dot whatever happens, judge, keep, answer."""
        identity = self.identity
        if identity is None:
            await self.push(self._login_first())
        elif not self._envelope.mail_from:
            await self.push("503 5.5.1 MAIL first")
        elif not self._envelope.rcpt_tos:
            text = "554 5.5.1 No valid recipients" if self.refused_recipients else "503 5.5.1 RCPT first"
            await self.push(text)
        elif arg:
            await self.push("501 5.5.4 Syntax: DATA")
        else:
            await self._take(identity)

    async def _take(self, identity: Identity) -> None:
        await self._send("354 End data with <CR><LF>.<CR><LF>")
        # The CRLF in front makes the first line like every other: the mail may be empty or begin with a dot.
        self._reader._buffer[:0] = b"\r\n"  # type: ignore[attr-defined]  # StreamReader cannot be given bytes back
        try:
            async with asyncio.timeout(self.shared.data_seconds):
                received = await self._read_data()
        except TimeoutError:
            self.goodbye("4.4.2 The message took too long")
            return
        try:
            self._reset_timeout()
            await self.push(await self._judge(received, identity))
        finally:
            self._set_post_data_state()

    async def _read_data(self) -> bytearray | None:
        """All up to and with the end of data; None when it was more than allowed (read, and thrown away)."""
        received: bytearray | None = bytearray()
        ended = False
        while not ended:
            try:
                chunk = await self._reader.readuntil(content.END)
                ended = True
            except asyncio.LimitOverrunError as error:
                chunk = await self._reader.readexactly(error.consumed)
                self._reset_timeout()
            if received is not None:
                received += chunk
                if len(received) > self.shared.max_size + len(content.END):
                    received = None
        return received

    async def _judge(self, received: bytearray | None, identity: Identity) -> str:
        if received is None:
            return f"552 5.3.4 The message is larger than {self.shared.max_size} bytes"
        raw = content.unstuff(received)
        fault = await asyncio.to_thread(content.fault, raw) if len(raw) > IN_THREAD else content.fault(raw)
        if fault is not None:
            return f"554 5.6.0 {fault}"
        refusal = self.shared.check_sender(content.header_of(raw), identity.address)
        if refusal is not None and not identity.hooks_only:
            return await self.shared.turn_away(identity, self._client(), refusal)
        recipients = tuple(self._envelope.rcpt_tos)
        envelope = Envelope(self._envelope.mail_from, recipients, raw, self._client(), bool(self._envelope.smtp_utf8))
        return await self.shared.keep(identity, envelope)
