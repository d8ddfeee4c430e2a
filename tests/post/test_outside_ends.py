"""What was answered from outside is told outside how it ended, and nothing else leaves; what could not leave is told at
home."""

import asyncio
import email.policy
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from email.message import EmailMessage
from importlib import resources
from pathlib import Path
from unittest.mock import patch

import pytest

from agents import outbox
from agents.letter import File, Kind, Outgoing
from bridge.post.answers import Answers
from bridge.post.road import MAX_FILES, Road, compose_result
from config.settings import Limits, Outside
from mailstore.model import AccountId
from tests.post.desk import AGENT, NOTES, PATIENCE, SEND
from tests.post.outside import REAL, House, asked, house, key_of, outside_of, reply_to, signed

UP_TO_THE_REQUEST = 5
"""Model calls that the demo model makes until it asks, its specialist's included."""


async def ends(at: House, number: int = 1) -> list[EmailMessage]:
    """The ends of tasks that went to the real address, once there are so many."""
    async with asyncio.timeout(PATIENCE):
        count = 0
        while len(found := sent_ends(at)) < number:
            count = len(await at.desk.sink.wait(count + 1))
    return found


def sent_ends(at: House) -> list[EmailMessage]:
    return [mail for mail in at.out() if str(mail["Message-ID"]).startswith("<result.")]


async def quiet(at: House) -> None:
    """Wait until all that is to leave has left."""
    await at.desk.settled()
    async with asyncio.timeout(PATIENCE):
        while at.desk.app.store.read(lambda tx: tx.value("bridge.outside.next_time")) is not None:
            await at.desk.app.store.write(lambda tx: None)


def body_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as made:
        yield made


async def test_what_was_approved_outside_is_told_outside_how_it_ended(at: House) -> None:
    raw = signed(await asked(at))
    await at.arrives(raw)
    (end,) = await ends(at)
    at_home = await at.person.mail("Re: Notes from Tuesday")
    assert end["Subject"] == "Re: Notes from Tuesday"
    assert end["In-Reply-To"] == email.message_from_bytes(raw, policy=email.policy.default)["Message-ID"]
    assert end["From"].addresses[0].addr_spec == "post@example.net"
    assert end["Auto-Submitted"] == "auto-generated"
    assert end["Reply-To"] is None
    assert at_home.text.split("\n-- ")[0].strip() in body_of(end).replace("\r\n", "\n")
    assert "send_mail 1 (approved by" in body_of(end)
    assert "Answer it there" in body_of(end)
    assert str(end["DKIM-Signature"]).count("d=example.net") == 1
    await quiet(at)
    assert len(sent_ends(at)) == 1


async def test_what_was_decided_at_home_stays_at_home(at: House) -> None:
    await asked(at)
    await at.person.reply(await at.person.mail("Approve?"), "approve")
    await at.person.mail("Re: Notes from Tuesday")
    await at.person.write(AGENT, "Other", "Summarise the attached notes", files={"notes.txt": NOTES})
    await at.person.mail("Re: Other")
    await quiet(at)
    assert [mail["Subject"].split()[0] for mail in at.out()] == ["Approve?"]


@pytest.mark.parametrize(
    ("text", "told"), [("reject: not now", "not sent"), ("stop", "Stopped"), ("use her work address", "")]
)
async def test_a_refusal_a_stop_and_feedback_are_told_their_end_too(at: House, text: str, told: str) -> None:
    await at.arrives(signed(await asked(at), text))
    (end,) = await ends(at)
    assert told.lower() in body_of(end).lower()
    assert at.released == []


async def test_a_pause_at_a_limit_is_told_too(tmp_path: Path) -> None:
    async with house(tmp_path / "home", limits=Limits(model_calls=UP_TO_THE_REQUEST)) as at:
        await at.arrives(signed(await asked(at)))
        (end,) = await ends(at)
        assert body_of(end).startswith("Paused:")


