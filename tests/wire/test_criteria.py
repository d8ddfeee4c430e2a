"""SEARCH keys to queries: every key of RFC 3501, nesting, charsets, and what is put in when the search runs."""

from datetime import date

import pytest

from bridge.imap.criteria import BASE_KEYS, Key, SearchKey, SearchReader, parse_criteria
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.seqset import SeqSet
from mailstore import query as q
from tests.wire.harness import cursors

NEW_YEAR = date(2026, 1, 1)


class Session:
    """Knows sequence numbers, UIDs and \\Recent; the answers are recognisable."""

    def numbers(self, seqset: SeqSet) -> q.Query:
        return q.UidSet(tuple((low * 10, high * 10) for low, high in seqset.ranges))

    def uids(self, seqset: SeqSet) -> q.Query:
        return q.UidSet(seqset.ranges)

    def recent(self) -> q.Query:
        return q.HasFlag("\\Recent")


def query(text: bytes) -> q.Query:
    found = [parse_criteria(cursor).query(Session()) for cursor in cursors(text)]
    assert all(other == found[0] for other in found)
    return found[0]


SEEN = q.HasFlag("\\Seen")
RECENT = q.HasFlag("\\Recent")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"ALL", q.AllOf()),
        (b"all", q.AllOf()),
        (b"ANSWERED", q.HasFlag("\\Answered")),
        (b"DELETED", q.HasFlag("\\Deleted")),
        (b"DRAFT", q.HasFlag("\\Draft")),
        (b"FLAGGED", q.HasFlag("\\Flagged")),
        (b"SEEN", SEEN),
        (b"UNANSWERED", q.Not(q.HasFlag("\\Answered"))),
        (b"UNDELETED", q.Not(q.HasFlag("\\Deleted"))),
        (b"UNDRAFT", q.Not(q.HasFlag("\\Draft"))),
        (b"UNFLAGGED", q.Not(q.HasFlag("\\Flagged"))),
        (b"UNSEEN", q.Not(SEEN)),
        (b"RECENT", RECENT),
        (b"OLD", q.Not(RECENT)),
        (b"NEW", q.And((RECENT, q.Not(SEEN)))),
        (b"KEYWORD $Approved", q.Keyword("$Approved")),
        (b"KEYWORD NIL", q.Keyword("NIL")),
        (b"UNKEYWORD a", q.Not(q.Keyword("a"))),
        (b"BCC x", q.Address("bcc", "x")),
        (b"CC x", q.Address("cc", "x")),
        (b"FROM x", q.Address("from", "x")),
        (b'TO "x y"', q.Address("to", "x y")),
        (b"SUBJECT {3+}\r\na b", q.Header("subject", "a b")),
        (b"SUBJECT NIL", q.Header("subject", "NIL")),
        (b'BODY ""', q.Body("")),
        (b"TEXT approve", q.Text("approve")),
        (b'HEADER Message-ID "<1@x>"', q.Header("Message-ID", "<1@x>")),
        (b'HEADER X-Y ""', q.Header("X-Y", "")),
        (b"BEFORE 1-JAN-2026", q.Before(NEW_YEAR, "internal")),
        (b'ON "01-Jan-2026"', q.On(NEW_YEAR, "internal")),
        (b"SINCE 1-jan-2026", q.Since(NEW_YEAR, "internal")),
        (b"SENTBEFORE 1-Jan-2026", q.Before(NEW_YEAR, "sent")),
        (b"SENTON 1-Jan-2026", q.On(NEW_YEAR, "sent")),
        (b"SENTSINCE 1-Jan-2026", q.Since(NEW_YEAR, "sent")),
        (b"LARGER 0", q.Larger(0)),
        (b"SMALLER 5000000000", q.Smaller(5_000_000_000)),
        (b"3,7,9", q.UidSet(((30, 30), (70, 70), (90, 90)))),
        (b"UID 3,7:9", q.UidSet(((3, 3), (7, 9)))),
        (b"UID *:123", q.UidSet(((0, 123),))),
        (b"*:*", q.UidSet(((0, 0),))),
        (b"3,7,9 UNDELETED", q.And((q.UidSet(((30, 30), (70, 70), (90, 90))), q.Not(q.HasFlag("\\Deleted"))))),
        (b"NOT SEEN", q.Not(SEEN)),
        (b"NOT NOT SEEN", q.Not(q.Not(SEEN))),
        (
            b"NOT FROM agent SUBJECT x",
            q.And((q.Not(q.Address("from", "agent")), q.Header("subject", "x"))),
        ),
        (
            b"OR (FROM a) NOT (OR SUBJECT b TEXT c)",
            q.Or(q.Address("from", "a"), q.Not(q.Or(q.Header("subject", "b"), q.Text("c")))),
        ),
        (b"((SEEN) (ALL UNSEEN))", q.And((SEEN, q.And((q.AllOf(), q.Not(SEEN)))))),
        (b"CHARSET UTF-8 ALL", q.AllOf()),
        (b'CHARSET "utf-8" 1', q.UidSet(((10, 10),))),
        (b"CHARSET us-ascii ALL", q.AllOf()),
        (b"CHARSET {5+}\r\nUTF-8 TEXT {6+}\r\nGr\xc3\xb6\xc3\x9f", q.Text("Größ")),
        (b'SUBJECT "Gr\xc3\xb6\xc3\x9fe"', q.Header("subject", "Größe")),
        (b"SEEN ", SEEN),
    ],
)
def test_keys(text: bytes, expected: q.Query) -> None:
    assert query(text) == expected


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"", 0),
        (b"FOO", 0),
        (b"()", 1),
        (b"(SEEN", 5),
        (b"SEEN)", 4),
        (b"SEEN  ALL", 5),
        (b"NOT", 3),
        (b"OR SEEN", 7),
        (b"OR SEEN ", 8),
        (b"SUBJECT", 7),
        (b"SUBJECT (x)", 8),
        (b"SUBJECT {1+}\r\n\xff", 8),
        (b"HEADER x", 8),
        (b'HEADER "" x', 7),
        (b"KEYWORD \\Seen", 8),
        (b"BEFORE 31-Feb-2026", 7),
        (b"BEFORE yesterday", 7),
        (b"LARGER x", 7),
        (b"LARGER -1", 7),
        (b"UID x", 4),
        (b"0", 0),
        (b"1:", 1),
        (b"SEENX", 0),
        (b"CHARSET UTF-8", 13),
        (b"ALL CHARSET UTF-8", 4),
        (b"OR " * 60 + b"ALL ALL", 150),
        (b"NOT " * 60 + b"ALL", 200),
        (b"(" * 60 + b"ALL" + b")" * 60, 50),
        (b"ALL " * 2500, 8000),
    ],
)
def test_what_is_no_search(text: bytes, offset: int) -> None:
    for cursor in cursors(text):
        start = cursor.pos
        with pytest.raises(ParseError) as caught:
            parse_criteria(cursor)
        assert caught.value.position == start + offset
        assert caught.value.status == "BAD"


