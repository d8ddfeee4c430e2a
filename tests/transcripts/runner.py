"""Plays a dialogue file against real sessions.

A file is lines of these kinds; `C` and `S` may carry a number (C2, S2) for further clients:

    # ...                   a comment
    % tls required          the house wants TLS; % extensions all: it speaks every extension there is;
                            % message limit 3: a command takes no more messages
    % login C ada INBOX     connect, log in, and select (the last may be left out); % connect C [tls], % greeting C
    C: a1 NOOP              the client says a line; in it {*} or {*+} is the size of the C| lines that follow
    C| Subject: x           a line of the literal (each with CRLF); the command's line ends after the last
    C! DONE\\r\\nb NOOP\\r\\n   bytes as they are, in one segment
    S: * <n> EXISTS         what the client must hear next: <n> a number, <*> anything; <x=n> remembers, <x> repeats
    ! append INBOX Hello \\Seen      the program itself acts on the store; see ACTIONS
    - closed C              the connection is closed now

Rule: every line a server says must be expected, in order; what is left over fails the file.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mailstore import flags, labels, mailboxes, messages
from mailstore.model import FlagOp, Uid
from tests.imap.harness import PASSWORD, Client, House, letter

STEP: Final = re.compile(r"([CS])(\d*)([:|!]) ?(.*)\Z", re.DOTALL)
HOLE: Final = re.compile(r"<(?:([a-z]\w*)=)?([n*]|[a-z]\w*)>")
SIZE: Final = re.compile(r"\{\*(\+?)\}\Z")


@dataclass
class Player:
    """The state of one dialogue."""

    house: House
    clients: dict[str, Client] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    piece: int = 0  # bytes that arrive at once of what clients say; 0: all of a line

    async def play(self, text: str, name: str) -> None:
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                await self._step(line, lines[at + 1 :])
            except (AssertionError, TimeoutError) as error:
                raise AssertionError(f"{name}:{at + 1}: {line}\n{error!r}") from None
        for number, client in self.clients.items():
            await client.settle()
            assert not client.inbox, f"{name}: C{number} heard more: {bytes(client.inbox)!r}"

    async def _step(self, line: str, following: list[str]) -> None:
        if line.startswith("%"):
            await self._directive(*line[1:].split())
        elif line.startswith("!"):
            await self._act(*line[1:].split())
        elif line.startswith("-"):
            await self._closed(line.split()[-1])
        else:
            match = STEP.match(line)
            assert match, "not a line of a dialogue"
            side, number, kind, rest = match.groups()
            client = self.client(number)
            if side == "S":
                await self._expect(client, rest)
            elif kind == ":":
                await self._say(client, number, rest, following)
            elif kind == "!":
                client.send(rest.encode().decode("unicode_escape").encode("latin-1"))
            else:
                await self._literal(client, rest, number, following)

    def client(self, number: str) -> Client:
        assert number in self.clients, f"C{number} is not connected"
        return self.clients[number]

    async def _directive(self, word: str, who: str, *rest: str) -> None:
        number = who.removeprefix("C")
        if word == "connect":
            self.clients[number] = await self.house.dial(secure="tls" in rest)
            return
        assert word == "login", f"unknown directive {word}"
        self.clients[number] = await self.house.login(rest[0], " ".join(rest[1:]) or None)

    async def _say(self, client: Client, number: str, text: str, following: list[str]) -> None:
        await client.settle()
        assert not client.inbox, f"heard before: {bytes(client.inbox)!r}"
        text = self._fill(text)
        size = SIZE.search(text)
        if size:
            literal = self._lines(number, following)
            text = f"{text[: size.start()]}{{{sum(map(len, literal))}{size[1]}}}"
        await self._deliver(client, text.encode() + b"\r\n")

    async def _deliver(self, client: Client, data: bytes) -> None:
        """Hand over what a client says; the server looks at each piece before the next comes."""
        size = self.piece or len(data)
        for start in range(0, len(data), size):
            client.send(data[start : start + size])
            if self.piece:
                await asyncio.sleep(0)
                await asyncio.sleep(0)

    def _lines(self, number: str, following: list[str]) -> list[bytes]:
        """The C| lines of this client up to the next thing that it says."""
        found = []
        for line in following:
            match = STEP.match(line)
            if match is None or match[1] != "C" or match[2] != number:
                continue
            if match[3] != "|":
                break
            found.append(match[4].encode() + b"\r\n")
        return found

    async def _literal(self, client: Client, text: str, number: str, following: list[str]) -> None:
        await self._deliver(client, text.encode() + b"\r\n")
        after = STEP.match(following[0]) if following else None
        if after is None or (after[1], after[2], after[3]) != ("C", number, "|"):
            await self._deliver(client, b"\r\n")

    async def _expect(self, client: Client, pattern: str) -> None:
        line = (await client.line()).decode("utf-8", "backslashreplace")
        assert line.endswith("\r\n"), f"the connection ended instead of: {pattern}"
        heard = line.removesuffix("\r\n")
        match = re.fullmatch(self._expression(pattern), heard)
        assert match, f"expected {pattern!r}\nheard    {heard!r}"
        self.known.update(match.groupdict())

    def _expression(self, pattern: str) -> str:
        """The pattern as a regular expression."""
        made, at = "", 0
        for hole in HOLE.finditer(pattern):
            made += re.escape(pattern[at : hole.start()])
            name, kind = hole.groups()
            inner = {"n": r"\d+", "*": ".*"}.get(kind)
            if inner is None:
                made += re.escape(self.known[kind])
            else:
                made += f"(?P<{name}>{inner})" if name else inner
            at = hole.end()
        return made + re.escape(pattern[at:])

    def _fill(self, text: str) -> str:
        return HOLE.sub(lambda hole: self.known.get(hole[2], hole[0]), text).replace("<password>", PASSWORD)

    async def _closed(self, who: str) -> None:
        client = self.client(who.removeprefix("C"))
        assert await client.line() == b"", "the connection is still open"

    # Acts of the program itself

    async def _act(self, verb: str, *rest: str) -> None:
        action = ACTIONS.get(verb)
        assert action, f"unknown action {verb}"
        await action(self.house, *(self._fill(word) for word in rest))


async def _append(house: House, mailbox: str, subject: str, *names: str) -> None:
    flags, labels = [name for name in names if name != "open"], [name for name in names if name == "open"]
    await house.append(mailbox, letter(subject), flags=flags, labels=labels)


async def _flag(house: House, mailbox: str, uid: str, change: str) -> None:
    op = FlagOp.ADD if change[0] == "+" else FlagOp.REMOVE
    await house.store.write(lambda tx: flags.store(tx, house.mailbox(mailbox), [Uid(int(uid))], op, [change[1:]]))


async def _move(house: House, mailbox: str, uid: str, target: str) -> None:
    source, into = house.mailbox(mailbox), house.mailbox(target)
    await house.store.write(lambda tx: messages.move(tx, source, [Uid(int(uid))], into))


async def _expunge(house: House, mailbox: str, uid: str) -> None:
    box = house.mailbox(mailbox)
    await house.store.write(lambda tx: messages.expunge(tx, box, [Uid(int(uid))], only_deleted=False))


async def _label(house: House, mailbox: str, uid: str, on: str) -> None:
    box = house.mailbox(mailbox)
    row = house.store.read(lambda tx: messages.fetch(tx, box, [Uid(int(uid))]))[0]
    await house.store.write(lambda tx: labels.set_label(tx, row.email, "open", on == "on"))


async def _delete(house: House, name: str) -> None:
    box = house.mailbox(name)
    await house.store.write(lambda tx: mailboxes.delete(tx, box))


async def _create(house: House, name: str) -> None:
    account = house.accounts["ada"].id
    await house.store.write(lambda tx: mailboxes.create(tx, account, name))


async def _rename(house: House, name: str, new: str) -> None:
    box = house.mailbox(name)
    await house.store.write(lambda tx: mailboxes.rename(tx, box, new))


async def _subscribe(house: House, name: str, on: str) -> None:
    account = house.accounts["ada"].id
    await house.store.write(lambda tx: mailboxes.subscribe(tx, account, name, on == "on"))


ACTIONS: Final[dict[str, Callable[..., Awaitable[None]]]] = {
    "append": _append,
    "flag": _flag,
    "move": _move,
    "expunge": _expunge,
    "label": _label,
    "create": _create,
    "delete": _delete,
    "rename": _rename,
    "subscribe": _subscribe,
}


def dialogues(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.txt"))
