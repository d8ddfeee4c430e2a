"""Real IMAP client libraries against a listening house: imaplib, IMAPClient, aioimaplib and imap_tools, over TLS.

aioimaplib is GPL and serves as a test client only.
"""

import asyncio
import imaplib
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import aioimaplib
import imap_tools
import imapclient

from tests.imap.harness import BOUND, PASSWORD, letter
from tests.imap.serving import Serving, serve_house

T = TypeVar("T")


async def in_thread(fn: Callable[[], T]) -> T:
    return await asyncio.wait_for(asyncio.to_thread(fn), 3 * BOUND)


async def test_imaplib(tmp_path: Path) -> None:
    """The standard library's client: every step of a small life of a mailbox."""
    async with serve_house(tmp_path) as serving:
        await serving.house.append("INBOX", letter("first"))
        await in_thread(lambda: imaplib_session(serving))


def imaplib_session(serving: Serving) -> None:
    with imaplib.IMAP4_SSL("localhost", serving.imaps, ssl_context=serving.client_context, timeout=BOUND) as imap:
        assert imap.authenticate("PLAIN", lambda _: f"\0ada\0{PASSWORD}".encode())[0] == "OK"
        assert imap.select("INBOX") == ("OK", [b"1"])
        assert imap.create("Notes")[0] == "OK"
        stamp = imaplib.Time2Internaldate(time.time())
        status, data = imap.append("Notes", "(\\Seen)", stamp, letter("appended"))
        assert (status, data[0][:11]) == ("OK", b"[APPENDUID ")
        assert imap.uid("COPY", "1", "Notes")[0] == "OK"
        assert imap.select("Notes") == ("OK", [b"2"])
        status, found = imap.search(None, "SUBJECT", '"appended"')
        assert (status, found) == ("OK", [b"1"])
        status, fetched = imap.fetch("1:2", "(UID FLAGS RFC822.SIZE BODY.PEEK[])")
        assert status == "OK"
        assert [part[1] for part in fetched if isinstance(part, tuple)] == [letter("appended"), letter("first")]
        assert imap.store("2", "+FLAGS", "(\\Deleted $Mine)")[0] == "OK"
        assert imap.expunge() == ("OK", [b"2"])
        assert imap.status("Notes", "(MESSAGES UNSEEN)") == ("OK", [b'"Notes" (MESSAGES 1 UNSEEN 0)'])
        assert imap.lsub()[0] == "OK"
        assert imap.close()[0] == "OK"
        assert imap.delete("Notes")[0] == "OK"


async def test_imapclient(tmp_path: Path) -> None:
    async with serve_house(tmp_path) as serving:
        for number in range(3):
            await serving.house.append("INBOX", letter(f"m{number}"), flags=["\\Seen"] if number else [])
        await in_thread(lambda: imapclient_session(serving))


def imapclient_session(serving: Serving) -> None:
    with imapclient.IMAPClient("localhost", serving.imap, ssl=False, timeout=BOUND) as client:
        client.starttls(serving.client_context)
        client.login("ada@postroom.internal", PASSWORD)
        assert client.has_capability("MOVE")
        assert client.has_capability("UIDPLUS")
        found = {name: flags for flags, _, name in client.list_folders()}
        assert b"\\Sent" in found["Sent"]
        assert client.find_special_folder(b"\\All") == "All"
        assert client.namespace()[0] == (("", "/"),)
        assert client.id_({"name": "test"}) == ((b"name", b"Postroom"),)
        client.create_folder("Ablage/Größe & Maß")
        assert client.folder_exists("Ablage/Größe & Maß")
        assert client.select_folder("INBOX")[b"EXISTS"] == 3
        assert client.search("UNSEEN") == [1]
        fetched = client.fetch([1, 3], ["ENVELOPE", "FLAGS", "INTERNALDATE", "BODYSTRUCTURE", "BODY.PEEK[TEXT]"])
        assert fetched[1][b"ENVELOPE"].subject == b"m0"
        assert fetched[3][b"BODYSTRUCTURE"][:2] == (b"text", b"plain")
        assert client.add_flags([1], [imapclient.FLAGGED, "$Todo"], silent=False)[1][-1] == b"$Todo"
        client.move([1, 2], "Ablage/Größe & Maß")
        assert client.search() == [3]
        assert client.folder_status("Ablage/Größe & Maß", ["MESSAGES"]) == {b"MESSAGES": 2}
        client.append("INBOX", letter("late"), flags=["\\Answered"], msg_time=datetime(2026, 2, 1, tzinfo=UTC))
        client.delete_messages([3])
        client.uid_expunge([3])
        assert client.search() == [4]
        assert client.get_flags([4])[4] == (b"\\Answered", b"\\Recent")
        client.unselect_folder()


