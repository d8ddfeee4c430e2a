"""Deciding from outside, end to end: a request leaves by the relay, a signed answer comes back by real IMAP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from bridge.app import App
from bridge.post.identity import Proof, Terms, prove
from bridge.post.outward import ANSWERS_AN_HOUR, MINUTE_MS
from bridge.signing import dns_record
from config.paths import open_folder
from config.settings import Listen, Settings
from mailstore import accounts, mailboxes, messages
from mailstore.model import Role
from mailstore.sqlite import WriteTx
from tests.post.desk import AGENT, NOTES, PATIENCE, SEND
from tests.post.outside import PASSWORD, REAL, House, asked, house, key_of, outside_of, reply_to


@asynccontextmanager
async def provider(home: Path) -> AsyncIterator[App]:
    """The user's mail provider: another Postroom, of which only IMAP is used."""
    listen = Listen(hosts=("127.0.0.1",), imap=0, imaps=0, smtp=0, smtps=0, web=0)
    settings = replace(Settings(home), listen=listen, user="ada", domain="example.com", require_tls=False)
    app = await App.open(settings, open_folder(home))
    try:
        made = await app.store.write(lambda tx: accounts.create(tx, "ada", REAL, ()))
        await app.auth.add_given(made.id, "watch", PASSWORD)
        await app.start()
        yield app
    finally:
        await app.close()


async def delivered(app: App, raw: bytes) -> None:
    """Mail comes into the provider's INBOX."""
    prepared = app.store.prepare(raw)

    def put(tx: WriteTx) -> None:
        (owner,) = accounts.all(tx)
        messages.append(tx, mailboxes.by_role(tx, owner.id, Role.INBOX), prepared)

    await app.store.write(put)


async def answer_in(at: House) -> str:
    """The one answer of the program to what came from outside."""
    number = 2
    while not str((mail := await at.letter(number))["Message-ID"]).startswith("<answer."):
        number += 1
    return str(mail.get_content())


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as made:
        yield made


async def test_a_request_goes_out_with_a_token_of_its_own_and_is_signed(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as at:
        out = await asked(at)
        at_home = await at.person.mail("Approve?")
        assert out["From"].addresses[0].addr_spec == "post@example.net"
        token = out["Reply-To"].addresses[0].addr_spec.partition("+")[2].partition("@")[0]
        assert len(token) == 26
        assert token not in str(at_home.message["Reply-To"])
        assert at_home.message["Subject"] == out["Subject"]
        shown = [line for line in at_home.text.splitlines() if line.startswith("| ")]
        body = out.get_body(("plain",))
        assert body is not None
        assert [line for line in str(body.get_content()).splitlines() if line.startswith("| ")] == shown
        raw = at.desk.sink.messages[0].data
        name, value = dns_record(tmp_path / "home", "postroom", "example.net")
        terms = Terms(("post@example.net",), 24, at.desk.app.clock.now())
        proof = prove(raw, terms, lambda asked_, _: value.encode() if asked_ == name.encode() else None)
        assert isinstance(proof, Proof), proof


async def test_a_signed_answer_found_by_imap_releases_it_once_and_is_answered(tmp_path: Path) -> None:
    async with provider(tmp_path / "far") as far:
        assert far.ports is not None
        async with house(tmp_path / "home", watched=outside_of(far.ports.imap)) as at:
            await at.watching()
            out = await asked(at)
            await delivered(far, key_of("example.com").sign(reply_to(out, "approve")))
            answer = await at.letter(2)
            assert "was approved" in answer.get_content()
            await at.person.mail("Re: Notes from Tuesday")
            await at.desk.settled()
            assert at.released == [("maya@example.org",)]
            (decided,) = at.trail("approval.approved")
            assert decided.facts["by"] == REAL
            assert decided.facts["line"] == "approve"
            (proven,) = at.trail("outside.proven")
            assert proven.facts["domain"] == "example.com"
            assert at.person.mails("Action") == []


async def test_only_mail_that_comes_after_the_first_look_counts_and_a_restart_misses_none(tmp_path: Path) -> None:
    async with provider(tmp_path / "far") as far:
        assert far.ports is not None
        watched = outside_of(far.ports.imap)
        await delivered(far, b"From: x@example.com\r\nSubject: old\r\n\r\nold\r\n")
        async with house(tmp_path / "home", watched=watched) as at:
            await at.watching()
            out = await asked(at)
        answer = key_of("example.com").sign(reply_to(out, "reject: not now"))
        await delivered(far, answer)
        async with house(tmp_path / "home", watched=watched) as at:
            told = await at.letter(1)
            assert "was refused" in told.get_content()
            assert at.released == []


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("reject: wrong person", "was refused"),
        ("edit\nSubject: Shorter", "was changed"),
        ("use her work address", "was answered"),
        ("approve?", "still waits"),
        ("yes", "still waits"),
        ("always approve", "still waits"),
        ("", "had no text of its own"),
        ("stop", "the task was stopped"),
    ],
)
async def test_every_answer_has_one_clear_answer(tmp_path: Path, text: str, state: str) -> None:
    async with house(tmp_path / "home") as at:
        out = await asked(at)
        await at.arrives(key_of("example.com").sign(reply_to(out, text)))
        told = await answer_in(at)
        assert state in told
        assert at.released == []


