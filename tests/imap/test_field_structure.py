"""Cases from trackers of clients and servers: what a FETCH must look like to be read, each with where it was met."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.imap.harness import Client, House, letter, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as made:
        yield made


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode("utf-8")


async def fetched(house: House, raw: bytes, items: str) -> bytes:
    """The one FETCH line for a message put into INBOX."""
    await house.append("INBOX", raw)
    client = await house.login(select="INBOX")
    answer = await client.command(f"FETCH 1 ({items})")
    assert answer.ok
    return next(line for line in answer.untagged if line.startswith(b"1 FETCH"))


def parsed(line: bytes) -> list[Any]:
    """The parenthesised form after the first word of a FETCH answer, read as a strict client does: nested lists of
    strings, None for NIL."""
    text = line.split(b"FETCH (", 1)[1].split(b" ", 1)[1]
    tokens = re.findall(rb'\(|\)|"(?:[^"\\]|\\.)*"|NIL|\d+|\S', text)
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == b"(":
            stack.append([])
        elif token == b")":
            if len(stack) == 1:
                break
            done = stack.pop()
            stack[-1].append(done)
        else:
            quoted = token.startswith(b'"')
            plain = re.sub(r"\\(.)", r"\1", token[1:-1].decode()) if quoted else token.decode()
            stack[-1].append(None if token == b"NIL" else plain)
    found: list[Any] = stack[0][0]
    return found


HEAD = "From: bob@example.org\nSubject: x\nMIME-Version: 1.0\n"


async def test_field_01_a_multipart_without_parts_still_has_one(house: House) -> None:
    """jstedfast/MailKit #777, #371: `("mixed" ...)` without a body in front is a syntax error."""
    line = await fetched(house, crlf(HEAD + "Content-Type: multipart/mixed; boundary=b\n\nno parts\n"), "BODYSTRUCTURE")
    structure = parsed(line)
    assert isinstance(structure[0], list)
    assert structure[1:3] == ["mixed", ["boundary", "b"]]


async def test_field_02_an_inner_multipart_without_parts_is_not_told_as_a_part_of_type_multipart(house: House) -> None:
    """jstedfast/MailKit #878 (gmx.net): `("multipart" "related" ...)` cannot be read."""
    raw = crlf(
        HEAD + "Content-Type: multipart/mixed; boundary=out\n\n--out\nContent-Type: multipart/related; boundary=in\n\n"
        "nothing\n--out\nContent-Type: text/html\n\n<p>x</p>\n--out--\n"
    )
    line = await fetched(house, raw, "BODYSTRUCTURE")
    assert b'("multipart"' not in line.lower()
    assert parsed(line)[2] == "mixed"


async def test_field_03_a_parameter_never_has_the_value_nil(house: House) -> None:
    """pimalaya/himalaya #649 (mail.ru): `("boundary" NIL)` and missing fields make a strict client drop it all."""
    raw = crlf(HEAD + "Content-Type: multipart/alternative; boundary=\n\n--\nContent-Type: text/plain; charset\n\nhi\n")
    line = await fetched(house, raw, "BODYSTRUCTURE")
    assert re.search(rb'"(boundary|charset)" NIL', line, re.IGNORECASE) is None
    assert parsed(line)


async def test_field_04_a_part_of_type_message_has_envelope_structure_and_lines_or_is_none(house: House) -> None:
    """jstedfast/MailKit #1861, #1076 (Yandex, Gmail): message/rfc822 without its three further fields."""
    raw = crlf(
        HEAD + "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n"
        "Content-Transfer-Encoding: base64\n\nRnJvbTogYUBiCgp4\n--b\nContent-Type: message/rfc822\n\n\n--b--\n"
    )
    for part in parsed(await fetched(house, raw, "BODYSTRUCTURE"))[:2]:
        if (part[0], part[1]) == ("message", "rfc822"):
            assert isinstance(part[7], list)
            assert len(part[7]) == 10
            assert isinstance(part[8], list)
            assert part[9].isdigit()


async def test_field_05_an_envelope_has_ten_fields_and_nil_for_what_is_not_there(house: House) -> None:
    """jstedfast/MailKit #279, jonhoo/rust-imap #166 (a bridge): nine fields, or `()` for no addresses."""
    line = await fetched(house, crlf("Subject: only a subject\n\nx\n"), "ENVELOPE")
    assert line == b'1 FETCH (ENVELOPE (NIL "only a subject" NIL NIL NIL NIL NIL NIL NIL NIL))'


async def test_field_06_quotes_in_a_description_are_escaped(house: House) -> None:
    """emersion/go-imap #659: a Content-Description of two quotes came out as four."""
    raw = crlf(HEAD + 'Content-Type: application/pdf; name="a.pdf"\nContent-Description: ""\n\nx\n')
    line = await fetched(house, raw, "BODYSTRUCTURE")
    assert b'"\\"\\""' in line
    assert parsed(line)[4] == '""'


async def test_field_07_a_sender_without_an_address_is_told_as_a_name(house: House) -> None:
    """jstedfast/MailKit #1393: `From: Mail Delivery System` must not break the four fields of an address."""
    line = await fetched(house, crlf("From: Mail Delivery System\nSubject: bounce\n\nx\n"), "ENVELOPE")
    assert parsed(line)[2] == [[None, None, "Mail Delivery System", ""]]


