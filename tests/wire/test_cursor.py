"""Every reader of the cursor: what it takes, what it leaves, what it refuses and where."""

from datetime import date

import pytest

from bridge.imap.wire.cursor import Blob, Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.seqset import SeqSet
from tests.wire.harness import Reader, cursors, leaves, reads, refuses

JULY = 1_782_950_400_000  # 2 July 2026, 00:00 UTC

# reader, text, value
TAKEN: list[tuple[Reader, bytes, object]] = [
    (Cursor.atom, b"INBOX", b"INBOX"),
    (Cursor.atom, b"}~!#$&'+,-./0:;<=>?@[^_`|", b"}~!#$&'+,-./0:;<=>?@[^_`|"),
    (Cursor.astring, b"a]b[", b"a]b["),
    (Cursor.astring, b"NIL", b"NIL"),
    (Cursor.astring, b'""', b""),
    (Cursor.astring, b'"a b"', b"a b"),
    (Cursor.astring, rb'"a\\b\"c"', rb'a\b"c'),
    (Cursor.astring, b'"{5}"', b"{5}"),
    (Cursor.astring, b'"{5+}"', b"{5+}"),
    (Cursor.astring, b"{0+}\r\n", b""),
    (Cursor.astring, b"{5+}\r\nab\r\nc", b"ab\r\nc"),
    (Cursor.astring, b'{6+}\r\np"w\\ {', b'p"w\\ {'),
    (Cursor.astring, b"{3}\r\nabc", b"abc"),
    (Cursor.astring, b"{3+}\nabc", b"abc"),
    (Cursor.astring, b"~foo", b"~foo"),
    (Cursor.string, b'"gr\xfc\xc3\x9f"', b"gr\xfc\xc3\x9f"),
    (Cursor.string, b'"tab\there"', b"tab\there"),
    (Cursor.nstring, b"NIL", None),
    (Cursor.nstring, b"nil", None),
    (Cursor.nstring, b'"NIL"', b"NIL"),
    (Cursor.nstring, b"{3+}\r\nNIL", b"NIL"),
    (Cursor.literal, b"{4+}\r\n\xff\x01{}", b"\xff\x01{}"),
    (Cursor.any_literal, b"~{3+}\r\na\x00b", b"a\x00b"),
    (Cursor.any_literal, b"{3+}\r\na\x00b", b"a\x00b"),
    (Cursor.number, b"0", 0),
    (Cursor.number, b"4294967295", 4294967295),
    (Cursor.number, b"0010", 10),
    (Cursor.nz_number, b"1", 1),
    (Cursor.number64, b"9223372036854775807", 2**63 - 1),
    (Cursor.seqset, b"1", SeqSet(((1, 1),))),
    (Cursor.seqset, b"*", SeqSet(((0, 0),))),
    (Cursor.seqset, b"*:*", SeqSet(((0, 0),))),
    (Cursor.seqset, b"*:123", SeqSet(((0, 123),))),
    (Cursor.seqset, b"1593:1580,1578:1543,1580", SeqSet(((1593, 1580), (1578, 1543), (1580, 1580)))),
    (Cursor.mailbox, b"inBox", "INBOX"),
    (Cursor.mailbox, b'"INBOX"', "INBOX"),
    (Cursor.mailbox, b"{5+}\r\ninbox", "INBOX"),
    (Cursor.mailbox, b"INBOX/x", "INBOX/x"),
    (Cursor.mailbox, b'"R&-D Gr&APYA3w-e"', "R&D Größe"),
    (Cursor.mailbox, b"NIL", "NIL"),
    (Cursor.mailbox, b'""', ""),
    (Cursor.mailbox, b"~foo", "~foo"),
    (Cursor.list_mailbox, b"*", "*"),
    (Cursor.list_mailbox, b"Agents/%", "Agents/%"),
    (Cursor.list_mailbox, b'"a *"', "a *"),
    (Cursor.list_mailbox, b"NIL", "NIL"),
    (Cursor.list_mailbox, b"&'", "&'"),
    (Cursor.list_mailbox, b"]", "]"),
    (Cursor.flag, rb"\SEEN", "\\Seen"),
    (Cursor.flag, rb"\deleted", "\\Deleted"),
    (Cursor.flag, rb"\Custom", "\\Custom"),
    (Cursor.flag, b"$Forwarded", "$Forwarded"),
    (Cursor.flag, b"NIL", "NIL"),
    (Cursor.flag_list, b"()", []),
    (Cursor.flag_list, rb"(\seen NonJunk)", ["\\Seen", "NonJunk"]),
    (Cursor.store_flags, rb"\seen NonJunk", ["\\Seen", "NonJunk"]),
    (Cursor.store_flags, rb"(\seen)", ["\\Seen"]),
    (Cursor.date, b"1-JAN-2026", date(2026, 1, 1)),
    (Cursor.date, b"01-jan-2026", date(2026, 1, 1)),
    (Cursor.date, b'"29-Feb-2024"', date(2024, 2, 29)),
    (Cursor.date_time, b'" 2-Jul-2026 00:00:00 +0000"', (JULY, 0)),
    (Cursor.date_time, b'"02-JUL-2026 02:00:00 +0200"', (JULY, 120)),
    (Cursor.date_time, b'"01-jul-2026 19:30:00 -0430"', (JULY, -270)),
    (Cursor.date_time, b'"01-Jul-2026 23:59:60 +0000"', (JULY, 0)),
    (Cursor.date_time, b'"01-Jan-1970 00:00:00 +0000"', (0, 0)),
    (Cursor.date_time, b'"31-Dec-1969 23:59:59 +0000"', (-1000, 0)),
    (Cursor.word, b"body.peek", b"BODY.PEEK"),
    (Cursor.base64, b"AGFsaWNlAHB3", b"\x00alice\x00pw"),
    (Cursor.base64, b"=", b""),
    (Cursor.base64, b"YQ==", b"a"),
]

