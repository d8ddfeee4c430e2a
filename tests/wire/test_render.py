"""What is written can be read back, and follows the grammar to the letter."""

import pytest

from bridge.imap.wire import codes, render
from bridge.imap.wire.cursor import Cursor
from tests.wire.harness import reads


@pytest.mark.parametrize(
    ("raw", "wire"),
    [
        (b"", b'""'),
        (b"a b", b'"a b"'),
        (b'C:\\temp "x"', b'"C:\\\\temp \\"x\\""'),
        (b"Gr\xfc\xdfe", b"{5}\r\nGr\xfc\xdfe"),
        (b"a\r\nb", b"{4}\r\na\r\nb"),
        (b"a\rb", b"{3}\r\na\rb"),
        (b"a\x00b", b"{2}\r\nab"),
        (b"{5}", b'"{5}"'),
        (b"NIL", b'"NIL"'),
    ],
)
def test_strings_are_quoted_or_literal(raw: bytes, wire: bytes) -> None:
    # req rfc9051/9-strings
    # req 9-strings
    assert render.string(raw) == wire


def test_long_strings_become_literals() -> None:
    assert render.string(b"x" * 1024).startswith(b'"')
    assert render.string(b"x" * 1025).startswith(b"{1025}\r\n")


def test_nil_and_atoms() -> None:
    assert render.nstring(None) == b"NIL"
    assert render.nstring(b"") == b'""'
    assert render.astring(b"From") == b"From"
    assert render.astring(b"nil") == b'"nil"'
    assert render.astring(b"") == b'""'
    assert render.astring(b"a b") == b'"a b"'


@pytest.mark.parametrize("name", ["INBOX", "R&D Größe", 'a "b" \\ c', "50%*", "NIL", "日本語/x"])
def test_mailbox_names_come_back(name: str) -> None:
    reads(Cursor.mailbox, render.mailbox_name(name), name)
    assert Cursor(render.mailbox_name(name, utf8=True), utf8=True).mailbox() == name


def test_mailbox_names_on_a_utf8_connection_hold_no_control_character() -> None:
    assert render.mailbox_name("a\r\nb\x00c", utf8=True) == b'"abc"'


@pytest.mark.parametrize(
    ("millis", "zone", "wire"),
    [
        (1_782_950_400_000, 0, b'" 2-Jul-2026 00:00:00 +0000"'),
        (1_798_761_599_999, 0, b'"31-Dec-2026 23:59:59 +0000"'),
        (1_782_950_400_000, 330, b'" 2-Jul-2026 05:30:00 +0530"'),
        (1_782_950_400_000, -570, b'" 1-Jul-2026 14:30:00 -0930"'),
        (0, 0, b'"13-Aug-1982 00:00:00 +0000"'),  # Apple Mail stops on earlier ones
        (-10_000_000_000, 0, b'"13-Aug-1982 00:00:00 +0000"'),
    ],
)
def test_internal_dates(millis: int, zone: int, wire: bytes) -> None:
    # req rfc9051/9-date-time
    # req 9-date-time
    assert render.internal_date(millis, zone) == wire
    read, ahead = Cursor(wire).date_time()
    assert (read // 1000, ahead) == (max(millis // 1000, 398_044_800), zone)


def test_flags_and_numbers() -> None:
    # req rfc9051/9-flags
    # req 9-flags
    assert render.flag_list([]) == b"()"
    assert render.flag_list(["\\Seen", "$Approved"]) == b"(\\Seen $Approved)"
    assert render.numbers([]) == b""
    assert render.numbers([3, 1, 2]) == b"3 1 2"


@pytest.mark.parametrize(
    ("values", "wire"),
    [([], b""), ([7], b"7"), ([1, 2, 3, 7, 9, 10], b"1:3,7,9:10"), ([5, 4, 3], b"5,4,3"), ([0, 1], b"0:1")],
)
def test_number_sets_fold_rising_runs_and_keep_the_order(values: list[int], wire: bytes) -> None:
    assert render.number_set(values) == wire


def test_text_is_one_printable_line_and_never_empty() -> None:
    # req rfc9051/9-text
    # req 9-text
    assert render.text("No such mailbox: Größe\r\nx") == b"No such mailbox: Gr??e??x"
    assert render.text("  ") == b"-"


def test_codes() -> None:
    # req 7.2.1-once-a-line
    assert codes.bracketed(codes.Code.TRYCREATE) == b"[TRYCREATE]"
    assert codes.bracketed(codes.appenduid(9, [4])) == b"[APPENDUID 9 4]"
    assert codes.copyuid(9, [5, 3, 4], [10, 11, 12]) == b"COPYUID 9 5,3:4 10:12"
    assert codes.badcharset(["US-ASCII", "UTF-8"]) == b"BADCHARSET (US-ASCII UTF-8)"
    assert codes.permanentflags(["\\Seen", "\\*"]) == b"PERMANENTFLAGS (\\Seen \\*)"
    assert codes.capability(["IMAP4rev1", "IDLE"]) == b"CAPABILITY IMAP4rev1 IDLE"
    assert [codes.uidvalidity(1), codes.uidnext(2), codes.unseen(3), codes.highestmodseq(4)] == [
        b"UIDVALIDITY 1",
        b"UIDNEXT 2",
        b"UNSEEN 3",
        b"HIGHESTMODSEQ 4",
    ]
    assert codes.modified([1, 2]) == b"MODIFIED 1:2"
