"""How long a client may say nothing (RFC 3501 section 5.4)."""

from pathlib import Path

from tests.imap.harness import open_house

HALF_AN_HOUR = 30 * 60


async def test_a_silent_session_is_kept_for_half_an_hour_and_then_logged_out(tmp_path: Path) -> None:
    # req 5.4-timer
    async with open_house(tmp_path) as house:
        now = [1000.0]
        house.service.clock = lambda: now[0]
        client = await house.login(select="INBOX")
        now[0] += HALF_AN_HOUR - 1
        house.service.sweep()
        await client.settle()
        assert not client.closed
        assert not client.inbox
        assert (await client.command("NOOP")).ok
        now[0] += HALF_AN_HOUR - 1
        house.service.sweep()
        assert (await client.command("NOOP")).ok
        now[0] += HALF_AN_HOUR
        house.service.sweep()
        assert await client.closing() == [b"* BYE Logged out after a long silence"]
