"""Answers from outside at the wrong moment, and tricks that keep the signature: never more than what was shown."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from bridge.post.answers import Answers
from bridge.watch import Place
from config.settings import Approvals
from mailstore.errors import Full
from mailstore.sqlite import WriteTx
from tests.post.desk import AGENT, PATIENCE
from tests.post.outside import REAL, House, asked, house, key_of, outside_of, signed

OWN_WORDS = "Send a mail to maya@example.org with the subject Lunch and the text: See you at noon."


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as made:
        yield made


async def answers(at: House, number: int = 1) -> list[str]:
    """The answers of the program to what came from outside, once there are so many."""
    async with asyncio.timeout(PATIENCE):
        count = 0
        while len(found := [m for m in at.out() if str(m["Message-ID"]).startswith("<answer.")]) < number:
            count = len(await at.desk.sink.wait(count + 1))
    return [str(mail.get_content()).replace("\r\n", "\n") for mail in found]


def states(at: House) -> list[str]:
    app, account = at.desk.app, at.person.identity.account
    rows = app.store.read(lambda tx: tx.all("agents.runs.counts", account=account))
    return sorted(row["state"] for row in rows)


PATIENT = outside_of(fresh_hours=168)
"""Signatures may be older than a request waits."""


async def test_an_answer_after_the_expiry_is_told_so(tmp_path: Path) -> None:
    """Also when the program's clock has not come to it yet."""
    async with house(tmp_path / "home", watched=PATIENT) as at:
        out, app = await asked(at), at.desk.app
        (request,) = app.store.read(lambda tx: app.runtime.waiting(tx, at.person.identity.account))
        await app.runtime.idle()  # a run in hand would count the jump of the clock as its work
        with patch.object(app.clock, "now", lambda: request.expires + 1):
            await at.arrives(signed(out))
            (told,) = await answers(at)
        assert "expired" in told
        assert at.released == []
        assert at.trail("approval.") == []


@pytest.mark.parametrize("first", ["answer", "expiry"])
async def test_an_answer_while_it_expires_is_one_or_the_other(tmp_path: Path, first: str) -> None:
    async with house(tmp_path / "home", watched=PATIENT) as at:
        out, app = await asked(at), at.desk.app
        (request,) = app.store.read(lambda tx: app.runtime.waiting(tx, at.person.identity.account))
        await app.runtime.idle()
        with patch.object(app.clock, "now", lambda: request.expires):
            both = [app.runtime.tick(), at.arrives(signed(out))]
            await asyncio.gather(*(both if first == "expiry" else reversed(both)))
            (told,) = await answers(at)
        assert "expired" in told
        assert at.released == []


@pytest.mark.parametrize("first", ["answer", "stop"])
async def test_an_answer_while_the_task_is_stopped_at_home(at: House, first: str) -> None:
    out, app = await asked(at), at.desk.app
    (request,) = app.store.read(lambda tx: app.runtime.waiting(tx, at.person.identity.account))
    stop = app.store.write(lambda tx: app.runtime.cancel_thread(tx, request.account, request.thread, "you said so"))
    both = [stop, at.arrives(signed(out))]
    await asyncio.gather(*(both if first == "stop" else reversed(both)))
    (told,) = await answers(at)
    await at.desk.settled()
    if first == "stop":
        assert "withdrawn" in told
        assert at.released == []
    assert len(at.released) <= len(at.trail("approval.spent")) <= len(at.trail("approval.approved")) <= 1


async def test_stop_from_outside_in_the_time_of_grace_keeps_it_from_happening(tmp_path: Path) -> None:
    async with house(tmp_path / "home", approvals=Approvals(grace_seconds=600)) as at:
        out = await asked(at)
        await at.arrives(signed(out))
        (told,) = await answers(at)
        assert 'unless you answer "stop" before' in told
        await at.arrives(signed(out, "stop"))
        told = (await answers(at, 2))[1]
        assert "The task was stopped" in told
        await at.desk.settled()
        assert at.released == []
        assert "cancelled" in states(at)


async def test_an_answer_to_what_a_change_at_home_replaced_decides_nothing(at: House) -> None:
    out = await asked(at)
    await at.person.reply(await at.person.mail("Approve?"), "edit\nSubject: Another one")
    await at.person.mail("Approve?", nth=2)
    await at.arrives(signed(out))
    (told,) = await answers(at)
    assert "replaced by a changed version" in told or "earlier version" in told
    await at.desk.settled()
    assert at.released == []
    assert len(at.person.mails("Action")) == 1


