"""`approve` and `reject` from a terminal: items, changes, reasons; what is decided is what was shown."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.audit import Entry
from agents.requests import RequestInfo
from bridge.app import App
from bridge.control.protocol import Args
from bridge.control.requests import decide
from bridge.sink import Sink
from config.settings import Approvals
from mailstore import accounts
from tests.agents.script import ScriptedModel, say, want
from tests.cli.conftest import CONFIGURATION, Cli, Result
from tests.post.desk import AGENT, Desk, opened

PEOPLE = ("maya", "bob", "cleo")


def mail_to(name: str, **more: Any) -> Any:
    return want("send_mail", **{"to": [f"{name}@example.org"], "subject": "Friday", "text": f"Dear {name}", **more})


@dataclass
class Waiting:
    """A data folder in which a request waits, and nobody runs."""

    home: Path
    cli: Cli
    sink: Sink
    code: str
    more: dict[str, Any]

    async def __call__(self, *arguments: str) -> Result:
        return await asyncio.to_thread(self.cli, *arguments, home=self.home)

    async def look(self) -> tuple[RequestInfo | None, list[Entry]]:
        """The newest revision, and the audit, oldest first."""
        async with opened(self.home, self.sink, self.sink.port, work=False, **self.more) as desk:
            return desk.app.store.read(lambda tx: _look(desk.app, tx, self.code))

    async def sent(self, number: int) -> list[tuple[str, ...]]:
        """Who has got mail once the program has run, so many have, and it rests."""
        async with running(self.home, self.sink, [], **self.more) as desk:
            await self.sink.wait(number)
            await desk.settled()
            return [mail.recipients for mail in self.sink.messages]


def _look(app: App, tx: Any, code: str) -> tuple[RequestInfo | None, list[Entry]]:
    account = accounts.all(tx)[0].id
    found = app.runtime.find_request(tx, account, code=code)
    return found, list(reversed(app.runtime.trail(tx, account)))


@asynccontextmanager
async def running(home: Path, sink: Sink, calls: list[Any], **more: Any) -> AsyncIterator[Desk]:
    """Postroom with a model that makes these calls and then says that it is done."""
    async with opened(home, sink, sink.port, **more) as desk:
        models: dict[str, Any] = desk.app.runtime._office.models  # type: ignore[assignment]  # it is a dict
        for tag in models:
            models[tag] = ScriptedModel({"": [say("", *calls), say("Done.")]})
        yield desk


async def waiting(tmp_path: Path, cli: Cli, calls: list[Any], **more: Any) -> Waiting:
    sink = Sink()
    await sink.start()
    home = tmp_path / "data"
    home.mkdir()
    two = more.get("approvals")
    text = CONFIGURATION.format(relay=sink.port) + (
        f'[approvals]\ntwo = ["send_mail"]\nsecond = ["{two.second[0]}"]\n' if two else ""
    )
    (home / "postroom.toml").write_text(text)
    async with running(home, sink, calls, **more) as desk:
        ada = await desk.person("ada")
        if two:
            await desk.person(two.second[0])
        await ada.write(AGENT, "Invitations", "Invite them for Friday.")
        request = await ada.mail("Approve?")
        code = str(request.message["Subject"]).rpartition("[")[2].rstrip("]")
    return Waiting(home, cli, sink, code, more)


@pytest.fixture
async def three(tmp_path: Path, cli: Cli) -> AsyncIterator[Waiting]:
    made = await waiting(tmp_path, cli, [mail_to(name) for name in PEOPLE])
    yield made
    await made.sink.close()


@pytest.fixture
async def one(tmp_path: Path, cli: Cli) -> AsyncIterator[Waiting]:
    made = await waiting(tmp_path, cli, [mail_to("maya")])
    yield made
    await made.sink.close()


async def test_some_items_are_approved_others_refused_with_a_reason(three: Waiting) -> None:
    told = await three("approve", three.code, "1", "3", "--yes")
    assert (told.code, "Still waiting: 2." in told.out) == (0, True), told
    told = await three("reject", three.code, "2", "--reason", "he is away")
    assert (told.code, "It is not done." in told.out) == (0, True), told
    found, trail = await three.look()
    assert found is not None
    assert found.state == "mixed"
    decided = [(entry.what, entry.facts["line"]) for entry in trail if entry.what.startswith("approval.")]
    assert decided == [
        ("approval.approved", "approve 1,3"),
        ("approval.approved", "approve 1,3"),
        ("approval.rejected", "reject 2: he is away"),
    ]
    assert sorted(await three.sent(2)) == [("cleo@example.org",), ("maya@example.org",)]


REFUSED = [
    (("approve", "4", "--yes"), 1, "no item 4"),
    (("approve", "1,4", "--yes"), 1, "no item 4"),
    (("approve", "two", "--yes"), 2, "'two' is no number"),
    (("approve", "²", "--yes"), 2, "is no number"),
    (("approve", "-1", "--yes"), 2, "-1"),
    (("approve", "1", "--set", "subject=X", "--yes"), 2, "exclude each other"),
    (("approve", "1", "--set", "subject"), 2, "changes no field"),
    (("approve", "1", "--set", "=x"), 2, "changes no field"),
    (("approve", "1", "--set", "to=a@b.example", "--set", "To=c@d.example"), 2, "set twice"),
    (("approve", "--set", "subject=X"), 1, "one at a time"),
    (("approve", "2"), 2, "nobody is here to be asked"),
    (("approve", "--done"), 1, "does not decide this request"),
    (("approve", "--answer", "yes"), 1, "does not decide this request"),
    (("reject", "9"), 1, "no item 9"),
]


async def test_what_cannot_be_meant_decides_nothing(three: Waiting) -> None:
    for (command, *arguments), code, says in REFUSED:
        told = await three(command, three.code, *arguments)
        assert (told.code, says in told.out + told.err) == (code, True), told
    found, trail = await three.look()
    assert found is not None
    assert (found.state, found.revision) == ("open", 1)
    assert [entry for entry in trail if entry.what.startswith("approval.")] == []


async def test_a_change_is_checked_shown_again_with_the_difference_and_releases_nothing(one: Waiting) -> None:
    told = await one("approve", one.code, "--set", "subject=Saturday", "--set", "to=maya@example.org, tom@example.org")
    assert told.code == 0, told
    again = told.out.partition("The changed version waits for your approval.")[2]
    assert 'Saturday   (changed by you; it was "Friday")' in again
    assert "tom@example.org" in again
    assert "added by you" in again
    assert "Nothing was done yet" in again
    found, trail = await one.look()
    assert found is not None
    assert (found.state, found.revision, found.items) == ("open", 2, (1,))
    assert next(entry.facts["line"] for entry in trail if entry.what == "approval.edited") == "edit: subject, to"
    assert (await one("approve", one.code, "--yes")).code == 0
    assert await one.sent(1) == [("maya@example.org", "tom@example.org")]
    assert b"Subject: Saturday" in one.sink.messages[0].data


MISFITS = [
    ("colour=red", 'There is no field "colour". There is: '),
    ("to=nobody", "nobody"),
    ("to=", "at least 1 wanted"),
    ("subject=", "subject"),
]


async def test_a_change_that_does_not_fit_is_refused_with_the_field_named(one: Waiting) -> None:
    for change, says in MISFITS:
        told = await one("approve", one.code, "--set", change)
        assert (told.code, says in told.out) == (1, True), told
    found, _ = await one.look()
    assert found is not None
    assert (found.state, found.revision) == ("open", 1)


async def test_a_change_of_one_item_shows_the_others_again_and_what_was_shown_before_decides_nothing(
    three: Waiting,
) -> None:
    before, _ = await three.look()
    assert (await three("approve", three.code, "2", "--set", "subject=Saturday")).code == 0
    found, _ = await three.look()
    assert found is not None
    assert before is not None
    assert (found.revision, found.items) == (2, (1, 2, 3))
    async with opened(three.home, three.sink, three.sink.port, work=False) as desk:
        late = await decide(
            desk.app, Args({"id": before.id, "revision": 1, "verdict": "approve", "items": [1], "account": "ada"})
        )
    assert late["outcome"] == "superseded"
    assert await three.sent(0) == []


async def test_of_two_people_each_decides_under_their_own_name(tmp_path: Path, cli: Cli) -> None:
    made = await waiting(tmp_path, cli, [mail_to("maya")], approvals=Approvals(two=("send_mail",), second=("bo",)))
    for person in ("ada", "ada"):
        told = await made("approve", made.code, "--yes", "--account", person)
        assert (told.code, "One of two" in told.out, "Still waiting" in told.out) == (0, True, False), told
    assert await made.sent(0) == []
    told = await made("approve", made.code, "1", "--yes", "--account", "bo")
    assert (told.code, "goes ahead" in told.out) == (0, True), told
    assert await made.sent(1) == [("maya@example.org",)]
    await made.sink.close()


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"\n", 1), (b"approve\nn\n", 1)])
async def test_whoever_sits_there_is_asked_and_only_a_yes_counts(one: Waiting, typed: bytes, code: int) -> None:
    ours, theirs = os.openpty()
    os.write(ours, typed)
    command = [sys.executable, "-m", "bridge.cli", "approve", one.code, "--home", str(one.home)]
    done = await asyncio.to_thread(subprocess.run, command, stdin=theirs, capture_output=True, check=False, timeout=60)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == code, done
    assert b"Let it run, exactly as shown?" in done.stdout + done.stderr
    found, _ = await one.look()
    assert found is not None
    assert found.state == ("approved" if code == 0 else "open")
