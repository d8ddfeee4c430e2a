"""Cases from trackers of clients and servers: commands as clients send them, and the answers that they need, each with
where it was met."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.imap.harness import Answer, House, letter, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as made:
        yield made


async def filled(house: House, count: int = 3) -> None:
    for number in range(1, count + 1):
        await house.append("INBOX", letter(f"m{number}"))


def code(answer: Answer, name: bytes) -> bytes:
    """The value of a response code in an answer."""
    said = b"\n".join([*answer.untagged, answer.text])
    return said.split(b"[" + name + b" ")[1].split(b"]")[0]


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        ("NOT (ANSWERED)", b"1 2 3"),  # greenmail #89 (Spring Integration)
        ("UID 1:*", b"1 2 3"),  # greenmail #96, #372 (SquirrelMail)
        ('CHARSET "UTF-8" 1:*', b"1 2 3"),  # davmail #61 (aerc): the name of the charset in quotes
        ("CHARSET utf-8 ALL", b"1 2 3"),  # aioimaplib #126, paperless-ngx #6815
        ('OR OR OR FROM "bob" TO "x" CC "x" SUBJECT "x"', b"1 2 3"),  # afterlogic webmail-lite #36, #56
        ('CHARSET UTF-8 OR OR OR FROM "zzz" TO "zzz" CC "zzz" SUBJECT "m2"', b"2"),
        ('HEADER Message-ID "<m3@example.org>"', b"3"),  # sms-backup-plus #619
        ('(OR (SUBJECT m1) (SUBJECT "m3")) UNDELETED', b"1 3"),
        ("1,3 (UNSEEN)", b"1 3"),
    ],
)
async def test_field_20_searches_as_clients_write_them(house: House, criteria: str, found: bytes) -> None:
    await filled(house)
    client = await house.login(select="INBOX")
    for verb in ("SEARCH", "UID SEARCH"):
        assert (await client.command(f"{verb} {criteria}")).untagged == [b"SEARCH " + found]


async def test_field_21_an_unknown_charset_is_no_and_names_the_known_ones(house: House) -> None:
    """greenmail #329: BAD instead of NO, so clients gave up instead of asking in another charset."""
    client = await house.login(select="INBOX")
    answer = await client.command("SEARCH CHARSET ISO-2022-JP SUBJECT x")
    assert (answer.status, code(answer, b"BADCHARSET")) == (b"NO", b"(US-ASCII UTF-8)")


async def test_field_22_an_empty_list_of_returns_asks_for_all(house: House) -> None:
    """jstedfast/MailKit #1177 (Exchange): `RETURN ()` found nothing."""
    await filled(house)
    client = await house.login(select="INBOX")
    answer = await client.command("UID SEARCH RETURN () UNSEEN")
    assert answer.untagged[0].endswith(b" UID ALL 1:3")


async def test_field_23_the_modseq_of_an_esearch_stands_without_parentheses(house: House) -> None:
    """jstedfast/MailKit #323."""
    await filled(house)
    client = await house.login(select="INBOX")
    answer = await client.command("UID SEARCH RETURN () MODSEQ 1")
    line = next(line for line in answer.untagged if line.startswith(b"ESEARCH"))
    assert line.split(b" MODSEQ ")[1].isdigit()


async def test_field_24_the_flag_that_allows_keywords_is_among_the_permanent_ones_only(house: House) -> None:
    """greenmail #633, ruby/net-imap #249: `\\*` in FLAGS is no flag."""
    client = await house.login()
    answer = await client.command("SELECT INBOX")
    flags = next(line for line in answer.untagged if line.startswith(b"FLAGS "))
    assert b"\\*" not in flags
    assert code(answer, b"PERMANENTFLAGS").endswith(b"\\*)")


async def test_field_25_every_response_with_a_code_has_words_behind_it(house: House) -> None:
    """jstedfast/MailKit #225, pimalaya/himalaya #572: `* OK [UNSEEN 27]` and nothing more is no resp-text."""
    # req 7.1-text
    # req rfc9051/7.1-text
    await filled(house)
    client = await house.login()
    answer = await client.command("SELECT INBOX")
    for line in [*answer.untagged, answer.text]:
        if b"[" in line:
            assert line.rpartition(b"]")[2].strip(), line