def test_an_unknown_charset_is_answered_with_those_there_are() -> None:
    for text in (b"CHARSET KOI8-R SUBJECT x", b'CHARSET "" ALL'):
        with pytest.raises(ParseError) as caught:
            parse_criteria(Cursor(text))
        assert (caught.value.status, caught.value.code) == ("NO", "BADCHARSET (US-ASCII UTF-8)")


def test_criteria_are_read_once_and_resolved_for_each_session() -> None:
    class Other(Session):
        def numbers(self, seqset: SeqSet) -> q.Query:
            return q.Nothing()

    criteria = parse_criteria(Cursor(b"1:*"))
    assert criteria.query(Session()) == q.UidSet(((10, 0),))
    assert criteria.query(Other()) == q.Nothing()


def test_an_extension_adds_a_key_by_name() -> None:
    def older(reader: SearchReader) -> Key:
        reader.cursor.sp()
        seconds = reader.cursor.nz_number()
        return lambda resolver: q.Older(seconds)

    keys = {**BASE_KEYS, b"OLDER": SearchKey(b"OLDER", older)}
    assert parse_criteria(Cursor(b"NOT OLDER 60"), keys).query(Session()) == q.Not(q.Older(60))
    with pytest.raises(ParseError, match="Unknown search key"):
        parse_criteria(Cursor(b"OLDER 60"))


def test_every_key_of_the_rfc_is_known() -> None:
    # req 6.4.4-all-keys
    names = """
        ALL ANSWERED BCC BEFORE BODY CC DELETED DRAFT FLAGGED FROM HEADER KEYWORD LARGER NEW NOT OLD ON OR RECENT SEEN
        SENTBEFORE SENTON SENTSINCE SINCE SMALLER SUBJECT TEXT TO UID UNANSWERED UNDELETED UNDRAFT UNFLAGGED UNKEYWORD
        UNSEEN
    """
    assert set(BASE_KEYS) == {name.encode() for name in names.split()}