# By their grammar these go on to the end of the word or command; they have tests of their own.
READ_ON = (Cursor.store_flags, Cursor.base64)

# reader, text, offset of the fault
REFUSED: list[tuple[Reader, bytes, int]] = [
    (Cursor.atom, b"", 0),
    (Cursor.atom, b"(a)", 0),
    (Cursor.atom, b'"a"', 0),
    (Cursor.atom, b"{", 0),
    (Cursor.atom, b"{}", 0),
    (Cursor.atom, b"]", 0),
    (Cursor.atom, b"\x01", 0),
    (Cursor.atom, b"\xe4", 0),
    (Cursor.astring, b"%", 0),
    (Cursor.astring, b"*", 0),
    (Cursor.astring, b"\xe4", 0),
    (Cursor.astring, b"{x", 0),
    (Cursor.astring, b'"open', 0),
    (Cursor.astring, b'"open {3}', 0),
    (Cursor.astring, b'"open {3+}', 0),
    (Cursor.astring, rb'"a\b"', 0),
    (Cursor.astring, b'"a\rb"', 0),
    (Cursor.astring, b"{3+}\r\na\x00b", 0),
    (Cursor.string, b"atom", 0),
    (Cursor.nstring, b"NILE", 0),
    (Cursor.nstring, b"atom", 0),
    (Cursor.literal, b'"quoted"', 0),
    (Cursor.literal, b"~{3+}\r\nabc", 0),
    (Cursor.number, b"-1", 0),
    (Cursor.number, b"4294967296", 0),
    (Cursor.number, b"9" * 4000, 0),
    (Cursor.nz_number, b"0", 0),
    (Cursor.nz_number, b"000", 0),
    (Cursor.seqset, b"0", 0),
    (Cursor.seqset, b"1:0", 0),
    (Cursor.seqset, b"", 0),
    (Cursor.seqset, b",1", 0),
    (Cursor.seqset, b"4294967296", 0),
    (Cursor.seqset, b"9" * 4000, 0),
    (Cursor.flag, rb"\*", 0),
    (Cursor.flag, b"\\", 0),
    (Cursor.flag, b"(x)", 0),
    (Cursor.flag_list, b"(a  b)", 3),
    (Cursor.flag_list, b"( a)", 1),
    (Cursor.flag_list, b"(a ", 3),
    (Cursor.flag_list, b"(a", 2),
    (Cursor.date, b"31-Feb-2026", 0),
    (Cursor.date, b"1-Foo-2026", 0),
    (Cursor.date, b"1-Jan-0000", 0),
    (Cursor.date, b"1-Jan-26", 0),
    (Cursor.date, b'"1-Jan-2026', 0),
    (Cursor.date_time, b"1-Jan-2026 00:00:00 +0000", 0),
    (Cursor.date_time, b'"32-Jan-2026 00:00:00 +0000"', 0),
    (Cursor.date_time, b'"01-Jan-2026 24:00:00 +0000"', 0),
    (Cursor.date_time, b'"01-Jan-2026 00:00:00 +9900"', 0),
    (Cursor.date_time, b'"01-Jan-2026 00:00:00"', 0),
    (Cursor.base64, b"YQ=", 0),
    (Cursor.base64, b"Y!==", 0),
    (Cursor.base64, b"YQ==x", 0),
    (Cursor.word, b"(", 0),
    (Cursor.sp, b"x", 0),
]


