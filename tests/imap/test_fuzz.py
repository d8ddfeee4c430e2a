"""Damaged streams against whole sessions: each command is answered once, in order, and nothing unforeseen happens."""

import random
import time
from pathlib import Path

import pytest

from bridge.imap.refusals import GENERAL
from bridge.imap.session import MAX_BAD
from bridge.imap.wire.framer import FramerLimits
from tests.imap.harness import Client, House, letter, open_house
from tests.wire.reference import Outcome, Reference
from tests.wire.streams import chunks, stream

# These hand the connection over to another grammar or end it; they have tests of their own.
LEFT_OUT = (b"IDLE", b"LOGOUT", b"STARTTLS", b"AUTHENTICATE")


async def test_every_command_of_a_damaged_stream_is_answered_once(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    end = time.monotonic() + request.config.getoption("--fuzz-seconds") / 2
    async with open_house(tmp_path) as house:
        for subject in ("one", "two", "three"):
            await house.append("INBOX", letter(subject))
        seed = tried = 0
        while not tried or time.monotonic() < end:
            seed += 1
            tried += await one_stream(house, seed)


async def one_stream(house: House, seed: int) -> bool:
    """Say one stream to a new session; False when it holds what is left out."""
    rng = random.Random(seed)
    data = stream(rng)
    expected = Reference(data, FramerLimits()).run()
    if any(word in data.upper() for word in LEFT_OUT) or data.startswith(b"\x16\x03"):
        return False
    client = await house.login(select="INBOX")
    for chunk in chunks(rng, data):
        client.send(chunk)
    await hear(client, expected, f"stream {seed}: {data!r}")
    client.transport.abort()
    await client.settle()
    return True


async def hear(client: Client, expected: list[Outcome], what: str) -> None:
    """One answer a command, with its tag, in the order of the commands; a fatal fault ends the connection."""
    bad = 0
    for outcome in expected:
        tag = outcome[1] if isinstance(outcome[1], bytes) else b"*"
        if outcome[2] == "unknown length":
            assert (await client.closing())[-1].startswith(b"* BYE"), what
            return
        while True:
            response = await client.response()
            if response.startswith(b"* BYE"):
                assert bad >= MAX_BAD, f"{what}\nheard {response!r} after {bad} faults"
                return
            assert response, f"{what}\nended before the answer to {outcome}"
            if response.startswith((tag + b" OK", tag + b" NO", tag + b" BAD")) and (
                tag != b"*" or b" BAD" in response
            ):
                break
            assert response.startswith((b"* ", b"+ ")), f"{what}\nheard {response!r} before the answer to {outcome}"
        bad = bad + 1 if b" BAD" in response else 0
        assert GENERAL.text.encode() not in response, f"{what}\nan unforeseen fault at {outcome}"
