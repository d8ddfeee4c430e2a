"""The bytes of DATA over a real connection, and what happens when it ends too early or something fails."""

import asyncio
import re
from pathlib import Path

import pytest

from mailstore.errors import Full
from tests.smtp.support import DOMAIN, ME, MESSAGE, Running, Wire, running

HEADER = f"From: {ME}\r\nSubject: x\r\n\r\n".encode()


async def test_smtp_05_dots(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.mail(HEADER + b"..dot line\r\n...\r\n..\r\na.b\r\n")).startswith("250")
    assert server.postbox.raw == HEADER + b".dot line\r\n..\r\n.\r\na.b\r\n"
    await wire.close()


async def test_smtp_05_a_first_line_with_a_dot_and_an_empty_mail(server: Running) -> None:
    wire = await Wire.logged_in(server)
    # Both lack a From, which is judged after the dots: what is tested is that they end where they end.
    assert (await wire.mail(b"..x: y\r\n")).startswith("550 5.7.1")
    assert (await wire.mail(b"")).startswith("550 5.7.1")
    assert (await wire.ask("NOOP")).startswith("250")
    await wire.close()


@pytest.mark.parametrize(
    "body",
    [
        b"lf only\nhere\r\n",
        b"a\rb\r\n",
        b"a\0b\r\n",
        b"a\n.\nb\r\n",
        b"a\n.\r\nb\r\n",
        b"a\r.\rb\r\n",
        b"a\r\r\n.\r\r\nb\r\n",
    ],
)
async def test_smtp_07_bare_cr_lf_and_nul_are_554_and_split_nothing(server: Running, body: bytes) -> None:
    wire = await Wire.logged_in(server)
    reply = await wire.mail(HEADER + body)
    assert reply.startswith("554 5.6.0")
    assert server.postbox.kept == []
    assert (await wire.mail()).startswith("250")
    await wire.close()


@pytest.mark.parametrize(
    "ending", [b"\n.\n", b"\n.\r\n", b"\r.\r", b"\r\n.\n", b"\r\n.\r", b"\r\n\x00.\r\n", b"\r.\r\n"]
)
async def test_smuggling_a_second_mail_behind_a_false_ending(server: Running, ending: bytes) -> None:
    evil = f"MAIL FROM:<{ME}>\r\nRCPT TO:<assistant@{DOMAIN}>\r\nDATA\r\n".encode() + MESSAGE
    wire = await Wire.logged_in(server)
    assert (await wire.mail(HEADER + b"one" + ending + evil)).startswith("554")
    assert server.postbox.kept == []
    await wire.close()


@pytest.mark.parametrize("length", [5000, 70_000, 1024 * 1024])
async def test_smtp_08_long_lines_are_kept(server: Running, length: int) -> None:
    wire = await Wire.logged_in(server)
    raw = HEADER + b"y" * length + b"\r\n"
    assert (await wire.mail(raw)).startswith("250")
    assert server.postbox.raw == raw
    await wire.close()


async def test_smtp_08_over_a_megabyte_is_refused_after_the_dot(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.mail(HEADER + b"y" * (1024 * 1024 + 1) + b"\r\n")).startswith("554 5.6.0")
    assert (await wire.ask("NOOP")).startswith("250")
    await wire.close()


@pytest.mark.parametrize("length", [2048, 40_000, 500_000])
async def test_smtp_08_a_long_command_is_500_and_stays_in_step(server: Running, length: int) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask("NOOP " + "x" * length)).startswith("500 5.5.2")
    assert (await wire.mail()).startswith("250")
    await wire.close()


async def test_smtp_09_eight_bit_goes_through_with_and_without_asking(server: Running) -> None:
    wire = await Wire.logged_in(server)
    for raw in (HEADER + "Grüße\r\n".encode(), HEADER + b"\xe4\xff\r\n", b"Subject: \xc3\xbc\r\n" + HEADER):
        assert (await wire.mail(raw)).startswith("250")
        assert server.postbox.raw == raw
    await wire.close()


async def test_every_cut_of_the_stream_gives_the_same_mail(server: Running) -> None:
    """Byte by byte around the end, where a reader is most likely to be wrong."""
    wire = await Wire.logged_in(server)
    raw = HEADER + b"..x\r\n.\r\n"
    for size in (1, 2, 3, 5, 7):
        await wire.envelope()
        await wire.ask("DATA")
        for start in range(0, len(raw), size):
            await wire.send(raw[start : start + size])
            await asyncio.sleep(0)
        assert (await wire.reply()).startswith("250")
        assert server.postbox.raw == HEADER + b".x\r\n"
    await wire.close()


async def test_pipelining_is_honest(server: Running) -> None:
    wire = await Wire.logged_in(server)
    envelope = f"MAIL FROM:<{ME}>\r\nRCPT TO:<assistant@{DOMAIN}>\r\nRCPT TO:<nobody@{DOMAIN}>\r\nDATA\r\n".encode()
    await wire.send(envelope)
    assert await wire.replies(4) == ["250", "250", "550", "354"]
    await wire.send(MESSAGE + b".\r\n" + envelope)
    assert await wire.replies(5) == ["250", "250", "250", "550", "354"]
    await wire.send(MESSAGE + b".\r\nNOOP\r\nQUIT\r\n")
    assert await wire.replies(3) == ["250", "250", "221"]
    assert len(server.postbox.kept) == 2
    await wire.close()


async def test_a_whole_conversation_in_one_segment(server: Running) -> None:
    wire = await Wire.logged_in(server)
    await wire.send(
        f"MAIL FROM:<{ME}>\r\nRCPT TO:<assistant@{DOMAIN}>\r\nDATA\r\n".encode() + MESSAGE + b".\r\nRSET\r\nQUIT\r\n"
    )
    assert await wire.replies(6) == ["250", "250", "354", "250", "250", "221"]
    assert server.postbox.raw == MESSAGE
    await wire.close()


