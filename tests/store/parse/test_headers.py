"""Header fields: what is kept, what is decoded, what is passed over."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.parse import base_subject, decode, decode_header, is_reply, parse, parse_addresses, parse_date, subject
from mailstore.parse.envelope import message_ids, parse_moment, thread_index
from mailstore.parse.parameters import media_type, parameter, split_parameters


def header(*lines: bytes) -> bytes:
    return b"\r\n".join([*lines, b"", b"body\r\n"])


def test_values_are_kept_as_written_and_decoded_on_request() -> None:
    message = parse(header(b"Subject:\tHello", b"X-Empty:", b"To:a@b", b"subject: second", b"X-Fold: one\r\n  two"))
    assert message.headers.raw("SUBJECT") == [b"\tHello", b" second"]
    assert message.headers.get("subject") == "Hello"
    assert message.headers.get("x-empty") == ""
    assert message.headers.get("x-fold") == "one  two"
    assert message.headers.names() == ["Subject", "X-Empty", "To", "subject", "X-Fold"]
    assert message.headers.get("missing") is None
    assert "to" in message.headers


def test_lines_that_are_no_fields_are_passed_over_with_their_folds() -> None:
    message = parse(header(b"From alice Mon Jan  1 00:00:00 2026", b" folded junk: x", b"no colon here", b"Subject: x"))
    assert message.headers.names() == ["Subject"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        (b"=?UTF-8?B?R3LDvMOfZQ==?= =?utf-8?q?_an_alle?=", "Grüße an alle"),
        (b"=?utf-8?b?4oKs?=\r\n =?utf-8?q?_1?=", "€ 1"),
        (b"=?utf-8?b?4oI=?= =?utf-8?b?rA==?=", "€"),  # one character over two words
        (b"=?utf-8*en?q?hi?=", "hi"),
        (b"=?gb2312?B?zazS4g==?=", "同意"),
        (b"=?ks_c_5601-1987?B?vcLAzg==?=", "승인"),
        (b"=?iso-2022-jp?B?GyRCPjVHJxsoQg==?=", "承認"),
        (b"a =?utf-8?q?b?= c", "a b c"),
        (b"=?utf-8?q?broken", "=?utf-8?q?broken"),
        (b"=?utf-8?b?R3LDvMOfZQ?=", "Grüße"),  # padding left out
        (b"=?no-such?q?=41bc?=", "Abc"),
        (b"Gr\xfc\xdfe", "Grüße"),
        ("Grüße".encode(), "Grüße"),
        (b"=?utf-8?q?a b?=", "a b"),  # blanks are not allowed in a word, and are written
        (b"=?utf-8?q?=4?=", "=4"),
    ],
)
def test_encoded_words(value: bytes, text: str) -> None:
    assert decode_header(value) == text


@pytest.mark.parametrize(
    ("data", "label", "text", "ok"),
    [
        (b"abc", None, "abc", True),
        (b"Gr\xfc\xdfe", "iso-8859-1", "Grüße", True),
        (b"\x80 \x81", "ISO-8859-1", "\u0080 \u0081", True),
        (b"\x80", "windows-1252", "€", True),
        (b"\x80", "cp-1252", "€", True),
        ("да".encode("koi8-r"), "KOI8-R", "да", True),
        (b"\xb6\xf7", "GB2312", "恩", True),
        ("①".encode("cp932"), "Shift_JIS", "①", True),
        ("ｱ".encode("iso2022_jp_ext"), "iso-2022-jp", "ｱ", True),
        (b"\xff\xfe", "utf-8", "\ufffd\ufffd", False),
        (b"+AGE-", "utf-7", "+AGE-", False),
        (b"abc", "x-unknown-thing", "abc", True),
        (b"\xe4", "x-unknown-thing", "ä", False),
        (b"caf\xc3\xa9", "us-ascii", "café", True),
        (b"caf\xe9", "us-ascii", "café", False),
        (b"xn--a", "idna", "xn--a", True),
        (b"\\u0041", "unicode_escape", "\\u0041", True),
        (b"6869", "hex", "6869", True),
    ],
)
def test_charsets(data: bytes, label: str | None, text: str, ok: bool) -> None:
    assert decode(data, label) == (text, ok)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (b"a@b.example", [(None, None, b"a", b"b.example")]),
        (b'Ada L <a@b>, "C, D" <c@d>', [(b"Ada L", None, b"a", b"b"), (b"C, D", None, b"c", b"d")]),
        (b'"a\\"b" <c@d>', [(b'a"b', None, b"c", b"d")]),
        (b"a@b (Ada Lovelace)", [(b"Ada Lovelace", None, b"a", b"b")]),
        (b"<a@b> (Ada (nested) L)", [(b"Ada (nested) L", None, b"a", b"b")]),
        (b"Agent <agent>", [(b"Agent", None, b"agent", b"")]),
        (b"a@b, ;", [(None, None, b"a", b"b")]),
        (b"R & D <r@d>", [(b"R & D", None, b"r", b"d")]),
        (b"x@[", [(None, None, b"x", b"[")]),
        (b"x@[127.0.0.1]", [(None, None, b"x", b"[127.0.0.1]")]),
        (b"<@one,@two:a@b>", [(None, b"@one,@two", b"a", b"b")]),
        (b"undisclosed-recipients:;", [(None, None, b"undisclosed-recipients", None), (None, None, None, None)]),
        (
            b"Team: a@b, C <c@d>; e@f",
            [
                (None, None, b"Team", None),
                (None, None, b"a", b"b"),
                (b"C", None, b"c", b"d"),
                (None, None, None, None),
                (None, None, b"e", b"f"),
            ],
        ),
        (b"Team: a@b", [(None, None, b"Team", None), (None, None, b"a", b"b"), (None, None, None, None)]),
        (b'"odd local"@b', [(None, None, b"odd local", b"b")]),
        (b"a.b. c @ d . e", [(None, None, b"a.b.c", b"d.e")]),
        (b"=?utf-8?q?=C3=84?= <a@b>", [(b"=?utf-8?q?=C3=84?=", None, b"a", b"b")]),
        (b"a@b <a@b>", [(b"a@b", None, b"a", b"b")]),
        (b"just words", [(None, None, b"just words", b"")]),
        (b"", []),
        (b", ,, ;", []),
        (b'"never closed <a@b>', [(None, None, b"never closed <a@b>", b"")]),
        (b"a@b (never closed", [(b"never closed", None, b"a", b"b")]),
    ],
)
def test_addresses(value: bytes, wanted: list[tuple[bytes | None, ...]]) -> None:
    assert [(a.name, a.route, a.mailbox, a.host) for a in parse_addresses(value)] == wanted


def test_an_address_can_be_shown() -> None:
    (address,) = parse_addresses(b"=?utf-8?q?=C3=84da?= <ada@example.org>")
    assert (address.display, address.spec) == ("Äda", "ada@example.org")


def test_sender_and_reply_to_fall_back_to_from() -> None:
    envelope = parse(header(b"From: a@b", b"Sender: s1@b, s2@b")).envelope
    assert [a.mailbox for a in envelope.reply_to] == [b"a"]
    assert [a.mailbox for a in envelope.sender] == [b"s1", b"s2"]
    assert (envelope.to, envelope.cc, envelope.in_reply_to, envelope.message_id) == ((), (), None, None)
    assert parse(header(b"X: y")).envelope.sender == ()


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        (b"<a@x>,<b@x>\r\n <c@x><d@x>", ("<a@x>", "<b@x>", "<c@x>", "<d@x>")),
        (b"\r\n <long@OUTLOOK.COM>", ("<long@OUTLOOK.COM>",)),
        (b"<a@x> <a@x>", ("<a@x>",)),
        (b"junk", ()),
        (b"<never closed <a@x>", ("<a@x>",)),
        (None, ()),
    ],
)
def test_message_ids(value: bytes | None, ids: tuple[str, ...]) -> None:
    assert message_ids(value) == ids


def test_message_id_without_brackets_is_still_one() -> None:
    assert parse(header(b"Message-ID:\r\n abc@x")).message_id == "<abc@x>"


def test_thread_index() -> None:
    assert thread_index(b"AQHbAAAAAAAAAAAAAAAAAAAAAAAAAAAA") is not None
    assert thread_index(b"AQHb\r\n AAAAAAAAAAAAAAAAAAAAAAAAAAAA") == thread_index(b"AQHbAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    assert thread_index(b"short") is None
    assert thread_index(b"!!!!") is None


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (b"Thu, 1 Jan 1970 00:00:01 +0000", 1000),
        (b"1 Jan 1970 01:00 +0100", 0),
        (b"Tue, 03 Mar 2026 10:00:00 -0500 (EST)", 1772550000000),
        (b"Tue, 3 Mar 26 10:00:00 EST", 1772550000000),
        (b"3 Mar 2026", 1772496000000),
        (b"Tue, 03 Mar 2026 25:00:00 +0000", None),
        (b"31 Feb 2026 10:00:00 +0000", None),
        (b"yesterday", None),
        (b"1 Jan 0001 00:00:00 +2300", None),
        (b"", None),
        (None, None),
    ],
)
def test_dates(value: bytes | None, wanted: int | None) -> None:
    # req rfc5256/2.2-invalid-zone
    assert parse_date(value) == wanted


@given(
    year=st.sampled_from([0, 1, 2, 99, 100, 1900, 1969, 1970, 2026, 9998, 9999]) | st.integers(0, 9999),
    month=st.integers(1, 12),
    day=st.integers(0, 32),
    clock=st.tuples(st.integers(0, 25), st.integers(0, 61), st.integers(0, 62)),
    zone=st.integers(-9999, 9999),
)
def test_dates_are_those_of_the_calendar(
    year: int, month: int, day: int, clock: tuple[int, int, int], zone: int
) -> None:
    """Against the standard library, whose dates reach from the year 1 to 9999; a second 60 or more counts as 59."""
    name = "jan feb mar apr may jun jul aug sep oct nov dec".split()[month - 1]
    hour, minute, second = clock
    value = f"{day} {name} {year:04} {hour:02}:{minute:02}:{second:02} {'-' if zone < 0 else '+'}{abs(zone):04}"
    ahead = timedelta(hours=abs(zone) // 100, minutes=abs(zone) % 100) * (-1 if zone < 0 else 1)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    wanted: tuple[int | None, int | None]
    try:
        local = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
        wanted = (
            (local - ahead - epoch) // timedelta(milliseconds=1),
            (local - epoch).days,
        )
    except (ValueError, OverflowError):
        wanted = (None, None)
    assert parse_moment(value.encode()) == wanted


@pytest.mark.parametrize(
    ("value", "day"),
    [
        (b"Thu, 1 Jan 1970 23:30:00 -0100", 0),
        (b"Fri, 2 Jan 1970 00:30:00 +0100 (a comment +0900)", 1),
        (b"2 Jan 1970 00:30:00 EST", 1),  # the day is that in UTC where the zone has only a name
        (b"2 Jan 1970 22:30:00 EST", 2),
        (b"yesterday", None),
    ],
)
def test_the_day_of_a_date_is_that_which_was_written(value: bytes, day: int | None) -> None:
    assert parse(header(b"Date: " + value)).sent_day == day


@pytest.mark.parametrize(
    ("subject", "base"),
    [
        ("Re: hello", "hello"),
        ("RE: Fwd: [list] Re: hello (fwd)", "hello"),
        ("AW: SV: hello", "hello"),
        ("Re[2]: hello", "hello"),
        ("[A-7F3K]", "[A-7F3K]"),
        ("[Fwd: hello]", "hello"),
        ("Re: [a] [b] fw: x", "x"),
        ("Regarding: x", "Regarding: x"),
        ("  many   blanks ", "many blanks"),
        ("", ""),
        ("Re:", ""),
        ("回复: 答复\uff1a hello", "hello"),
        ("转发\uff1ahello", "hello"),
    ],
)
def test_base_subject(subject: str, base: str) -> None:
    assert base_subject(subject) == base


@pytest.mark.parametrize(
    ("subject", "answers"),
    [
        ("Re: x", True),
        ("[a] Fwd: x", True),
        ("回复\uff1ax", True),
        ("x (fwd)", True),
        ("x", False),
        ("Regarding: x", False),
    ],
)
def test_whether_a_subject_answers(subject: str, answers: bool) -> None:
    assert is_reply(subject) is answers


def test_parameters_as_written_and_as_read() -> None:
    main, params = split_parameters(b"Attachment;\r\n filename*0*=UTF-8''%C3%A4a;\r\n filename*1=\"b.pdf\"; size=1")
    assert main == b"Attachment"
    assert params[0] == (b"filename*0*", b"UTF-8''%C3%A4a")
    assert parameter(params, "filename") == "äab.pdf"
    assert parameter(params, "size") == "1"
    assert parameter(params, "none") is None


@pytest.mark.parametrize(
    ("value", "charset"),
    [
        (b"text/plain; charset=a; charset=b", "a"),
        (b'text/plain; charset = "x y"', "x y"),
        (b"text/plain (comment; charset=no) ; charset=yes", "yes"),
        (b'text/plain; charset="never closed', "never closed"),
        (b"text/plain;;;charset=z", "z"),
        (b"text/plain; charset", None),
        (b'text/plain; charset="a\\"b"', 'a"b'),
    ],
)
def test_odd_parameters(value: bytes, charset: str | None) -> None:
    main, params = split_parameters(value)
    assert media_type(main) == ("text", "plain")
    assert parameter(params, "charset") == charset


@given(
    st.lists(st.sampled_from(["Re", ":", "[", "]", "x", " ", "(fwd)", "fwd:", "[fwd: ", "\t", ")", "aw"]), max_size=12)
)
def test_a_base_subject_has_nothing_left_to_take_off(pieces: list[str]) -> None:
    base = base_subject("".join(pieces))
    assert base_subject(base) == base
    assert subject._without_leaders(subject._without_trailer(base)) == base
    assert subject._FWD.match(base) is None
    assert base in " ".join("".join(pieces).split())
