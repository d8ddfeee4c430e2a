"""Decisions by mail beyond the plain yes and no: changes, standing approvals, second thoughts, races; and that each
answer of a user is answered once."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from agents.approvals import Decided, Decision
from agents.audit import Entry
from agents.requests import RequestInfo
from agents.runtime import NOTICES_AN_HOUR
from agents.states import RunState
from bridge.sink import Sink
from config.settings import Approvals
from mailstore.store import FILE
from tests.post.desk import AGENT, NOTES, Desk, Kept, Person, desk, opened

SEND = "Summarise the attached notes and send the summary to maya@example.org"
HELP = "help@postroom.internal"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "home") as made:
        yield made


@pytest.fixture
async def ada(house: Desk) -> Person:
    return await house.person("ada")


async def asked(person: Person, subject: str = "Notes from Tuesday", text: str = SEND, nth: int = 1) -> Kept:
    await person.write(AGENT, subject, text, files={"notes.txt": NOTES})
    return await person.mail("Approve?", nth=nth)


def info(person: Person) -> RequestInfo:
    app = person.desk.app
    (found,) = app.store.read(lambda tx: app.runtime.waiting(tx, person.identity.account))
    return found


async def decide(person: Person, request: RequestInfo, verdict: str, **more: Any) -> Decided:
    """Decide as the reader of a mail does, without the mail."""
    app = person.desk.app
    now = app.clock.now()
    made = Decision(person.identity.account, request.id, verdict, person.address, "test", now, request.revision)
    return await app.store.write(lambda tx: app.runtime.decide(tx, replace(made, **more)))


def trail(person: Person, what: str) -> list[Entry]:
    app = person.desk.app
    found = app.store.read(lambda tx: app.runtime.trail(tx, person.identity.account))
    return [entry for entry in reversed(found) if entry.what.startswith(what)]


def rows(person: Person, sql: str, *values: object) -> list[dict[str, Any]]:
    """Straight from the file, or straight into it, past everything that guards it."""
    with closing(sqlite3.connect(person.desk.app.folder.root / FILE)) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute(sql, values)]
        connection.commit()
    return found


# --- edits


async def test_an_edit_shows_what_changed_and_keeps_the_code_under_a_new_token(ada: Person) -> None:
    request = await asked(ada)
    before = info(ada)
    await ada.reply(request, "edit\nSubject: Tuesday, in short\nTo: tom@example.org")
    again = await ada.mail("Approve?", nth=2)
    after = info(ada)
    assert (after.code, after.revision) == (before.code, 2)
    assert after.token != before.token
    told = " ".join(again.text.split())
    assert 'Tuesday, in short (changed by you; it was "' in told
    assert 'changed by you; it was "maya@example.org"' in told
    body = next(field for field in after.view.items[0].fields if field.name == "Body")
    assert "changed" not in body.note


async def test_an_old_version_decides_nothing_after_an_edit(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "edit\nSubject: Shorter")
    await ada.mail("Approve?", nth=2)
    await ada.reply(request, "approve")
    told = await ada.mail("Re: Approve?")
    assert "replaced by a changed version" in told.text
    await ada.settled()
    assert house.sink.messages == []
    assert len(ada.mails("Action")) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [("To: not an address", "not an address"), ('{"to": [1]}', "to[0]"), ('{"colour": "red"}', "colour")],
)
async def test_a_faulty_change_names_its_field_and_leaves_the_request_as_it_was(
    house: Desk, ada: Person, changes: str, field: str
) -> None:
    request = await asked(ada)
    before = info(ada)
    await ada.reply(request, f"edit\n{changes}")
    assert field in (await ada.mail("Re: Approve?")).text
    assert info(ada).id == before.id
    assert house.sink.messages == []


# --- standing approvals


OWN_WORDS = "Send a mail to maya@example.org with the subject Lunch and the text: See you at noon."


async def test_always_is_told_listed_and_taken_back_by_mail(ada: Person) -> None:
    request = await untainted(ada)
    await ada.reply(request, "always approve")
    told = await ada.mail("Re: Approve?")
    code = "G-" + told.text.partition("(G-")[2][:6]
    await ada.write(HELP, "What do I allow?", "grants")
    listed = await ada.mail("Re: What do I allow?")
    assert code in listed.text
    assert "maya@example.org" in listed.text
    await ada.reply(listed, f"revoke {code}")
    taken = await ada.mail("Re: What do I allow?", nth=2)
    assert f"{code} was taken back" in taken.text
    await ada.write(HELP, "And now?", "Grants.")
    assert "no standing approvals" in (await ada.mail("Re: And now?")).text
    (revoked,) = trail(ada, "grant.revoked")
    assert revoked.facts["by"] == ada.address


async def untainted(person: Person) -> Kept:
    """A request of a run that has read nothing but its owner's words."""
    await person.write(AGENT, "Lunch", OWN_WORDS)
    return await person.mail("Approve?")


