"""Action, Unread and All in every command: they are read, searched, flagged and copied out of like any mailbox.

Rule: what cannot be put into them is refused with the reason, and nothing has been done then.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from config.settings import Imap
from tests.imap.harness import Answer, Client, House, house_settings, letter, open_house

VIEWS = ("Action", "Unread", "All")
TAG = b"From: Bob <bob@example.org>"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """Three messages that stand in every view."""
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as made:
        for subject in ("first", "second", "third"):
            await made.append("INBOX", letter(subject), labels=["open"])
        yield made


def texts(answer: Answer, word: bytes) -> list[bytes]:
    return [line for line in answer.untagged if line.split(b" ")[0] == word or b" %b" % word in line]


async def literals(client: Client, command: str, *data: bytes) -> Answer:
    pieces = command.encode().split(b"{}")
    whole = pieces[0]
    for literal, piece in zip(data, pieces[1:], strict=True):
        whole += b"{%d+}\r\n%b%b" % (len(literal), literal, piece)
    return await client.command(whole)


@pytest.mark.parametrize("view", VIEWS)
async def test_a_view_is_opened_counted_and_listed_as_a_mailbox(house: House, view: str) -> None:
    client = await house.login()
    for verb, mode in (("SELECT", b"READ-WRITE"), ("EXAMINE", b"READ-ONLY")):
        answer = await client.command(f"{verb} {view}")
        assert b"3 EXISTS" in answer.untagged
        assert mode in answer.text
        assert any(b"HIGHESTMODSEQ" in line for line in answer.untagged)
    told = (await client.command(f"STATUS {view} (MESSAGES UNSEEN UIDNEXT UIDVALIDITY HIGHESTMODSEQ SIZE)")).untagged[
        -1
    ]
    assert b"MESSAGES 3" in told
    assert b"UNSEEN 3" in told
    listed = await client.command(f'LIST "" {view} RETURN (STATUS (MESSAGES))')
    assert any(b"MESSAGES 3" in line for line in listed.untagged)


@pytest.mark.parametrize("view", VIEWS)
async def test_a_view_is_read_searched_sorted_and_threaded(house: House, view: str) -> None:
    client = await house.login(select=view)
    fetched = await client.command("FETCH 1:* (UID FLAGS ENVELOPE BODY.PEEK[TEXT])")
    assert [b"first" in line for line in fetched.untagged] == [True, False, False]
    assert (await client.command("SEARCH SUBJECT second")).untagged == [b"SEARCH 2"]
    assert (await client.command("UID SEARCH RETURN (COUNT) BODY Hello")).untagged[0].endswith(b"UID COUNT 3")
    assert (await client.command("SORT (REVERSE SUBJECT) UTF-8 ALL")).untagged == [b"SORT 3 2 1"]
    assert (await client.command("THREAD REFERENCES UTF-8 ALL")).untagged == [b"THREAD (1)(2)(3)"]


@pytest.mark.parametrize("view", VIEWS)
async def test_a_flag_set_in_a_view_reaches_every_open_session(house: House, view: str) -> None:
    others = {name: await house.login(select=name) for name in ("INBOX", *VIEWS) if name != view}
    client = await house.login(select=view)
    assert (await client.command("STORE 2 +FLAGS (\\Flagged $Work)")).ok
    for name, other in others.items():
        told = texts(await other.command("NOOP"), b"FETCH")
        assert len(told) == 1, name
        assert told[0].startswith(b"2 FETCH")
        assert b"\\Flagged" in told[0]
        assert b"$Work" in told[0]


@pytest.mark.parametrize("view", VIEWS)
async def test_copy_out_of_a_view_makes_a_message_of_its_own(house: House, view: str) -> None:
    client = await house.login(select=view)
    answer = await client.command("UID COPY 1:* Archive")
    assert answer.ok
    assert b"COPYUID" in answer.text
    archive = await house.login(select="Archive")
    assert (await archive.command("STORE 1 +FLAGS (\\Answered)")).ok
    flags = texts(await client.command("FETCH 1 FLAGS"), b"FETCH")[0]
    assert b"\\Answered" not in flags


async def refused_everywhere(client: Client, view: str) -> dict[str, Answer]:
    """Every command that would put a message into a view, or change the view itself."""
    url = b'URL "/INBOX/;UID=1/;SECTION=TEXT"'.decode()
    return {
        "APPEND": await client.append(view, letter("new")),
        "MULTIAPPEND": await literals(client, f"APPEND {view} {{}} {{}}", letter("a"), letter("b")),
        "CATENATE": await literals(client, f"APPEND {view} CATENATE (TEXT {{}} {url})", TAG + b"\r\n\r\n"),
        "BINARY": await client.command(b"APPEND %b ~{%d+}\r\n%b" % (view.encode(), len(letter("b")), letter("b"))),
        "REPLACE": await literals(client, f"REPLACE 1 {view} {{}}", letter("c")),
        "UID REPLACE": await literals(client, f"UID REPLACE 1 {view} {{}}", letter("d")),
        "COPY": await client.command(f"COPY 1 {view}"),
        "UID COPY": await client.command(f"UID COPY 1:* {view}"),
        "MOVE": await client.command(f"MOVE 1 {view}"),
        "UID MOVE": await client.command(f"UID MOVE 1:* {view}"),
        "RENAME": await client.command(f"RENAME {view} Other"),
        "DELETE": await client.command(f"DELETE {view}"),
    }


@pytest.mark.parametrize("view", VIEWS)
async def test_nothing_is_put_into_a_view_and_the_refusal_says_why(house: House, view: str) -> None:
    client = await house.login(select="INBOX")
    for command, answer in (await refused_everywhere(client, view)).items():
        assert answer.status == b"NO", command
        assert answer.text.startswith(b"[CANNOT]"), (command, answer.text)
        assert len(answer.text.split()) > 5, (command, answer.text)  # a sentence, for the person who reads it
    told = (await client.command("STATUS INBOX (MESSAGES)")).untagged[0]
    assert b"MESSAGES 3" in told
    told = (await client.command(f"STATUS {view} (MESSAGES UIDNEXT)")).untagged[0]
    assert b"MESSAGES 3 UIDNEXT 4" in told


async def test_the_refusals_name_the_view_and_what_it_shows(house: House) -> None:
    client = await house.login(select="INBOX")
    for view in VIEWS:
        said = {(await client.command(f"COPY 1 {view}")).text, (await client.append(view, letter("x"))).text}
        assert len(said) == 1
        assert view.encode() in said.pop()


@pytest.mark.parametrize("view", VIEWS)
async def test_who_comes_back_to_a_view_is_told_what_has_changed(house: House, view: str) -> None:
    """QRESYNC; qresync-views.txt shows it line by line."""
    client = await house.login()
    await client.command("ENABLE QRESYNC")
    opened = await client.command(f"SELECT {view}")
    said = b" ".join(opened.untagged)
    validity = said.split(b"[UIDVALIDITY ")[1].split(b"]")[0].decode()
    modseq = said.split(b"[HIGHESTMODSEQ ")[1].split(b"]")[0].decode()
    await client.command("UNSELECT")
    other = await house.login(select="INBOX")
    await other.command("UID STORE 1 +FLAGS (\\Flagged)")
    await other.command("UID MOVE 3 Trash")
    back = await client.command(f"SELECT {view} (QRESYNC ({validity} {modseq}))")
    assert b"VANISHED (EARLIER) 3" in back.untagged
    changed = texts(back, b"FETCH")
    assert len(changed) == 1
    assert changed[0].startswith(b"1 FETCH (UID 1 FLAGS (\\Flagged")
