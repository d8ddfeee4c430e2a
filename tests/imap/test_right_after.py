"""What the OK of an APPEND promises: messages are rendered and indexed later, and no answer tells the difference."""

import threading
from pathlib import Path
from typing import Final

import pytest

from config.settings import Imap
from mailstore import ordering, renderings
from mailstore.parse import Message, parse
from tests.imap.harness import Client, House, house_settings, letter, open_house

MIXED: Final = b"""From: "Zoe, the first" <zoe@example.org>
To: ada@postroom.internal, Bob <bob@example.org>
Cc: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
Subject: Re: one
Date: Mon, 30 Nov 2026 08:00:00 +0100
Message-ID: <mixed@example.org>
References: <one@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html

<p>words in <b>markup</b></p>
--b
Content-Type: message/rfc822

Subject: within
From: inner@example.org

inner
--b--
""".replace(b"\n", b"\r\n")
EVERYTHING: Final = Imap(extensions="all")
BROKEN: Final = b"no field at all\r\nSubject : \xfc\r\n\r\n--\r\n"

QUESTIONS: Final = (
    "FETCH 1:* (UID RFC822.SIZE ENVELOPE BODYSTRUCTURE BODY)",
    "FETCH 1:* (ENVELOPE EMAILID THREADID MODSEQ)",
    "FETCH 2 (ENVELOPE BODY.PEEK[HEADER.FIELDS (FROM SUBJECT)])",
    "FETCH 1:* (BODY.PEEK[HEADER.FIELDS (FROM TO SUBJECT DATE X-NONE)] BODY.PEEK[1.MIME] BODY.PEEK[2.HEADER])",
    "FETCH 3 (BODYSTRUCTURE BODY.PEEK[1] PREVIEW)",
    "SORT (SUBJECT REVERSE FROM) UTF-8 ALL",
    "SORT (DISPLAYTO) UTF-8 ALL",
    "THREAD REFERENCES UTF-8 ALL",
    "SEARCH TEXT markup",
    "SEARCH FROM zoe SUBJECT one",
    "SEARCH HEADER Message-ID mixed SENTON 30-Nov-2026",
)


async def answers(client: Client) -> list[list[bytes]]:
    found = []
    for question in QUESTIONS:
        answer = await client.command(question)
        assert answer.ok, (question, answer)
        found.append(answer.untagged)
    return found


async def filled(house: House, copies: int) -> Client:
    await house.store.housekeeping.stop()
    client = await house.login()
    for raw in [letter("one"), MIXED, BROKEN] * copies:
        assert (await client.append("Archive", raw)).ok
    assert (await client.command("SELECT Archive")).ok
    return client


@pytest.mark.parametrize("copies", [1, 100])
async def test_answers_are_those_of_later(tmp_path: Path, copies: int) -> None:
    """Few are answered in the loop, many by a thread."""
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=EVERYTHING)) as house:
        early = await answers(await filled(house, copies))
        await house.store.housekeeping.settle()
        assert await answers(await house.login(select="Archive")) == early
        assert await house.store.check() == []


async def test_no_message_is_parsed_in_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parse of a large message would hold up everybody."""
    parsed_on: list[int] = []

    def watched(raw: bytes) -> Message:
        parsed_on.append(threading.get_ident())
        return parse(raw)

    for module in (renderings, ordering):
        monkeypatch.setattr(module, "parse", watched)
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=EVERYTHING)) as house:
        await answers(await filled(house, 1))
    assert parsed_on
    assert threading.get_ident() not in parsed_on
