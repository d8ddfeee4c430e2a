"""What is stored comes back equal, and what is not of its type is refused."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.codec import Malformed, dump, load
from agents.letter import (
    ActivityLine,
    ActivityView,
    Attachment,
    Field,
    Footer,
    Item,
    Kind,
    Letter,
    Outgoing,
    OutsideMail,
    RequestView,
    Spent,
    ToolCount,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@given(
    st.builds(
        Letter,
        thread=TEXT,
        text=TEXT,
        quoted=TEXT,
        foreign=TEXT,
        attachments=st.lists(st.builds(Attachment)).map(tuple),
    )
)
def test_every_letter_comes_back(letter: Letter) -> None:
    assert load(Letter, dump(letter)) == letter


def test_a_full_mail_comes_back() -> None:
    item = Item(1, "Send mail", (Field("To", "maya@example.org", "new"),))
    spent = Spent(1.5, 2, 3, 400, Decimal("0.004"), True)
    view = RequestView(
        "r", "A-7F3K", "t", 2, "Send", (item,), ("notes.txt",), spent, 99, ("approve",), True, False, None
    )
    footer = Footer("A", "m", True, 1, 2, 3, None, False, (ToolCount("look", 1, 0, 0),), ("x",))
    activity = ActivityView("s", "t", "done", 1, None, 2.0, None, (ActivityLine(1, "x"),), Decimal(0), True)
    mail = Outgoing(
        "k", Kind.REQUEST, 1, "a", "t", "s", "b", "waiting", "r", 1, "<m@d>", (), view, footer, None,
        OutsideMail(("m@x",), "s", "t"), False, activity,
    )  # packed, to be seen at a glance  # fmt: skip
    assert load(Outgoing, dump(mail)) == mail


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"at": true}',
        '{"at": 1, "text": 2}',
        '{"at": 1, "text": "x", "more": 1}',
        '{"at": "1", "text": "x"}',
    ],
)
def test_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        load(ActivityLine, text)


@pytest.mark.parametrize(("kind", "value"), [(Kind, "maybe"), (Decimal, "x"), (bytes, "%%%")])
def test_a_value_that_is_not_of_its_type_is_refused(kind: type[Any], value: str) -> None:
    with pytest.raises(Malformed):
        load(kind, f'"{value}"')
