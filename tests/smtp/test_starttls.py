"""STARTTLS (RFC 3207, DECISIONS 15): nothing that came in clear is ever run after it."""

import asyncio
import socket
import ssl

from tests.smtp.support import ME, Running, Wire, auth_plain


async def greeted(server: Running) -> Wire:
    wire = await Wire.connect(server)
    await wire.reply()
    await wire.ask("EHLO me")
    return wire


async def test_a_mail_over_starttls(server: Running) -> None:
    wire = await greeted(server)
    assert (await wire.ask("STARTTLS")).startswith("220 2.0.0")
    await wire.starttls(server)
    await wire.ask("EHLO me")
    assert (await wire.ask(auth_plain())).startswith("235")
    assert (await wire.mail()).startswith("250")
    assert server.postbox.kept[0][1].client.secure
    assert (await wire.ask("STARTTLS")).startswith("503")
    await wire.close()


async def test_tls_01_commands_behind_starttls_close_the_connection(server: Running) -> None:
    wire = await greeted(server)
    await wire.send(b"STARTTLS\r\nEHLO evil\r\n" + auth_plain().encode() + b"\r\n")
    rest = await wire.reader.read()
    assert not rest.startswith(b"220")
    assert server.postbox.kept == []
    await wire.close()


async def test_tls_02_a_client_hello_in_the_same_segment_closes_the_connection(server: Running) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = server.trust.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    wire = await greeted(server)
    await wire.send(b"STARTTLS\r\n" + outgoing.read())
    assert not (await wire.reader.read()).startswith(b"220")
    await wire.close()


async def test_tls_01_what_was_said_before_tls_is_forgotten(server: Running) -> None:
    wire = await greeted(server)
    await wire.ask("STARTTLS")
    await wire.starttls(server)
    assert (await wire.ask(auth_plain())).startswith("503 5.5.1")  # EHLO is needed again
    assert (await wire.ask(f"MAIL FROM:<{ME}>")).startswith("503")
    await wire.close()


async def test_the_first_command_may_come_with_the_end_of_the_handshake(server: Running) -> None:
    """asyncio can deliver the first decrypted command before start_tls has returned."""

    def talk() -> list[str]:
        with socket.create_connection(("127.0.0.1", server.smtp), timeout=20) as raw:
            file = raw.makefile("rb")
            file.readline()
            raw.sendall(b"STARTTLS\r\n")
            file.readline()
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = server.trust.wrap_bio(incoming, outgoing, server_hostname="localhost")
            replies: list[str] = []
            done = False
            while len(replies) < 2:
                try:
                    if not done:
                        tls.do_handshake()
                        done = True
                        tls.write(b"NOOP\r\nRSET\r\n")  # leaves in one segment with the client's Finished
                    replies += [line.decode() for line in tls.read(4096).splitlines()]
                except ssl.SSLWantReadError:
                    raw.sendall(outgoing.read())
                    if not replies:
                        incoming.write(raw.recv(65536))
            return replies

    assert [reply[:3] for reply in await asyncio.to_thread(talk)] == ["250", "250"]


async def test_a_failed_handshake_ends_the_connection_and_nothing_else(server: Running) -> None:
    wire = await greeted(server)
    await wire.ask("STARTTLS")
    await wire.send(b"this is no TLS record at all\r\n")
    async with asyncio.timeout(20):
        rest = await wire.reader.read()  # a TLS alert at most, then the end
    assert b"250" not in rest
    other = await greeted(server)
    assert (await other.ask("NOOP")).startswith("250")
    await other.close()
    await wire.close()


async def test_parser_18_tls_on_the_clear_port_is_cut_at_once(server: Running) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    await wire.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    assert await wire.closed()
    await wire.close()