async def test_field_08_the_extension_fields_of_a_multipart_come_in_their_order(house: House) -> None:
    """javaee/javamail #278: a description stood where the disposition of a multipart belongs."""
    # req 7.4.2-extension-order
    raw = crlf(
        HEAD + "Content-Type: multipart/mixed; boundary=b\nContent-Description: S/MIME\nContent-Language: en\n\n"
        "--b\nContent-Type: text/plain\n\nx\n--b--\n"
    )
    structure = parsed(await fetched(house, raw, "BODYSTRUCTURE"))
    assert structure[1:] == ["mixed", ["boundary", "b"], None, ["en"], None]


async def test_field_09_chunks_put_together_are_the_message_to_the_byte(house: House) -> None:
    """hmailserver forks #26, #334, #459: the last, shorter chunk; Thunderbird and Apple Mail read large mails so."""
    raw = letter("big", "\n".join("0123456789" * 7 for _ in range(90)))
    await house.append("INBOX", raw)
    client = await house.login(select="INBOX")
    whole = b""
    for start in range(0, len(raw), 1000):
        line = (await client.command(f"UID FETCH 1 (UID RFC822.SIZE BODY.PEEK[]<{start}.1000>)")).untagged[0]
        head, _, rest = line.partition(b"}\r\n")
        assert head.split(b"BODY[]")[1].startswith(b"<%d> {" % start)
        size = int(head.rpartition(b"{")[2])
        assert size == min(1000, len(raw) - start)
        whole += rest[:size]
    assert whole == raw


async def test_field_10_a_part_asked_for_behind_its_end_is_empty_and_there(house: House) -> None:
    """hmailserver #524 (crash), InterLinked1/lbbs #11 (an endless loop of Thunderbird), hmailserver #475 (iOS)."""
    await house.append("INBOX", letter("small"))
    client = await house.login(select="INBOX")
    for section in ("", "1", "TEXT"):
        line = (await client.command(f"UID FETCH 1 (UID BODY.PEEK[{section}]<99614720.65536>)")).untagged[0]
        assert line == b"1 FETCH (UID 1 BODY[%b]<99614720> {0}\r\n)" % section.encode()


async def test_field_11_a_partial_answer_names_its_start_alone(house: House) -> None:
    """twisted #5613 (`<0.30>` in the answer), greenmail #187 (the whole header, and no space before the literal)."""
    # req 7.4.2-origin
    line = await fetched(house, letter("x"), "BODY.PEEK[HEADER]<0.10>")
    assert line == b"1 FETCH (BODY[HEADER]<0> {10}\r\nFrom: Bob )"


async def test_field_12_several_parts_of_one_section_are_all_answered(house: House) -> None:
    """cyrusimap #659: two partial BODY[] in one FETCH."""
    line = await fetched(house, letter("x"), "BODY.PEEK[]<0.4> BODY.PEEK[]<5.3>")
    assert line == b"1 FETCH (BODY[]<0> {4}\r\nFrom BODY[]<5> {3}\r\n Bo)"


@pytest.mark.parametrize("cut", range(1, 12))
async def test_field_13_a_message_cut_off_inside_a_boundary_is_read(house: House, cut: int) -> None:
    """cyrusimap #1256: a crash."""
    raw = crlf(HEAD + "Content-Type: multipart/mixed; boundary=boundary\n\n--boundary\n\nx\n--boundary--")[:-cut]
    line = await fetched(house, raw, "BODYSTRUCTURE")
    assert "mixed" in parsed(line)[1:3]


@pytest.mark.parametrize("items", ["BODY[HEADER]", "BODY.PEEK[TEXT]", "RFC822.SIZE", "FLAGS", "ENVELOPE"])
async def test_field_14_one_item_needs_no_parentheses_also_by_uid(house: House, items: str) -> None:
    """greenmail #2 (SquirrelMail): `UID FETCH 1 BODY[HEADER]` was refused."""
    await house.append("INBOX", letter("x"))
    client = await house.login(select="INBOX")
    for verb in ("FETCH", "UID FETCH"):
        assert (await client.command(f"{verb} 1 {items}")).ok


async def test_field_15_a_whole_message_is_there_among_other_items(house: House) -> None:
    """avihaymenahem/velo #241: answers well formed and without BODY[], so every message was dropped."""
    # req 7.4.2-whole
    raw = letter("whole")
    line = await fetched(house, raw, "UID FLAGS INTERNALDATE ENVELOPE RFC822.SIZE BODY.PEEK[]")
    assert b"BODY[] {%d}\r\n%b)" % (len(raw), raw) in line


async def test_field_16_a_chunk_larger_than_its_part_is_the_part(house: House) -> None:
    """feedback-assistant #840 (iOS 18): `BODY.PEEK[1]<0.393216>` of a small part."""
    line = await fetched(house, letter("x", "short"), "BODY.PEEK[1]<0.393216>")
    assert line == b"1 FETCH (BODY[1]<0> {7}\r\nshort\r\n)"


async def test_field_17_fetching_from_an_empty_mailbox_is_no_error(house: House) -> None:
    """pimalaya/himalaya #572 and others: clients page with 1:n before they look at EXISTS."""
    client: Client = await house.login(select="INBOX")
    for command in ("FETCH 1:* (FLAGS)", "UID FETCH 1:* (FLAGS)", "UID FETCH 1:50 (UID)", "UID SEARCH ALL"):
        assert (await client.command(command)).ok, command