async def test_field_26_appenduid_is_uidvalidity_and_then_the_uid(house: House) -> None:
    """davmail #315 (the other way round), offlineimap #455 (`none`), proton-bridge #170 (not given)."""
    client = await house.login(select="INBOX")
    validity = code(await client.command("EXAMINE INBOX"), b"UIDVALIDITY")
    for expected in (1, 2):
        assert code(await client.append("INBOX", letter(f"m{expected}")), b"APPENDUID") == b"%b %d" % (
            validity,
            expected,
        )


async def test_field_27_uid_expunge_takes_what_is_named_and_leaves_the_rest(house: House) -> None:
    """proton-bridge #123: UIDPLUS announced and UID EXPUNGE unknown."""
    await filled(house)
    client = await house.login(select="INBOX")
    await client.command("STORE 1:2 +FLAGS.SILENT (\\Deleted)")
    assert (await client.command("UID EXPUNGE 2")).untagged == [b"2 EXPUNGE"]
    assert (await client.command("SEARCH DELETED")).untagged == [b"SEARCH 1"]


async def test_field_28_expunging_the_last_message_says_nothing_of_exists(house: House) -> None:
    """wildduck #850: `* 0 EXISTS` behind EXPUNGE sends Apple Mail round in IDLE for ever."""
    # req 7.4.1-order
    # req rfc9051/7.5.1-no-exists
    await filled(house, 1)
    client, watcher = await house.login(select="INBOX"), await house.login(select="INBOX")
    await client.command("STORE 1 +FLAGS.SILENT (\\Deleted)")
    assert (await client.command("EXPUNGE")).untagged == [b"1 EXPUNGE"]
    assert not (await watcher.command("NOOP")).only(b"EXISTS")


async def test_field_29_commands_in_the_packet_of_done_are_answered(house: House) -> None:
    """stalwart #765: iOS 18 sends DONE and what comes next together."""
    client = await house.login(select="INBOX")
    client.send(b"i IDLE\r\n")
    assert (await client.response()).startswith(b"+ ")
    client.send(b"DONE\r\nn NAMESPACE\r\ns STATUS INBOX (MESSAGES)\r\n")
    for tag in (b"i", b"n", b"s"):
        assert (await client.answer(tag)).ok


async def test_field_30_what_came_and_went_unheard_is_never_told(house: House) -> None:
    """cyrusimap #1263: EXPUNGE of a number beyond what the client knew."""
    await filled(house, 1)
    client, other = await house.login(select="INBOX"), await house.login(select="INBOX")
    await other.append("INBOX", letter("short life"))
    await other.command("UID STORE 2 +FLAGS.SILENT (\\Deleted)")
    await other.command("EXPUNGE")
    assert (await client.command("NOOP")).untagged == []


async def test_field_31_enable_says_what_it_turned_on_also_with_a_mailbox_known(house: House) -> None:
    """Mailspring-Sync #91 (iCloud): no ENABLED, and so no telling whether VANISHED may come."""
    client = await house.login()
    assert (await client.command("ENABLE CONDSTORE QRESYNC")).untagged == [b"ENABLED CONDSTORE QRESYNC"]
    assert (await client.command("ENABLE X-UNKNOWN")).untagged == [b"ENABLED"]


async def test_field_32_highestmodseq_is_told_without_enable(house: House) -> None:
    """lswith/imap-mcp #8 (iCloud): only after ENABLE, in that order, and silently missing otherwise."""
    client = await house.login()
    assert code(await client.command("SELECT INBOX"), b"HIGHESTMODSEQ").isdigit()


async def resynced(house: House, known: str = "") -> Answer:
    """Three messages, nothing of them gone, one flag changed; then what a client hears that comes back."""
    await filled(house)
    client = await house.login()
    await client.command("ENABLE QRESYNC")
    first = await client.command("SELECT INBOX")
    await client.command("UNSELECT")
    other = await house.login(select="INBOX")
    await other.command("UID STORE 2 +FLAGS (\\Seen)")
    since = (code(first, b"UIDVALIDITY") + b" " + code(first, b"HIGHESTMODSEQ")).decode()
    return await client.command(f"SELECT INBOX (QRESYNC ({since}{known}))")


