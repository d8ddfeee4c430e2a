"""`send`, `inbox` and `approve`: the mail road from a terminal, without a server and beside one."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.cli.common import open_store
from bridge.demo.client import SHORT_STEP_SECONDS, Account, Mail, Mailbox
from bridge.demo.play import REQUEST, RESULT, shows
from bridge.demo.server import Ports, Server
from bridge.sink import Sink
from config.load import load
from mailstore import accounts
from tests.cli.conftest import CONFIGURATION, PASSWORD, Cli, Result

NOTES = (
    "The boat needs paint. The mast needs a new rope. The paint costs forty euros. We sail in May when it is warm.\n"
)
TASK = "Summarise the attached notes and send the summary to maya@example.org"


@pytest.fixture
async def sink() -> AsyncIterator[Sink]:
    made = Sink()
    await made.start()
    yield made
    await made.close()


@pytest.fixture
async def ports(server: Server, sink: Sink) -> Ports:
    """The server, running, with the sink as its relay."""
    server.folder.config_file.write_text(CONFIGURATION.format(relay=sink.port))
    return await server.start()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text(NOTES)
    return path


async def arrived(ports: Ports, mailbox: str, criteria: tuple[str, ...]) -> Mail:
    box = await asyncio.to_thread(Mailbox, Account(ports, "ada@postroom.internal", "ada", PASSWORD), mailbox)
    mail, _ = await asyncio.to_thread(box.wait, criteria, step=SHORT_STEP_SECONDS)
    await asyncio.to_thread(box.close)
    return mail


async def in_thread(cli: Cli, server: Server, *arguments: str) -> Result:
    return await asyncio.to_thread(cli, *arguments, home=server.folder.root)


async def requested(cli: Cli, server: Server, ports: Ports, notes: Path) -> str:
    """Send a task whose request then waits; its code."""
    told = await in_thread(cli, server, "send", "assistant", TASK, "-s", "Boat", "-a", str(notes))
    assert (told.code, told.err) == (0, "")
    await arrived(ports, "Action", REQUEST)
    status = json.loads((await in_thread(cli, server, "status", "--json")).out)
    (request,) = status["requests"]
    return str(request["code"])


def audited(home: Path) -> list[tuple[str, str]]:
    """What the audit trail has about decisions: what, and from where."""

    async def read() -> list[tuple[str, str]]:
        async with open_store(load(home=home, environ={})) as store:
            account = store.read(accounts.all)[0].id
            rows = store.read(lambda tx: tx.all("agents.audit.of_account", account=account, limit=100))
            return [(row["what"], row["facts"]) for row in rows]

    return asyncio.run(read())


async def test_approving_shows_exactly_what_runs_and_lets_it_run_once(
    cli: Cli, server: Server, sink: Sink, ports: Ports, notes: Path
) -> None:
    code = await requested(cli, server, ports, notes)
    assert code in (await in_thread(cli, server, "status")).out
    assert "Approve?" in (await in_thread(cli, server, "inbox")).out
    unasked = await in_thread(cli, server, "approve", code)
    assert (unasked.code, "--yes" in unasked.err, sink.connections) == (2, True, 0)
    told = await in_thread(cli, server, "approve", code.lower(), "--yes")
    assert told.code == 0, told.err
    delivered = (await sink.wait(1))[0]
    assert delivered.recipients == ("maya@example.org",)
    for line in delivered.data.decode().partition("\r\n\r\n")[2].splitlines():
        assert shows(told.out, line)
    await arrived(ports, "INBOX", RESULT)
    again = await in_thread(cli, server, "approve", code, "--yes")
    assert (again.code, "decided before" in again.err) == (1, True)
    assert len(sink.messages) == 1
    await server.stop()
    trail = await asyncio.to_thread(audited, server.folder.root)
    assert [what for what, facts in trail if '"cli"' in facts] == ["approval.approved"]


async def test_rejecting_runs_nothing_and_gives_the_reason_to_the_agent(
    cli: Cli, server: Server, sink: Sink, ports: Ports, notes: Path
) -> None:
    code = await requested(cli, server, ports, notes)
    told = await in_thread(cli, server, "approve", code, "--reject", "she is on holiday")
    assert (told.code, "not done" in told.out) == (0, True)
    await arrived(ports, "INBOX", RESULT)
    assert sink.connections == 0
    assert json.loads((await in_thread(cli, server, "status", "--json")).out)["requests"] == []


async def test_approving_while_no_server_runs_takes_effect_at_the_next_start(
    cli: Cli, server: Server, sink: Sink, ports: Ports, notes: Path
) -> None:
    code = await requested(cli, server, ports, notes)
    await server.stop()
    told = await in_thread(cli, server, "approve", code, "--yes")
    assert (told.code, "No server is running" in told.err, sink.connections) == (0, True, 0)
    await server.start()
    assert (await sink.wait(1))[0].recipients == ("maya@example.org",)


def test_sending_without_a_server_keeps_the_mail_until_one_runs(cli: Cli, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    told = cli("send", "assistant", "What is in my inbox?")
    assert (told.code, "work begins when" in told.err) == (0, True)
    status = json.loads(cli("status", "--json").out)
    assert (status["running"], status["queues"]["mail to be acted on"]) == (False, 1)
    listed = json.loads(cli("inbox", "Sent", "--json").out)["mailboxes"][0]
    assert [mail["subject"] for mail in listed["mails"]] == ["What is in my inbox?"]


def test_a_mail_to_oneself_stands_in_the_inbox_as_it_was_written(cli: Cli, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    assert cli("send", "ada", "Grüße", "--subject", "Füße [bold]\x1b[31m").code == 0
    told = cli("inbox")
    assert "Füße [bold]" in told.out
    assert "\x1b" not in told.out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nobody", "hello"], 1, "does not exist here"),
        (["maya@example.org", "hello"], 1, "postroom.internal only"),
        (["assistant", "  "], 2, "empty"),
        (["assistant", "hello", "-a", "nowhere.txt"], 2, "cannot be read"),
        (["assistant", "hello", "--account", "eve"], 1, "no account eve"),
        (["a\nBcc: x@y", "hello"], 2, "cannot be written"),
    ],
)
def test_a_mail_that_cannot_go_is_refused(
    cli: Cli, password_file: Path, arguments: list[str], code: int, says: str
) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    told = cli("send", *arguments)
    assert (told.code, says in told.err, told.out) == (code, True, "")


def test_without_an_account_there_is_no_inbox(cli: Cli) -> None:
    told = cli("inbox")
    assert (told.code, "no account yet" in told.err) == (1, True)


def test_flags_of_approve_exclude_each_other(cli: Cli) -> None:
    assert cli("approve", "A-7F3K", "--yes", "--reject", "no").code == 2
