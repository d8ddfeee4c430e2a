"""The query language of search_mail: words, conditions, places, and nothing that is refused."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.post.find import Search, parse
from mailstore.query import Address, And, Before, HasFlag, Header, Not, Query, Since, Text


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("invoice May", (Text("invoice"), Text("May"))),
        ('"two words" x', (Text("two words"), Text("x"))),
        ("from:ann@x.example", (Address("from", "ann@x.example"),)),
        ('From:"Ann Lee" to:bob', (Address("from", "Ann Lee"), Address("to", "bob"))),
        ("subject:fair is:unread", (Header("subject", "fair"), Not(HasFlag("\\Seen")))),
        ("after:2026-11-01 before:2026-12-01", (Since(date(2026, 11, 1)), Before(date(2026, 12, 1)))),
        ("has:attachment", (Header("content-type", "multipart/mixed"),)),
        ("after:soon is:odd re:x from:", (Text("after:soon"), Text("is:odd"), Text("re:x"), Text("from:"))),
        ("https://x.example/a", (Text("https://x.example/a"),)),
    ],
)
def test_terms(text: str, terms: tuple[Query, ...]) -> None:
    assert parse(text).query == And(terms)


def test_places() -> None:
    assert parse("is:open") == Search(And(()), None, True)
    assert parse('in:Archive in:"My folder" x') == Search(And((Text("x"),)), "My folder", False)


@given(st.text())
def test_every_query_means_something(text: str) -> None:
    found = parse(text)
    assert isinstance(found.query, And)
