"""ENVELOPE and BODYSTRUCTURE of the mails that broke other servers and clients."""

from typing import Any

import pytest

from bridge.imap.items import RENDERERS
from mailstore.parse import parse
from tests.wire import sexp
from tests.wire.messages import answer, crlf


def envelope(text: str) -> Any:
    return sexp.read(answer("ENVELOPE", crlf(text)).removeprefix(b"ENVELOPE "))


def structure(text: str, item: str = "BODYSTRUCTURE") -> Any:
    return sexp.read(answer(item, crlf(text)).removeprefix(item.encode() + b" "))


ADA = [b"Ada", None, b"ada", b"x.test"]


def test_ten_fields_always_and_missing_ones_are_nil() -> None:  # envelope-01
    assert envelope("Subject: s\n\n") == [None, b"s", *[None] * 8]
    assert envelope("") == [None] * 10


def test_sender_and_reply_to_default_to_from_and_nothing_stands_for_from() -> None:  # envelope-03
    # req 7.4.2-envelope-defaults
    assert envelope("From: Ada <ada@x.test>\n\n")[2:5] == [[ADA]] * 3
    assert envelope("Sender: Ada <ada@x.test>\n\n")[2:5] == [None, [ADA], None]
    assert envelope("From:\nSender: \nReply-To:\n\n")[2:5] == [None] * 3


def test_an_address_without_a_host_does_not_look_like_a_group() -> None:  # envelope-04
    assert envelope("From: Agent <agent>\n\n")[2] == [[b"Agent", None, b"agent", b""]]


def test_groups_have_a_start_and_an_end() -> None:
    # req 7.4.2-group
    assert envelope("To: team: a@x, b@y;, c@z\nCc: undisclosed-recipients:;\n\n")[5:7] == [
        [
            [None, None, b"team", None],
            [None, None, b"a", b"x"],
            [None, None, b"b", b"y"],
            [None, None, None, None],
            [None, None, b"c", b"z"],
        ],
        [[None, None, b"undisclosed-recipients", None], [None, None, None, None]],
    ]


@pytest.mark.parametrize(
    "field", ["a@b, ;", "R & D <r@d>", "x@[", "<", ">", ",", ";", ":", "(", '"', "a@b <c@d> <e@f>", "@" * 50, "\\"]
)
def test_odd_address_lists_are_read_somehow(field: str) -> None:  # envelope-05
    assert len(envelope(f"From: {field}\nTo: {field}\nCc: {field}\n\n")) == 10


def test_quotes_and_backslashes_come_through() -> None:  # envelope-07
    # req 7.4.2-address
    assert envelope('Subject: C:\\temp "x"\n\n')[1] == b'C:\\temp "x"'


def test_eight_bit_text_is_a_literal_and_never_in_quotes() -> None:  # fetch-24
    # req 4.3.1-eight-bit
    assert b"NIL {5}\r\nGr\xfc\xdfe NIL" in answer("ENVELOPE", crlf("Subject: Gr\xfc\xdfe\n\n"))
    assert b"\xfc" in answer("BODY.PEEK[HEADER]", crlf("Subject: Gr\xfc\xdfe\n\n"))


def test_tabs_empty_fields_and_mbox_lines() -> None:  # fetch-28, fetch-29
    found = envelope("From alice Mon Jan 1\nSubject:\tHello\nFrom:a@b\nX-Empty:\n\n")
    assert found[1:3] == [b"Hello", [[None, None, b"a", b"b"]]]


def test_several_senders() -> None:  # what raised in another server
    assert len(envelope("From: a@b\nSender: c@d, e@f\n\n")[3]) == 2


MULTI = "Content-Type: multipart/mixed; boundary=o\n\n"


def test_an_attachment_has_its_extension_fields_and_body_has_none() -> None:  # fetch-12
    text = (
        'Content-Type: image/png; name="a.png"\nContent-Disposition: attachment; filename=a.png\n'
        "Content-Transfer-Encoding: base64\nContent-Language: en, de\nContent-Location: http://x/\nContent-MD5: Q2g=\n"
        "Content-ID: <1@x>\nContent-Description: d\n\naGk=\n"
    )
    basic = [b"image", b"png", [b"name", b"a.png"], b"<1@x>", b"d", b"base64", 6]
    extension = [b"Q2g=", [b"attachment", [b"filename", b"a.png"]], [b"en", b"de"], b"http://x/"]
    assert structure(text) == basic + extension
    assert structure(text, "BODY") == basic


