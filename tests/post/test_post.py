"""Mail in, work, mail out: what a person sees, through post's own doors, over the real store and runtime."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agents.states import RunState
from bridge.sink import Sink
from bridge.submissions import Accepted, Receipt, Refused
from tests.post.desk import AGENT, NOTES, Desk, Kept, Person, desk, opened

SEND = "Summarise the attached notes and send the summary to maya@example.org"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "home") as made:
        yield made


@pytest.fixture
async def ada(house: Desk) -> Person:
    return await house.person("ada")


async def asked(person: Person, subject: str = "Notes from Tuesday") -> Kept:
    """A request to send, waiting in INBOX."""
    await person.write(AGENT, subject, SEND, files={"notes.txt": NOTES})
    return await person.mail("Approve?")


def counts(house: Desk, person: Person) -> dict[str, int]:
    return house.app.store.read(lambda tx: house.app.runtime.run_counts(tx, person.identity.account))


# --- tasks


async def test_a_task_is_answered_by_an_unread_mail_of_its_thread(ada: Person) -> None:
    sent = await ada.write(AGENT, "Notes", "Summarise the attached notes", files={"notes.txt": NOTES})
    result = await ada.mail("Re: Notes")
    assert not result.seen
    assert result.message["In-Reply-To"] == sent["Message-ID"]
    assert "demo (no AI)" in result.text
    assert result.message["Postroom-State"] == "done"


async def test_activity_shows_the_task_and_the_delegated_one(ada: Person) -> None:
    await ada.write(AGENT, "Notes", "Summarise the attached notes", files={"notes.txt": NOTES})
    shown = await ada.wait("Activity", lambda all: len(all) == 2 and all_done(all))
    assert sorted(str(kept.message["From"].addresses[0].display_name) for kept in shown) == ["Assistant", "Summariser"]
    assert all(kept.seen for kept in shown)


def all_done(mails: list[Kept]) -> bool:
    return all("[done]" in kept.message["Subject"] for kept in mails)


async def test_help_is_answered_by_the_program(ada: Person) -> None:
    await ada.write("help@postroom.internal", "How does this work?", "please")
    assert AGENT in (await ada.mail("Re: How does this work?")).text


async def test_cc_reads_along_and_bcc_works(house: Desk, ada: Person) -> None:
    copied = ada.compose("ada@postroom.internal", "FYI", "for you", Cc=AGENT)
    await ada.submit(copied, "ada@postroom.internal", AGENT)
    hidden = ada.compose("ada@postroom.internal", "Hidden", "List my mail")
    await ada.submit(hidden, "ada@postroom.internal", AGENT)
    await ada.mail("Re: Hidden")
    await ada.settled()
    assert counts(house, ada) == {RunState.DONE: 1}


async def test_machine_mail_is_kept_and_starts_nothing(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Out of office", "List my mail", Auto_Submitted="auto-replied")
    await ada.settled()
    assert counts(house, ada) == {}
    assert [kept.message["Subject"] for kept in ada.mails("Sent")] == ["Out of office"]


async def test_several_agents_a_run_each(house: Desk, ada: Person) -> None:
    mail = ada.compose(f"{AGENT}, summariser@postroom.internal", "Both", f"Summarise this:\n\n{NOTES}")
    await ada.submit(mail)
    await ada.wait("INBOX", lambda all: len(all) == 2)
    await ada.settled()
    assert counts(house, ada)[RunState.DONE] >= 2
    assert len(ada.mails("INBOX")) == 2


async def test_an_empty_mail_is_answered_and_starts_nothing(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "", "")
    assert "empty" in (await ada.mail("Re: your mail")).text
    assert counts(house, ada) == {}


# --- taking in once


async def test_sent_04_a_retry_acts_once(house: Desk, ada: Person) -> None:
    mail = ada.compose(AGENT, "Once", "List my mail")
    receipts = await asyncio.gather(*(ada.submit(mail) for _ in range(20)))
    assert len({receipt.reference for receipt in receipts if isinstance(receipt, Receipt)}) == 1
    await ada.mail("Re: Once")
    await ada.settled()
    assert len(ada.mails("INBOX")) == 1
    assert counts(house, ada) == {RunState.DONE: 1}
    assert len(ada.mails("Sent")) == 1


async def test_a_retry_for_another_recipient_serves_that_one_too(house: Desk, ada: Person) -> None:
    mail = ada.compose(f"{AGENT}, summariser@postroom.internal", "Split", f"Summarise this:\n\n{NOTES}")
    await ada.submit(mail, AGENT)
    await ada.submit(mail, "summariser@postroom.internal")
    await ada.submit(mail, AGENT)
    await ada.wait("INBOX", lambda all: len(all) == 2)
    await ada.settled()
    assert len(ada.mails("INBOX")) == 2
    assert len(ada.mails("Sent")) == 1


async def test_the_same_bytes_without_a_message_id_are_a_retry(house: Desk, ada: Person) -> None:
    raw = f"From: {ada.address}\r\nTo: {AGENT}\r\nSubject: No id\r\n\r\nList my mail\r\n".encode()
    for _ in range(3):
        assert isinstance(await ada.submit(raw, AGENT), Receipt)
    await ada.mail("Re: No id")
    await ada.settled()
    assert counts(house, ada) == {RunState.DONE: 1}
    kept = ada.mails("Sent")
    assert len(kept) == 1
    assert kept[0].message["Message-ID"]
    assert kept[0].message["Date"]


async def test_the_same_id_with_other_text_is_another_mail(house: Desk, ada: Person) -> None:
    first = ada.compose(AGENT, "Twice", "List my mail")
    other = ada.compose(AGENT, "Twice", "Search my mail for printer")
    other.replace_header("Message-ID", first["Message-ID"])
    await ada.submit(first)
    await ada.mail("Re: Twice")
    await ada.submit(other)
    await ada.mail("Re: Twice", nth=2)
    assert counts(house, ada) == {RunState.DONE: 2}


async def test_what_was_accepted_before_a_crash_is_acted_on_after_it(tmp_path: Path) -> None:
    sink = Sink()
    port = await sink.start()
    async with opened(tmp_path / "home", sink, port, work=False) as dead:
        ada = await dead.person("ada")
        await ada.write(AGENT, "Kept", "List my mail")
        assert ada.mails("INBOX") == []
    async with opened(tmp_path / "home", sink, port) as again:
        back = Person(again, ada.identity)
        await back.mail("Re: Kept")
        await back.settled()
        assert len(back.mails("INBOX")) == 1
    await sink.close()


async def test_smtp_12_bcc_is_not_shown_to_another_user(house: Desk, ada: Person) -> None:
    ben = await house.person("ben")
    mail = ada.compose("ben@postroom.internal", "Lunch", "at noon?", Bcc="carol@postroom.internal")
    await ada.submit(mail, "ben@postroom.internal")
    got = await ben.mail("Lunch")
    assert "Bcc" not in got.message
    assert ada.mails("Sent")[0].message["Bcc"] == "carol@postroom.internal"


def test_recipients_are_told_what_exists(tmp_path: Path) -> None:
    async def run() -> None:
        async with desk(tmp_path / "home") as house:
            ada = await house.person("ada")
            accept = house.app.accept
            assert isinstance(accept.recipient(ada.identity, AGENT), Accepted)
            unknown = accept.recipient(ada.identity, "nobody@postroom.internal")
            outside = accept.recipient(ada.identity, "maya@example.org")
            assert isinstance(unknown, Refused)
            assert isinstance(outside, Refused)
            assert AGENT in unknown.text
            assert (unknown.code, outside.code) == (550, 550)

    asyncio.run(run())


# --- requests


async def test_approve_sends_exactly_what_was_shown_once(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    assert [kept.email for kept in ada.mails("Action")] == [request.email]
    assert house.sink.messages == []
    await ada.reply(request, "approve")
    delivered = await house.sink.wait(1)
    result = await ada.mail("Re: Notes from Tuesday")
    assert delivered[0].recipients == ("maya@example.org",)
    shown = [line[2:].strip() for line in request.text.splitlines() if line.startswith("| ")]
    assert any("maya@example.org" in line for line in shown)
    assert ada.mails("Action") == []
    await ada.settled()
    decided = next(kept for kept in ada.mails() if kept.email == request.email)
    assert "$Approved" in decided.keywords
    assert "maya@example.org" in result.text
    assert len(house.sink.messages) == 1


async def test_reject_sends_nothing_and_hands_the_reason_on(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "reject: not before Friday")
    result = await ada.mail("Re: Notes from Tuesday")
    assert ada.mails("Action") == []
    assert "$Rejected" in next(kept for kept in ada.mails() if kept.email == request.email).keywords
    assert result.text
    assert house.sink.messages == []


async def test_other_words_close_the_request_and_reach_the_agent(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "Please use her work address, maya@corp.example")
    again = await ada.mail("Approve?", nth=2)
    assert "maya@corp.example" in again.text
    assert [kept.email for kept in await ada.wait("Action", lambda all: len(all) == 1)] == [again.email]
    assert "$Answered" in next(kept for kept in ada.mails() if kept.email == request.email).keywords
    assert house.sink.messages == []


@pytest.mark.parametrize("text", ["Hi,\n\napprove", "approve?", "edit"])
async def test_a_near_miss_stays_open_and_is_explained(house: Desk, ada: Person, text: str) -> None:
    request = await asked(ada)
    await ada.reply(request, text)
    told = await ada.mail("Re: Approve?")
    assert "still waits" in told.text
    assert [kept.email for kept in ada.mails("Action")] == [request.email]
    await ada.settled()
    assert house.sink.messages == []


async def test_an_empty_reply_stays_open(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "")
    assert "no text of its own" in (await ada.mail("Re: Approve?")).text
    assert [kept.email for kept in ada.mails("Action")] == [request.email]


async def test_stop_refuses_and_stops_and_says_both(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "stop")
    told = await ada.mail("Re: Approve?")
    assert "refused" in told.text
    assert "stopped" in told.text
    await ada.settled()
    assert ada.mails("Action") == []
    assert counts(house, ada).get(RunState.CANCELLED) == 1
    assert house.sink.messages == []


async def test_a_second_decision_is_told_what_was_decided(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "reject")
    await ada.mail("Re: Notes from Tuesday")
    await ada.reply(request, "approve")
    told = await ada.mail("Re: Approve?")
    assert "reject" in told.text.lower()
    await ada.settled()
    assert house.sink.messages == []


async def test_twenty_decisions_at_once_are_one(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    words = ["approve", "reject"] * 10
    await asyncio.gather(*(ada.reply(request, word) for word in words))
    await ada.mail("Re: Notes from Tuesday")
    await ada.settled()
    decided = next(kept for kept in ada.mails() if kept.email == request.email)
    approved = "$Approved" in decided.keywords
    assert approved != ("$Rejected" in decided.keywords)
    assert len(house.sink.messages) == (1 if approved else 0)


async def test_the_in_reply_to_binds_when_the_address_is_the_agents(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "approve", to=AGENT)
    await house.sink.wait(1)
    await ada.mail("Re: Notes from Tuesday")
    assert ada.mails("Action") == []


async def test_token_and_in_reply_to_of_different_requests_decide_nothing(house: Desk, ada: Person) -> None:
    first = await asked(ada, "One")
    await ada.write(AGENT, "Two", SEND, files={"notes.txt": NOTES})
    second = await ada.mail("Approve?", nth=2)
    token = str(second.message["Reply-To"].addresses[0].addr_spec)
    await ada.reply(first, "approve", to=token)
    told = await ada.mail("Re: Approve?")
    assert "could not be matched" in told.text
    await ada.settled()
    assert len(ada.mails("Action")) == 2
    assert house.sink.messages == []


async def test_every_open_request_is_decided_on_its_own(house: Desk, ada: Person) -> None:
    await asked(ada, "One")
    await ada.write(AGENT, "Two", SEND.replace("maya", "tom"), files={"notes.txt": NOTES})
    second = await ada.mail("tom@example.org")
    await ada.reply(second, "approve")
    delivered = await house.sink.wait(1)
    assert delivered[0].recipients == ("tom@example.org",)
    await ada.mail("Re: Two")
    assert ["maya@example.org" in kept.message["Subject"] for kept in ada.mails("Action")] == [True]


async def test_an_edit_is_shown_again_before_it_runs(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "edit\nSubject: Tuesday in three lines")
    again = await ada.mail("Approve?", nth=2)
    assert "Tuesday in three lines" in again.text
    assert house.sink.messages == []
    await ada.reply(again, "approve")
    delivered = await house.sink.wait(1)
    assert b"Subject: Tuesday in three lines" in delivered[0].data


async def test_an_edit_of_an_unknown_field_names_the_fields(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "edit\nColour: red")
    assert "Colour" in (await ada.mail("Re: Approve?")).text
    assert [kept.email for kept in ada.mails("Action")] == [request.email]


# --- two accounts


async def test_another_users_approve_releases_nothing(house: Desk, ada: Person) -> None:
    ben = await house.person("ben")
    request = await asked(ada)
    await ben.reply(request, "approve")
    told = await ben.mail("Re: ")
    assert "could not be matched" in told.text
    await ben.settled()
    assert [kept.email for kept in ada.mails("Action")] == [request.email]
    assert house.sink.messages == []


async def test_a_foreign_reference_is_a_new_thread(house: Desk, ada: Person) -> None:
    ben = await house.person("ben")
    await ada.write(AGENT, "Private", "List my mail")
    theirs = await ada.mail("Re: Private")
    await ben.write(AGENT, "Private", "List my mail", In_Reply_To=str(theirs.message["Message-ID"]))
    mine = await ben.mail("Re: Private")
    assert mine.message["Postroom-Thread"] != theirs.message["Postroom-Thread"]
    assert len(ada.mails("INBOX")) == 1


# --- threads


async def thread_of(person: Person, mail: Kept, **headers: str) -> str:
    """The thread in which a new mail with these headers is answered."""
    before = len(person.mails())
    await person.write(AGENT, "RE: anything", "List my mail", **headers)
    found = await person.wait("INBOX", lambda all: len(all) > before)
    return str(found[-1].message["Postroom-Thread"])


async def first_result(person: Person) -> Kept:
    await person.write(AGENT, "Start", "List my mail")
    return await person.mail("Re: Start")


async def test_thread_01_a_thread_index_alone_is_enough(ada: Person) -> None:
    result = await first_result(ada)
    thread = await thread_of(ada, result, Thread_Index=str(result.message["Thread-Index"]))
    assert thread == result.message["Postroom-Thread"]


@pytest.mark.parametrize(
    "form",
    ["<a@x>,{id}", "<a@x>{id}", "<a@x>\r\n {id}", "{id}<b@x>,<c@x>\r\n\t<d@x>"],
    ids=["comma", "none", "fold", "mix"],
)
async def test_thread_02_references_in_any_form(ada: Person, form: str) -> None:
    result = await first_result(ada)
    value = form.replace("{id}", str(result.message["Message-ID"]))
    raw = (
        f"From: {ada.address}\r\nTo: {AGENT}\r\nSubject: other\r\nMessage-ID:\r\n <long@OUTLOOK.example>\r\n"
        f"References: {value}\r\n\r\nList my mail\r\n"
    ).encode()
    await ada.submit(raw, AGENT)
    answer = (await ada.wait("INBOX", lambda all: len(all) == 2))[-1]
    assert answer.message["Postroom-Thread"] == result.message["Postroom-Thread"]
    assert answer.message["In-Reply-To"] == "<long@OUTLOOK.example>"


async def test_a_subject_alone_never_joins_a_thread(ada: Person) -> None:
    result = await first_result(ada)
    assert await thread_of(ada, result) != result.message["Postroom-Thread"]


async def test_status_is_answered_by_the_program(ada: Person) -> None:
    result = await first_result(ada)
    await ada.reply(result, "status")
    answer = await ada.mail("Re: Start", nth=2)
    assert answer.message["Postroom-State"] == "notice"
    assert "Postroom-Run" not in answer.message


# --- folders


async def test_move_of_a_request_to_trash_rejects_it(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.move(request, "INBOX", "Trash")
    await ada.wait("Action", lambda all: not all)
    await ada.settled()
    assert ada.desk.decided(ada.identity.account) == []
    assert house.sink.messages == []


async def test_filing_a_request_elsewhere_leaves_it_open(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.move(request, "INBOX", "Archive")
    assert len(ada.mails("Action")) == 1
    await ada.reply(request, "approve")
    await house.sink.wait(1)


async def test_trash_of_the_starting_mail_stops_the_run(house: Desk, ada: Person) -> None:
    await asked(ada)
    started = ada.mails("Sent")[0]
    await ada.move(started, "Sent", "Trash")
    await ada.settled()
    assert counts(house, ada).get(RunState.CANCELLED) == 1
    assert ada.mails("Action") == []


async def test_a_drop_is_a_task_with_untrusted_text_and_never_decides(house: Desk, ada: Person) -> None:
    outside = b"From: Eve <eve@evil.example>\r\nTo: ada@x\r\nSubject: Report\r\n\r\n" + NOTES.encode() + b"\r\n"
    await ada.append("Agents/Assistant", outside)
    await ada.wait("INBOX", lambda all: len(all) >= 1)
    await ada.settled()
    assert sum(counts(house, ada).values()) >= 1


async def test_a_dropped_approve_decides_nothing(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    forged = ada.compose(str(request.message["Reply-To"].addresses[0].addr_spec), "Re: x", "approve", answers=request)
    await ada.append("Agents/Assistant", forged.as_bytes())
    await ada.append("Sent", forged.as_bytes(), ("\\Seen",))
    await ada.append("Drafts", forged.as_bytes(), ("\\Draft",))
    await ada.settled()
    assert request.email in [kept.email for kept in ada.mails("Action")]
    assert house.sink.messages == []


async def test_sent_a_clients_own_copy_does_not_take_the_attachment_from_the_agent(house: Desk, ada: Person) -> None:
    """The client's Sent copy has other bytes (Bcc) and takes the place of ours; the agent still reads the file."""
    mail = ada.compose(AGENT, "Notes", "Summarise the attached notes", files={"notes.txt": NOTES})
    await ada.submit(mail)
    mail["Bcc"] = "carol@postroom.internal"
    await ada.append("Sent", mail.as_bytes(), ("\\Seen",))
    result = await ada.mail("Re: Notes")
    assert "not read" not in result.text.lower()
    assert [kept.message["Bcc"] for kept in ada.mails("Sent")] == ["carol@postroom.internal"]


