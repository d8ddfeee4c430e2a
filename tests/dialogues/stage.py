"""Plays a dialogue against the real product: a real folder, store, runtime and relay in this process.

The rule: after every act of the person everything that can happen is waited for, and then the file is held against
what there is: a line that does not hold, a mail that no line names, and an answer that was never asked for all fail.
"""

import asyncio
import contextlib
import dataclasses
import difflib
import email
import email.policy
import json
import re
import sqlite3
import sys
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from agents import bundle
from agents.llm import Price
from agents.models.litellm_provider import DEFAULT_WINDOW
from bridge.sink import Delivered, Sink
from bridge.submissions import Receipt, Refused
from config import settings as config_settings
from config.load import load
from mailstore.errors import StoreError
from mailstore.store import FILE
from tests.dialogues import outsiders
from tests.dialogues.actor import FREE, Actor, Cues
from tests.dialogues.script import Block, Dialogue, Scene, filled, read_call
from tests.post.desk import PATIENCE, Desk, Kept, Person, opened

ROOT = Path(__file__).resolve().parents[2]
ZONE = ZoneInfo("Europe/Berlin")
START = "2026-11-30 09:12"
OWN = frozenset({"home", "relay", "listen", "user", "timezone"})
"""Settings that the stage itself makes."""
UNFINISHED = """
    SELECT (SELECT count(*) FROM runs WHERE state IN ('queued', 'running'))
         + (SELECT count(*) FROM outbox
            WHERE kind = 'mail' AND (state IN ('sending', 'data_sent') OR (state = 'queued' AND next_at <= ?)))"""
SPANS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


class Clock:
    """The time of the dialogue, which moves only by `do> wait` and `do> clock`."""

    def __init__(self) -> None:
        self.set(START)

    def set(self, local: str) -> None:
        self.at = int(datetime.fromisoformat(local).replace(tzinfo=ZONE).timestamp() * 1000)

    def now(self) -> int:
        return self.at