async def test_a_restart_between_the_answer_and_the_act_does_it_once(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as at:
        out = await asked(at)
        runtime = at.desk.app.runtime
        await runtime.stop()  # the answer is read, nothing is carried out any more
        raw, app = signed(out), at.desk.app
        assert app.outward is not None
        reader = Answers(app.store, app.runtime, app.outward, app.settings, app.clock.now, at.dns)
        await reader.take(raw, Place(1, 2))
        assert len(at.trail("approval.approved")) == 1
        assert at.released == []
    for _ in range(2):
        async with house(tmp_path / "home") as at:
            await at.person.mail("Re: Notes from Tuesday")
            await at.arrives(raw)
            await at.desk.settled()
            assert len(at.trail("approval.spent")) == 1
            assert {entry.facts["rule"] for entry in at.trail("outside.refused")} == {"replay"}


async def test_a_signature_written_in_another_way_is_the_same_mail(at: House) -> None:
    """Zero bytes before an RSA signature verify as well: a copy of an answer is no second answer."""
    out = await asked(at)
    raw = signed(out, "approve?")
    await at.arrives(raw)
    for way in (
        re.sub(rb"(;\s+b=)", rb"\1AAAA", raw, count=1),
        raw.replace(b"approve?", b"approve? "),
        b"X-Way: other\r\n" + raw,
    ):
        assert way != raw
        await at.arrives(way)
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["replay"] * 3
    assert len(await answers(at)) == 1
    assert len(at.trail("outside.proven")) == 1


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda raw: re.sub(rb"a=rsa-sha256", b"a=ed25519-sha256", raw, count=1), "weak"),
        (lambda raw: re.sub(rb"d=example\.com", b"d=\xff\xfe", raw, count=1), "other-domain"),
        (lambda raw: re.sub(rb"s=s1", b"s=" + b"a" * 300, raw, count=1), "signature"),
        (lambda raw: re.sub(rb"c=relaxed/relaxed", b"c=none/none", raw, count=1), "signature"),
        (lambda raw: re.sub(rb"t=(\d+)", rb"t=\1; t=1", raw, count=1), "malformed-signature"),
        (lambda raw: re.sub(rb"t=\d+", b"t=99999999999999999999", raw, count=1), None),
        (lambda raw: b"Content-Transfer-Encoding: base64\r\n" + raw, "doubled"),
        (lambda raw: raw.replace(b"To: ", b"To : ", 1), None),
    ],
)
async def test_no_broken_signature_passes_without_a_word(
    at: House, change: Callable[[bytes], bytes], rule: str | None
) -> None:
    raw = change(signed(await asked(at)))
    await at.arrives(raw)
    (noted,) = at.trail("outside.refused")
    assert rule is None or noted.facts["rule"] == rule
    assert at.trail("approval.") == []
    assert at.released == []


async def test_always_and_weak_words_count_at_home_only(at: House) -> None:
    """Also where the request offers a standing approval."""
    await at.person.write(AGENT, "Lunch", OWN_WORDS)
    out = await at.letter()
    assert "always approve" in (await at.person.mail("Approve?")).text
    for number, words in enumerate(("always approve", "always yes", "yes", "ok"), 1):
        await at.arrives(signed(out, words))
        if not at.person.mails("Action"):
            break
        assert len(await answers(at, number)) == number
    app, account = at.desk.app, at.person.identity.account
    assert app.store.read(lambda tx: app.runtime.grants(tx, account)) == []
    await at.desk.settled()
    assert at.released == []


async def test_an_answer_signed_by_both_people_names_is_that_of_its_from(at: House) -> None:
    """A second signature of somebody else changes nothing about who decided."""
    out = await asked(at)
    raw = key_of("evil.example").sign(signed(out), names=("from", "to", "subject"))
    await at.arrives(raw)
    await at.person.mail("Re: Notes from Tuesday")
    (approved,) = at.trail("approval.approved")
    assert approved.facts["by"] == REAL
    assert approved.facts["via"] == f"mail from {REAL}"
    assert approved.at <= time.time_ns() // 1_000_000


async def test_an_answer_that_cannot_be_kept_is_read_again_and_counts_once(at: House) -> None:
    """The disk is full as it is read: nothing of it is kept, so that the same mail is handed over again."""
    raw, app = signed(await asked(at)), at.desk.app
    assert app.outward is not None
    reader = Answers(app.store, app.runtime, app.outward, app.settings, app.clock.now, at.dns)
    keep = reader._keep

    def full(tx: WriteTx, *what: Any) -> None:
        keep(tx, *what)
        raise Full("the disk is full; nothing was kept")

    with patch.object(reader, "_keep", full), pytest.raises(Full):
        await reader.take(raw, Place(1, 7))
    assert reader.place() is None
    assert at.trail("outside.") == at.trail("approval.") == []
    await reader.take(raw, Place(1, 7))
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    assert reader.place() == Place(1, 7)
    assert len(at.trail("approval.approved")) == 1
    assert at.released == [("maya@example.org",)]