async def test_a_reminder_repeats_the_token_and_its_answer_counts(at: House) -> None:
    out = await asked(at)
    app = at.desk.app
    (request,) = app.store.read(lambda tx: app.runtime.waiting(tx, at.person.identity.account))
    soon = request.expires - 3_600_000
    await app.runtime.idle()  # a run in hand would count the jump of the clock as its work
    with patch.object(app.clock, "now", lambda: soon):
        await app.runtime.tick()
        reminder = await at.letter(2)
    assert reminder["Subject"] == f"Reminder: {out['Subject']}"
    assert str(reminder["Reply-To"]) == str(out["Reply-To"])
    assert reminder["Message-ID"] != out["Message-ID"]
    assert str(reminder["In-Reply-To"]) == str(out["Message-ID"])
    await at.arrives(key_of("example.com").sign(reply_to(reminder, "approve")))
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    assert at.released == [("maya@example.org",)]


async def test_a_new_version_has_a_new_token_and_the_old_one_decides_nothing(at: House) -> None:
    out = await asked(at)
    await at.arrives(key_of("example.com").sign(reply_to(out, "edit\nSubject: Shorter")))
    assert "was changed" in await answer_in(at)
    await at.desk.sink.wait(3)
    asks = [one for one in at.out() if one["Subject"].startswith("Approve?")]
    second = next(one for one in asks if str(one["Reply-To"]) != str(out["Reply-To"]))
    await at.arrives(key_of("example.com").sign(reply_to(out, "approve")))
    assert at.released == []
    await at.arrives(key_of("example.com").sign(reply_to(second, "approve")))
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    assert at.released == [("maya@example.org",)]


async def test_twenty_answers_from_outside_and_at_home_at_once_are_one(at: House) -> None:
    out = await asked(at)
    at_home = await at.person.mail("Approve?")
    key = key_of("example.com")
    away = [at.arrives(key.sign(reply_to(out, word))) for word in ["approve", "reject"] * 5]
    home = [at.person.reply(at_home, word) for word in ["approve", "reject"] * 5]
    await asyncio.gather(*away, *home)
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    decided = [entry.what for entry in at.trail("approval.") if entry.what != "approval.spent"]
    assert len(decided) == 1
    assert at.released == ([("maya@example.org",)] if decided == ["approval.approved"] else [])


async def test_a_late_answer_is_told_what_was_decided_when_and_from_where(at: House) -> None:
    out = await asked(at)
    await at.person.reply(await at.person.mail("Approve?"), "reject")
    await at.person.mail("Re: Notes from Tuesday")
    await at.arrives(key_of("example.com").sign(reply_to(out, "approve")))
    told = await answer_in(at)
    assert "already rejected" in told
    assert "laptop over SMTP" in told
    assert at.released == []


async def test_the_relay_is_tried_again_with_the_same_mail(at: House) -> None:
    at.desk.sink.refuse("rcpt", "451 4.3.0 later")
    await at.person.write(AGENT, "Notes from Tuesday", SEND, files={"notes.txt": NOTES})
    await at.person.mail("Approve?")
    app = at.desk.app
    assert app.outward is not None
    later = app.clock.now() + 2 * MINUTE_MS
    await tried(at)
    with patch.object(app.outward, "_clock", lambda: later):
        app.outward.wake()
        assert (await at.letter())["Subject"].startswith("Approve?")
    assert len(at.out()) == 1


async def tried(at: House) -> None:
    """Wait until the relay refused once."""
    store = at.desk.app.store
    async with asyncio.timeout(PATIENCE):
        while store.read(lambda tx: tx.one("bridge.outside.due", now=at.desk.app.clock.now())) is not None:
            await asyncio.wait([asyncio.ensure_future(store.write(lambda tx: None))])


async def test_another_account_has_no_road_and_off_is_off(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as at:
        eve = await at.desk.person("eve")
        await eve.write(AGENT, "Notes", SEND, files={"notes.txt": NOTES})
        await eve.mail("Approve?")
        await eve.settled()
        assert at.out() == []
    async with house(tmp_path / "off", watched=replace(outside_of(), enabled=False)) as off:
        assert off.desk.app.outward is None


async def test_the_answers_of_the_program_have_a_limit(at: House) -> None:
    out = await asked(at)
    for number in range(ANSWERS_AN_HOUR + 3):
        await at.arrives(key_of("example.com").sign(reply_to(out, f"approve? {number}")))
    answers = await at.desk.sink.wait(ANSWERS_AN_HOUR + 1)
    await at.desk.settled()
    assert len(answers) == ANSWERS_AN_HOUR + 1
    assert len(at.trail("outside.proven")) == ANSWERS_AN_HOUR + 3


async def test_a_mail_that_breaks_the_reader_is_passed_over(at: House) -> None:
    out = await asked(at)
    good = key_of("example.com").sign(reply_to(out, "approve"))
    with patch("bridge.post.answers.prove", side_effect=RuntimeError("broken")):
        await at.arrives(good)
    assert at.released == []
    assert at.trail("outside.") == []
    await at.arrives(good)
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    assert at.released == [("maya@example.org",)]


async def test_a_question_is_answered_from_outside(at: House) -> None:
    await at.person.write(AGENT, "Hello", "Summarise this. It is short.")
    question = await at.letter()
    assert question["Subject"].startswith("Question:")
    await at.arrives(key_of("example.com").sign(reply_to(question, "The printer costs 300 EUR.")))
    assert "was answered" in await answer_in(at)
    (answered,) = at.trail("approval.answered")
    assert answered.facts["by"] == REAL
