"""Threads that go on from an earlier mail, are given names, and are thrown away: as a user does it in a mail client."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from agents import journal, store, threads
from bridge.submissions import Receipt
from config.settings import Approvals
from tests.post.desk import AGENT, NOTES, Desk, Kept, Person, asked, counts, desk

LIST = "List what waits for me."


def forward(person: Person, kept: Kept, form: str, words: str) -> EmailMessage:
    """A mail of an agent forwarded back to it, as different clients write it."""
    ident = str(kept.message["Message-ID"])
    headers: dict[str, str] = {}
    text = words
    if form != "attached":
        block = "\n".join([f"From: {kept.message['From']}", f"Subject: {kept.message['Subject']}", "", kept.text])
        text = f"{words}\n\n-------- Forwarded Message --------\n{block}\n"
    if form == "thunderbird":
        headers["X_Forwarded_Message_Id"] = ident
    elif form == "gmail":
        headers |= {"In_Reply_To": ident, "References": ident}
    elif form == "references":
        headers["References"] = ident
    mail = person.compose(AGENT, f"Fwd: {kept.message['Subject']}", text, None, None, **headers)
    if form == "attached":
        mail.add_attachment(kept.message)
    return mail


def thread_of(house: Desk, run: str) -> Any:
    return house.app.store.read(lambda tx: store.get_run(tx, run))


def told(house: Desk, run: str) -> list[str]:
    """What the program told the agent of a run before its letters."""
    rows = house.app.store.read(lambda tx: tx.all("agents.steps.users", run=run))
    return [str(store.json_object(row["body"]).get("told", "")) for row in rows]


async def test_replying_to_an_older_mail_goes_on_in_its_thread_and_the_agent_is_told(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Mail", LIST)
    first = await ada.mail("Re: Mail")
    await ada.reply(first, LIST)
    await ada.mail("Re: Mail", nth=2)
    await ada.reply(first, LIST)
    third = await ada.mail("Re: Mail", nth=3)
    assert third.message["Postroom-Thread"] == first.message["Postroom-Thread"]
    assert told(house, third.message["Postroom-Run"])[0].startswith("The user answers an earlier mail of yours")


@pytest.mark.parametrize("form", ["thunderbird", "gmail", "references", "attached"])
async def test_forwarding_an_agents_mail_back_to_it_forks(house: Desk, ada: Person, form: str) -> None:
    await ada.write(AGENT, "Mail", LIST)
    first = await ada.mail("Re: Mail")
    await ada.reply(first, LIST)
    await ada.mail("Re: Mail", nth=2)
    assert isinstance(await ada.submit(forward(ada, first, form, LIST)), Receipt)
    forked = await ada.mail("Re: Fwd: Re: Mail")
    assert forked.message["Postroom-Thread"] != first.message["Postroom-Thread"]
    run = thread_of(house, forked.message["Postroom-Run"])
    assert run.taint is False
    assert told(house, run.id)[0].startswith('This thread goes on from your mail "Re: Mail" of ')
    earlier = house.app.store.read(
        lambda tx: tx.all(
            "agents.runs.earlier", agent=run.agent, before=run.id, **threads.line(tx, run.account, run.thread)
        )
    )
    assert [row["id"] for row in earlier] == [first.message["Postroom-Run"]]
    [letter] = house.app.store.read(lambda tx: journal.letters_of(tx, run.id))
    assert (letter.text, letter.foreign, letter.attachments) == (LIST, "", ())
    await ada.reply(forked, LIST)
    again = await ada.mail("Re: Fwd: Re: Mail", nth=2)
    assert again.message["Postroom-Thread"] == forked.message["Postroom-Thread"]
    assert len(told(house, again.message["Postroom-Run"])[0]) == 0


async def test_a_fork_may_name_the_files_of_its_origin_and_takes_over_its_mark(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Notes", "Summarise the attached notes.", files={"notes.txt": NOTES})
    first = await ada.mail("Re: Notes")
    mail = forward(ada, first, "thunderbird", "Summarise the attached notes and send the summary to maya@example.org")
    await ada.submit(mail)
    request = await ada.mail("Approve?")
    assert "It read untrusted text before asking: notes.txt" in request.text
    assert request.message["Postroom-Thread"] != first.message["Postroom-Thread"]


async def test_mail_of_others_and_of_another_agent_forwarded_is_material_as_ever(house: Desk, ada: Person) -> None:
    eve = await house.person("eve")
    await eve.write(AGENT, "Hers", LIST)
    hers = await eve.mail("Re: Hers")
    await ada.submit(forward(ada, hers, "thunderbird", LIST))
    result = await ada.mail("Re: Fwd: Re: Hers")
    run = thread_of(house, result.message["Postroom-Run"])
    assert run.taint is True
    assert told(house, run.id) == [""]
    await ada.write(AGENT, "Mine", LIST)
    mine = await ada.mail("Re: Mine")
    to_other = forward(ada, mine, "thunderbird", "Summarise this.")
    to_other.replace_header("To", "summariser@postroom.internal")
    await ada.submit(to_other)
    other = await ada.mail("Re: Fwd: Re: Mine")
    assert thread_of(house, other.message["Postroom-Run"]).taint is True


@pytest.mark.parametrize("word", ["fork", "Branch."])
async def test_the_word_begins_a_thread_that_waits_for_what_is_to_be_done(house: Desk, ada: Person, word: str) -> None:
    await ada.write(AGENT, "Mail", LIST)
    first = await ada.mail("Re: Mail")
    await ada.reply(first, LIST)
    await ada.mail("Re: Mail", nth=2)
    await ada.reply(first, word)
    opened = await ada.mail("Mail (fork)")
    assert opened.text.startswith('A new thread, which goes on from "Re: Mail"')
    assert opened.message["Postroom-Thread"] != first.message["Postroom-Thread"]
    assert sum(counts(house, ada).values()) == 2
    await ada.reply(opened, LIST)
    result = await ada.mail("Re: Mail (fork)", nth=2)
    assert result.message["Postroom-Thread"] == opened.message["Postroom-Thread"]
    assert told(house, result.message["Postroom-Run"])[0].startswith("This thread goes on from your mail")


async def test_a_fork_under_an_open_request_leaves_it_open(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    await ada.reply(request, "fork")
    await ada.mail("(fork)")
    assert house.decided(ada.identity.account)
    assert house.sink.messages == []


async def test_fork_with_nothing_to_go_on_from_is_explained(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "fork", "fork")
    assert "there is no mail of an agent" in (await ada.mail("Re: fork")).text


async def test_a_thread_gets_a_name_for_its_later_mails(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Mail", LIST)
    first = await ada.mail("Re: Mail")
    await ada.reply(first, "rename to Post of the Week")
    assert 'This thread is called "Post of the Week" from now on.' in (await ada.mail("Re: Re: Mail")).text
    await ada.reply(first, LIST)
    later = await ada.mail("Re: Post of the Week")
    assert later.message["Postroom-Thread"] == first.message["Postroom-Thread"]
    await ada.reply(first, "rename")
    await ada.settled()


async def test_a_thread_in_trash_is_stopped_and_nothing_of_it_is_released_afterwards(house: Desk, ada: Person) -> None:
    request = await asked(ada)
    for name in ("INBOX", "Sent"):
        for kept in ada.mails(name):
            await ada.move(kept, name, "Trash")
    stopped = await ada.mail("Re: Notes from Tuesday")
    assert stopped.text.startswith("Stopped")
    await ada.reply(request, "approve")
    assert (await ada.mail("Approve?")).text.startswith("This was already rejected on")
    await ada.settled()
    assert house.sink.messages == []
    assert counts(house, ada)["cancelled"] == 1


async def test_a_thread_destroyed_in_trash_is_forgotten_with_its_fork_and_its_name(house: Desk, ada: Person) -> None:
    await ada.write(AGENT, "Mail", LIST)
    first = await ada.mail("Re: Mail")
    await ada.reply(first, "fork")
    opened = await ada.mail("Mail (fork)")
    thread = opened.message["Postroom-Thread"]
    await ada.reply(opened, "rename to Other")
    await ada.mail("Re: Mail (fork)", nth=1)
    await ada.settled()
    for name in ("INBOX", "Sent"):
        for kept in [one for one in ada.mails(name) if "(fork)" in one.message["Subject"]]:
            await ada.move(kept, name, "Trash")
    for kept in ada.mails("Trash"):
        await ada.expunge(kept, "Trash")
    where = {"account": ada.identity.account, "thread": thread}
    assert house.app.store.read(lambda tx: tx.one("agents.threads.forked", **where)) is None
    assert house.app.store.read(lambda tx: tx.value("agents.threads.title", **where)) is None
    await ada.reply(first, LIST)
    await ada.mail("Re: Mail", nth=2)


async def test_an_approved_mail_in_its_time_of_grace_is_taken_back_by_trash(tmp_path: Path) -> None:
    async with desk(tmp_path / "home", approvals=Approvals(grace_seconds=3600)) as house:
        ada = await house.person("ada")
        request = await asked(ada)
        await ada.reply(request, "approve")
        await ada.settled()
        for name in ("INBOX", "Sent"):
            for kept in ada.mails(name):
                await ada.move(kept, name, "Trash")
        assert (await ada.mail("Re: Notes from Tuesday")).text.startswith("Stopped")
        await ada.settled()
        assert house.sink.messages == []
