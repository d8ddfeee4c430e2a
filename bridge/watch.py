"""A mailbox of the outside world, watched: each new mail is handed over once, read-only, from a thread of its own
(IMAPClient; IDLE where the server has it, else a look every so often).

The rule: nothing there is ever changed, not even a flag. What was handed over is remembered by UIDVALIDITY and UID; a
broken connection is made again. A mailbox whose numbers began anew is read from yesterday on, or only for what comes
from now on: that is the choice of who watches.
"""

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from config.secrets import Secret, SecretError
from mailstore.errors import StoreError

log = logging.getLogger(__name__)

IDLE_SECONDS: Final = 60
"""How long one IDLE lasts at most; then the mailbox is looked at anew. Short, as IMAPClient does not see what a server
says in one packet with its "+ idling"; and shorter just after there was news, when more is likely to come."""
FIRST_IDLE_SECONDS: Final = 1
IDLE_GROWTH: Final = 4
WAITS: Final = (5.0, 15.0, 60.0, 300.0)
TELL_AFTER: Final = 3
"""Failures in a row after which whoever watches is told, once, until it works again."""

JOIN_SECONDS: Final = 10.0
CONNECT_SECONDS: Final = 30.0
READ_SECONDS: Final = 60.0
UNNUMBERED: Final = "the server numbers no mail of this mailbox"


@dataclass(frozen=True, slots=True)
class Place:
    """How far a mailbox was read: mails of this UIDVALIDITY below `next_uid` were handed over."""

    uidvalidity: int
    next_uid: int


class NotNow(Exception):
    """Whoever is handed the mail cannot take it now: the same mail is handed over again later."""


class Far(Protocol):
    """Where the mailbox is: config.settings.Outside, or WatchedMailbox."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def tls(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def password(self) -> Secret | None: ...
    @property
    def mailbox(self) -> str: ...
    @property
    def poll_seconds(self) -> int: ...


class Reader(Protocol):
    """Who is handed the mail. Both are called in the event loop; `take` may raise NotNow."""

    def place(self) -> Place | None:
        """How far the mailbox was read; None when it never was."""
        ...

    async def take(self, raw: bytes | None, place: Place) -> None:
        """One mail (None: nothing, or one too large), and how far the mailbox is read with it."""
        ...


class Watch:
    """`start` in a running loop, `close` in the same. `largest` is the size in bytes above which a mail is left.

    `from_yesterday`: when the numbers begin anew, what came since yesterday is handed over, else nothing old is.
    `tell` hears in words why the mailbox cannot be read for a while.
    """

    def __init__(
        self,
        settings: Far,
        reader: Reader,
        largest: int,
        *,
        from_yesterday: bool = True,
        tell: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._largest = largest
        self._from_yesterday = from_yesterday
        self._tell = tell
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._tries = 0

    def start(self) -> None:
        """Begin to watch."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Stop watching; a mail that is being handed over is finished first."""
        self._stop.set()
        self._hang_up()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, JOIN_SECONDS)

    def _hang_up(self) -> None:
        """Wake the thread out of IDLE by closing the line under it."""
        client = self._client
        if client is not None:
            with suppress(OSError, AttributeError):
                client.socket().shutdown(socket.SHUT_RDWR)

    # --- in the thread

    def _run(self) -> None:
        from imapclient.exceptions import IMAPClientError

        while not self._stop.is_set():
            try:
                self._connect()
                self._follow()
            except (IMAPClientError, OSError, ValueError, SecretError, StoreError, NotNow) as error:
                if self._stop.is_set():
                    return
                log.warning(
                    "the watched mailbox cannot be read now", extra={"why": type(error).__name__, "try": self._tries}
                )
                self._complain(error)
            finally:
                self._leave()
            self._stop.wait(WAITS[min(self._tries, len(WAITS) - 1)])
            self._tries += 1

    def _complain(self, error: Exception) -> None:
        """Tell whoever watches, once, that it has not worked for a while; NotNow is their own doing."""
        if self._tell is None or self._tries != TELL_AFTER or isinstance(error, NotNow | StoreError):
            return
        with suppress(StoreError):
            self._call(self._tell(_why(error)))

    def _connect(self) -> None:
        self._client = _dialled(self._settings, READ_SECONDS)
        _enter(self._client, self._settings)

    def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            from imapclient.exceptions import IMAPClientError

            with suppress(IMAPClientError, OSError):
                client.shutdown()

    def _follow(self) -> None:
        """Read what is new, wait for more, for as long as the connection lasts."""
        client = self._client
        opened = client.select_folder(self._settings.mailbox, readonly=True)
        if b"UIDVALIDITY" not in opened:
            raise ValueError(UNNUMBERED)
        self._begin(int(opened[b"UIDVALIDITY"]), self._next_uid(opened))
        idles = client.has_capability("IDLE")
        seconds = FIRST_IDLE_SECONDS
        while not self._stop.is_set():
            seconds = FIRST_IDLE_SECONDS if self._read_new() else min(seconds * IDLE_GROWTH, IDLE_SECONDS)
            self._tries = 0  # only now: a server that takes a login and then fails is waited for ever longer
            if idles:
                self._idle(seconds)
            else:
                self._stop.wait(self._settings.poll_seconds)
                client.noop()

    def _next_uid(self, opened: Any) -> int:
        """The number of the next mail; a server may keep it to itself (RFC 3501 6.3.1 wants it, 2.3.1.1 does not)."""
        if b"UIDNEXT" in opened:
            return int(opened[b"UIDNEXT"])
        uids: list[int] = self._client.search(["ALL"])
        return max([0, *uids]) + 1

    def _begin(self, uidvalidity: int, uidnext: int) -> None:
        """The first time only what comes from now on counts; with new numbers, perhaps what came since yesterday."""
        known = self._call(self._known())
        if known is not None and known.uidvalidity == uidvalidity:
            return
        first = uidnext
        if known is not None and self._from_yesterday:
            recent = self._client.search(["SINCE", (datetime.now().astimezone() - timedelta(days=1)).date()])
            first = min([uidnext, *recent])
        self._call(self._reader.take(None, Place(uidvalidity, first)))

    async def _known(self) -> Place | None:
        return self._reader.place()

    def _read_new(self) -> bool:
        """Hand over what is new, and whether anything was. What is told of while it is read is read too: IDLE would
        not tell of it again.
        """
        self._is_told()
        found = self._read_once()
        while self._is_told() and not self._stop.is_set():
            found = self._read_once() or found
        return found

    def _is_told(self) -> bool:
        """Whether the server has told of mail since this was last asked."""
        return bool(self._client._imap.response("EXISTS")[1] != [None])

    def _read_once(self) -> bool:
        place = self._call(self._known())
        if place is None:
            raise NotNow("the watch was given up, and perhaps taken up again: begin anew")
        found = self._client.search(["UID", f"{place.next_uid}:*"])
        new = sorted(uid for uid in found if uid >= place.next_uid)
        for uid in new:
            if self._stop.is_set():
                break
            size = self._fetch(uid, "RFC822.SIZE", b"RFC822.SIZE")
            is_large = size is not None and size > self._largest
            raw = None if size is None or is_large else self._fetch(uid, "BODY.PEEK[]", b"BODY[]")
            if is_large or raw is not None:  # else it has gone meanwhile
                self._call(self._reader.take(raw, Place(place.uidvalidity, uid + 1)))
        return bool(new)

    def _fetch(self, uid: int, item: str, key: bytes) -> Any:
        """An item of a mail; None when the mail is not there any more."""
        return self._client.fetch([uid], [item]).get(uid, {}).get(key)

    def _idle(self, seconds: float) -> None:
        client = self._client
        client.idle()
        try:
            client.idle_check(timeout=seconds)
        finally:
            client.idle_done()

    def _call(self, work: Awaitable[Any]) -> Any:
        """Run something in the event loop and wait for it."""
        if self._loop is None:
            raise OSError("the loop is over")

        async def run() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()


