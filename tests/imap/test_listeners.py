"""Sets of extensions, one a listener: spoken there and nowhere else; what is not spoken breaks nothing."""

from pathlib import Path

import pytest

from bridge.imap.registry import EXTENSIONS, dialect_for, dialects_for, extension_faults
from config.settings import Imap
from tests.imap.harness import PASSWORD, Client, House, house_settings, letter, open_house

# What each extension adds, said to a server that does not speak it, with INBOX open and two messages in it. A literal
# stands where its announcement does. Nothing is said of extensions that only mark or announce (AUTH=, CHILDREN ...).
SAID: dict[str, list[bytes]] = {
    "STARTTLS": [b"STARTTLS"],
    "ID": [b'ID ("name" "x")', b"ID {1+}\r\nx"],
    "ENABLE": [b"ENABLE CONDSTORE"],
    "IDLE": [b"IDLE"],
    "NAMESPACE": [b"NAMESPACE"],
    "UNSELECT": [b"UNSELECT"],
    "UIDPLUS": [b"UID EXPUNGE 1"],
    "MOVE": [b"MOVE 1 Archive", b"UID MOVE 1 {7+}\r\nArchive"],
    "LIST-EXTENDED": [b'LIST (SUBSCRIBED) "" *', b'LIST "" (INBOX Archive)', b'LIST "" * RETURN (CHILDREN)'],
    "LIST-STATUS": [b'LIST "" * RETURN (STATUS (MESSAGES))'],
    "CONDSTORE": [
        b"FETCH 1 (MODSEQ)", b"FETCH 1 (FLAGS) (CHANGEDSINCE 1)", b"STORE 1 (UNCHANGEDSINCE 1) +FLAGS (\\Seen)",
        b"SEARCH MODSEQ 1", b"STATUS Archive (HIGHESTMODSEQ)", b"SELECT INBOX (CONDSTORE)",
    ],
    "QRESYNC": [b"SELECT INBOX (QRESYNC (1 1))", b"UID FETCH 1 (FLAGS) (CHANGEDSINCE 1 VANISHED)"],
    "ESEARCH": [b"SEARCH RETURN (MIN) ALL", b"UID SEARCH RETURN () TEXT {1+}\r\nx"],
    "SEARCHRES": [b"SEARCH RETURN (SAVE) ALL", b"FETCH $ (FLAGS)"],
    "WITHIN": [b"SEARCH OLDER 1", b"SEARCH YOUNGER 1"],
    "SORT": [b"SORT (DATE) UTF-8 ALL", b"UID SORT (SUBJECT) {5+}\r\nUTF-8 ALL"],
    "SORT=DISPLAY": [b"SORT (DISPLAYFROM) UTF-8 ALL"],
    "ESORT": [b"SORT RETURN (COUNT) (DATE) UTF-8 ALL"],
    "THREAD": [b"THREAD REFERENCES UTF-8 ALL", b"UID THREAD ORDEREDSUBJECT {5+}\r\nUTF-8 ALL"],
    "STATUS=SIZE": [b"STATUS Archive (SIZE)"],
    "XLIST": [b'XLIST "" *'],
    "CREATE-SPECIAL-USE": [b"CREATE Mine (USE (\\Flagged))"],
    "MULTIAPPEND": [b"APPEND Archive {1+}\r\nx {1+}\r\ny"],
    "REPLACE": [b"REPLACE 1 Archive {1+}\r\nx", b"UID REPLACE 1 Archive {1+}\r\nx"],
    "PARTIAL": [b"SEARCH RETURN (PARTIAL 1:1) ALL", b"UID FETCH 1:* (FLAGS) (PARTIAL 1:1)"],
    "CONTEXT=SEARCH": [b"SEARCH RETURN (UPDATE) ALL", b"SEARCH RETURN (CONTEXT) ALL", b'CANCELUPDATE "x"'],
    "CONTEXT=SORT": [b"SORT RETURN (UPDATE) (DATE) UTF-8 ALL"],
    "NOTIFY": [b"NOTIFY NONE", b"NOTIFY SET (mailboxes {7+}\r\nArchive (MessageNew MessageExpunge))"],
    "OBJECTID": [b"FETCH 1 (EMAILID)", b"STATUS Archive (MAILBOXID)", b"SEARCH EMAILID M1"],
    "SAVEDATE": [b"FETCH 1 (SAVEDATE)", b"SEARCH SAVEDATESUPPORTED"],
    "PREVIEW": [b"FETCH 1 (PREVIEW)"],
    "QUOTA": [b"GETQUOTAROOT INBOX",
        b'GETQUOTA ""', b'SETQUOTA {0+}\r\n (STORAGE 1)', b"STATUS Archive (DELETED-STORAGE)"],
    "UNAUTHENTICATE": [b"UNAUTHENTICATE"],
    "BINARY": [b"FETCH 1 (BINARY.PEEK[1])", b"FETCH 1 (BINARY.SIZE[1])", b"APPEND Archive ~{3+}\r\na\x00b"],
    "CATENATE": [b"APPEND Archive CATENATE (TEXT {1+}\r\nx)", b'APPEND Archive CATENATE (URL "/INBOX/;UID=1")'],
    "METADATA": [b'GETMETADATA "" /private/comment', b'SETMETADATA "" (/private/comment {1+}\r\nx)'],
    "LIST-METADATA": [b'LIST "" * RETURN (METADATA (/private/comment))'],
    "COMPRESS=DEFLATE": [b"COMPRESS DEFLATE"],
    "MESSAGELIMIT": [b"SEARCH UIDAFTER 1", b"UID SEARCH UIDBEFORE 2"],
}  # packed, to be seen at a glance  # fmt: skip
# Nothing of these can be said by a client, or it is what every server understands.
SILENT = {
    "SASL-IR", "LITERAL+", "CHILDREN", "SPECIAL-USE", "INPROGRESS", "IMAP4rev2", "UTF8=ACCEPT", "UIDONLY",
    "APPENDLIMIT", "AUTH=PLAIN", "AUTH=LOGIN", "AUTH=SCRAM-SHA-256",
}  # packed, to be seen at a glance  # fmt: skip
ENABLED = {name: name.encode() for name in ("CONDSTORE", "QRESYNC", "IMAP4rev2", "UTF8=ACCEPT", "UIDONLY")}


