"""LOGIN and AUTHENTICATE (RFC 3501 sections 6.2.2 and 6.2.3; RFC 4959 SASL-IR).

Rule: no password is asked for, or looked at, before TLS (unless the owner allows it on this machine), and a wrong one
is answered exactly as an unknown login. A limit is told as a limit, as clients ask for a new password otherwise.
"""

import logging
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from bridge import sasl, scram
from bridge.auth import Begun, Identity
from bridge.imap.command import Command, Done, Hold, Outcome, Refused
from bridge.imap.dialect import Dialect, Feature
from bridge.imap.session import Session
from bridge.imap.states import BEFORE_LOGIN
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.net.limits import LoginLimited
from bridge.sasl import Credentials, Exchange, SaslCancelled, SaslError

MECHANISMS: Final = {Feature.SCRAM: scram.NAME, Feature.PLAIN: "PLAIN", Feature.LOGIN: "LOGIN"}

_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Start:
    """The arguments of AUTHENTICATE; `initial` is the decoded initial response, None when there is none."""

    mechanism: str
    initial: bytes | None = field(repr=False)


def parse_login(cursor: Cursor, dialect: Dialect) -> tuple[bytes, bytes]:
    cursor.sp()
    login = cursor.astring()
    cursor.sp()
    password = cursor.astring()
    cursor.eol()
    return login, password


async def run_login(session: Session, arguments: tuple[bytes, bytes]) -> Done:
    _require_tls(session)
    try:
        credentials = sasl.credentials(*arguments)
    except SaslError:
        raise _wrong() from None
    return await _log_in(session, credentials)


def parse_authenticate(cursor: Cursor, dialect: Dialect) -> Start:
    cursor.sp()
    mechanism = cursor.atom().decode("ascii").upper()
    initial = None
    if cursor.try_sp() and not cursor.at_end:
        if not dialect.has(Feature.INITIAL_RESPONSE):
            cursor.fail("An initial response is not offered")
        initial = cursor.base64()
    cursor.eol()
    return Start(mechanism, initial)


async def run_authenticate(session: Session, start: Start) -> Outcome:
    _require_tls(session)
    offered = [name for feature, name in MECHANISMS.items() if session.dialect.has(feature)]
    if start.mechanism not in offered:
        raise Refused("This mechanism is not offered; use " + " or ".join(offered), Code.CANNOT.value)
    if start.mechanism == scram.NAME:
        return await _scram(session, start.initial)
    return await _step(session, sasl.exchange(start.mechanism, start.initial), None)


async def _scram(session: Session, initial: bytes | None) -> Outcome:
    """SCRAM-SHA-256 (RFC 7677), with or without an initial response."""
    if initial is None:
        return _ask(session, b"", _scram_first)
    try:
        return await _scram_first(session, initial)
    except SaslError as error:
        raise _fault(error) from None


async def _scram_first(session: Session, message: bytes) -> Outcome:
    begun = await _limited(session.host.auth.scram_begin(message, peer=session.wire.peer))
    return _ask(session, begun.challenge, partial(_scram_final, begun=begun))


async def _scram_final(session: Session, message: bytes, *, begun: Begun) -> Outcome:
    """IMAP has no room for data with its OK: the server's proof is one more challenge, answered by an empty line."""
    found = await _limited(session.host.auth.scram_finish(begun, message))
    if found is None:
        raise _wrong()
    identity, proof = found

    async def end(session: Session, message: bytes) -> Outcome:
        if message:
            raise SaslError("an empty answer was expected")
        return _enter(session, identity)

    return _ask(session, proof, end)


def _ask(session: Session, challenge: bytes, then: Callable[[Session, bytes], Awaitable[Outcome]]) -> Hold:
    """Challenge the client; `then` gets its answer, decoded."""
    session.prompt(b64encode(challenge))

    async def resume(session: Session, line: bytes) -> Outcome:
        try:
            return await then(session, sasl.decode_response(line))
        except SaslError as error:
            raise _fault(error) from None

    return Hold(resume)


async def _limited(work: Awaitable[T]) -> T:
    """What a login gives, unless there were too many of them; that is told as such."""
    try:
        return await work
    except LoginLimited as limited:
        raise Refused(
            f"Too many attempts; try again in {limited.seconds:.0f} seconds", Code.UNAVAILABLE.value
        ) from None


async def _step(session: Session, exchange: Exchange, answer: bytes | None) -> Outcome:
    """Advance the exchange: either it wants another line, or it has the credentials."""
    try:
        challenge = next(exchange) if answer is None else exchange.send(answer)
    except StopIteration as end:
        credentials: Credentials = end.value
        return await _log_in(session, credentials)
    except SaslError as error:
        raise _fault(error) from None
    session.prompt(b64encode(challenge))

    async def resume(session: Session, line: bytes) -> Outcome:
        try:
            decoded = sasl.decode_response(line)
        except SaslError as error:
            raise _fault(error) from None
        return await _step(session, exchange, decoded)

    return Hold(resume)


async def _log_in(session: Session, credentials: Credentials) -> Done:
    login = session.host.auth.check(credentials.login, credentials.password, peer=session.wire.peer)
    identity = await _limited(login)
    if identity is None:
        raise _wrong()
    return _enter(session, identity)


def _enter(session: Session, identity: Identity) -> Done:
    if identity.hooks_only:
        raise Refused("This password sends to mail hooks only; it reads no mail", Code.AUTHORIZATIONFAILED.value)
    session.enter(identity)
    _log.info("login of account %d from %s (%s)", identity.account, session.wire.peer, identity.device)
    return Done("Logged in", session.capabilities())


def _require_tls(session: Session) -> None:
    if not session.may_login:
        raise Refused("Start TLS first: passwords are not taken in clear", Code.PRIVACYREQUIRED.value)


def _wrong() -> Refused:
    return Refused("Wrong login or password", Code.AUTHENTICATIONFAILED.value)


def _fault(error: SaslError) -> Refused:
    """RFC 3501 section 6.2.3: a cancelled or unreadable exchange is BAD, a refused one NO."""
    text = str(error)
    return Refused(text[:1].upper() + text[1:], bad=isinstance(error, SaslCancelled) or "base64" in text)


COMMANDS: Final = (
    Command(b"LOGIN", BEFORE_LOGIN, parse_login, run_login),
    Command(b"AUTHENTICATE", BEFORE_LOGIN, parse_authenticate, run_authenticate),
)