async def test_a_standing_approval_of_another_account_cannot_be_taken_back(house: Desk, ada: Person) -> None:
    request = await untainted(ada)
    await ada.reply(request, "always approve")
    told = await ada.mail("Re: Approve?")
    code = "G-" + told.text.partition("(G-")[2][:6]
    eve = await house.person("eve")
    await eve.write(HELP, "Take", f"revoke {code}")
    assert "There is no standing approval" in (await eve.mail("Re: Take")).text
    account = ada.identity.account
    assert len(house.app.store.read(lambda tx: house.app.runtime.grants(tx, account))) == 1


async def test_words_about_grants_among_others_are_not_commands(ada: Person) -> None:
    await ada.write(HELP, "Hm", "please revoke G-ABCDEF for me")
    assert "Write a mail to assistant@" in (await ada.mail("Re: Hm")).text  # the guide's answer, not a command's


# --- second thoughts


async def test_in_the_time_of_grace_stop_still_works(tmp_path: Path) -> None:
    async with desk(tmp_path / "home", approvals=Approvals(grace_seconds=600)) as house:
        ada = await house.person("ada")
        request = await asked(ada)
        await ada.reply(request, "approve")
        told = await ada.mail("Re: Approve?")
        assert 'in 600 seconds, exactly as shown, unless you answer "stop" before' in told.text
        await ada.reply(request, "stop")
        stopped = await ada.mail("Re: Approve?", nth=2)
        assert "The task was stopped" in stopped.text
        await ada.settled()
        assert house.sink.messages == []
        assert rows(ada, "SELECT state FROM runs WHERE depth = 0") == [{"state": RunState.CANCELLED.value}]


# --- races


async def test_twenty_decisions_at_once_one_wins_and_each_other_is_told(house: Desk, ada: Person) -> None:
    await asked(ada)
    request = info(ada)
    verdicts = ["approve", "reject", "respond", "approve"] * 5
    outcomes = await asyncio.gather(*(decide(ada, request, verdict, text="hm") for verdict in verdicts))
    took = [one for one in outcomes if one.outcome in ("approved", "rejected", "answered")]
    assert len(took) == 1
    late = [one for one in outcomes if one.outcome == "already"]
    assert len(late) == 19
    assert all("already" in one.text and "from test" in one.text for one in late)
    await ada.settled()
    assert len(trail(ada, "approval.")) <= 2
    assert len(house.sink.messages) <= 1


@pytest.mark.parametrize(("first", "late"), [("expire", 1), ("approve", 1), ("expire", -1), ("approve", -1)])
async def test_approving_while_it_expires_is_one_or_the_other(house: Desk, ada: Person, first: str, late: int) -> None:
    """What counts is when the answer came in; whichever of the two is carried out first."""
    await asked(ada)
    request, app = info(ada), house.app
    at = request.expires + late
    await app.runtime.idle()  # a run in hand would count the jump of the clock as its work
    with patch.object(app.clock, "now", lambda: at):
        both = [app.runtime.tick(), decide(ada, request, "approve")]
        done = await asyncio.gather(*(both if first == "expire" else reversed(both)))
        outcome = next(one.outcome for one in done if isinstance(one, Decided))
        assert outcome == ("approved" if late < 0 else "expired")
        await ada.settled()
        if outcome == "approved":
            await house.sink.wait(1)
    assert rows(ada, "SELECT state FROM requests") == [{"state": outcome}]
    assert len(house.sink.messages) == (1 if outcome == "approved" else 0)


