"""One IMAP connection, sans-IO: commands in, answers out, one at a time, driven by the transport pump.

Rule: a session knows the dialect and no extension; what may be told when is decided by traits (pipeline.py), never by
a handler. An idle session is only this object: no task, no future, no timer, as hundreds of them wait at once.
"""

import ssl
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from bridge.auth import Identity
from bridge.imap import sync
from bridge.imap.command import AnyCommand, Done, Farewell, Hold, Outcome, Refused
from bridge.imap.dialect import Dialect, Mode, Standing
from bridge.imap.host import Host
from bridge.imap.items.flags import FlagTexts
from bridge.imap.output import Output
from bridge.imap.pipeline import News, check_place, news_after
from bridge.imap.refusals import GENERAL, as_refusal
from bridge.imap.states import Listening, Selected, State
from bridge.imap.wire import framer as wires
from bridge.imap.wire import render
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.framer import Framer
from bridge.net.deflate import DeflatedWire, DeflateError, Inflater
from bridge.net.transport import Wire
from config.settings import Settings
from mailstore.errors import NoSuchMailbox, StoreError
from mailstore.sqlite import WriteTx
from mailstore.store import Store

T = TypeVar("T")

MAX_BAD: Final = 20  # faulty commands in a row after which a peer is no IMAP client
BURST_SECONDS: Final = 0.1  # news during IDLE goes out at once, but not more often than this
NO_MODES: Final[frozenset[Mode]] = frozenset()
NAMES_IN_UTF8: Final = frozenset({Mode.UTF8, Mode.REV2})