def without(name: str) -> tuple[str, ...]:
    """Everything but one extension and those that build upon it."""
    left_out = {name}
    while more := {e.name for e in EXTENSIONS if left_out & set(e.implies)} - left_out:
        left_out |= more
    if "CONTEXT" in name:  # both have UPDATE and PARTIAL; without one the other is left out too
        left_out |= {"CONTEXT=SEARCH", "CONTEXT=SORT"}
    if name == "PARTIAL":
        left_out |= {"CONTEXT=SEARCH", "CONTEXT=SORT"}
    if name == "QUOTA" or name == "STATUS=SIZE":
        left_out |= {"IMAP4rev2"}
    return tuple(extension.name for extension in EXTENSIONS if extension.name not in left_out)


def test_every_extension_is_said_or_says_nothing() -> None:
    assert set(SAID) | SILENT == {extension.name for extension in EXTENSIONS}
    assert not set(SAID) & SILENT


@pytest.mark.parametrize("name", [*SAID])
async def test_what_is_not_spoken_is_refused_and_breaks_nothing(name: str, tmp_path: Path) -> None:
    # req rfc9051/6.5-not-spoken
    settings = house_settings(tmp_path, imap=Imap(extensions=without(name)))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        for subject in ("one", "two"):
            await house.append("INBOX", letter(subject))
        client = await house.login("ada", "INBOX")
        for line in SAID[name]:
            answer = await client.command(line)
            assert answer.status in (b"BAD", b"NO"), (line, answer)
            await works(client)


async def works(client: Client) -> None:
    """The stream is in step, and the mailbox is open as it was."""
    if not (await client.command("FETCH 2 (UID)")).ok:
        assert (await client.command("SELECT INBOX")).ok  # a SELECT that fails leaves none selected
    answer = await client.command("FETCH 2 (UID)")
    assert answer.untagged == [b"2 FETCH (UID 2)"]
    assert (await client.command("STATUS Archive (MESSAGES)")).untagged == [b'STATUS "Archive" (MESSAGES 0)']