@pytest.mark.parametrize("first", ["cancel", "approve"])
async def test_approving_while_it_is_cancelled_releases_at_most_what_was_approved(
    house: Desk, ada: Person, first: str
) -> None:
    await asked(ada)
    request = info(ada)
    app = house.app
    cancel = app.store.write(lambda tx: app.runtime.cancel_thread(tx, request.account, request.thread, "you said so"))
    both = [cancel, decide(ada, request, "approve")]
    done = await asyncio.gather(*(both if first == "cancel" else reversed(both)))
    outcome = next(one.outcome for one in done if isinstance(one, Decided))
    await ada.settled()
    if first == "cancel":
        assert outcome == "cancelled"
        assert house.sink.messages == []
    assert len(house.sink.messages) <= 1
    (run,) = rows(ada, "SELECT state FROM runs WHERE depth = 0")
    assert run["state"] in ("cancelled", "done")


async def test_an_approval_taken_before_a_crash_runs_once_after_it(tmp_path: Path) -> None:
    sink = Sink()
    port = await sink.start()
    async with opened(tmp_path / "home", sink, port) as house:
        ada = await house.person("ada")
        request = await asked(ada)
    async with opened(tmp_path / "home", sink, port, work=False) as dead:
        back = Person(dead, ada.identity)
        await back.reply(request, "approve")
    for _ in range(2):
        async with opened(tmp_path / "home", sink, port) as again:
            back = Person(again, ada.identity)
            await back.mail("Re: Notes from Tuesday")
            await back.settled()
    assert len(sink.messages) == 1
    await sink.close()


async def test_arguments_changed_after_the_approval_are_asked_about_again(tmp_path: Path) -> None:
    async with desk(tmp_path / "home", approvals=Approvals(grace_seconds=3600)) as house:
        ada = await house.person("ada")
        await asked(ada)
        request = info(ada)
        assert (await decide(ada, request, "approve")).outcome == "approved"
        await ada.settled()
        (call,) = rows(ada, "SELECT id, args FROM tool_calls WHERE gated = 1")
        other = json.dumps({**json.loads(call["args"]), "to": ["eve@evil.example"]})
        rows(ada, "UPDATE tool_calls SET args = ?, not_before = 0 WHERE id = ?", other, call["id"])
        rows(ada, "UPDATE runs SET wake_at = 1 WHERE state = 'waiting_time'")
        await house.app.runtime.tick()
        again = await ada.mail("Approve?", nth=2)
        assert "eve@evil.example" in again.text
        assert house.sink.messages == []
        assert [entry.what for entry in trail(ada, "approval.superseded")] == ["approval.superseded"]


# --- each answer once


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("approve", "Re: Notes from Tuesday"),
        ("reject", "Re: Notes from Tuesday"),
        ("approve?", "Re: Approve?"),
        ("", "Re: Approve?"),
        ("approve 7", "Re: Approve?"),
        ("edit", "Re: Approve?"),
    ],
)
async def test_a_reply_gets_exactly_one_answer_however_often_it_is_delivered(
    house: Desk, ada: Person, text: str, where: str
) -> None:
    request = await asked(ada)
    known = len(ada.mails())
    target = str(request.message["Reply-To"].addresses[0].addr_spec)
    mail = ada.compose(target, f"Re: {request.message['Subject']}", text, None, request)
    for _ in range(3):
        await ada.submit(mail)
    await ada.mail(where)
    await ada.settled()
    assert len(ada.mails()) == known + 1


