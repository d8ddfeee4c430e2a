"""The crowd against a real server on TCP, and against servers with a fault planted in them, which it must find.

Two seconds by day, a minute by night; `make stress` runs the crowd alone, for as long as is wanted.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.postroom import PASSWORD
from bridge.imap import pipeline, session, sync
from bridge.net.listener import Listener
from config.settings import Imap
from mailstore import changes
from mailstore.model import Delta
from tests.imap.harness import house_settings, open_house
from tests.stress.crowd import run
from tests.stress.ledger import Surprise
from tests.stress.serving import served
from tests.views import planted

UNTIL_CAUGHT = 30.0  # seconds within which a planted fault shows, on a slow machine too


@pytest.mark.parametrize("extensions", ["default", "all"])
def test_a_crowd_is_told_nothing_that_cannot_be(
    extensions: str, count: Callable[[int, int], int], tmp_path: Path
) -> None:
    """20 clients; see the ledger for what must add up, and `_compare` for what all of them believe in the end."""
    # req rfc7162/3.2-connection-lost
    seconds = count(2, 60)
    with served(tmp_path / "home", extensions) as port:
        tally = asyncio.run(run(port, clients=20, seconds=seconds, seed=seconds))
    assert tally.commands > 20 * 3  # everybody has done something


# Planted faults


@asynccontextmanager
async def listening(home: Path) -> AsyncIterator[int]:
    """The port of a house that speaks every extension."""
    listener = Listener()
    async with open_house(home, ("you",), settings=house_settings(home, imap=Imap(extensions="all"))) as house:
        await house.auth.add_given(house.accounts["you"].id, "stress", PASSWORD)
        try:
            yield await listener.start(("127.0.0.1",), 0, house.service.protocol_factory(False))
        finally:
            await listener.close()


async def caught(home: Path) -> str:
    """The complaint of the first client that objects; fails when none does."""
    async with listening(home) as port:
        try:
            await run(port, clients=8, seconds=UNTIL_CAUGHT, seed=1)
        except (Surprise, ExceptionGroup) as caught:
            surprises = caught.exceptions if isinstance(caught, ExceptionGroup) else (caught,)
            assert all(isinstance(each, Surprise) for each in surprises), surprises
            return "\n".join(map(str, surprises))
    pytest.fail("the planted fault was not caught")


async def test_expunge_during_fetch_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "news_after", lambda *_, **__: pipeline.News(any=True, gone=True))
    assert await caught(tmp_path)


async def test_news_without_its_uid_is_caught_by_who_speaks_rev2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.Session, "tells_uids", False)
    assert "with IMAP4rev2" in await caught(tmp_path)


@pytest.mark.parametrize("kind", ["gone", "arrived"])
async def test_a_lost_log_row_is_caught(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    since, read = changes.since, iter(range(1_000_000))

    def lose(*args: Any) -> Delta:
        delta = since(*args)
        if getattr(delta, kind) and next(read) % 5 == 0:
            getattr(delta, kind).pop()
        return delta

    monkeypatch.setattr(changes, "since", lose)
    assert await caught(tmp_path)


async def test_departures_lost_with_the_connection_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While departures wait, clients are not told that they do not know everything yet."""
    monkeypatch.setattr(sync, "_place", lambda selected: [])
    assert await caught(tmp_path)


async def test_a_change_lost_in_a_shared_commit_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.lost_change(monkeypatch)
    assert await caught(tmp_path)