def try_out(far: Far, seconds: float) -> tuple[str, bool]:
    """Log in to a mailbox, open it read-only and leave. Why that fails, in words, or ""; and whether it has IDLE."""
    from imapclient.exceptions import IMAPClientError

    client: Any = None
    try:
        client = _dialled(far, seconds)
        _enter(client, far)
        opened = client.select_folder(far.mailbox, readonly=True)
        return ("" if b"UIDVALIDITY" in opened else UNNUMBERED), bool(client.has_capability("IDLE"))
    except (IMAPClientError, OSError, ValueError, SecretError) as error:
        return _why(error), False
    finally:
        if client is not None:
            with suppress(IMAPClientError, OSError):
                client.shutdown()


def _dialled(far: Far, seconds: float) -> Any:
    """A client that is connected and not logged in."""
    import ssl

    import imapclient

    return imapclient.IMAPClient(
        far.host,
        far.port,
        use_uid=True,
        ssl=far.tls == "implicit",
        ssl_context=ssl.create_default_context() if far.tls == "implicit" else None,
        timeout=imapclient.SocketTimeout(connect=min(CONNECT_SECONDS, seconds), read=seconds),
    )


def _enter(client: Any, far: Far) -> None:
    if far.tls == "starttls":
        import ssl

        client.starttls(ssl.create_default_context())
    client.login(far.username, far.password.reveal() if far.password else "")


def _why(error: Exception) -> str:
    """Why a mailbox cannot be read, in words for its owner."""
    from imapclient.exceptions import LoginError

    if isinstance(error, LoginError):
        return "it refuses the login"
    if isinstance(error, SecretError):
        return f"its password cannot be read ({error.reference}: {error.message})"
    if isinstance(error, OSError):
        return "it cannot be reached, or its certificate is not trusted"
    return "it does not answer as a mail server does, or the mailbox is not there"