@pytest.mark.parametrize(("read", "text", "value"), TAKEN)
def test_reads_whole_and_in_pieces(read: Reader, text: bytes, value: object) -> None:
    # req 4.1-atom
    # req 4.3-quoted
    # req 4.3-empty
    # req 4.5-nil
    # req 9-case
    # req rfc9051/4.1-atom
    # req rfc9051/9-case
    # req 9-inbox
    reads(read, text, value)


@pytest.mark.parametrize(("read", "text", "value"), [row for row in TAKEN if row[0] not in READ_ON])
@pytest.mark.parametrize("behind", [b" x", b" ", b")", b' "y"', b" (z)"])
def test_leaves_what_stands_behind(read: Reader, text: bytes, value: object, behind: bytes) -> None:
    leaves(read, text, value, behind)


@pytest.mark.parametrize(("read", "text", "offset"), REFUSED)
def test_refuses_with_a_position(read: Reader, text: bytes, offset: int) -> None:
    # req 4.2-number
    # req 4.3.1-nul
    # req 9-date
    # req rfc9051/4.3.1-nul
    # req rfc9051/9-date
    refuses(read, text, offset)


@pytest.mark.parametrize("name", [b"&'", b"&", b"a&b", b'"&AAA"', b"&AAo-", b'"gr\xfc"', b"&2D0-", b"&AGE-"])
def test_a_name_that_is_no_modified_utf7_deserves_no(name: bytes) -> None:
    refuses(Cursor.mailbox, name, status="NO")


def test_store_flags_without_parentheses_end_at_the_end_of_the_command() -> None:
    for cursor in cursors(b"a b", b" "):
        assert cursor.store_flags() == ["a", "b"]
        cursor.eol()


def test_literals_are_found_by_position_also_after_moving_back() -> None:
    for cursor in cursors(b"{1+}\r\na {1+}\r\nb {1+}\r\nc"):
        start = cursor.pos
        assert [cursor.astring(), cursor.try_sp(), cursor.astring(), cursor.try_sp(), cursor.astring()] == [
            b"a",
            True,
            b"b",
            True,
            b"c",
        ]
        cursor.pos = start + 2
        assert cursor.astring() == b"b"


def test_try_readers_stay_where_they_are() -> None:
    for cursor in cursors(b"(x)"):
        start = cursor.pos
        tried = [
            cursor.try_atom(),
            cursor.try_string(),
            cursor.try_astring(),
            cursor.try_literal(),
            cursor.try_seqset(),
        ]
        assert tried == [None] * 5
        assert cursor.try_any_literal() is None
        assert cursor.try_word(b"X") is None
        assert cursor.try_read(cursor.atom) is None
        assert not cursor.try_sp()
        assert cursor.pos == start


def test_try_read_undoes_a_reader_that_fails_half_way() -> None:
    for cursor in cursors(b"(a b"):
        start = cursor.pos
        assert cursor.try_read(cursor.flag_list) is None
        assert cursor.pos == start


def test_words_must_match_whole() -> None:
    cursor = Cursor(b"CHARSETX UTF-8")
    assert cursor.try_word(b"CHARSET") is None
    assert cursor.try_word(b"CHARSETX") == b"CHARSETX"


def test_trailing_spaces_before_the_end_are_forgiven_and_nothing_else() -> None:
    Cursor(b"").eol()
    Cursor(b"   ").eol()
    with pytest.raises(ParseError, match="Unexpected text"):
        Cursor(b" x").eol()


def test_a_streamed_literal_is_a_blob_and_no_string() -> None:
    cursor = Cursor(b"\x00", literals=[Blob(0, 300_000)])
    with pytest.raises(ParseError, match="too large"):
        cursor.astring()
    assert cursor.any_literal() == Blob(0, 300_000)


def test_nested_lists_keep_exactly_one_space() -> None:
    # req 4.4-list
    cursor = Cursor(b"((a) (b c))")
    assert cursor.parenthesised(lambda: cursor.parenthesised(cursor.atom)) == [[b"a"], [b"b", b"c"]]
    empty = Cursor(b"()")
    assert empty.parenthesised(empty.atom, empty=True) == []
    empty.pos = 0
    with pytest.raises(ParseError):
        empty.parenthesised(empty.atom)


def test_with_utf8_names_and_patterns_are_utf8() -> None:
    assert Cursor('"Größe"'.encode(), utf8=True).mailbox() == "Größe"
    assert Cursor(b'"R&D"', utf8=True).mailbox() == "R&D"
    assert Cursor(b'"Gr*"', utf8=True).list_mailbox() == "Gr*"
    with pytest.raises(ParseError) as caught:
        Cursor(b'"\xff"', utf8=True).mailbox()
    assert caught.value.status == "NO"


def test_the_error_shows_its_place_and_never_the_bytes() -> None:
    with pytest.raises(ParseError) as caught:
        Cursor(b'"secret', 0).astring()
    assert str(caught.value) == "Expected an atom or a string at byte 0"