def test_an_enclosed_message_shows_its_envelope_body_and_lines() -> None:  # fetch-11
    # req 7.4.2-message-structure
    text = MULTI + "--o\nContent-Type: message/rfc822\n\nSubject: in\n\na\nb\n--o--\n"
    [part, subtype, *_] = structure(text)
    assert part[:2] == [b"message", b"rfc822"]
    assert part[7][1] == b"in"
    assert part[8][:2] == [b"text", b"plain"]
    assert part[9] == 3
    assert subtype == b"mixed"


def test_a_multipart_has_at_least_one_child() -> None:  # fetch-14
    text = (
        "Content-Type: multipart/alternative; boundary=o\n\n"
        "--o\n\ntext\n--o\nContent-Type: multipart/related; boundary=i\n\n--i--\n--o--\n"
    )
    assert structure(text)[1][0] == [
        b"text",
        b"plain",
        [b"charset", b"us-ascii"],
        None,
        None,
        b"7bit",
        0,
        0,
        *[None] * 4,
    ]
    assert len(structure(text, "BODY")[1][0]) == 8


@pytest.mark.parametrize("value", ["X-ZIP", "text", ";;;", "", "/", "text/", "/plain"])
def test_a_malformed_content_type_falls_back(value: str) -> None:  # fetch-15
    assert structure(f"Content-Type: {value}\n\nb\n")[:2] == [b"text", b"plain"]


def test_the_first_usable_content_type_and_parameter_win() -> None:  # fetch-16
    text = "Content-Type:\nContent-Type: multipart/related; boundary=x; charset=a; charset=b\n\n--x\n\ny\n--x--\n"
    assert structure(text)[1:3] == [b"related", [b"boundary", b"x", b"charset", b"a"]]


def test_no_parameters_are_nil() -> None:  # fetch-17
    assert structure("Content-Type: message/delivery-status\n\nx\n")[2] is None


def test_folds_are_opened() -> None:  # fetch-19
    assert b"\r\n" not in answer("BODYSTRUCTURE", crlf('Content-Type: application/pdf;\n name="a\n b.pdf"\n\n'))


def test_only_text_and_messages_have_lines() -> None:  # fetch-20
    # req 7.4.2-structures
    assert structure("Content-Type: image/png\n\na\nb\n", "BODY") == [b"image", b"png", None, None, None, b"7bit", 6]
    assert structure("Content-Type: text/html\n\na\nb\n", "BODY")[7] == 2


def test_a_text_part_always_names_its_charset() -> None:
    assert structure("\n")[2] == [b"charset", b"us-ascii"]
    assert structure("Content-Type: text/plain; format=flowed\n\n")[2] == [
        b"format",
        b"flowed",
        b"charset",
        b"us-ascii",
    ]
    assert structure("Content-Type: text/plain; charset=utf-8\n\n")[2] == [b"charset", b"utf-8"]


def test_long_file_names_stay_as_written() -> None:  # fetch-21
    text = "Content-Type: image/png\nContent-Disposition: attachment; filename*0*=UTF-8''%C3%A4; filename*1*=b.png\n\n"
    assert structure(text)[8] == [b"attachment", [b"filename*0*", b"UTF-8''%C3%A4", b"filename*1*", b"b.png"]]


def test_a_missing_end_keeps_both_parts() -> None:  # fetch-30
    parts = structure(MULTI + "--o\n\none\n--o\nContent-Type: text/html\n\ntwo\n", "BODY")
    assert [(part[1], part[6]) for part in parts[:2]] == [(b"plain", 3), (b"html", 5)]


def test_nesting_beyond_all_measure_is_still_well_formed() -> None:
    text = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(200)) + "\nx\n"
    assert structure(text)
    assert structure("Content-Type: message/rfc822\n\n" * 200)
    assert structure("Content-Type: message/rfc822\n\n" * 200, "BODY")


def test_renderings_carry_a_version() -> None:
    message = parse(b"Subject: x\r\n\r\n")
    assert {name: bool(render(message)) for name, render in RENDERERS.items()} == {
        "imap.envelope.1": True,
        "imap.bodystructure.1": True,
        "imap.body.1": True,
        "imap.parts.1": True,
        "imap.keys.1": True,
        "imap.fields.2": True,
    }