class Stage:
    """One dialogue being played. `patience` is how long, in seconds, a mail in another mailbox is waited for."""

    def __init__(self, dialogue: Dialogue, home: Path, clock: Clock, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._dialogue = dialogue
        self._home = home
        self._clock = clock
        self._cues = Cues(file=dialogue.name)
        self._files: dict[str, str] = {}
        self._named: set[int] = set()
        self._zips: dict[str, dict[str, bytes]] = {}
        self._elsewhere: outsiders.Elsewhere
        self._refused = ""
        self._said = ""
        self._calls = 0
        self._left = 0
        self._ask: Kept | None = None
        self._mail: Kept | None = None
        self._desk: Desk
        self._ada: Person

    async def play(self) -> None:
        """Play the whole file. Raises AssertionError with what differs, BadDialogue for what cannot be played."""
        sink = Sink()
        async with contextlib.AsyncExitStack() as end:
            port = await sink.start()
            end.push_async_callback(sink.close)
            await self._surroundings(end)
            more = self._set_up()
            running = await end.enter_async_context(contextlib.AsyncExitStack())
            await self._open(running, sink, port, more)
            self._ada = await self._desk.person("ada")
            for scene in self._dialogue.scenes:
                if scene.act.text == "restart":
                    await running.aclose()
                    await self._open(running, sink, port, more)
                    self._ada = Person(self._desk, self._ada.identity)
                await self._scene(scene)

    async def _open(self, running: contextlib.AsyncExitStack, sink: Sink, port: int, more: dict[str, Any]) -> None:
        self._desk = await running.enter_async_context(opened(self._home, sink, port, work=False, **more))
        if any(block.mark == "model<" for scene in self._dialogue.scenes for block in scene.seen):
            models: dict[str, Any] = self._desk.app.runtime._office.models  # type: ignore[assignment]  # it is a dict
            for tag, made in self._desk.app.settings.models.items():
                models[tag] = _actor(tag, made, self._cues)
        await self._desk.app.start()

    async def _surroundings(self, end: contextlib.AsyncExitStack) -> None:
        """What is around the house as far as the file needs it, and the words in braces that stand for it."""
        dialogue, home = self._dialogue, self._home
        words = {"{python}": sys.executable, "{home}": str(home), "{root}": str(ROOT), "{tests}": str(ROOT / "tests")}
        words["{disk}"], words["{zips}"] = str(home.parent / "disk"), str(home.parent)
        if pages := {block.who: block.text for block in dialogue.before if block.mark == "page>"}:
            served = outsiders.Pages(pages)
            words["{web}"] = f"127.0.0.1:{await served.start()}"
            end.push_async_callback(served.close)
        if any(scene.act.mark == "elsewhere>" for scene in dialogue.scenes):
            self._elsewhere = await outsiders.Elsewhere.opened(end, home.parent / "elsewhere")
            words.update(await self._elsewhere.words())
        self._dialogue = filled(dialogue, words)

    def _set_up(self) -> dict[str, Any]:
        """Write the files of the data folder, and read the settings as the product does."""
        self._home.mkdir(mode=0o700)
        toml = ""
        for block in self._dialogue.before:
            if block.mark == "setup>":
                toml += f"{block.text}\n"
            elif block.mark == "file>":
                self._files[block.who] = f"{block.text}\n"
            elif block.mark == "zip>":
                name, _, inside = block.who.partition(" ")
                self._zips.setdefault(name, {})[inside] = f"{block.text}\n".encode()
            elif block.mark != "page>":
                place = (self._home if block.mark == "home>" else self._home.parent / "disk") / block.who
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                place.touch(mode=0o600)
                place.write_text(f"{block.text}\n", "utf-8")
        for name, files in self._zips.items():
            (self._home.parent / name).write_bytes(bundle.pack(files))
        (self._home / "postroom.toml").write_text(toml, "utf-8")
        made = load(home=self._home, environ={})
        fields = [field.name for field in dataclasses.fields(made) if field.name not in OWN]
        return {**{name: getattr(made, name) for name in fields}, "timezone": "Europe/Berlin"}

    # one scene

    async def _scene(self, scene: Scene) -> None:
        self._cues.load(scene.seen)
        await self._act(scene.act)
        await self._settled()
        self._no_trouble()
        for block in scene.seen:
            await self._see(block)
        assert not self._refused, f"{self._place(scene.act)}: the mail was refused: {self._refused}"
        self._no_trouble()
        self._nothing_else(scene)

    async def _settled(self) -> None:
        """Everything that can happen without the person or the clock has happened."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self._desk.settled()
                await self._desk.app.runtime.idle()
                if not self._rows(UNFINISHED, self._clock.now())[0][0] and not self._desk._busy():
                    return
                await self._desk.app.store.write(lambda tx: None)  # let what is under way be written down

    def _no_trouble(self) -> None:
        assert not self._cues.trouble, "\n".join(self._cues.trouble)

    def _nothing_else(self, scene: Scene) -> None:
        place = f"{self._dialogue.name}:{scene.act.line}"
        if unused := self._cues.waiting:
            line = unused[0].block
            raise AssertionError(f"{self._dialogue.name}:{line.line}: the model was never asked for\n  {line.text}")
        extra = [kept for kept in self._ada.mails() if kept.email not in self._named]
        assert not extra, f"{place}: after this act came mail that no line names:\n{_listed(extra)}"
        gone = self._desk.sink.messages[self._left :]
        assert not gone, f"{place}: mail left that no line names:\n" + "\n".join(_outside(one)[0] for one in gone)

    # what the person does

    async def _act(self, block: Block) -> None:
        if block.mark == "mail>":
            await self._write(block)
        elif block.mark == "drop>":
            head, text = _headers(block)
            lines = [f"From: {head.pop('From', 'somebody@example.org')}", f"Subject: {head.pop('Subject', 'Dropped')}"]
            raw = "\r\n".join([*lines, "Message-ID: <dropped@example.org>", "", *text.splitlines(), ""])
            await self._ada.append(block.who or "Agents/Assistant", raw.encode())
        elif block.mark == "webhook>":
            await outsiders.call(self._desk, self._ada, block.who, block.text)
        elif block.mark == "hook>":
            await outsiders.mail(self._desk, self._ada, block.who, *_headers(block))
        elif block.mark == "elsewhere>":
            await self._elsewhere.arrives(self._desk, self._ada, *_headers(block))
        elif block.mark == "postroom>":
            self._said = "\n".join([await outsiders.command(self._desk, line) for line in block.lines])
        elif block.mark in ("reply>", "answer>"):
            await self._answer(block)
        elif block.text != "restart":
            try:
                await self._do(block)
            except StoreError as refusal:
                self._refused = str(refusal)

    async def _write(self, block: Block) -> None:
        head, text = _headers(block)
        to = head.pop("To", "assistant")
        subject = head.pop("Subject", "")
        attached = [name.strip() for name in head.pop("Attached", "").split(",") if name.strip()]
        mail = self._ada.compose(self._address(to), subject, text, self._attachable(attached))
        for name, value in head.items():
            del mail[name]
            mail[name] = value.replace("{mail}", str(self._mail.message["Message-ID"]) if self._mail else "")
        await self._submit(block, mail)

    async def _submit(self, block: Block, mail: EmailMessage) -> None:
        """Hand a mail in, recipient by recipient. A refusal is told, or it is what the scene is about."""
        self._refused = ""
        for one in mail["To"].addresses:
            taken = self._desk.app.accept.recipient(self._ada.identity, one.addr_spec)
            if isinstance(taken, Refused):
                self._refused = f"{taken.code} {taken.status} {taken.text}"
        if not self._refused:
            named = [one.addr_spec for field in ("To", "Cc") for one in (mail[field].addresses if mail[field] else ())]
            assert isinstance(await self._ada.submit(mail, *named), Receipt), f"{self._place(block)}: it was not taken"

    def _attachable(self, names: list[str]) -> dict[str, str | bytes]:
        return {name: bundle.pack(self._zips[name]) if name in self._zips else self._files[name] for name in names}

    def _address(self, to: str) -> str:
        names = [one.strip() for one in to.split(",")]
        domain = self._desk.app.settings.domain
        return ", ".join(one if "@" in one else f"{one}@{domain}" for one in names)

    async def _answer(self, block: Block) -> None:
        answered = self._ask if block.mark == "answer>" else self._mail
        if block.who:
            answered = self._held(block.who, "", block)
        assert answered is not None, f"{self._place(block)}: there was nothing to answer"
        head, text = _headers(block)
        attached = [name.strip() for name in head.pop("Attached", "").split(",") if name.strip()]
        target = str((answered.message["Reply-To"] or answered.message["From"]).addresses[0].addr_spec)
        target = self._address(head.pop("To")) if "To" in head else target
        files = self._attachable(attached)
        mail = self._ada.compose(target, f"Re: {answered.message['Subject']}", text, files, answered)
        await self._submit(block, mail)

    async def _do(self, block: Block) -> None:
        for line in block.lines:
            if fit := re.fullmatch(r"wait (\d+) (second|minute|hour|day)s?", line):
                self._clock.at += int(fit[1]) * SPANS[fit[2]] * 1000
                await self._desk.app.runtime.tick()
            elif fit := re.fullmatch(r"connect (.+)", line):
                await self._connected(fit[1], block)
            elif fit := re.fullmatch(r"clock (.+)", line):
                self._clock.set(fit[1])
                await self._desk.app.runtime.tick()
            elif fit := re.fullmatch(r'move "(.+)" from (.+) to (.+)', line):
                await self._ada.move(self._held(fit[2], fit[1], block), fit[2], fit[3])
            elif fit := re.fullmatch(r'copy "(.+)" from (.+) to (.+)', line):
                await self._ada.copy(self._held(fit[2], fit[1], block), fit[2], fit[3])
            elif fit := re.fullmatch(r'expunge "(.+)" in (.+)', line):
                await self._ada.expunge(self._held(fit[2], fit[1], block), fit[2])
            elif fit := re.fullmatch(r"touch (.+)", line):
                (self._home / fit[1]).touch(mode=0o600)
            else:
                raise AssertionError(f"{self._place(block)}: nobody knows how to {line!r}")
            await self._settled()

    async def _connected(self, name: str, block: Block) -> None:
        """Wait until an MCP server of the data folder is connected and has listed its tools."""
        owner = self._desk.app.mcp.owner(name)
        assert owner is not None, f"{self._place(block)}: there is no server {name!r} in .mcp.json"
        async with asyncio.timeout(PATIENCE):
            await owner._linked()

    def _held(self, box: str, subject: str, block: Block) -> Kept:
        """The newest mail of a mailbox with a subject."""
        found = [kept for kept in self._ada.mails(box) if subject in kept.message["Subject"]]
        assert found, f"{self._place(block)}: no {subject!r} in {box}:\n{_listed(self._ada.mails(box))}"
        return found[-1]

    # what comes of it

    async def _see(self, block: Block) -> None:
        if block.mark in ("mail<", "ask>"):
            self._came(block)
        elif block.mark == "tool>":
            self._called(block)
        elif block.mark == "tool<":
            self._gave(block)
        elif block.mark == "sent<":
            self._sent(block)
        elif block.mark in ("refused<", "says<"):
            self._told(block)
        elif block.mark == "in<":
            await self._stands(block)
        elif block.mark == "gone<":
            held = [kept for kept in self._ada.mails(block.who or "INBOX") if block.text in kept.message["Subject"]]
            assert not held, f"{self._place(block)}: it is there still:\n{_listed(held)}"

    def _came(self, block: Block) -> None:
        asks = block.mark == "ask>"
        new = [kept for kept in self._ada.mails() if kept.email not in self._named]
        fitting = [kept for kept in new if asks is _asks(kept) and block.lines[0] in kept.message["Subject"]]
        kind = "request" if asks else "mail"
        wanted = f"no {kind} came whose subject holds\n  {block.lines[0]}"
        assert fitting, f"{self._place(block)}: {wanted}\nwhat came is\n{_listed(new)}"
        kept = next((one for one in fitting if _fits(block, one)), fitting[0])  # two runs end in any order
        self._compare(block, kept)
        self._named.add(kept.email)
        if asks:
            actions = {mail.email for mail in self._ada.mails("Action")}
            assert kept.email in actions, f"{self._place(block)}: the request does not stand in Action"
            self._ask = kept
        else:
            self._mail = kept

    async def _stands(self, block: Block) -> None:
        """A mail in any mailbox, waited for: Activity is written up to two seconds after a change."""
        box, subject = block.who or "INBOX", block.lines[0]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._ada.wait(
                    box, lambda all: any(subject in kept.message["Subject"] and _fits(block, kept) for kept in all)
                )
        held = self._ada.mails(box)
        named = [kept for kept in held if subject in kept.message["Subject"]]
        assert named, f"{self._place(block)}: nothing in {box} has the subject\n  {subject}\nthere is\n{_listed(held)}"
        fitting = [kept for kept in named if _fits(block, kept)]
        self._compare(block, (fitting or named)[-1])

    def _compare(self, block: Block, kept: Kept) -> None:
        if faults := _misses(block.lines[1:], _whole(kept)):
            raise AssertionError(
                f"{self._place(block)}: the mail {kept.message['Subject']!r} is not as the file says:\n"
                + "\n".join(faults)
                + "\n"
                + _difference(block.lines[1:], _whole(kept))
            )

    def _called(self, block: Block) -> None:
        rows = self._rows("SELECT tool, args, raw_args, state, coalesce(result, '') FROM tool_calls ORDER BY rowid")
        for line in block.lines:
            wanted = read_call(line)
            known = [row for row in rows[self._calls :] if row[0] == wanted.name]
            listed = "\n".join(f"  {row[0]} {row[2]}" for row in rows[self._calls :]) or "  (nothing)"
            assert known, f"{self._place(block)}: no tool was called as\n  {line}\nwhat was called is\n{listed}"
            self._calls = rows.index(known[0]) + 1
            given = json.loads(known[0][1])
            part = {name: value for name, value in given.items() if name in wanted.args}
            said, meant = (known[0][2], wanted.raw) if wanted.raw else (_args(given), _args(wanted.args))
            same = said == meant if wanted.raw else part == wanted.args
            assert same, f"{self._place(block)}: {wanted.name} was called otherwise:\n{_difference([meant], said)}"

    def _gave(self, block: Block) -> None:
        """What the call of the line before gave back; `(failed)` names its state."""
        rows = self._rows("SELECT tool, state, coalesce(result, '') FROM tool_calls ORDER BY rowid")
        tool, state, result = rows[self._calls - 1]
        for line in block.lines:
            wanted = re.fullmatch(r"\((\w+)\)", line)
            if wanted is not None:
                assert wanted[1] == state, f"{self._place(block)}: {tool} is {state!r}, not {wanted[1]!r}:\n{result}"
        words = [line for line in block.lines if not re.fullmatch(r"\(\w+\)", line)]
        if faults := _misses(words, result):
            raise AssertionError(
                f"{self._place(block)}: {tool} gave something else:\n"
                + "\n".join(faults)
                + f"\n{_difference(words, result)}"
            )

    def _sent(self, block: Block) -> None:
        new = self._desk.sink.messages[self._left :]
        assert new, f"{self._place(block)}: no mail left the house"
        self._left += 1
        first, text = _outside(new[0])
        assert block.lines[0] == first, f"{self._place(block)}: what left is\n{_difference(block.lines[:1], first)}"
        if faults := _misses(block.lines[1:], text):
            raise AssertionError(f"{self._place(block)}: what left says\n" + "\n".join(faults) + f"\n{text}")

    def _told(self, block: Block) -> None:
        """What the server or a command said at once."""
        said = self._refused if block.mark == "refused<" else self._said
        if faults := _misses(block.lines, said):
            raise AssertionError(f"{self._place(block)}: what was said is another:\n" + "\n".join(faults) + f"\n{said}")
        self._refused = ""

    def _place(self, block: Block) -> str:
        return f"{self._dialogue.name}:{block.line}: {block.mark}"

    def _rows(self, sql: str, *values: int) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self._home / FILE)) as connection:
            return connection.execute(sql, values).fetchall()


def _actor(tag: str, made: config_settings.Model, cues: Cues) -> Actor:
    """The scripted stand-in of a configured model: its label, price and window are those of the settings."""
    price: Price | None = FREE
    if made.provider != "demo":
        known = made.price_in is not None and made.price_out is not None
        price = Price(Decimal(str(made.price_in)), Decimal(str(made.price_out))) if known else None
    label = made.model if made.provider != "demo" else "scripted"
    return Actor(tag, label, cues, price, made.context_tokens or DEFAULT_WINDOW, made.api_base)


def _headers(block: Block) -> tuple[dict[str, str], str]:
    """`Name: value` lines up to the first empty one; a block without such lines is all text."""
    lines = list(block.lines)
    head: dict[str, str] = {}
    while lines and (fit := re.fullmatch(r"([A-Z][A-Za-z-]*): (.*)", lines[0])):
        head[fit[1]] = fit[2]
        lines.pop(0)
    if head and lines and not lines[0].strip():
        lines.pop(0)
    return head, "\n".join(lines)


def _asks(kept: Kept) -> bool:
    return "action+" in str(kept.message["Reply-To"] or "")


def _whole(kept: Kept) -> str:
    """What a reader sees: the text and the names of the files."""
    names = [part.get_filename() for part in kept.message.iter_attachments()]
    return kept.text + "".join(f"\n[attached: {name}]" for name in names if name)


def _fits(block: Block, kept: Kept) -> bool:
    return not _misses(block.lines[1:], _whole(kept))


def _misses(wanted: Iterable[str], text: str) -> list[str]:
    """The lines that a text does not hold, in order; `not: x` must not stand in it. Spaces and line breaks are one."""
    plain = " ".join(text.split())
    at, faults = 0, []
    for line in wanted:
        words = " ".join(line.removeprefix("not: ").split())
        if line.startswith("not: "):
            faults += [f"  it says, and should not: {words}"] if words in plain else []
            continue
        found = plain.find(words, at)
        if found < 0:
            faults.append(f"  it does not say{' there' if words in plain else ''}: {words}")
        else:
            at = found + len(words)
    return faults


def _difference(wanted: Iterable[str], text: str) -> str:
    """The file's lines against the text's, as a unified difference without its head."""
    lines = list(difflib.unified_diff(list(wanted), text.splitlines(), "the file", "what is", n=3, lineterm=""))
    return "\n".join(lines)


def _listed(mails: Iterable[Kept]) -> str:
    said = []
    for kept in mails:
        said.append(f"  {'request' if _asks(kept) else 'mail'}: {kept.message['Subject']}")
        said += [f"      {line}" for line in kept.text.splitlines()]
    return "\n".join(said) or "  (nothing)"


def _args(args: dict[str, Any]) -> str:
    return " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args.items())


def _outside(one: Delivered) -> tuple[str, str]:
    """A mail that left, as a first line "to: subject" and its text."""
    message = email.message_from_bytes(one.data, policy=email.policy.default)
    body = message.get_body(("plain",))
    return f"{', '.join(one.recipients)}: {message['Subject']}", str(body.get_content()) if body else ""