@pytest.mark.parametrize(("wanted", "count"), [("always", 2), ("never", 0)])
async def test_the_setting_says_always_or_never(tmp_path: Path, wanted: str, count: int) -> None:
    async with house(tmp_path / "home", watched=outside_of(results=wanted)) as at:
        await at.arrives(signed(await asked(at)))
        await at.person.mail("Re: Notes from Tuesday")
        await at.person.write(AGENT, "Other", "Summarise the attached notes", files={"notes.txt": NOTES})
        await at.person.mail("Re: Other")
        await quiet(at)
        assert len(sent_ends(at)) == count
        if count:
            other = next(end for end in sent_ends(at) if end["Subject"] == "Re: Other")
            assert other["In-Reply-To"] is None
            assert [one.addr_spec for one in other["To"].addresses] == [REAL]


async def test_an_address_that_may_answer_no_more_is_told_nothing(tmp_path: Path) -> None:
    """The end goes to the first of those that are left."""
    second = "ada@evil.example"
    watched = outside_of(addresses=(REAL, second))
    async with house(tmp_path / "home", watched=watched) as at:
        await at.arrives(key_of("evil.example").sign(reply_to(await asked(at), "approve", second)))
        await at.person.mail("Re: Notes from Tuesday")
        await quiet(at)
        assert len([mail for mail in at.out(second) if str(mail["Message-ID"]).startswith("<result.")]) == 1
        assert sent_ends(at) == []
        app, outward = at.desk.app, at.desk.app.outward
        assert outward is not None
        outward._settings = replace(app.settings, outside=outside_of())
        again = replace(_end(at), key="once more")
        await app.store.write(lambda tx: outbox.put(tx, app.runtime._office, again))
        (end,) = await ends(at)
        assert end["In-Reply-To"] is None


def _end(at: House) -> Outgoing:
    """The last mail of the run, as it lies at home."""
    (approved,) = at.trail("approval.approved")
    found = at.desk.app.store.read(lambda tx: outbox.get(tx, f"{approved.run}.end"))
    assert found is not None
    return replace(found, message_id="<once-more@postroom.internal>")


async def test_an_end_that_comes_back_is_nobodys_answer_and_an_answer_to_it_is_told_at_home(at: House) -> None:
    await at.arrives(signed(await asked(at)))
    (end,) = await ends(at)
    await quiet(at)
    before = len(at.person.mails())
    back = next(mail.data for mail in at.desk.sink.messages if b"Message-ID: <result." in mail.data)
    await at.arrives(back)
    assert at.trail("outside.refused") == []
    plain = {"To": "post@example.net"}
    await at.arrives(key_of("example.com").sign(reply_to_end(end, "retry", plain)))
    await quiet(at)
    (told,) = at.person.mails()[before:]
    assert "was not taken" in told.message["Subject"]
    assert "New work begins only here at home" in told.text.replace("\n", " ")
    assert len(at.out()) == 3, "the request, the answer to the answer, the end"


def reply_to_end(end: EmailMessage, text: str, headers: dict[str, str]) -> bytes:
    mail = EmailMessage(policy=email.policy.default)
    mail["Reply-To"], mail["Subject"], mail["Message-ID"] = "post@example.net", end["Subject"], end["Message-ID"]
    mail.set_content(body_of(end))
    return reply_to(mail, text, headers=headers)


def test_files_come_along_up_to_a_size_and_are_named_beyond_it() -> None:
    road = Road(AccountId(1), "post@example.net", "post@example.net", (REAL,))
    row = {"recipient": REAL, "in_reply_to": "", "created": 1_796_000_000_000}
    made = Outgoing("k", Kind.RESULT, 1, "assistant", "1", "Re: it", "Done.", "done", "r", 1, "<k@x>")
    small, large = File("a.txt", "text/plain", b"abc"), File("b.bin", "application/octet-stream", b"x" * MAX_FILES)
    with_file = compose_result(replace(made, files=(small,)), road, row, "Assistant")  # type: ignore[arg-type]  # a row
    without = compose_result(replace(made, files=(small, large)), road, row, "Assistant")  # type: ignore[arg-type]  # a row
    assert b'filename="a.txt"' in with_file
    assert len(without) < 10_000
    shown = email.message_from_bytes(without, policy=email.policy.default)
    assert "a.txt, b.bin" in body_of(shown).replace("\n", " ")


