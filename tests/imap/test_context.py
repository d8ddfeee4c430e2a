"""Watched results: whoever applies ADDTO and REMOVEFROM, pair by pair, holds what a new search would find."""

import asyncio
import random
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.imap.session import Session
from config.settings import Imap
from mailstore.model import Mailbox, Uid
from mailstore.query import Query
from tests.imap.harness import Client, House, house_settings, letter, open_house

CHANGE = re.compile(rb'ESEARCH \(TAG "(\w+)"\) UID (ADDTO|REMOVEFROM) \(([^)]*)\)')
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        yield house


def numbers(text: bytes) -> list[int]:
    """A set in the order it is written."""
    found = []
    for part in text.split(b","):
        first, _, last = part.partition(b":")
        found += list(range(int(first), int(last or first) + 1))
    return found


def follow(result: list[int], word: bytes, pairs: bytes) -> None:
    """What a client does with a change (RFC 5267 sections 4.3.3 and 4.3.4)."""
    parts = pairs.split()
    for at, uids in zip(parts[::2], parts[1::2], strict=True):
        position, named = int(at), numbers(uids)
        if word == b"ADDTO":
            if position:
                result[position - 1 : position - 1] = named
            else:
                result[:] = sorted([*result, *named])
        elif position:
            assert result[position - 1 : position - 1 + len(named)] == named
            del result[position - 1 : position - 1 + len(named)]
        else:
            result[:] = [uid for uid in result if uid not in named]


async def found(client: Client, search: str) -> list[int]:
    answer = await client.command(search)
    assert answer.ok, answer
    [line] = [line for line in answer.untagged if b"ESEARCH" in line]
    text = line.partition(b" ALL ")[2]
    return numbers(text) if text else []


SEARCHES = {
    "w1": ("UID SORT RETURN ({}ALL) (SUBJECT REVERSE ARRIVAL) UTF-8 UNDELETED",),
    "w2": ("UID SORT RETURN ({}ALL) (REVERSE SUBJECT) UTF-8 FLAGGED",),
    "w3": ("UID SEARCH RETURN ({}ALL) UNSEEN",),
}


async def change_something(house: House, other: Client, chance: random.Random) -> None:
    match chance.randrange(4):
        case 0:
            await house.append("INBOX", letter(chance.choice(WORDS)), flags=chance.sample(["\\Flagged", "\\Seen"], 1))
        case 1 | 2:
            uid = chance.randrange(1, 30)
            flag, op = chance.choice(["\\Flagged", "\\Seen", "\\Deleted"]), chance.choice("+-")
            await other.command(f"UID STORE {uid} {op}FLAGS.SILENT ({flag})")
        case _:
            await other.command("EXPUNGE" if chance.random() < 0.3 else "NOOP")


@pytest.mark.parametrize("seed", range(4))
async def test_who_follows_the_changes_holds_the_result(house: House, seed: int) -> None:
    # req rfc5267/4.5-cache
    chance = random.Random(seed)
    for number in range(6):
        await house.append("INBOX", letter(WORDS[number]))
    client, other = await house.login("ada", "INBOX"), await house.login("ada", "INBOX")
    believed: dict[bytes, list[int]] = {}
    for tag, (search,) in SEARCHES.items():
        client.send(f"{tag} {search.format('UPDATE ')}\r\n".encode())
        answer = await client.answer(tag.encode())
        text = answer.untagged[-1].partition(b" ALL ")[2]
        believed[tag.encode()] = numbers(text) if text else []
    for _ in range(40):
        await change_something(house, other, chance)
        if chance.random() < 0.5:
            answer = await client.command("NOOP")
            for line in answer.untagged:
                if (match := CHANGE.match(line)) is not None:
                    follow(believed[match[1]], match[2], match[3])
            for tag, (search,) in SEARCHES.items():
                assert believed[tag.encode()] == await found(client, search.format("")), (tag, answer.untagged)


async def test_numbers_among_the_criteria_mean_the_messages_of_the_beginning(house: House) -> None:
    # req rfc5267/4.3-numbers
    for subject in WORDS[:4]:
        await house.append("INBOX", letter(subject))
    client, other = await house.login("ada", "INBOX"), await house.login("ada", "INBOX")
    await client.command("UID SEARCH RETURN (SAVE) 2:3")
    watched = {}
    for criteria in ("2:3", "NOT 2:3", "$", "UID $", "2:* UNSEEN"):
        tag = client.tag().decode()
        client.send(f"{tag} UID SEARCH RETURN (UPDATE ALL) {criteria}\r\n".encode())
        [line] = (await client.answer(tag.encode())).untagged
        watched[tag] = numbers(line.partition(b" ALL ")[2])
    await other.command("UID STORE 1 +FLAGS.SILENT (\\Deleted)")
    await other.command("EXPUNGE")
    await other.command("UID STORE 3 +FLAGS.SILENT (\\Seen)")
    await other.append("INBOX", letter("late"))
    for line in (await client.command("NOOP")).untagged:
        for tag, word, pairs in CHANGE.findall(line):
            follow(watched[tag.decode()], word, pairs)
    assert list(watched.values()) == [[2, 3], [4, 5], [2, 3], [2, 3], [2, 4]]


