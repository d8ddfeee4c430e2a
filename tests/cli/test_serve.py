"""`postroom serve` as a process: the ready file, the end, the lock, and who gets to see the first password."""

import asyncio
import json
import os
import pty
import re
import signal
import socket
import stat
import sys
from pathlib import Path

import pytest

from bridge.demo.client import Account, Mailbox
from bridge.demo.server import Ports, Server, ServerFailed
from tests.cli.conftest import PASSWORD
from tests.house.tree import ROOT

FREE_PORTS = [f"--{name}-port=0" for name in ("imap", "imaps", "smtp", "smtps", "web")]


async def greeting(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("localhost", port)
    line = await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    return line


async def test_the_ready_file_names_ports_that_listen_and_the_authority(server: Server) -> None:
    ports = await server.start()
    assert (await greeting(ports.imap)).startswith(b"* OK")
    assert (await greeting(ports.smtp)).startswith(b"220 ")
    for port in (ports.imaps, ports.smtps):
        account = Account(ports, "ada@postroom.internal", "ada", PASSWORD)
        _, writer = await asyncio.open_connection("localhost", port, ssl=account.tls())
        writer.close()
    assert (server.folder.tls / "ca.pem").samefile(ports.ca)


async def test_the_account_of_init_logs_in(server: Server) -> None:
    ports = await server.start()
    account = Account(ports, "ada@postroom.internal", "ada", PASSWORD)
    box = await asyncio.to_thread(Mailbox, account, "INBOX")
    assert await asyncio.to_thread(box.mails) == []
    await asyncio.to_thread(box.close)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_cleanly(server: Server, number: signal.Signals) -> None:
    await server.start()
    process = server._process
    assert process is not None
    process.send_signal(number)
    assert await asyncio.wait_for(process.wait(), 20) == 0
    assert '"stopped"' in server.last_lines()
    assert not server.folder.control_socket.exists()


async def test_a_second_server_on_the_folder_is_refused_with_code_3(server: Server) -> None:
    await server.start()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bridge.cli", "serve", "--home", str(server.folder.root), *FREE_PORTS,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # packed, to be seen at a glance  # fmt: skip
    _, errors = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 3
    assert b"is in use by process" in errors
    assert b"Traceback" not in errors


async def test_a_port_that_is_taken_is_told_with_what_to_do(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        config = server.folder.config_file
        config.write_text(f'[listen]\nhosts = ["127.0.0.1"]\nimap = {number}\n')
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bridge.cli", "serve", "--home", str(server.folder.root),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=ROOT,
        )  # packed, to be seen at a glance  # fmt: skip
        _, errors = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 1
    assert f"port {number}" in errors.decode()
    assert "listen.imap" in errors.decode()
    assert "Traceback" not in errors.decode()


async def test_a_ready_file_of_an_earlier_start_is_not_left(server: Server, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    await server.start()
    first = ready.read_bytes()
    assert stat.S_IMODE(ready.stat().st_mode) == 0o600
    await server.kill()
    server.folder.config_file.write_text("nonsense = 1\n")
    with pytest.raises(ServerFailed, match="nonsense"):
        await server.start()
    assert not ready.exists()
    assert json.loads(first)["imap"]


async def test_killed_and_started_again_it_comes_back_on_its_ports(server: Server) -> None:
    before = await server.start()
    await server.kill()
    assert await server.start() == before


async def test_without_a_terminal_the_first_account_gets_no_password(tmp_path: Path) -> None:
    home, ready = tmp_path / "home", tmp_path / "ready.json"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bridge.cli", "serve", "--home", str(home), "--ready-file", str(ready), *FREE_PORTS,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=ROOT,
    )  # packed, to be seen at a glance  # fmt: skip
    assert process.stderr is not None
    said = b""
    while b'"ready"' not in said:
        line = await asyncio.wait_for(process.stderr.readline(), 30)
        assert line, said
        said += line
    process.terminate()
    out, _ = await asyncio.wait_for(process.communicate(), 30)
    assert b"postroom password add" in said
    assert out == b""


def on_a_terminal(home: Path) -> tuple[int, int]:
    """Start a first `serve` on a terminal of its own; its process number and the terminal's other end."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "bridge.cli", "serve", "--home", str(home), *FREE_PORTS])
    return pid, terminal


def read_until(terminal: int, marks: list[str]) -> str:
    """What stands on the terminal once all marks do. Ends by itself when the process does."""
    text = ""
    while not all(mark in text for mark in marks):
        text += os.read(terminal, 4096).decode()
    return text


async def test_a_first_start_on_a_terminal_shows_a_password_once_and_how_to_set_up(tmp_path: Path) -> None:
    home = tmp_path / "home"
    pid, terminal = on_a_terminal(home)
    try:
        reading = asyncio.to_thread(read_until, terminal, ["Password", "Then write to", '"ready"'])
        text = await asyncio.wait_for(reading, 60)
        found = {name: re.search(pattern, text) for name, pattern in {
            "password": r"Password +(\S+)", "user": r"User name +(\S+)", "imap": r"IMAP +localhost, port (\d+)",
            "smtp": r"SMTP +localhost, port (\d+)", "ca": r"Authority +(\S+)",
        }.items()}  # packed, to be seen at a glance  # fmt: skip
        shown = {name: match[1] for name, match in found.items() if match}
        ports = Ports(int(shown["imap"]), 0, int(shown["smtp"]), 0, 0, shown["ca"])
        account = Account(ports, "you@postroom.internal", shown["user"], shown["password"])
        box = await asyncio.to_thread(Mailbox, account, "INBOX")
        await asyncio.to_thread(box.close)
        assert text.count(shown["password"]) == 1
        assert shown["password"].encode() not in (home / "postroom.sqlite3").read_bytes()
    finally:
        os.kill(pid, signal.SIGTERM)
        _, status = await asyncio.to_thread(os.waitpid, pid, 0)
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