async def test_imapclient_hears_idle(tmp_path: Path) -> None:
    async with serve_house(tmp_path) as serving:
        ready, heard = asyncio.Event(), []
        loop = asyncio.get_running_loop()

        def client() -> list[Any]:
            with imapclient.IMAPClient("localhost", serving.imaps, ssl_context=serving.client_context) as imap:
                imap.login("ada", PASSWORD)
                imap.select_folder("INBOX")
                imap.idle()
                loop.call_soon_threadsafe(ready.set)
                heard.extend(imap.idle_check(timeout=BOUND))
                imap.idle_done()
                return heard

        task = asyncio.create_task(in_thread(client))
        await asyncio.wait_for(ready.wait(), BOUND)
        await serving.house.append("INBOX", letter("news"))
        assert (1, b"EXISTS") in await task


async def test_aioimaplib(tmp_path: Path) -> None:
    async with serve_house(tmp_path) as serving:
        await serving.house.append("INBOX", letter("first"))
        client = aioimaplib.IMAP4_SSL("localhost", serving.imaps, ssl_context=serving.client_context, timeout=BOUND)
        await client.wait_hello_from_server()
        assert (await client.login("ada", PASSWORD)).result == "OK"
        assert (await client.select("INBOX")).lines[-1].startswith(b"[READ-WRITE]")
        answer = await client.uid("fetch", "1", "(UID FLAGS BODY.PEEK[HEADER])")
        assert b"Subject: first" in bytes(answer.lines[1])
        idle = await client.idle_start(timeout=BOUND)
        await serving.house.append("INBOX", letter("second"))
        assert b"2 EXISTS" in await client.wait_server_push(BOUND)
        client.idle_done()
        await asyncio.wait_for(idle, BOUND)
        assert (await client.uid("move", "1", "Archive")).result == "OK"
        assert (await client.uid_search("ALL")).lines[0] == b"2"
        assert (await client.append(letter("third"), "INBOX", "\\Seen", datetime.now(UTC))).result == "OK"
        assert (await client.store("1", "+FLAGS", "(\\Deleted)")).result == "OK"
        assert (await client.expunge()).result == "OK"
        assert (await client.status("INBOX", "(MESSAGES)")).lines[0].endswith(b"(MESSAGES 1)")
        assert (await client.logout()).result == "OK"


async def test_imap_tools(tmp_path: Path) -> None:
    async with serve_house(tmp_path) as serving:
        for number in range(3):
            await serving.house.append("INBOX", letter(f"m{number}"))
        await in_thread(lambda: imap_tools_session(serving))


def imap_tools_session(serving: Serving) -> None:
    box = imap_tools.MailBox("localhost", serving.imaps, timeout=BOUND, ssl_context=serving.client_context)
    with box.login("ada", PASSWORD) as mailbox:
        subjects = [mail.subject for mail in mailbox.fetch(imap_tools.AND(seen=False), mark_seen=True)]
        assert subjects == ["m0", "m1", "m2"]
        assert mailbox.uids(imap_tools.AND(seen=False)) == []
        mailbox.flag(["1"], imap_tools.MailMessageFlags.FLAGGED, True)
        mailbox.move(["2"], "Archive")
        mailbox.copy(["1"], "Archive")
        mailbox.delete(["3"])
        assert mailbox.uids() == ["1"]
        assert mailbox.folder.status("Archive")["MESSAGES"] == 2
        assert {"INBOX", "Sent", "Agents/Assistant"} <= {folder.name for folder in mailbox.folder.list()}
