"""What a session does beside its commands: limits, silence, shutdown, faults, streams, lost peers, other accounts."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.imap import service as services
from bridge.imap import session as sessions
from bridge.imap.command import Done
from bridge.imap.session import MAX_BAD
from config.settings import Imap
from mailstore import lookup, messages
from mailstore.model import Uid
from tests.imap.harness import PASSWORD, Client, House, house_settings, letter, open_house

MIB = 1024 * 1024


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def slowed(house: House) -> Clock:
    clock = Clock()
    house.service.clock = clock
    return clock


# Silence


async def test_who_does_not_log_in_is_dropped(tmp_path: Path) -> None:
    # req rfc9051/5.4-before-login
    async with open_house(tmp_path) as house:
        clock = slowed(house)
        client = house.connect()
        await client.greeted()
        clock.now += services.LOGIN_SECONDS - 1
        house.service.sweep()
        assert not client.closed
        clock.now += 1
        house.service.sweep()
        assert await client.closing() == [b"* BYE Logged out after a long silence"]


async def test_a_silent_session_is_logged_out_after_half_an_hour_and_not_before(tmp_path: Path) -> None:
    # req rfc9051/5.4-timer
    # req 5.4-any-command
    async with open_house(tmp_path) as house:
        clock = slowed(house)
        client = await house.login(select="INBOX")
        clock.now += 29 * 60
        house.service.sweep()
        assert (await client.command("NOOP")).ok
        clock.now += 30 * 60
        house.service.sweep()
        assert await client.closing() == [b"* BYE Logged out after a long silence"]


async def test_case_idle_03_something_is_said_every_two_minutes_of_idle(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        clock = slowed(house)
        client = await house.login(select="INBOX")
        client.send(b"i IDLE\r\n")
        assert await client.response() == b"+ idling"
        for _ in range(14):
            clock.now += 119
            house.service.sweep()
            assert not client.inbox
            clock.now += 1
            house.service.sweep()
            assert await client.response() == b"* OK Still here"
        clock.now += 120
        house.service.sweep()
        assert await client.closing() == [b"* BYE Logged out after a long silence"]


# Limits


async def test_an_account_may_have_so_many_sessions(tmp_path: Path) -> None:
    # req rfc9051/7.1-limit-sessions
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(max_sessions=2))) as house:
        first, _ = await house.login(), await house.login()
        third = house.connect()
        await third.greeted()
        answer = await third.command(f'LOGIN ada "{PASSWORD}"')
        assert (answer.status, answer.text) == (b"NO", b"[LIMIT] This account has too many sessions open")
        await first.command("LOGOUT")
        await first.settle()
        assert (await third.command(f'LOGIN ada "{PASSWORD}"')).ok


async def test_a_network_peer_may_have_so_many_connections_and_this_machine_more(tmp_path: Path) -> None:
    # req 7.1.5-refused
    # req rfc9051/7.1.5-refused
    async with open_house(tmp_path) as house:
        for peer, greeted in (("192.0.2.7", b"* BYE [UNAVAILABLE] Too many connections"), ("127.0.0.1", b"* OK")):
            clients = [house.connect(peer) for _ in range(services.CONNECTIONS_OF_PEER + 1)]
            assert (await clients[-1].greeted()).startswith(greeted)
            assert (await clients[0].greeted()).startswith(b"* OK")


async def test_login_in_clear_is_for_this_machine_alone(tmp_path: Path) -> None:
    """`require_tls = false` does not open the network."""
    async with open_house(tmp_path) as house:
        client = house.connect("192.0.2.7")
        assert b"LOGINDISABLED" in await client.greeted()
        assert (await client.command(f'LOGIN ada "{PASSWORD}"')).text.startswith(b"[PRIVACYREQUIRED]")


async def test_a_peer_that_speaks_no_imap_is_cut_off(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        client = house.connect()
        await client.greeted()
        client.send(b"a NONSENSE\r\n" * MAX_BAD)
        said = await client.closing()
        assert len(said) == MAX_BAD + 1
        assert said[-1] == b"* BYE Too many faulty commands"


@pytest.mark.parametrize("line", [b"a " + b"x" * 70_000, b"a NOOP " + b"(" * 70_000])
async def test_an_overlong_line_is_refused_and_the_next_command_read(tmp_path: Path, line: bytes) -> None:
    async with open_house(tmp_path) as house:
        client = await house.login()
        client.send(line + b"\r\nb NOOP\r\n")
        assert (await client.answer(b"a")).status == b"BAD"
        assert (await client.answer(b"b")).ok


# Shutdown and faults


async def test_case_idle_04_shutdown_says_bye_to_idle_and_quiet_clients(tmp_path: Path) -> None:
    # req 3.4-bye-first
    # req rfc9051/3.4-bye-first
    async with open_house(tmp_path) as house:
        idle, quiet = await house.login(select="INBOX"), await house.login()
        idle.send(b"i IDLE\r\n")
        assert await idle.response() == b"+ idling"
        await house.service.close()
        for client in (idle, quiet):
            assert await client.closing() == [b"* BYE Postroom is shutting down"]
        late = house.connect()
        assert (await late.greeted()).startswith(b"* BYE [UNAVAILABLE]")


async def test_a_command_under_way_is_finished_before_the_shutdown(tmp_path: Path) -> None:
    # req 7.1.5-shutdown
    # req rfc9051/7.1.5-shutdown
    async with open_house(tmp_path) as house:
        client = await house.login(select="INBOX")
        client.send(b"a APPEND INBOX {%d+}\r\n%b\r\nb NOOP\r\n" % (len(letter("x")), letter("x")))
        await asyncio.sleep(0)  # the command has begun
        await house.service.close()
        said = await client.closing()
        assert any(line.startswith(b"a OK [APPENDUID") for line in said)
        assert said[-1] == b"* BYE Postroom is shutting down"
        inbox = house.mailbox("INBOX")
        assert house.store.read(lambda tx: lookup.status(tx, inbox)).messages == 1


async def test_a_revoked_password_ends_its_sessions(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        client = await house.login()
        session = house.service.sessions[0]
        assert session.identity is not None
        assert house.service.end_sessions(session.identity.password_id) == 1
        assert await client.closing() == [b"* BYE The password of this device was revoked"]
        assert house.service.end_sessions(session.identity.password_id) == 0


async def test_a_password_revoked_elsewhere_ends_its_sessions_with_the_next_sweep(tmp_path: Path) -> None:
    async with open_house(tmp_path, ("ada", "bob")) as house:
        client, other = await house.login("ada", "INBOX"), await house.login("bob")
        await house.auth.revoke(house.accounts["ada"].id, "test")
        house.service.sweep()
        assert await client.closing() == [b"* BYE The password of this device was revoked"]
        assert (await other.command("NOOP")).ok


async def test_an_unforeseen_fault_is_logged_and_told_in_general_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # req rfc9051/7.1-serverbug
    async def broken(session: object, _: None) -> Done:
        raise RuntimeError("the secret inside")

    async with open_house(tmp_path) as house:
        dialect, _ = house.service.dialects
        noop = replace(dialect.commands[b"NOOP"], run=broken)
        house.service.dialects = (replace(dialect, commands={**dialect.commands, b"NOOP": noop}), dialect)
        client = await house.login()
        answer = await client.command("NOOP")
        assert (answer.status, answer.text) == (b"NO", b"[SERVERBUG] Internal error; it has been logged")
        assert (await client.command("CAPABILITY")).ok
    assert "the secret inside" in caplog.text


# Streams and lost peers


async def test_a_large_message_is_streamed_in_and_out_unchanged(tmp_path: Path) -> None:
    # req rfc9051/D-size
    raw = letter("large", "\n".join(f"line {number} with some text" for number in range(100_000)))
    assert len(raw) > 2 * MIB
    async with open_house(tmp_path) as house:
        client = await house.login(select="INBOX")
        client.send(b"a APPEND INBOX {%d}\r\n" % len(raw))
        assert await client.response() == b"+ Go ahead"
        for start in range(0, len(raw), 50_000):
            client.send(raw[start : start + 50_000])
        client.send(b"\r\n")
        assert (await client.answer(b"a")).ok
        answer = await client.command("UID FETCH 1 (RFC822.SIZE BODY.PEEK[])")
        assert b"RFC822.SIZE %d BODY[] {%d}\r\n%b" % (len(raw), len(raw), raw) in answer.untagged[0]


async def test_a_message_as_large_as_the_settings_allow_may_come(tmp_path: Path) -> None:
    """One beyond what several of an APPEND may have together was refused, whatever the limit was set to."""
    largest = 1024 * MIB
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(append_limit=largest))) as house:
        client = await house.login()
        client.send(b"a APPEND INBOX {%d}\r\n" % (largest + 1))
        assert (await client.answer(b"a")).text.startswith(b"[TOOBIG] ")
        client.send(b"b APPEND INBOX {%d}\r\n" % largest)
        assert (await client.response()).startswith(b"+ ")


async def test_many_large_bodies_are_sent_in_bounded_parts(tmp_path: Path) -> None:
    body = "x" * 70 + "\n"
    async with open_house(tmp_path) as house:
        for number in range(6):
            await house.append("INBOX", letter(f"m{number}", body * 6000))
        client = await house.login(select="INBOX")
        answer = await client.command("FETCH 1:* (UID BODY.PEEK[])")
        assert [line.split(b" ", 3)[:2] for line in answer.untagged] == [[b"%d" % n, b"FETCH"] for n in range(1, 7)]
        assert [b"Subject: m%d\r\n" % n in line for n, line in enumerate(answer.untagged)] == [True] * 6


async def test_a_client_that_is_lost_in_an_append_leaves_nothing(tmp_path: Path) -> None:
    # req 6.3.11-whole
    # req rfc9051/6.3.12-lost
    async with open_house(tmp_path) as house:
        client = await house.login()
        client.send(b"a APPEND INBOX {1000}\r\n")
        assert await client.response() == b"+ Go ahead"
        client.send(b"half of it")
        client.transport.close()
        await client.settle()
        other = await house.login()
        assert (await other.command("STATUS INBOX (MESSAGES)")).untagged == [b'STATUS "INBOX" (MESSAGES 0)']


async def test_an_append_that_was_whole_is_kept_though_the_client_is_lost(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        client = await house.login()
        client.send(b"a APPEND INBOX {%d+}\r\n%b\r\n" % (len(letter("x")), letter("x")))
        await asyncio.sleep(0)
        client.transport.close()
        await house.store.write(lambda tx: None)
        other = await house.login()
        assert (await other.command("STATUS INBOX (MESSAGES)")).untagged == [b'STATUS "INBOX" (MESSAGES 1)']


async def test_a_client_that_is_lost_while_selecting_leaves_no_subscription(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.append("INBOX", letter("x"))
        client = await house.login()
        client.send(b"a SELECT INBOX\r\n")
        await asyncio.sleep(0)
        client.transport.close()
        await client.finished()
        await client.settle()
        assert house.store.doorbell._callbacks == {}
        assert house.service.sessions == ()


async def test_sessions_that_end_leave_nothing_behind(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        clients = [await house.login(select=box) for box in ("INBOX", "Unread", "All", "INBOX")]
        for at, client in enumerate(clients):
            if at % 2:
                await client.command("LOGOUT")
            else:
                client.transport.close()
            await client.settle()
        assert house.store.doorbell._callbacks == {}
        assert house.service.sessions == ()
        assert +house.service._accounts == {}


# News during IDLE


async def test_case_idle_05_a_burst_is_told_at_once_and_then_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "BURST_SECONDS", 3.0)  # five mails take longer than a tenth of one on a busy machine
    async with open_house(tmp_path) as house:
        client = await house.login(select="INBOX")
        client.send(b"i IDLE\r\n")
        assert await client.response() == b"+ idling"
        await house.append("INBOX", letter("first"))
        await client.settle()
        assert bytes(client.inbox) == b"* 1 EXISTS\r\n* 1 RECENT\r\n"
        client.inbox.clear()
        for number in range(5):
            await house.append("INBOX", letter(f"burst {number}"))
        await client.settle()
        assert not client.inbox
        assert [await client.line(), await client.line()] == [b"* 6 EXISTS\r\n", b"* 6 RECENT\r\n"]


async def test_a_slow_reader_is_told_when_he_reads_again(tmp_path: Path) -> None:
    # req rfc9051/5.3-flow
    async with open_house(tmp_path, ticking=True) as house:
        client = await house.login(select="INBOX")
        client.send(b"i IDLE\r\n")
        assert await client.response() == b"+ idling"
        pump = client.transport.get_protocol()
        assert isinstance(pump, asyncio.Protocol)
        pump.pause_writing()
        await house.append("INBOX", letter("one"))
        await house.append("INBOX", letter("two"))
        await client.settle()
        assert not client.inbox
        pump.resume_writing()
        assert await client.line() == b"* 2 EXISTS\r\n"


# Accounts


async def test_nothing_of_another_account_is_seen_or_reached(tmp_path: Path) -> None:
    async with open_house(tmp_path, ("ada", "bob")) as house:
        await house.append("INBOX", letter("secret"), account="ada")
        client = await house.login("ada")
        assert (await client.command("CREATE Private")).ok
        other = await house.login("bob", "INBOX")
        assert b"Private" not in b"".join((await other.command('LIST "" "*"')).untagged)
        assert (await other.command("SELECT Private")).text.startswith(b"[NONEXISTENT]")
        await other.command("SELECT All")
        assert (await other.command("SEARCH ALL")).untagged == [b"SEARCH"]
        assert (await other.command("STATUS INBOX (MESSAGES)")).untagged == [b'STATUS "INBOX" (MESSAGES 0)']


async def test_one_account_s_changes_wake_no_session_of_another(tmp_path: Path) -> None:
    async with open_house(tmp_path, ("ada", "bob")) as house:
        other = await house.login("bob", "INBOX")
        other.send(b"i IDLE\r\n")
        assert await other.response() == b"+ idling"
        await house.append("INBOX", letter("x"), account="ada")
        await other.settle()
        assert not other.inbox


# Sent copies (cases of area sent, as far as APPEND goes)


def sent(subject: str, message_id: str, *, bcc: bool = False) -> bytes:
    raw = letter(subject, message_id=message_id).replace(b"From: Bob <bob@example.org>", b"From: ada@postroom.internal")
    return raw.replace(b"Subject:", b"Bcc: maya@example.org\r\nSubject:") if bcc else raw


async def filed(house: House, raw: bytes) -> int:
    """The server's own copy of submitted mail."""
    prepared, box = house.store.prepare(raw), house.mailbox("Sent")
    kept = await house.store.write(lambda tx: messages.append(tx, box, prepared, flags=["\\Seen"], submitted=True))
    return kept.uid