async def test_machine_mail_to_a_request_is_not_answered(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    known = len(ada.mails())
    for sign in ({"Auto_Submitted": "auto-replied"}, {"Precedence": "bulk"}, {"List_Id": "<x.example>"}):
        await ada.reply(request, "approve", **sign)
    await ada.settled()
    assert len(ada.mails()) == known
    assert len(ada.mails("Action")) == 1
    assert house.sink.messages == []


async def test_our_own_mail_sent_back_to_us_starts_and_decides_nothing(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    known = len(ada.mails())
    own = request.raw.replace(b"From: Assistant <assistant@postroom.internal>", f"From: {ada.address}".encode())
    for target in (AGENT, str(request.message["Reply-To"].addresses[0].addr_spec), HELP):
        await ada.submit(own, target)
    await ada.settled()
    assert len(ada.mails()) == known
    assert house.sink.messages == []


async def test_a_thread_gets_only_so_many_answers_of_the_program_in_an_hour(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    target = str(request.message["Reply-To"].addresses[0].addr_spec)
    for number in range(NOTICES_AN_HOUR + 5):
        await ada.submit(ada.compose(target, f"Re: {request.message['Subject']}", f"approve? {number}", None, request))
    await ada.settled()
    told = [kept for kept in ada.mails() if kept.message["Subject"].startswith("Re: Approve?")]
    assert len(told) == NOTICES_AN_HOUR
    assert "gets no more of them" in told[-1].text
    assert len(trail(ada, "notice.withheld")) == 5
    assert len(ada.mails("Action")) == 1


@pytest.mark.parametrize("word", ["approve", "reject: no", "edit\nSubject: Other"])
async def test_a_decision_in_answer_to_a_notice_is_told_that_it_is_none(house: Desk, ada: Person, word: str) -> None:
    """The newest mail of the thread is not the request: nothing is decided, or kept for the agent in silence."""
    request = await asked(ada)
    await ada.reply(request, "Hi, approve")
    near = await ada.mail("Re: Approve?")
    await ada.reply(near, word)
    told = await ada.mail("Re: Approve?", nth=2)
    assert f"none of the requests that wait here ({info(ada).code})" in told.text
    await ada.reply(told, word)
    await ada.mail("Re: Approve?", nth=3)
    assert house.sink.messages == []
    assert rows(ada, "SELECT 1 FROM letters WHERE state = 'pending'") == []
    await ada.reply(request, "approve")
    assert len(await house.sink.wait(1)) == 1


async def test_a_weak_word_in_answer_to_another_mail_of_the_thread_is_a_word_for_the_agent(ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "Hi, approve")
    near = await ada.mail("Re: Approve?")
    await ada.reply(near, "yes")
    await ada.settled()
    assert len(rows(ada, "SELECT 1 FROM letters WHERE state = 'pending'")) == 1
    assert len(ada.mails("Action")) == 1


async def test_without_a_request_that_waits_a_decision_is_words_like_any_others(ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "reject")
    result = await ada.mail("Re: Notes from Tuesday")
    await ada.reply(result, "approve")
    assert "none of the requests" not in (await ada.mail("Re: Notes from Tuesday", nth=2)).text


@pytest.mark.parametrize("word", ["approve", "reject: no", "approve?"])
async def test_one_mail_to_the_request_and_to_its_agent_is_one_answer(house: Desk, ada: Person, word: str) -> None:
    """Reply-all, or a copy of the address in another case: it is decided once, and answered once."""
    request = await asked(ada)
    target = str(request.message["Reply-To"].addresses[0].addr_spec)
    mail = ada.compose(f"{target}, {AGENT}", "Re: it", word, None, request)
    await ada.submit(mail, target, target.upper(), AGENT)
    await ada.wait("INBOX", lambda all: len(all) > 1)
    await ada.settled()
    assert len(ada.mails()) == 2
    assert len(house.sink.messages) == (word == "approve")