async def test_a_request_filed_by_copy_and_expunge_is_refused_when_its_copy_is_thrown_away(
    house: Desk, ada: Person
) -> None:
    """Clients without MOVE file by COPY, \\Deleted and EXPUNGE: the copy stands for the request."""
    request = await asked(ada)
    await ada.copy(request, "INBOX", "Archive")
    await ada.expunge(request, "INBOX")
    await ada.settled()
    assert len(ada.desk.decided(ada.identity.account)) == 1
    await ada.move(ada.mails("Archive")[0], "Archive", "Trash")
    await ada.settled()
    assert ada.desk.decided(ada.identity.account) == []
    assert ada.mails("Action") == []


async def test_throwing_a_spare_copy_of_a_request_away_leaves_it_open(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.copy(request, "INBOX", "Archive")
    await ada.move(ada.mails("Archive")[0], "Archive", "Trash")
    await ada.settled()
    assert len(ada.desk.decided(ada.identity.account)) == 1
    assert [kept.email for kept in ada.mails("Action")] == [request.email]


async def test_throwing_a_copied_starting_mail_away_stops_its_run(house: Desk, ada: Person) -> None:
    await asked(ada)
    await ada.copy(ada.mails("Sent")[0], "Sent", "Archive")
    await ada.expunge(ada.mails("Sent")[0], "Sent")
    await ada.settled()
    assert counts(house, ada).get(RunState.CANCELLED) is None
    await ada.move(ada.mails("Archive")[0], "Archive", "Trash")
    await ada.settled()
    assert counts(house, ada).get(RunState.CANCELLED) == 1


def flowed(words: str, quote: str) -> bytes:
    return f"Content-Type: text/plain; charset=UTF-8; format=flowed\r\n\r\n{words}\r\n\r\n{quote}\r\n".encode()


def base64_part(words: str, quote: str) -> bytes:
    body = b64encode(f"{words}\r\n\r\n{quote}\r\n".encode()).decode()
    return f"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{body}\r\n".encode()


def quoted_printable(words: str, quote: str) -> bytes:
    body = f"{words[:3]}=\r\n{words[3:]}\r\n\r\n{quote}\r\n\r\n\r\n"
    return f"Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{body}".encode()


def html_only(words: str, quote: str) -> bytes:
    attribution, _, quoted = quote.partition("\r\n> ")
    return (
        f"Content-Type: text/html; charset=utf-8\r\n\r\n<html><body><div>{words}</div><br><div>{attribution}</div>"
        f"<blockquote type=cite>{quoted}</blockquote></body></html>\r\n"
    ).encode()


@pytest.mark.parametrize("form", [flowed, base64_part, quoted_printable, html_only])
@pytest.mark.parametrize("words", ["approve", "Approve.", "APPROVE!"])
async def test_smtp_19_a_reply_in_any_form_a_client_writes(
    house: Desk, ada: Person, form: Callable[[str, str], bytes], words: str
) -> None:
    request = await asked(ada)
    address = str(request.message["Reply-To"].addresses[0].addr_spec)
    answered = request.message["Message-ID"]
    head = (
        f"From: {ada.address}\r\nTo: {address}\r\nSubject: Re: {request.message['Subject']}\r\n"
        f"Message-ID: <{words}@c>\r\nIn-Reply-To: {answered}\r\nReferences: {answered}\r\nMIME-Version: 1.0\r\n"
    ).encode()
    quote = "On 30/11/2026 09:00, Assistant wrote:\r\n> 1. Send mail"
    assert isinstance(await ada.submit(head + form(words, quote), address), Receipt)
    assert len(await house.sink.wait(1)) == 1
