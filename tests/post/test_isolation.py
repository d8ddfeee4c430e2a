"""Two accounts and every key that could join them: with the other's thread, mail, token, code or reference in hand, an
account sees nothing of it, changes nothing of it, and is not told that it exists.

Eve holds everything that Ada's request says, as if Ada's screen had been read: that must not be enough for anything.
"""

import email
from email.policy import SMTP

import pytest

from agents.ports import MailNotFound
from agents.states import RunState
from bridge.post.ports import StoreMail, ref
from bridge.submissions import Receipt
from mailstore.sqlite import ReadTx
from tests.post.desk import AGENT, NOTES, Desk, Kept, Person, asked, counts

ALL_BOXES = ("INBOX", "Action", "Unread", "All", "Activity", "Drafts", "Sent", "Trash", "Archive", "Agents/Assistant")


@pytest.fixture
async def eve(house: Desk, ada: Person) -> Person:
    """The second account; Ada's comes first."""
    return await house.person("eve")


def foreign(eve: Person) -> list[str]:
    """What of Ada's stands in Eve's mailboxes."""
    secrets = ("ada@postroom.internal", "Notes from Tuesday", "maya@example.org")
    told = [kept for name in ALL_BOXES if name != "Sent" for kept in eve.mails(name)]
    return [secret for kept in told for secret in secrets if secret in kept.raw.decode(errors="replace")]


async def still_open(house: Desk, ada: Person, request: Kept) -> None:
    """Ada's request waits as before, and nothing went out."""
    await ada.settled()
    assert [kept.email for kept in ada.mails("Action")] == [request.email]
    assert counts(house, ada) == {RunState.WAITING_APPROVAL: 1, RunState.DONE: 1}
    assert house.sink.messages == []


@pytest.mark.parametrize("key", ["token", "message id", "references", "thread index", "code"])
@pytest.mark.parametrize("word", ["approve", "stop"])
async def test_no_key_of_a_request_reaches_it_from_another_account(
    house: Desk, ada: Person, eve: Person, key: str, word: str
) -> None:
    request = await asked(ada)
    message = request.message
    to = str(message["Reply-To"].addresses[0].addr_spec) if key == "token" else AGENT
    fields = {
        "message id": ("In-Reply-To", str(message["Message-ID"])),
        "references": ("References", f"<other@x> {message['Message-ID']}"),
        "thread index": ("Thread-Index", str(message["Thread-Index"])),
    }
    mail = eve.compose(to, f"Re: {message['Subject']}" if key == "code" else "Hello", word)
    if key in fields:
        name, value = fields[key]
        mail[name] = value
    await eve.submit(mail)
    await eve.wait("INBOX", lambda all: len(all) == 1)
    await still_open(house, ada, request)
    if key != "code":
        assert foreign(eve) == []
    assert ada.mails("INBOX")[-1].email == request.email


async def test_no_look_up_finds_the_request_of_another(house: Desk, ada: Person, eve: Person) -> None:
    request = await asked(ada)
    runtime, account = house.app.runtime, eve.identity.account
    (code,) = house.decided(ada.identity.account)
    token = str(request.message["Reply-To"].addresses[0].username).partition("+")[2]
    message_id = str(request.message["Message-ID"])

    def finds(tx: ReadTx, owner: int) -> list[bool]:
        by = (
            runtime.find_request(tx, owner, code=code),
            runtime.find_request(tx, owner, token=token),
            runtime.find_request(tx, owner, message_id=message_id),
        )
        return [found is not None for found in by]

    assert house.app.store.read(lambda tx: finds(tx, ada.identity.account)) == [True] * 3
    assert house.app.store.read(lambda tx: finds(tx, account)) == [False] * 3
    assert house.decided(account) == []


async def test_a_message_id_is_done_once_an_account_and_not_once_for_all(house: Desk, ada: Person, eve: Person) -> None:
    for person in (ada, eve):
        mail = person.compose(AGENT, "Same id", "List my mail")
        del mail["Message-ID"]
        mail["Message-ID"] = "<one@client.example>"
        assert isinstance(await person.submit(mail), Receipt)
    for person in (ada, eve):
        assert (await person.mail("Re: Same id")).message["In-Reply-To"] == "<one@client.example>"
        await person.settled()
        assert counts(house, person) == {RunState.DONE: 1}


