"""An answer from outside that is refused: its user hears of it at home, once, with what to do; nobody else does."""

import re
from collections.abc import AsyncIterator, Callable
from email.message import EmailMessage
from pathlib import Path
from unittest.mock import patch

import pytest

from bridge.post import answers, identity, refusals
from bridge.post.refusals import NOTED_AN_HOUR, TOLD_AN_HOUR
from mailstore import threads
from tests.post.desk import Kept
from tests.post.outside import SIGNED, House, asked, house, key_of, reply_to


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as made:
        yield made


def told(at: House) -> list[Kept]:
    return [kept for kept in at.person.mails() if "was not taken" in kept.message["Subject"]]


def words(kept: Kept) -> str:
    return " ".join(kept.text.split())


@pytest.mark.parametrize(
    ("make", "why", "todo"),
    [
        (lambda out: reply_to(out, "approve"), "it is not signed", "your provider does not sign"),
        (
            lambda out: key_of("example.com").sign(reply_to(out, "approve"), at=1_600_000_000),
            "more than 24 hours ago",
            "fresh_hours",
        ),
        (
            lambda out: key_of("evil.example").sign(reply_to(out, "approve", "ada@evil.example")),
            "ada@evil.example is not one of the addresses",
            "one of the addresses that the settings name",
        ),
        (
            lambda out: key_of("example.com").sign(reply_to(out, "approve")).replace(b"approve", b"approved"),
            "does not hold",
            "something on the way changed your mail",
        ),
        (
            lambda out: key_of("example.com").sign(reply_to(out, "approve"), names=tuple({*SIGNED} - {"to"})),
            "its field To is not signed",
            "your provider does not sign",
        ),
    ],
    ids=["no signature", "too old", "other From", "changed", "To unsigned"],
)
async def test_the_user_is_told_at_home_what_was_refused_and_what_to_do(
    at: House, make: Callable[[EmailMessage], bytes], why: str, todo: str
) -> None:
    await at.arrives(make(await asked(at)))
    (kept,) = told(at)
    assert "still waits" in words(kept)
    assert why in words(kept)
    assert todo in words(kept)
    assert kept.message["Auto-Submitted"]
    request = await at.person.mail("Approve?")
    assert kept.message["In-Reply-To"] == request.message["Message-ID"]
    (noted,) = at.trail("outside.refused")
    assert noted.facts["why"] in words(kept)
    assert len(at.out()) == 1, "nothing goes out"


async def test_a_wrong_token_is_told_and_work_is_not_begun_from_outside(at: House) -> None:
    out = await asked(at)
    wrong = str(out["Reply-To"].addresses[0].addr_spec).replace("+", "+zz")
    plain = {"To": wrong, "In-Reply-To": "", "References": ""}
    await at.arrives(key_of("example.com").sign(reply_to(out, "approve", headers=plain)))
    (kept,) = told(at)
    assert "names no request that was sent to you" in words(kept)
    assert "answer the mail that asks, with your program's own Reply" in words(kept)
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["no-token"]
    assert at.released == []


async def test_other_mail_of_the_user_is_noted_and_not_told(at: House) -> None:
    """The watched mailbox may be the user's whole mailbox: letters to friends are no answers."""
    out = await asked(at)
    letter = {"To": "maya@example.org", "In-Reply-To": "<other@example.org>", "References": ""}
    await at.arrives(key_of("example.com").sign(reply_to(out, "see you", headers=letter)))
    assert told(at) == []
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["no-token"]


async def test_the_same_mail_is_told_once_whatever_way_it_comes(at: House) -> None:
    raw = reply_to(await asked(at), "approve")
    for way in (b"", b"Received: from a\r\n", b"Received: from b\r\n"):
        await at.arrives(way + raw)
    assert len(told(at)) == 1
    assert len(at.trail("outside.refused")) == 3


async def test_the_same_mail_takes_one_thread_where_it_belongs_to_no_request(at: House) -> None:
    plain = {"To": "post@example.net", "In-Reply-To": "", "References": ""}
    raw = reply_to(await asked(at), "approve", headers=plain)
    with patch.object(threads, "new", wraps=threads.new) as new:
        for way in (b"", b"Received: from a\r\n", b"Received: from b\r\n"):
            await at.arrives(way + raw)
    assert (len(told(at)), new.call_count) == (1, 1)


async def test_a_mail_read_before_and_a_machine_are_not_told(at: House) -> None:
    out = await asked(at)
    raw = key_of("example.com").sign(reply_to(out, "approve?"))
    machine = reply_to(out, "approve", headers={"Auto-Submitted": "auto-replied"})
    for mail in (raw, raw, machine):
        await at.arrives(mail)
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["replay", "machine"]
    assert told(at) == []


async def test_a_flood_without_tokens_leaves_room_for_an_answer_with_one(at: House) -> None:
    out = await asked(at)
    for number in range(NOTED_AN_HOUR + 5):
        plain = {"To": "post@example.net", "In-Reply-To": "", "References": ""}
        await at.arrives(reply_to(out, f"approve {number}", headers=plain))
    assert len(told(at)) == TOLD_AN_HOUR
    assert len(at.trail("outside.refused")) == NOTED_AN_HOUR
    await at.arrives(reply_to(out, "approve"))
    assert len(told(at)) == TOLD_AN_HOUR + 1
    assert at.trail("outside.refused")[-1].subject is not None
    assert len(at.out()) == 1


async def test_an_answer_to_what_was_decided_meanwhile_says_so(at: House) -> None:
    out = await asked(at)
    await at.person.reply(await at.person.mail("Approve?"), "reject")
    await at.person.mail("Re: Notes from Tuesday")
    await at.arrives(reply_to(out, "approve"))
    (kept,) = told(at)
    assert "waits no more; it is rejected" in words(kept)
    assert "there is nothing to do" in words(kept)


async def test_an_answer_to_what_was_deleted_here_says_so(at: House) -> None:
    out = await asked(at)
    app = at.desk.app
    (request,) = app.store.read(lambda tx: app.runtime.waiting(tx, at.person.identity.account))
    await app.runtime.idle()
    await app.store.write(lambda tx: app.runtime.forget_thread(tx, request.account, request.thread))
    await at.arrives(key_of("example.com").sign(reply_to(out, "approve")))
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["gone"]
    (kept,) = told(at)
    assert "no longer here" in words(kept)
    assert at.released == []


async def test_a_mail_without_a_message_id_is_refused_and_told(at: House) -> None:
    out = await asked(at)
    await at.arrives(key_of("example.com").sign(reply_to(out, "approve", headers={"Message-ID": ""})))
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["missing"]
    assert len(told(at)) == 1
    assert at.released == []


async def test_the_sender_of_a_notice_is_shown_without_tricks(at: House) -> None:
    out = await asked(at)
    raw = reply_to(out, "approve", "eve@evil.example")
    await at.arrives(raw.replace(b"From: eve@", b"From: \x1b[2Jeve@"))
    (kept,) = told(at)
    assert "\x1b" not in kept.text


def test_every_doubt_has_its_advice() -> None:
    """A new reason to refuse a mail needs words for the user who is refused."""
    sources = "".join(Path(str(module.__file__)).read_text() for module in (identity, answers, refusals))
    names = set(re.findall(r'Doubt\(\s*"([a-z-]+)"', sources))
    assert len(names) > 15
    assert names == set(refusals._ADVICE) | refusals._UNTOLD