async def test_a_request_that_the_relay_never_takes_is_told_at_home_and_not_for_ever(at: House) -> None:
    for _ in range(5):
        at.desk.sink.refuse("rcpt", "550 5.1.1 no such user")
    for number in range(5):
        await at.person.write(AGENT, f"Notes {number}", SEND, files={"notes.txt": NOTES})
    await at.person.mail("Approve?", nth=5)
    await quiet(at)
    told = await at.person.mail("could not be sent to you", nth=3)
    assert "no such user" in told.text
    assert len([kept for kept in at.person.mails() if "could not be sent" in kept.message["Subject"]]) == 3
    assert len(at.person.mails("Action")) == 5


async def test_a_mailbox_that_cannot_be_read_is_told_at_home_once_a_day(tmp_path: Path) -> None:
    """Nobody listens where the answers come in: whoever answers from there must not wait for ever."""
    with patch("bridge.watch.WAITS", (0.01,)):
        async with house(tmp_path / "home") as at:
            told = await at.person.mail("Answers from outside cannot be read")
            assert "ada@127.0.0.1/INBOX cannot be read" in told.text
            assert "Decide here at home meanwhile" in told.text
        async with house(tmp_path / "home") as again:
            app = again.desk.app
            assert app.outward is not None
            reader = Answers(app.store, app.runtime, app.outward, app.settings, app.clock.now, again.dns)
            await reader.complain("no answer")
            await again.desk.settled()
            assert len([kept for kept in again.person.mails() if "cannot be read" in kept.message["Subject"]]) == 1
            assert again.out() == []


def whole() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for package in ("mailstore", "agents", "bridge"):
        connection.executescript((resources.files(package) / "sql" / "schema.sql").read_text())
    return connection


def test_a_run_hears_of_what_it_handed_on() -> None:
    """A request of a specialist, two steps down, answered from outside: the end of the first task is told there."""
    queries = (resources.files("bridge") / "sql" / "outside.sql").read_text().split("-- name: ")
    (heard,) = [block.partition("\n")[2] for block in queries if block.startswith("heard\n")]
    with closing(whole()) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        fill(connection, "runs", [{"id": "a"}, {"id": "b", "parent": "a"}, {"id": "c", "parent": "b"}, {"id": "d"}])
        fill(connection, "requests", [{"id": f"q{run}", "run": run} for run in "abcd"])
        ask = {"answered_by": None, "answered_id": "<m>", "answered_at": 1}
        fill(connection, "outside_asks", [{**ask, "request": "qb"}, {**ask, "request": "qc", "answered_by": REAL}])
        found = {run: connection.execute(heard, {"run": run}).fetchone() for run in "abcd"}
    assert {run: row["answered_by"] if row else None for run, row in found.items()} == {
        "a": REAL, "b": REAL, "c": REAL, "d": None,
    }  # packed, to be seen at a glance  # fmt: skip


def fill(connection: sqlite3.Connection, table: str, rows: list[dict[str, object]]) -> None:
    """Rows with these values; a column that must have one and has none here gets one of its type."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    for number, row in enumerate(rows):
        given = dict(row)
        for column in columns:
            name, kind, needed, default = column["name"], column["type"], column["notnull"], column["dflt_value"]
            if needed and default is None and name not in given:
                given[name] = number if kind == "INTEGER" else "{}" + str(number)
        names = ", ".join(given)
        marks = ", ".join(f":{name}" for name in given)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", given)


def test_outside_is_off_and_tells_ends_only_where_it_was_answered() -> None:
    assert (Outside().enabled, Outside().results) == (False, "answered")