@pytest.mark.parametrize("known", ["", " 1:3", " 1:3 (1,2,3 1,2,3)"])
async def test_field_33_messages_that_are_there_are_not_told_gone(house: House, known: str) -> None:
    """apache/james-project #629 (Samsung): older messages were VANISHED; #909: an empty VANISHED."""
    answer = await resynced(house, known)
    assert not [line for line in answer.untagged if line.startswith(b"VANISHED")]
    changed = [line for line in answer.untagged if b" FETCH " in line]
    assert len(changed) == 1
    assert changed[0].startswith(b"2 FETCH (UID 2 FLAGS (\\Seen)")


async def test_field_34_fetch_takes_several_modifiers(house: House) -> None:
    """apache/james-project #909, cyrusimap #4787: `(CHANGEDSINCE 52 VANISHED)`."""
    await filled(house)
    client = await house.login()
    await client.command("ENABLE QRESYNC")
    modseq = code(await client.command("SELECT INBOX"), b"HIGHESTMODSEQ").decode()
    await client.command("UID STORE 1 +FLAGS.SILENT (\\Deleted)")
    await client.command("EXPUNGE")
    answer = await client.command(f"UID FETCH 1:* (FLAGS) (CHANGEDSINCE {modseq} VANISHED)")
    assert answer.untagged == [b"VANISHED (EARLIER) 1"]


async def test_field_35_another_select_says_that_the_first_mailbox_is_closed(house: House) -> None:
    """apache/james-project #909: without CLOSED a client cannot tell whose news it hears."""
    client = await house.login(select="INBOX")
    answer = await client.command("SELECT Archive")
    assert answer.untagged[0].startswith(b"OK [CLOSED]")


@pytest.mark.parametrize("name", ["foo bar", "a (b", "FSF & GNU", "it's", 'quo"te', "back\\slash", "[list]", "~home"])
async def test_field_36_names_are_quoted_so_that_they_come_back(house: House, name: str) -> None:
    """offlineimap3 #4 (a space), #223 (a bracket), #208 (an escaped slash), offlineimap #449."""
    # req rfc9051/7.3.1-quoted
    # req 7.2.2-quoted
    client = await house.login()
    spelled = name.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&-")
    assert (await client.command(f'CREATE "{spelled}"')).ok
    listed = (await client.command(f'LIST "" "{spelled}"')).untagged
    assert [line.split(b' "/" ', 1)[1] for line in listed] == [b'"%b"' % spelled.encode()]
    assert (await client.command(f'SELECT "{spelled}"')).ok


async def test_field_37_a_name_between_two_others_can_be_made_a_mailbox(house: House) -> None:
    """cyrusimap #2990 (Outlook): it files mail in what is only a name in between, and loses it."""
    client = await house.login()
    assert (await client.command("CREATE aaa/bbb/ccc")).ok
    assert (await client.command("DELETE aaa/bbb")).ok
    assert b"\\Noselect" in (await client.command('LIST "" aaa/bbb')).untagged[0]
    assert (await client.command("CREATE aaa/bbb")).ok
    assert (await client.append("aaa/bbb", letter("filed"))).ok


async def test_field_38_status_tells_what_was_asked_for_and_that_in_any_order(house: House) -> None:
    """mozilla/releases-comm-central #77, nextcloud/mail #13350 (no UIDVALIDITY in the answer)."""
    client = await house.login()
    wanted = "UIDVALIDITY MESSAGES UIDNEXT UNSEEN RECENT"
    line = (await client.command(f"STATUS INBOX ({wanted})")).untagged[0]
    assert sorted(line.rpartition(b"(")[2].rstrip(b")").split()[::2]) == sorted(wanted.encode().split())


async def test_field_39_special_uses_are_told_in_a_plain_list(house: House) -> None:
    """cyrusimap #1514 (iPhone 5): it looks for \\Sent in LIST without asking for it."""
    client = await house.login()
    listed = b"\n".join((await client.command('LIST "" "*"')).untagged)
    for use in (b"\\Sent", b"\\Drafts", b"\\Trash", b"\\Junk", b"\\Archive"):
        assert use in listed
