"""The model test of views, and the faults that it must catch (planted one at a time).

`History` plays clients that believe only what they are told against the real server; see histories.py.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from bridge.imap import pipeline, session
from bridge.imap.view import Told, View
from config.settings import Imap
from mailstore import changes, filing, flags, messages
from mailstore.cache import MailboxIndex
from mailstore.model import Copied, Delta, Stored
from tests.imap.harness import House, house_settings, open_house
from tests.views import planted
from tests.views.believer import Broken
from tests.views.histories import History

STEPS = 40
PARTS = 20
TRIES = 60  # histories within which a planted fault has to be found


def quick_house(home: Path) -> AbstractAsyncContextManager[House]:
    """A house that speaks every extension and holds no news back."""
    return open_house(home, (), settings=house_settings(home, imap=Imap(extensions="all")), ticking=True)


async def play(house: House, seed: int) -> None:
    history = await History.begin(house, seed)
    try:
        await history.play(STEPS)
    except AssertionError as error:
        raise Broken(f"seed {seed}: {error}\n" + "\n".join(history.log[-30:])) from error


@pytest.mark.parametrize("part", range(PARTS))
async def test_histories(part: int, count: Callable[[int, int], int], tmp_path: Path) -> None:
    """500 histories by day, 10,000 by night: three clients and the program, one after the other and all at once."""
    # req rfc7162/3.2.5-model
    # req rfc6851/3.3-atomic
    # req rfc6851/3.3-not-lost
    # req rfc6851/3.3-not-both
    each = -(-count(500, 10_000) // PARTS)
    async with quick_house(tmp_path) as house:
        for seed in range(part * each, (part + 1) * each):
            await play(house, seed)
        assert await house.store.check() == []


# Planted faults


async def caught(home: Path) -> str:
    """The complaint about the first history that goes wrong; fails when none does."""
    async with quick_house(home) as house:
        for seed in range(TRIES):
            try:
                await play(house, seed)
            except Broken as broken:
                return str(broken)
    pytest.fail("the planted fault was not caught")


async def test_early_renumbering_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A departure takes effect on the numbers as soon as it is read, told or not."""
    tell = View.tell

    def early(view: View, *, gone: bool, flags: bool) -> Told:
        told = tell(view, gone=True, flags=flags)
        return told if gone else Told((), told.exists, told.recent, told.flags)

    monkeypatch.setattr(View, "tell", early)
    assert await caught(tmp_path)


def lossy(kind: str, *, every: int) -> Callable[..., Delta]:
    """A reading of the log that loses some rows of a kind."""
    since, read = changes.since, iter(range(1_000_000))

    def lose(*args: Any) -> Delta:
        delta = since(*args)
        if getattr(delta, kind) and next(read) % every == 0:
            getattr(delta, kind).pop()
        return delta

    return lose


@pytest.mark.parametrize("kind", ["arrived", "gone", "changed"])
async def test_a_lost_log_row_is_caught(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "since", lossy(kind, every=5))
    assert await caught(tmp_path)


async def test_a_departure_of_its_own_that_is_lost_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction does not know everything that it did."""
    honest = changes.made

    def lose(*args: Any) -> Delta:
        delta = honest(*args)
        del delta.gone[:1]
        return delta

    monkeypatch.setattr(changes, "made", lose)
    assert await caught(tmp_path)


@pytest.mark.parametrize("deaf", ["_reflag", "_remove"])
async def test_an_index_that_does_not_follow_is_caught(
    deaf: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MailboxIndex, deaf, lambda *args: None)
    assert await caught(tmp_path)


async def test_a_departure_lost_to_who_comes_back_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to SELECT with QRESYNC leaves out some of what has gone."""
    honest, read = changes.expunged_since, iter(range(1_000_000))

    def lose(*args: Any) -> list[tuple[int, int]]:
        gone = honest(*args)
        return gone[1:] if next(read) % 3 == 0 else gone

    monkeypatch.setattr(changes, "expunged_since", lose)
    assert await caught(tmp_path)


async def test_a_change_lost_to_who_comes_back_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = MailboxIndex.changed_since
    monkeypatch.setattr(MailboxIndex, "changed_since", lambda index, modseq: honest(index, modseq)[1:])
    assert await caught(tmp_path)


async def test_repeated_exists_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = View.tell

    def again(view: View, *, gone: bool, flags: bool) -> Told:
        told = tell(view, gone=gone, flags=flags)
        return Told(told.gone, len(view), view.recent_count(), told.flags) if told else told

    monkeypatch.setattr(View, "tell", again)
    assert "EXISTS" in await caught(tmp_path)


async def test_a_reused_uid_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an EXPUNGE the mailbox counts on from its highest UID instead of the next one."""
    honest = messages.expunge

    def forgetful(tx: Any, mailbox: Any, *args: Any, **options: Any) -> Any:
        gone = honest(tx, mailbox, *args, **options)
        tx._queries["test.reuse"] = (
            "UPDATE mailboxes SET uidnext = 1 + ifnull((SELECT max(uid) FROM placement WHERE mailbox = :id), 0)"
            " WHERE id = :id"
        )
        tx.run("test.reuse", id=mailbox.id)
        return gone

    monkeypatch.setattr(messages, "expunge", forgetful)
    assert await caught(tmp_path)


async def test_a_flag_missed_in_one_view_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions on All are not told of flags set elsewhere."""
    since = changes.since

    def deaf(tx: Any, mailbox: Any, modseq: Any) -> Delta:
        delta = since(tx, mailbox, modseq)
        if mailbox.name == "All":
            delta.changed.clear()
        return delta

    monkeypatch.setattr(changes, "since", deaf)
    assert "in All" in await caught(tmp_path)


async def test_expunge_during_fetch_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "news_after", lambda *_, **__: pipeline.News(any=True, gone=True))
    assert await caught(tmp_path)


@pytest.mark.parametrize("verb", ["copy", "move"])
async def test_a_wrong_copyuid_pair_is_caught(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = getattr(filing, verb)

    def crossed(*args: Any) -> Copied:
        copied: Copied = honest(*args)
        targets: Sequence[Any] = copied.target_uids[::-1]
        return Copied(copied.source_uids, list(targets), copied.uidvalidity)

    monkeypatch.setattr(messages, verb, crossed)
    assert "COPYUID" in await caught(tmp_path)


async def test_a_change_lost_in_a_shared_commit_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.lost_change(monkeypatch)
    assert await caught(tmp_path)


async def test_a_stale_modified_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conditional STORE overwrites what has changed meanwhile and does not say so."""
    honest = flags.store

    def careless(tx: Any, mailbox: Any, uids: Any, op: Any, names: Any, unchanged_since: Any = None) -> Stored:
        return honest(tx, mailbox, uids, op, names)

    monkeypatch.setattr(flags, "store", careless)
    assert "MODIFIED" in await caught(tmp_path)
