"""What the user does with the mails themselves: filing, throwing away, handing over."""

from functools import partial
from typing import Any

import pytest

from agents.states import RunState
from mailstore import messages
from mailstore.model import Uid
from mailstore.transaction import ReadTx
from tests.post.desk import AGENT, NOTES, SEND, Desk, Person, all_done, asked, counts

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


async def test_destroying_the_last_mail_of_a_thread_in_trash_deletes_its_data(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Secret", "Summarise the attached notes", files={"notes.txt": NOTES})
    await ada.mail("Re: Secret")
    await ada.wait("Activity", lambda all: len(all) == 2 and all_done(all))
    await ada.settled()
    for name in ("INBOX", "Sent", "Activity"):
        for kept in ada.mails(name):
            await ada.move(kept, name, "Trash")
    assert counts(house, ada) != {}
    for kept in ada.mails("Trash"):
        await ada.expunge(kept, "Trash")
    assert counts(house, ada) == {}


async def test_destroying_the_sent_copy_while_the_task_runs_still_brings_the_result(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Notes", SEND, files={"notes.txt": NOTES})
    request = await ada.mail("Approve?")
    await ada.expunge(ada.mails("Sent")[0], "Sent")
    await ada.reply(request, "approve")
    await ada.mail("Re: Notes")
    assert len(house.sink.messages) == 1


# --- many at once


def mail_of(number: int) -> bytes:
    head = f"From: Bob <bob@example.org>\r\nSubject: {number}\r\nMessage-ID: <{number}@example.org>\r\n\r\n"
    return f"{head}{number}\r\n".encode()


async def fill(person: Person, name: str, numbers: range) -> list[Uid]:
    """Append that many mails that have to do with nothing; every UID of the mailbox."""
    for number in numbers:
        await person.append(name, mail_of(number))
    store, box = person.desk.app.store, person.mailbox(name)
    return [*map(Uid, store.snapshot(box.id).uids)]


async def test_a_request_among_many_that_are_thrown_away_is_rejected(house: Desk, ada: Person) -> None:
    await asked(ada)
    box, trash = ada.mailbox("INBOX"), ada.mailbox("Trash")
    uids = await fill(ada, "INBOX", range(40))
    await house.app.store.write(lambda tx: messages.move(tx, box, uids, trash))
    await ada.settled()
    assert (ada.desk.decided(ada.identity.account), ada.mails("Action"), house.sink.messages) == ([], [], [])


async def test_a_request_among_many_that_are_destroyed_is_rejected_and_only_its_thread_forgotten(
    house: Desk, ada: Person
) -> None:
    await asked(ada)
    box, sent = ada.mailbox("INBOX"), ada.mailbox("Sent")
    uids = await fill(ada, "INBOX", range(40))
    await house.app.store.write(lambda tx: messages.expunge(tx, box, uids, only_deleted=False))
    await ada.settled()
    assert (ada.desk.decided(ada.identity.account), ada.mails("Action"), house.sink.messages) == ([], [], [])
    for each in (box, sent):
        there = [*map(Uid, house.app.store.snapshot(each.id).uids)]
        await house.app.store.write(partial(messages.expunge, mailbox=each, uids=there, only_deleted=False))
    trail = house.app.store.read(lambda tx: house.app.runtime.trail(tx, ada.identity.account))
    assert [entry.what for entry in trail].count("thread.forgotten") == 1


@pytest.mark.parametrize("destroyed", [False, True])
async def test_how_many_are_thrown_away_makes_no_more_questions(
    house: Desk, ada: Person, monkeypatch: pytest.MonkeyPatch, destroyed: bool
) -> None:
    """A thousand that have to do with no run are looked up together."""
    questions: list[str] = []
    execute = ReadTx._execute

    def counted(self: ReadTx, name: str, params: Any, **more: Any) -> Any:
        questions.append(name)
        return execute(self, name, params, **more)

    box, trash = ada.mailbox("Archive"), ada.mailbox("Trash")
    asked_of = []
    for numbers in (range(1), range(1, 30)):
        uids = await fill(ada, "Archive", numbers)
        with monkeypatch.context() as patch:
            patch.setattr(ReadTx, "_execute", counted)
            if destroyed:
                await house.app.store.write(partial(messages.expunge, mailbox=box, uids=uids, only_deleted=False))
            else:
                await house.app.store.write(partial(messages.move, source=box, uids=uids, target=trash))
        asked_of.append([name for name in questions if name.startswith(("agents.", "mailstore.messages."))])
        questions.clear()
    assert len(asked_of[0]) == len(asked_of[1]) > 0
