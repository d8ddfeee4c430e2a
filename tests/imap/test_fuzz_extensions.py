"""Commands of every extension, damaged: whatever is said is answered once, and nothing unforeseen happens."""

import random
import re
import time
from pathlib import Path

import pytest

from bridge.imap.refusals import GENERAL
from config.settings import Imap
from tests.imap.harness import Client, House, house_settings, letter, open_house

DIALOGUES = Path(__file__).parent.parent / "transcripts" / "imap"
SAID = re.compile(r"^C\d*: \S+ (.+)$", re.MULTILINE)
LEFT_OUT = ("IDLE", "LOGOUT", "STARTTLS", "AUTHENTICATE", "COMPRESS", "UNAUTHENTICATE", "LOGIN", "DONE", "{")
PIECES = (
    "(",
    ")",
    " ",
    '"',
    "$",
    "*",
    "1:*",
    "0",
    "4294967296",
    "NIL",
    "\\",
    "[]",
    "<0.1>",
    "RETURN",
    "()",
    "é",
    "-1:-2",
)
COMMANDS = sorted({said for path in DIALOGUES.glob("*.txt") for said in SAID.findall(path.read_text())})


async def test_damaged_commands_of_all_extensions(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    end = time.monotonic() + request.config.getoption("--fuzz-seconds") / 2
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    usable = [command for command in COMMANDS if not any(word in command.upper() for word in LEFT_OUT)]
    async with open_house(tmp_path, settings=settings) as house:
        for number in range(6):
            await house.append("INBOX", letter(f"m{number}", message_id=f"<{number}@x>"))
        rng, round_ = random.Random(3), 0
        while not round_ or time.monotonic() < end:
            round_ += 1
            client = await begun(house, rng)
            for _ in range(15):
                if not await said(client, damaged(rng, rng.choice(usable))):
                    break
            client.transport.abort()
            await client.settle()
        assert await house.store.check() == []


async def begun(house: House, rng: random.Random) -> Client:
    client = await house.login(select=rng.choice(["INBOX", "All", "Unread"]))
    for mode in rng.sample(["QRESYNC", "UTF8=ACCEPT", "UIDONLY", "IMAP4rev2", "CONDSTORE"], rng.randint(0, 3)):
        assert (await client.command(f"ENABLE {mode}")).ok
    return client


def damaged(rng: random.Random, command: str) -> str:
    """The command with up to three pieces taken out, put in or doubled; often as it is."""
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(command) + 1)
        match rng.randrange(3):
            case 0:
                command = command[:at] + command[at + rng.randint(1, 4) :]
            case 1:
                command = command[:at] + rng.choice(PIECES) + command[at:]
            case _:
                command = command[:at] + command[max(0, at - 5) :]
    return command


async def said(client: Client, command: str) -> bool:
    """Whether the conversation goes on."""
    if any(word in command.upper() for word in LEFT_OUT):
        return True
    tag = client.tag()
    client.send(tag + b" " + command.encode() + b"\r\n")
    while True:
        response = await client.response()
        assert GENERAL.text.encode() not in response, f"an unforeseen fault: {command!r}"
        if not response or response.startswith(b"* BYE"):
            return False
        if response.startswith((tag + b" ", b"* BAD")):
            return True