async def test_no_reference_reads_the_mail_or_the_files_of_another(house: Desk, ada: Person, eve: Person) -> None:
    await ada.write(AGENT, "Notes", "Summarise the attached notes", files={"notes.txt": NOTES})
    await ada.mail("Re: Notes")
    reader = StoreMail(house.app.store, house.app.settings.domain, house.app.clock.now)
    mine, theirs = ada.identity.account, eve.identity.account
    hits = await reader.search(mine, "notes", 50)
    assert hits
    for hit in hits:
        assert (await reader.read(mine, hit.ref)).ref
        with pytest.raises(MailNotFound):
            await reader.read(theirs, hit.ref)
    sent = ada.mails("Sent")[0]
    (file,) = [part for part in (await reader.read(mine, ref(sent.email))).attachments if "notes.txt" in part]
    part = file.rpartition("(")[2].rstrip(")")
    assert (await reader.attachment(mine, part)).data
    with pytest.raises(MailNotFound):
        await reader.attachment(theirs, part)
    assert await reader.search(theirs, "notes", 50) == []


async def test_an_agent_finds_only_the_mail_of_its_own_run(ada: Person, eve: Person) -> None:
    await ada.write(AGENT, "The secret dragon", "List my mail")
    await ada.mail("Re: The secret dragon")
    await eve.write(AGENT, "Find", "Search my mail for dragon")
    assert "Nothing found" in (await eve.mail("Re: Find")).text


async def test_the_sent_copy_of_one_is_not_the_sent_copy_of_another(ada: Person, eve: Person) -> None:
    sent = await ada.write(AGENT, "Hello", "List my mail")
    await ada.settled()
    await eve.append("Sent", sent.as_bytes(policy=SMTP), ("\\Seen",))
    assert [len(person.mails("Sent")) for person in (ada, eve)] == [1, 1]
    await ada.append("Sent", sent.as_bytes(policy=SMTP), ("\\Seen",))
    assert [len(person.mails("Sent")) for person in (ada, eve)] == [1, 1]


async def test_a_copy_in_another_account_moves_nothing(house: Desk, ada: Person, eve: Person) -> None:
    """The very request mail, put into Eve's mailboxes, deleted and dropped there, is a mail like any other."""
    request = await asked(ada)
    await eve.append("INBOX", request.raw)
    (copy,) = eve.mails("INBOX")
    assert eve.mails("Action") == []
    await eve.move(copy, "INBOX", "Trash")
    (gone,) = eve.mails("Trash")
    await eve.expunge(gone, "Trash")
    await eve.append("Agents/Assistant", request.raw)
    await eve.settled()
    await still_open(house, ada, request)
    decided = email.message_from_bytes(request.raw, policy=email.policy.default)
    assert decided["Postroom-Run"] not in [kept.message["Postroom-Run"] for kept in eve.mails("Activity")]


async def test_work_is_seen_in_its_own_account_only(ada: Person, eve: Person) -> None:
    await ada.write(AGENT, "Mine", "Draft a mail to maya@example.org saying that the boat is ready")
    await ada.mail("Re: Mine")
    await ada.settled()
    assert len(ada.mails("Drafts")) == 1
    assert ada.mails("Activity")
    assert {name: eve.mails(name) for name in ALL_BOXES} == {name: [] for name in ALL_BOXES}


async def test_a_standing_approval_serves_its_own_account(house: Desk, ada: Person, eve: Person) -> None:
    wish = "Send a mail to maya@example.org saying that the boat is ready"
    await ada.write(AGENT, "Boat", wish)
    await ada.reply(await ada.mail("Approve?"), "always approve")
    await ada.mail("Re: Boat")
    await eve.write(AGENT, "Boat", wish)
    request = await eve.mail("Approve?")
    assert len(house.sink.messages) == 1
    assert "new: nothing was ever sent from here to this address" in request.text, "who Ada writes to is Ada's"


async def test_a_hand_over_folder_works_for_its_owner(house: Desk, ada: Person, eve: Person) -> None:
    dropped = ada.compose(AGENT, "For the file", f"Some notes.\n\n{NOTES}").as_bytes(policy=SMTP)
    await eve.append("Agents/Assistant", dropped)
    await eve.mail("For the file")
    await eve.settled()
    assert counts(house, ada) == {}
    assert ada.mails("INBOX") == []
