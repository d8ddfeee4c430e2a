"""Mail in, work, mail out: what a person sees, through post's own doors, over the real store and runtime."""

import asyncio
from pathlib import Path

from agents.states import RunState
from bridge.sink import Sink
from bridge.submissions import Accepted, Receipt, Refused
from tests.post.desk import AGENT, NOTES, Desk, Person, all_done, counts, desk, opened

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
    assert all(kept.text.count("read_attachment: ") <= 1 for kept in shown), "the story is told once"
    assert all(" model call" in kept.text and " tool" in kept.text for kept in shown)


async def test_help_is_answered_by_the_program(ada: Person) -> None:
    await ada.write("help@postroom.internal", "How does this work?", "please")
    assert AGENT in (await ada.mail("Re: How does this work?")).text


async def test_a_thread_word_that_answers_nothing_is_explained(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "x", "status")
    told = await ada.mail("Re: x")
    assert "Nothing was begun in this thread yet." in told.text
    assert "answer one of its mails" in told.text
    assert counts(house, ada) == {}


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
