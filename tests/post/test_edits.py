"""The changes of an `edit` reply: read exactly, or refused with the reason."""

import pytest

from bridge.post.edits import EditUnread, read_edits

FIELDS = {"To", "Subject", "Body"}


def test_lines_of_field_and_value() -> None:
    assert read_edits("To: x@y.example\nSubject: New", FIELDS) == {"to": "x@y.example", "subject": "New"}


def test_a_value_goes_on_until_the_next_field() -> None:
    text = "body: Hi,\n\nnote: this is text, not a field\nbye\nSubject: S"
    assert read_edits(text, FIELDS) == {"body": "Hi,\n\nnote: this is text, not a field\nbye", "subject": "S"}


def test_json() -> None:
    assert read_edits('{"To": ["a@b.example"], "Body": "x"}', FIELDS) == {"to": ["a@b.example"], "body": "x"}


@pytest.mark.parametrize("text", ["", "  \n", "use her work address", "Colour: red", "{broken", "[1]", '{"a"', "[]"])
def test_what_cannot_be_read_is_refused_and_never_guessed(text: str) -> None:
    with pytest.raises(EditUnread):
        read_edits(text, FIELDS)


def test_the_fault_names_the_fields_that_exist() -> None:
    with pytest.raises(EditUnread, match="body, subject, to"):
        read_edits("Colour: red", FIELDS)