async def test_smtp_18_several_mails_on_one_connection(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.mail()).startswith("250")
    assert (await wire.mail()).startswith("250")
    assert (await wire.ask("RSET")).startswith("250")
    assert (await wire.ask("NOOP")).startswith("250")
    assert (await wire.mail()).startswith("250")
    assert (await wire.ask("QUIT")).startswith("221")
    assert len(server.postbox.kept) == 3
    await wire.close()


async def test_smtp_14_bdat_is_not_known(server: Running) -> None:
    wire = await Wire.logged_in(server)
    await wire.envelope()
    assert (await wire.ask("BDAT 4 LAST")).startswith("500")
    await wire.close()


async def test_250_is_said_only_when_the_mail_is_kept(server: Running) -> None:
    server.postbox.gate = asyncio.Event()
    wire = await Wire.logged_in(server)
    await wire.envelope()
    await wire.ask("DATA")
    await wire.send(MESSAGE + b".\r\n")
    await asyncio.wait_for(server.postbox.entered.wait(), 20)
    answer = asyncio.create_task(wire.reply())
    other = await Wire.logged_in(server)  # the server works on meanwhile, for others
    assert not answer.done()
    server.postbox.gate.set()
    assert (await answer).startswith("250")
    await wire.close()
    await other.close()


@pytest.mark.parametrize("how", ["reset", "close"])
async def test_sent_04_a_client_that_leaves_early_does_not_stop_the_keeping(server: Running, how: str) -> None:
    server.postbox.gate = asyncio.Event()
    wire = await Wire.logged_in(server)
    await wire.envelope()
    await wire.ask("DATA")
    await wire.send(MESSAGE + b".\r\n")
    await asyncio.wait_for(server.postbox.entered.wait(), 20)
    if how == "reset":
        wire.writer.transport.abort()
    else:
        await wire.close()
    # The server has noticed once it has given the place of this connection back.
    await server.connections(0)
    server.postbox.gate.set()
    await asyncio.wait_for(server.postbox.done.wait(), 20)
    assert server.postbox.raw == MESSAGE


async def test_a_client_that_leaves_within_data_leaves_nothing(server: Running) -> None:
    wire = await Wire.logged_in(server)
    await wire.envelope()
    await wire.ask("DATA")
    await wire.send(MESSAGE)
    wire.writer.transport.abort()
    other = await Wire.logged_in(server)
    assert (await other.mail()).startswith("250")
    assert len(server.postbox.kept) == 1
    await other.close()


async def test_a_fault_inside_is_451_and_tells_nothing(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    def explode(envelope: object) -> None:
        raise RuntimeError("db exploded /secret/path")

    server.postbox.answer = explode
    wire = await Wire.logged_in(server)
    reply = await wire.mail()
    assert reply.startswith("451 4.3.0")
    assert "exploded" not in reply
    assert "secret" not in reply
    assert "db exploded" in caplog.text
    server.postbox.answer = lambda envelope: None
    assert (await wire.mail()).startswith("250")
    await wire.close()


async def test_a_fault_at_rcpt_is_451_too(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.postbox, "recipient", lambda identity, address: 1 / 0)
    wire = await Wire.logged_in(server)
    await wire.ask(f"MAIL FROM:<{ME}>")
    assert (await wire.ask(f"RCPT TO:<assistant@{DOMAIN}>")).startswith("451 4.3.0")
    await wire.close()


async def test_a_full_disk_is_452(server: Running) -> None:
    def full(envelope: object) -> None:
        raise Full("the disk is full")

    server.postbox.answer = full
    wire = await Wire.logged_in(server)
    assert (await wire.mail()).startswith("452 4.3.1")
    await wire.close()


async def test_a_mail_that_takes_too_long_is_cut_off(tmp_path: Path) -> None:
    async with running(tmp_path, data_seconds=0.2) as server:
        wire = await Wire.logged_in(server)
        await wire.envelope()
        await wire.ask("DATA")
        await wire.send(HEADER)
        assert (await wire.reply()).startswith("421 4.4.2")
        assert await wire.closed()
        assert server.postbox.kept == []
        await wire.close()


async def test_close_says_goodbye_and_waits_for_mail_under_way(server: Running) -> None:
    server.postbox.gate = asyncio.Event()
    wire = await Wire.logged_in(server)
    await wire.envelope()
    await wire.ask("DATA")
    await wire.send(MESSAGE + b".\r\n")
    await asyncio.wait_for(server.postbox.entered.wait(), 20)
    idle = await Wire.logged_in(server)
    closing = asyncio.create_task(server.service.close())
    assert (await idle.reply()).startswith("421 4.3.2")
    server.postbox.gate.set()
    await asyncio.wait_for(closing, 20)
    assert len(server.postbox.kept) == 1
    await wire.close()
    await idle.close()


async def test_twenty_megabytes(server: Running) -> None:
    line = b"z" * 76 + b"\r\n"
    raw = HEADER + line * ((20 * 1024 * 1024) // len(line))
    wire = await Wire.logged_in(server)
    assert (await wire.mail(raw)).startswith("250")
    assert server.postbox.raw == raw
    await wire.close()


def test_the_reply_table_has_only_codes_of_its_own_class() -> None:
    from bridge.smtp import replies

    for code, status in replies._DEFAULT_STATUS.items():
        assert re.fullmatch(r"[245]\.\d\.\d+", status)
        assert code[0] == status[0]