async def test_a_mailbox_watches_twenty_results_and_says_no_to_more(house: House) -> None:
    # req rfc5267/4.3.1-limit
    client = await house.login("ada", "INBOX")
    for number in range(20):
        client.send(b"w%d SEARCH RETURN (UPDATE) ALL\r\n" % number)
        assert (await client.answer(b"w%d" % number)).untagged == [b'ESEARCH (TAG "w%d")' % number]
    client.send(b"more SORT RETURN (UPDATE COUNT) (DATE) UTF-8 ALL\r\n")
    answer = await client.answer(b"more")
    assert answer.ok
    assert answer.untagged[0] == b'ESEARCH (TAG "more") COUNT 0'
    assert answer.untagged[1].startswith(b'NO [NOUPDATE "more"] ')
    assert (await client.command('CANCELUPDATE "w3"')).ok
    client.send(b"again SEARCH RETURN (UPDATE) ALL\r\n")
    assert (await client.answer(b"again")).untagged == [b'ESEARCH (TAG "again")']


async def test_where_only_searches_are_watched_sorts_are_not(tmp_path: Path) -> None:
    # req rfc5267/4.3-noupdate
    names = ("ESEARCH", "SORT", "ESORT", "CONTEXT=SEARCH")
    settings = house_settings(tmp_path, imap=Imap(extensions=names))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        client = await house.login("ada", "INBOX")
        client.send(b"s SORT RETURN (UPDATE ALL) (DATE) UTF-8 ALL\r\n")
        answer = await client.answer(b"s")
        assert answer.ok
        assert answer.untagged[-1].startswith(b'NO [NOUPDATE "s"] ')
        assert (await client.command("CAPABILITY")).untagged[0].split().count(b"CONTEXT=SORT") == 0


async def watching_in_idle(house: House) -> tuple[Client, Session]:
    """A client that watches a search of everything, named w, and is in IDLE, named i."""
    client = await house.login("ada", "INBOX")
    client.send(b"w UID SEARCH RETURN (UPDATE ALL) ALL\r\n")
    await client.answer(b"w")
    client.send(b"i IDLE\r\n")
    await client.response()
    [session] = house.service.sessions
    return client, session


@pytest.mark.parametrize("meanwhile", [0, 1])
@pytest.mark.parametrize("leaving", [b'CANCELUPDATE "w"', b"CLOSE", b"SELECT Archive"])
async def test_a_look_that_began_during_idle_is_told_before_its_end(
    leaving: bytes, meanwhile: int, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no news of a result reaches a client that has just stopped watching it."""
    client, session = await watching_in_idle(house)
    honest, go = house.store.search, asyncio.Event()

    async def slow(mailbox: Mailbox, query: Query) -> list[Uid]:
        found = await honest(mailbox, query)
        await go.wait()
        return found

    await house.append("INBOX", letter("one"))
    monkeypatch.setattr(house.store, "search", slow)
    session.push()
    await client.settle()
    for _ in range(meanwhile):
        await house.append("INBOX", letter("two"))
        await client.settle()
    client.send(b"DONE\r\nx " + leaving + b"\r\nn NOOP\r\n")
    await client.settle()
    go.set()
    heard = [line for line in (await client.answer(b"i")).untagged if b"ESEARCH" in line]
    later = [*(await client.answer(b"x")).untagged, *(await client.answer(b"n")).untagged]
    result: list[int] = []
    for line in heard:
        change = CHANGE.search(line)
        assert change is not None, line
        follow(result, change[2], change[3])
    assert result == [1, 2][: 1 + meanwhile]
    assert not [line for line in later if b"ESEARCH" in line]


async def test_one_look_at_a_time_however_much_changes_meanwhile(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    client, session = await watching_in_idle(house)
    honest, go = house.store.search, asyncio.Event()
    looks: list[int] = []

    async def slow(mailbox: Mailbox, query: Query) -> list[Uid]:
        looks.append(1)
        await go.wait()
        return await honest(mailbox, query)

    monkeypatch.setattr(house.store, "search", slow)
    for number in range(5):
        await house.append("INBOX", letter(str(number)))
        session.push()
        await client.settle()
    meanwhile = len(looks)
    go.set()
    result: list[int] = []
    while result != [1, 2, 3, 4, 5]:
        heard = CHANGE.search(await client.response())
        if heard is not None:
            follow(result, heard[2], heard[3])
    assert meanwhile == 1
    assert len(looks) <= 2