async def in_sent(client: Client) -> list[bytes]:
    await client.command("EXAMINE Sent")
    return (await client.command("UID SEARCH ALL")).untagged[0].split()[1:]


async def test_case_sent_01_the_copy_a_client_appends_is_the_one_that_was_filed(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        raw = sent("Notes", "m1")
        uid = await filed(house, raw)
        client = await house.login()
        answer = await client.append("Sent", raw, "(\\Seen)")
        assert answer.text.split()[2].rstrip(b"]") == b"%d" % uid
        assert await in_sent(client) == [b"%d" % uid]


async def test_case_sent_01_the_append_may_come_before_the_250(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        raw = sent("Notes", "m1")
        client = await house.login()
        answer = await client.append("Sent", raw, "(\\Seen)")
        assert answer.text.split()[2] == b"1]"
        await filed(house, raw)
        assert await in_sent(client) == [b"1"]


async def test_case_sent_02_another_message_id_is_found_by_what_the_mail_says(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await filed(house, sent("Notes", "a"))
        client = await house.login()
        answer = await client.append("Sent", sent("Notes", "b"), "(\\Seen)")
        kept = await in_sent(client)
        assert len(kept) == 1
        assert answer.text.split()[2].rstrip(b"]") == kept[0]


async def test_a_sent_copy_with_bcc_takes_the_place_of_the_filed_one(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        uid = await filed(house, sent("Notes", "m1"))
        client = await house.login(select="Sent")
        answer = await client.append("Sent", sent("Notes", "m1", bcc=True), "(\\Seen)")
        assert answer.text.split()[2].rstrip(b"]") == b"%d" % (uid + 1)
        assert answer.untagged[0] == b"1 EXPUNGE"
        assert await in_sent(client) == [b"%d" % (uid + 1)]
        box = house.mailbox("Sent")
        row = house.store.read(lambda tx: messages.fetch(tx, box, [Uid(uid + 1)], header=True))[0]
        assert b"Bcc: maya@example.org" in (row.header or b"")


async def test_unlike_mails_are_both_kept(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await filed(house, sent("Notes", "a"))
        client = await house.login()
        await client.append("Sent", sent("Other notes", "b"), "(\\Seen)")
        assert len(await in_sent(client)) == 2


# Over restarts


async def test_case_uid_01_uids_and_uidvalidity_are_the_same_after_a_restart(tmp_path: Path) -> None:
    # req 2.3.1.1-restart
    # req rfc9051/2.3.1.1-restart
    seen: list[list[bytes]] = []
    async with open_house(tmp_path) as house:
        await house.append("INBOX", letter("one"))
        await house.append("INBOX", letter("two"))
        client = await house.login()
        seen.append((await client.command("STATUS INBOX (UIDVALIDITY UIDNEXT)")).untagged)
    async with open_house(tmp_path, ()) as house:
        client = house.connect()
        await client.greeted()
        assert (await client.command(f'LOGIN ada "{PASSWORD}"')).ok
        seen.append((await client.command("STATUS INBOX (UIDVALIDITY UIDNEXT)")).untagged)
        await client.command("SELECT INBOX")
        assert (await client.command("UID SEARCH ALL")).untagged == [b"SEARCH 1 2"]
    assert seen[0] == seen[1]
    assert b"UIDVALIDITY 0" not in seen[0][0]


async def test_case_flags_01_an_account_has_room_for_many_keywords(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.append("INBOX", letter("one"))
        client = await house.login(select="INBOX")
        names = [b"$label%d" % number for number in range(100)]
        assert (await client.command(b"STORE 1 +FLAGS (" + b" ".join(names) + b")")).ok
        answer = await client.command("FETCH 1 (FLAGS)")
        assert set(names) <= set(answer.untagged[-1].rstrip(b")").replace(b"(", b" ").split())
        again = await client.command("STORE 1 -FLAGS ($LABEL7)")
        assert b"$label7 " not in again.untagged[-1]