class Session(Output):
    """The conversation of one client."""

    __slots__ = (
        "_ahead",
        "_bad",
        "_blobs",
        "_bye",
        "_current",
        "_hold",
        "_inflate",
        "_look_due",
        "_met",
        "admitted",
        "dialect",
        "framer",
        "host",
        "identity",
        "idling",
        "listening",
        "modes",
        "pushed_at",
        "selected",
        "state",
        "touched",
        "working",
    )

    def __init__(self, host: Host, dialect: Dialect) -> None:
        super().__init__()
        self.host = host
        self.dialect = dialect  # of the listener that the client came by
        self.framer = Framer(host.framer_limits)
        self.state = State.FRESH
        self.identity: Identity | None = None
        self.selected: Selected | None = None
        self.modes = NO_MODES
        self.idling = False
        self.listening: Listening | None = None  # what is to be told at all times, as NOTIFY asked
        self.touched = host.clock()  # when the client was last heard of, monotonic seconds
        self.pushed_at = 0.0  # when news or a keep-alive last went out during IDLE
        self._look_due = False  # during IDLE: something may have changed in the results that are watched
        self._ahead: wires.Event | None = None  # the next command, cut before the last one's news was told
        self._current: tuple[bytes, AnyCommand] | None = None
        self._hold: Hold | None = None
        self._blobs: list[bytearray] = []
        self._bad = 0
        self._inflate: Inflater | None = None
        self._met = False  # something has been said that had the form of a command
        self._bye: Farewell | None = None  # to be said when the command at hand is done
        self.working = False
        self.admitted = False  # counted among the host's connections

    # What commands use

    @property
    def store(self) -> Store:
        return self.host.store

    @property
    def settings(self) -> Settings:
        return self.host.settings

    @property
    def flag_texts(self) -> FlagTexts:
        return self.host.flag_texts

    @property
    def may_login(self) -> bool:
        """TLS is on, or the owner allows login without it from this machine."""
        return self.wire.secure or (not self.settings.require_tls and self.wire.loopback)

    def standing(self) -> Standing:
        tls_possible = self.host.tls is not None and not self.wire.secure
        limits = self.settings.imap
        return Standing(self.state, self.may_login, tls_possible, limits.append_limit, limits.message_limit)

    def capabilities(self) -> bytes:
        return b" ".join((b"CAPABILITY", *self.dialect.capabilities(self.standing())))

    def open_mailbox(self) -> Selected:
        """The selected mailbox, for commands of the selected state."""
        if self.selected is None:
            raise Refused("No mailbox is selected", b"CLIENTBUG", bad=True)
        return self.selected

    @property
    def tag(self) -> bytes:
        """The tag of the command at hand."""
        return self._current[0] if self._current is not None else b""

    def user(self) -> Identity:
        if self.identity is None:
            raise Refused("Log in first", bad=True)
        return self.identity

    async def commit(self, fn: Callable[[WriteTx], T]) -> T:
        """`store.write` for what the client itself asked for, which it is not told again (RFC 5465 section 5)."""
        if self.listening is None:
            return await self.store.write(fn)
        found: T = await self.listening.own(self, fn)
        return found

    @property
    def tells_uids(self) -> bool:
        """Whether flags are told with the UID in any case (RFC 5465 section 5.1, RFC 9051 section 7.5.2)."""
        return self.listening is not None or Mode.REV2 in self.modes

    def news(self, news: News) -> News:
        """Of what may be told now, what the client wants to hear."""
        return news if self.listening is None else self.listening.allowed(news)

    def blob(self, number: int) -> bytes:
        """The bytes of a streamed literal, once."""
        data = bytes(self._blobs[number])
        self._blobs[number] = bytearray()
        return data

    def enter(self, identity: Identity) -> None:
        """The login succeeded. Raises Refused when the account has too many sessions."""
        self.host.count_in(self, identity)
        self.identity = identity
        self.state = State.READY
        self.framer.set_authenticated(True)

    def leave_account(self) -> None:
        """Back to the state before the login, with nothing turned on (RFC 8437)."""
        self.unselect()
        self.listen(None)
        self.host.count_out(self)
        self.identity = None
        self.state = State.FRESH
        self.modes = NO_MODES
        self.framer.utf8 = False
        self.framer.set_authenticated(False)

    def turn_on(self, modes: Iterable[Mode]) -> None:
        """Modes once on stay on (RFC 5161). Whoever begins to follow modseqs in a mailbox is told where it stands."""
        modes = frozenset(modes)
        if Mode.CONDSTORE in modes - self.modes and self.selected is not None:
            self.say(b"OK [HIGHESTMODSEQ %d] From here on" % self.selected.view.modseq)
        self.modes = self.modes | modes
        self.framer.utf8 = bool(self.modes & NAMES_IN_UTF8)

    def listen(self, listening: Listening | None) -> None:
        """Tell what NOTIFY asks for, in place of what was asked for before."""
        if self.listening is not None:
            self.listening.leave()
        self.listening = listening

    def select(self, selected: Selected) -> None:
        """A mailbox was opened. Raises ConnectionError when the client has gone meanwhile."""
        if self.state is State.OVER:
            selected.leave()
            raise ConnectionResetError("the client is gone")
        self.selected = selected
        self.state = State.SELECTED

    def unselect(self) -> None:
        """Leave the mailbox; expunging is the business of whoever closes it."""
        if self.selected is not None:
            self.selected.leave()
            self.selected = None
        if self.state is State.SELECTED:
            self.state = State.READY

    # From the pump

    def opened(self, wire: Wire) -> None:
        self.wire = wire
        refusal = self.host.admit(self)
        if refusal is not None:
            self._leave(refusal)
            return
        self.say(b"OK [" + self.capabilities() + b"] Postroom ready")
        self.flush_now()

    def received(self, data: bytes) -> None:
        self.touched = self.host.clock()
        if self._inflate is not None:
            try:
                data = self._inflate(data)
            except DeflateError as error:
                if self.state is not State.OVER:
                    self._leave(Farewell(str(error)))
                return
        self.framer.feed(data)

    @property
    def unread(self) -> int:
        return self.framer.buffered

    async def work(self) -> None:
        """Run every command that is complete."""
        self.working = True
        try:
            while await self._step() or await self._unasked():
                if self._bye is not None:
                    raise self._bye
        except Farewell as farewell:
            self._leave(farewell)
        finally:
            self.working = False
        self.writable_again()

    def failed(self) -> None:
        if self._current is not None:
            tag, _ = self._current
            self._current = self._hold = None
            self.idling = False
            self._answer(tag, GENERAL)
            self.flush_now()
        else:
            self._leave(Farewell(GENERAL.text, GENERAL.code))

    async def _unasked(self) -> bool:
        """Between commands and during IDLE: what the client asked to be told at all times. False: there is nothing."""
        if not self._due or self.state is State.OVER or not self.wire.writable:
            return False
        if self._hold is not None and not self.idling:
            return False
        self._look_due = False
        if self.listening is not None:
            self.listening.due = False
        try:
            sync.catch_up(self, self.news(News(any=True, gone=self.idling, between=True)))
            await self._tell_further()
        except NoSuchMailbox:
            raise _deleted() from None
        if self._out:
            self.pushed_at = self.host.clock()
        await self.flush()
        return True

    @property
    def _due(self) -> bool:
        return self._look_due and self.idling if self.listening is None else self.listening.due

    async def _tell_further(self) -> None:
        """Behind the news of the mailbox: what of it changes watched results, and what is told of other mailboxes."""
        if self.selected is not None and self.selected.watches:
            await self.selected.refresh_watches(self)
        if self.listening is not None:
            await self.listening.tell(self)

    def writable_again(self) -> None:
        if self._due:
            self.host.rouse(self)
        elif self.idling and self.listening is None and self.selected is not None and self.selected.stale:
            self.rung()

    def lost(self) -> None:
        self.state = State.OVER
        self.unselect()
        self.listen(None)
        self.host.forget(self)

    def goodbye(self, text: str) -> None:
        """End the connection from the server's side (shutdown, time-out); a command under way is finished first."""
        if self.working:
            self._bye = Farewell(text)
        elif self.state is not State.OVER:
            self._leave(Farewell(text))

    def keep_alive(self) -> None:
        """Something harmless to say during a long IDLE."""
        if self.idling and not self.working and self.wire.writable:
            self.pushed_at = self.host.clock()
            self.say(b"OK Still here")
            self.flush_now()

    def progress(self) -> None:
        """Say that the command at hand is still being worked on (RFC 9585), unless an answer is on its way out."""
        if self.working and self._current is not None and not self._flushing and self.wire.writable:
            self.wire.write(b"* OK [INPROGRESS (%b NIL NIL)] Still working\r\n" % render.quoted(self.tag))

    # News

    def rung(self) -> None:
        """The doorbell of the selected mailbox, or of what NOTIFY follows: something was committed there.

        In IDLE it is told at once, a burst at most every tenth of a second; each session in a turn of its own, so that
        what goes wrong with one keeps nothing from the others.
        """
        if self.selected is not None:
            self.selected.stale = True
        if self.listening is not None:
            self.listening.due = True
        if self.idling or self.listening is not None:
            self.host.push_later(self, max(0.0, self.pushed_at + BURST_SECONDS - self.host.clock()))

    def push(self) -> None:
        """Tell the news during IDLE; a peer that does not read is told when he has read."""
        if self.listening is None and (not self.idling or self.working or not self.wire.writable):
            return
        watching = self.selected is not None and bool(self.selected.watches)
        if self.listening is not None or watching:  # looking takes its time, and no command may come in between
            self._look_due = watching
            self.host.rouse(self)
            return
        try:
            if sync.catch_up(self, News(any=True, gone=True)):
                self.pushed_at = self.host.clock()
                self.flush_now()
        except NoSuchMailbox:
            self._leave(_deleted())

    # Commands

    async def _step(self) -> bool:
        """Do one thing; False when the next is not complete yet."""
        if self.state is State.OVER:
            return False
        if self._hold is not None:
            return await self._resume(self._hold)
        event = self._ahead if self._ahead is not None else self.framer.next()
        self._ahead = None
        if isinstance(event, wires.Need):
            return False
        await self._handle(event)
        return True

    async def _handle(self, event: wires.Event) -> None:
        match event:
            case wires.Frame():
                await self._command(event)
            case wires.Continue():
                self.prompt(b"Go ahead")
                self.flush_now()
            case wires.BlobStart():
                self._blobs.append(bytearray())
            case wires.BlobChunk():
                self._blobs[event.number] += event.data
            case wires.BlobEnd():
                pass
            case wires.Refused():
                self._refused(event)
                await self.flush()

    def _refused(self, event: wires.Refused) -> None:
        """A command that never became a frame."""
        self._blobs.clear()
        code = event.code.encode("ascii") if event.code else None
        if event.fatal:
            raise Farewell(event.text, code)
        if not self._met and event.fault is wires.Fault.SYNTAX:
            raise Farewell("This is an IMAP server")  # a browser led here, or a scanner
        self._answer(event.tag or b"*", Refused(event.text, code, bad=event.status == "BAD"))

    async def _command(self, frame: wires.Frame) -> None:
        self._met = True
        command = self.dialect.commands.get(frame.name)
        if command is None:
            self._answer(frame.tag, Refused("Unknown command", bad=True))
            await self.flush()
            return
        self._current = (frame.tag, command)
        try:
            check_place(command, self.state, self.modes)
            arguments = command.parse(frame.cursor, self.dialect)
            outcome: Outcome | Refused = await command.run(self, arguments)
        except (ParseError, StoreError) as error:
            outcome = as_refusal(error)
        except Refused as refused:
            outcome = refused
        await self._finish(outcome)

    async def _resume(self, hold: Hold) -> bool:
        """Hand a bare line to the command that waits for one; False when it has not come yet."""
        line = self.framer.next_line()
        if isinstance(line, wires.Need):
            return False
        self._hold = None
        if isinstance(line, wires.Refused):
            raise Farewell(line.text)
        try:
            outcome: Outcome | Refused = await hold.resume(self, line)
        except (ParseError, StoreError) as error:
            outcome = as_refusal(error)
        except Refused as refused:
            outcome = refused
        await self._finish(outcome)
        return True

    async def _finish(self, outcome: Outcome | Refused) -> None:
        if isinstance(outcome, Hold):
            self._hold = outcome
            await self.flush()
            return
        assert self._current is not None
        tag, command = self._current
        then, counted = (outcome.then, outcome.counted) if isinstance(outcome, Done) else (None, False)
        if then is None:
            self._tell(command, counted=counted)
            await self._tell_further()
        self._answer(tag, outcome)
        self._current = None
        self._blobs.clear()
        await self.flush()
        if then is not None:
            await then(self)

    def _tell(self, command: AnyCommand, *, counted: bool) -> None:
        if self.selected is None:
            return
        counted = counted and Mode.QRESYNC in self.modes
        news = self.news(news_after(command, self._look_ahead(), counted=counted))
        try:
            sync.catch_up(self, news)
        except NoSuchMailbox:
            raise _deleted() from None

    def _look_ahead(self) -> AnyCommand | None:
        """The command that the client has already sent behind this one, if it is complete."""
        if self._ahead is None:
            event = self.framer.next()
            self._ahead = None if isinstance(event, wires.Need) else event
        return self.dialect.commands.get(self._ahead.name) if isinstance(self._ahead, wires.Frame) else None

    def _answer(self, tag: bytes, outcome: Done | Refused) -> None:
        """The tagged line (`*` for a tag that could not be read)."""
        if isinstance(outcome, Done):
            status, self._bad = b" OK ", 0
        else:
            status = b" BAD " if outcome.bad else b" NO "
            self._bad = self._bad + 1 if outcome.bad else 0
        code = b"[" + outcome.code + b"] " if outcome.code else b""
        self._out.append(tag + status + code + render.text(outcome.text) + b"\r\n")
        if self._bad >= MAX_BAD:
            raise Farewell("Too many faulty commands")

    def _leave(self, farewell: Farewell) -> None:
        code = b"[" + farewell.code + b"] " if farewell.code else b""
        self.say(b"BYE " + code + render.text(farewell.text))
        self.flush_now()
        self.end()

    def end(self) -> None:
        """Nothing more is read or said."""
        self.state = State.OVER
        self.idling = False
        self._hold = None
        self.unselect()
        self.wire.close()

    def turn_to_deflate(self) -> None:
        """After the OK of COMPRESS: everything from here on is compressed, also what has come already (RFC 4978)."""
        self.wire = DeflatedWire(self.wire)
        self._inflate = Inflater()
        rest = self.framer.take_rest()
        if rest:
            self.received(rest)

    async def turn_to_tls(self, context: ssl.SSLContext) -> None:
        """After the OK of STARTTLS: all that was said in clear is forgotten (RFC 3501 section 6.2.1)."""
        await self.wire.start_tls(context)
        self.framer = Framer(self.host.framer_limits)


def _deleted() -> Farewell:
    return Farewell("The selected mailbox was deleted")