@pytest.mark.parametrize("name", ENABLED)
async def test_enable_of_what_is_not_spoken_enables_nothing(name: str, tmp_path: Path) -> None:
    settings = house_settings(tmp_path, imap=Imap(extensions=without(name)))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        await house.append("INBOX", letter("ä"))
        client = await house.login("ada")
        answer = await client.command(b"ENABLE " + ENABLED[name])
        assert (answer.status, answer.untagged) == (b"OK", [b"ENABLED"])
        answer = await client.command("SELECT INBOX")
        assert b"1 RECENT" in answer.untagged
        assert (await client.command("FETCH 1 (FLAGS)")).untagged == [b"1 FETCH (FLAGS (\\Recent))"]


@pytest.mark.parametrize("line", [b"FETCH 1 (MODSEQ)", b"NOTIFY NONE", b"ENABLE UIDONLY"])
async def test_a_literal_that_has_to_be_asked_for_is_waited_for_and_passed_over(line: bytes, tmp_path: Path) -> None:
    settings = house_settings(tmp_path, imap=Imap(extensions=()))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        client = await house.login("ada")
        client.send(b"x " + line + b" {4}\r\n")
        assert (await client.line()).startswith(b"+ ")
        client.send(b"abcd\r\n")
        assert (await client.answer(b"x")).status == b"BAD"
        assert (await client.command("NOOP")).ok


# By listener


async def announced(house: House, *, secure: bool) -> list[bytes]:
    client = await house.dial(secure=secure)
    greeting = await client.greeted()
    assert (await client.command(f'LOGIN ada "{PASSWORD}"')).ok
    answer = await client.command("CAPABILITY")
    assert greeting.startswith(b"* OK [CAPABILITY ")
    return answer.untagged[0].split()


async def test_each_listener_speaks_its_own_set(tmp_path: Path) -> None:
    imap = Imap(extensions_imap=("ENABLE",), extensions_imaps="all")
    async with open_house(tmp_path, ("ada",), settings=house_settings(tmp_path, imap=imap)) as house:
        plain, secure = await announced(house, secure=False), await announced(house, secure=True)
        assert b"ENABLE" in plain
        assert not {b"IDLE", b"NOTIFY", b"UIDONLY"} & set(plain)
        assert {b"IDLE", b"NOTIFY", b"UIDONLY", b"UTF8=ACCEPT"} <= set(secure)
        for is_secure, enabled in ((False, b"ENABLED"), (True, b"ENABLED UIDONLY")):
            client = await house.dial(secure=is_secure)
            await client.greeted()
            assert (await client.command(f'LOGIN ada "{PASSWORD}"')).ok
            assert (await client.command("ENABLE UIDONLY")).untagged == [enabled]
            assert (await client.command("NOTIFY NONE")).ok is is_secure


async def test_one_setting_is_for_both(tmp_path: Path) -> None:
    imap = Imap(extensions=("ENABLE", "IDLE"))
    async with open_house(tmp_path, ("ada",), settings=house_settings(tmp_path, imap=imap)) as house:
        assert await announced(house, secure=False) == await announced(house, secure=True)
    plain, secure = dialects_for(imap)
    assert plain is secure
    plain, secure = dialects_for(Imap(extensions_imaps="all"))
    assert len(plain.extensions) < len(secure.extensions)
    assert dialect_for(Imap(extensions_imaps="all")).extensions == plain.extensions


def test_unknown_names_and_unmet_needs_are_faults_with_a_fix() -> None:
    assert extension_faults(Imap(extensions="all", extensions_imap="default")) == []
    faults = extension_faults(Imap(extensions=("IDEL",), extensions_imaps=("qresync", "ENABLE")))
    assert [(fault.key, fault.message, fault.fix) for fault in faults] == [
        ("imap.extensions", "IDEL is not an IMAP extension that Postroom speaks", "did you mean IDLE?"),
        ("imap.extensions_imaps", "QRESYNC needs CONDSTORE", "add CONDSTORE to the list, or take it out"),
    ]


async def test_urlauth_is_not_announced_and_its_commands_are_unknown(tmp_path: Path) -> None:
    # req rfc4467/1-optional
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        assert b"URLAUTH" not in b" ".join(await announced(house, secure=True))
        client = await house.login("ada")
        for line in (b'GENURLAUTH "imap://x/y;UID=1" INTERNAL', b"URLFETCH {1+}\r\nx", b"RESETKEY"):
            assert (await client.command(line)).status == b"BAD"
        assert (await client.command("NOOP")).ok
