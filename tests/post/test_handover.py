"""Hand-over folders through real IMAP: however a message gets there, each new UID is one hand-over (DECISIONS 13)."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from config.settings import Imap
from mailstore import messages
from mailstore.model import Uid
from tests.imap.harness import Client, letter
from tests.imap.serving import SocketClient, dial
from tests.post.desk import PATIENCE, Desk, Person, desk, opened

PASSWORD = "correct-horse-battery"
FOLDER = "Agents/Assistant"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Desk]:
    """It speaks every extension."""
    async with desk(tmp_path / "home", imap=Imap(extensions="all")) as made:
        yield made


@pytest.fixture
async def client(house: Desk, ada: Person) -> AsyncIterator[SocketClient]:
    await house.app.auth.add_given(ada.identity.account, "test", PASSWORD)
    made = await login(house)
    yield made
    made.link.close()


async def login(house: Desk) -> SocketClient:
    ports = house.app.ports
    assert ports is not None
    made = await dial(ports.imaps, ssl.create_default_context(cafile=str(ports.ca)))
    await made.greeted()
    assert (await made.command(f"LOGIN ada {PASSWORD}")).ok
    return made


async def handed_over(house: Desk, ada: Person, number: int) -> list[str]:
    """Wait until so many hand-overs have been answered, each once; the subjects of what lies in the folder."""
    await ada.wait("INBOX", lambda all: len(all) >= number)
    await ada.settled()
    assert len(ada.mails("INBOX")) == number
    assert house.app.store.read(lambda tx: tx.value("bridge.arrivals.waiting")) == 0
    return [str(kept.message["Subject"]) for kept in ada.mails(FOLDER)]


async def literals(client: Client, command: str, *data: bytes) -> bytes:
    """A command with literals; the text of its answer."""
    whole = b""
    for piece, literal in zip(command.encode().split(b"{}"), (*data, b""), strict=True):
        whole += piece + (b"{%d+}\r\n%b" % (len(literal), literal) if literal else b"")
    answer = await client.command(whole)
    return answer.status + b" " + answer.text


async def test_each_message_of_a_multiappend_is_handed_over(house: Desk, ada: Person, client: SocketClient) -> None:
    mails = [letter(f"report {number}", f"The figure is {number}.") for number in range(3)]
    told = await literals(client, f"APPEND {FOLDER} {{}} (\\Flagged) {{}} {{}}", *mails)
    assert told.startswith(b"OK [APPENDUID ")
    assert await handed_over(house, ada, 3) == ["report 0", "report 1", "report 2"]


async def test_what_is_put_together_by_catenate_is_handed_over_once(
    house: Desk, ada: Person, client: SocketClient
) -> None:
    await ada.append("Archive", letter("kept", "The kept words."))
    head = b"From: ada@postroom.internal\r\nSubject: joined\r\n\r\nSee below.\r\n\r\n"
    told = await literals(client, f'APPEND {FOLDER} CATENATE (TEXT {{}} URL "/Archive/;UID=1/;SECTION=TEXT")', head)
    assert told.startswith(b"OK [APPENDUID ")
    assert await handed_over(house, ada, 1) == ["joined"]


async def test_a_draft_replaced_into_the_folder_is_handed_over_and_gone_from_drafts(
    house: Desk, ada: Person, client: SocketClient
) -> None:
    await ada.append("Drafts", letter("draft", "Not yet."), ("\\Draft",))
    await client.command("SELECT Drafts")
    told = await literals(client, f"REPLACE 1 {FOLDER} {{}}", letter("ready", "Now it is."))
    assert told.startswith(b"OK")
    assert await handed_over(house, ada, 1) == ["ready"]
    assert ada.mails("Drafts") == []


async def test_what_is_copied_and_moved_in_is_handed_over_and_what_is_flagged_or_moved_out_is_not(
    house: Desk, ada: Person, client: SocketClient
) -> None:
    for subject in ("one", "two"):
        await ada.append("Archive", letter(subject, f"This is {subject}."))
    await client.command("SELECT Archive")
    assert (await client.command(f"UID COPY 1 {FOLDER}")).ok
    assert (await client.command(f"UID MOVE 2 {FOLDER}")).ok
    assert await handed_over(house, ada, 2) == ["one", "two"]
    await client.command(f"SELECT {FOLDER}")
    assert (await client.command("STORE 1:2 +FLAGS (\\Seen \\Flagged)")).ok
    assert (await client.command("UID MOVE 1 Archive")).ok
    await handed_over(house, ada, 2)


async def test_a_move_repeated_because_its_ok_was_lost_is_one_hand_over(
    house: Desk, ada: Person, client: SocketClient
) -> None:
    await ada.append("Archive", letter("moved", "Read me."))
    await client.command("SELECT Archive")
    client.send(b"x UID MOVE 1 " + FOLDER.encode() + b"\r\n")
    await asyncio.wait_for(ada.wait(FOLDER, lambda all: len(all) == 1), PATIENCE)
    client.link.abort()
    again = await login(house)
    await again.command("SELECT Archive")
    assert (await again.command(f"UID MOVE 1 {FOLDER}")).ok  # nothing of that UID is there any more
    again.link.close()
    assert await handed_over(house, ada, 1) == ["moved"]


async def test_an_append_repeated_because_its_ok_was_lost_has_a_uid_of_its_own_and_each_is_handed_over_once(
    house: Desk, ada: Person, client: SocketClient
) -> None:
    raw = letter("sent twice", "Read me.")
    client.send(b"x APPEND %b {%d+}\r\n%b\r\n" % (FOLDER.encode(), len(raw), raw))
    await ada.wait(FOLDER, lambda all: len(all) == 1)
    client.link.abort()
    again = await login(house)
    assert (await again.append(FOLDER, raw)).ok
    again.link.close()
    assert [str(kept.message["Subject"]) for kept in ada.mails(FOLDER)] == ["sent twice", "sent twice"]
    await handed_over(house, ada, 2)


async def test_a_thousand_messages_copied_in_are_a_thousand_hand_overs_in_one_transaction(tmp_path: Path) -> None:
    """Nothing reads them yet, so that what waits can be counted: one for each new UID, also after a start."""
    async with opened(tmp_path / "home", None, 1, work=False) as house:  # type: ignore[arg-type]  # nothing is sent
        ada = await house.person("ada")
        store, archive, folder = house.app.store, ada.mailbox("Archive"), ada.mailbox(FOLDER)
        prepared = store.prepare(letter("bulk"))
        await store.write(lambda tx: [messages.append(tx, archive, prepared) for _ in range(1000)] and None)
        copied = await store.write(lambda tx: messages.copy(tx, archive, [Uid(n) for n in range(1, 1001)], folder))
        assert len(copied.target_uids) == 1000
        assert store.read(lambda tx: tx.value("bridge.arrivals.waiting")) == 1000
    async with opened(tmp_path / "home", None, 1, work=False) as house:  # type: ignore[arg-type]  # as above
        assert house.app.store.read(lambda tx: tx.value("bridge.arrivals.waiting")) == 1000
