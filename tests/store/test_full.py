"""A full disk: the change fails whole, is told as Full, and everything goes on once there is room (DECISIONS 1, 14)."""

import asyncio
from typing import Any

import pytest

from mailstore import messages
from mailstore.errors import Full
from tests.store.helpers import Desk, mail


async def limit(desk: Desk, spare: int | None) -> None:
    """Let the main file grow by so many pages more, or by any number."""

    def set_limit(tx: Any) -> None:
        pages = tx._connection.execute("PRAGMA page_count").fetchone()[0]
        most = 1 << 30 if spare is None else pages + spare
        tx._connection.execute(f"PRAGMA max_page_count={most}").fetchall()

    await desk.write(set_limit)


@pytest.mark.parametrize("spare", range(0, 40, 3))
async def test_an_append_that_does_not_fit_leaves_nothing(desk: Desk, spare: Any) -> None:
    await desk.append("INBOX", mail("kept"))
    await limit(desk, spare)
    rung = []
    desk.store.doorbell.subscribe(desk.box("INBOX").id, lambda: rung.append(1))
    with pytest.raises(Full):
        await desk.append("INBOX", mail("too large", "x" * 400_000))
    assert rung == []
    assert desk.uids("INBOX") == [1]
    assert await desk.store.check() == []
    await limit(desk, None)
    assert (await desk.append("INBOX", mail("too large", "x" * 400_000))).uid == 2


async def test_whoever_shares_the_commit_is_told_too_and_may_try_again(desk: Desk) -> None:
    box = desk.box("INBOX")
    small = [desk.store.prepare(mail(str(n))) for n in range(6)]
    large = desk.store.prepare(mail("large", "x" * 900_000))
    await limit(desk, 20)
    tries = [
        asyncio.ensure_future(desk.write(lambda tx, each=each: messages.append(tx, box, each)))
        for each in (*small[:3], large, *small[3:])
    ]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert isinstance(results[3], Full)
    kept = [result for result in results if not isinstance(result, Full)]
    assert all(not isinstance(result, BaseException) and result.created for result in kept)
    assert len(desk.uids("INBOX")) == len(kept)
    await limit(desk, None)
    assert (await desk.append("INBOX", mail("room again"))).created


async def test_reading_and_housekeeping_go_on_when_the_disk_is_full(desk: Desk) -> None:
    await desk.append("INBOX", mail("kept"))
    await limit(desk, 0)
    assert desk.raw("INBOX", 1) == mail("kept")
    await desk.store.housekeeping.settle()
    await limit(desk, None)
