"""Parts: numbers, exact positions, sizes and lines, damaged and nested mail."""

import pytest

from mailstore.parse import Message, normalise, parse, searchable, walk


def lines(*rows: str) -> bytes:
    return "\r\n".join(rows).encode()


MIXED = lines(
    "Subject: outer",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "preamble",
    "--b",
    "",
    "hello",
    "",
    "--b",
    "Content-Type: message/rfc822",
    "",
    "Subject: inner",
    'Content-Type: multipart/alternative; boundary="b2"',
    "",
    "--b2",
    "Content-Type: text/plain",
    "",
    "one",
    "--b2",
    "Content-Type: text/html",
    "",
    "<p>two</p>",
    "--b2--",
    "inner epilogue",
    "--b",
    "Content-Type: message/rfc822",
    "",
    "Subject: single",
    "",
    "three",
    "--b",
    "Content-Type: image/png; name*=utf-8''%C3%A4.png",
    "Content-Transfer-Encoding: base64",
    "Content-Disposition: attachment",
    "",
    "AAEC",
    "--b--",
    "epilogue",
)


def body(raw: bytes, message: Message, section: str) -> bytes:
    part = message.part(section)
    assert part is not None, section
    return raw[part.body_start : part.body_end]


def test_numbers_and_exact_bodies() -> None:
    message = parse(MIXED)
    assert [(p.section, p.media_type) for p in walk(message.root)] == [
        ("", "multipart/mixed"),
        ("1", "text/plain"),
        ("2", "message/rfc822"),
        ("2", "multipart/alternative"),
        ("2.1", "text/plain"),
        ("2.2", "text/html"),
        ("3", "message/rfc822"),
        ("3.1", "text/plain"),
        ("4", "image/png"),
    ]
    assert body(MIXED, message, "1") == b"hello\r\n"
    assert body(MIXED, message, "2.1") == b"one"
    assert body(MIXED, message, "2.2") == b"<p>two</p>"
    assert body(MIXED, message, "3") == b"Subject: single\r\n\r\nthree"
    assert body(MIXED, message, "3.1") == b"three"
    assert message.part("5") is None


def test_sizes_and_lines_as_imap_counts_them() -> None:
    first = parse(MIXED).part("1")
    assert first is not None
    assert (first.size, first.lines) == (7, 1)


def test_an_enclosed_message_has_its_own_envelope_and_size() -> None:
    message = parse(MIXED)
    part = message.part("2")
    assert part is not None
    assert part.embedded is not None
    assert part.embedded.subject == "inner"
    assert part.embedded.size == part.size
    assert body(MIXED, message, "2").endswith(b"inner epilogue")
    assert part.embedded.header_size == len(
        b'Subject: inner\r\nContent-Type: multipart/alternative; boundary="b2"\r\n\r\n'
    )


def test_header_and_body_make_up_the_message() -> None:
    message = parse(MIXED)
    assert MIXED[: message.header_size].endswith(b"\r\n\r\n")
    assert MIXED[: message.root.body_start] + body(MIXED, message, "") == MIXED
    assert message.size == len(MIXED)


def test_file_names() -> None:
    image = parse(MIXED).part("4")
    assert image is not None
    assert (image.filename, image.disposition, image.content(MIXED)) == ("ä.png", "attachment", b"\0\1\2")


def test_file_names_lose_their_folders() -> None:
    raw = lines('Content-Disposition: attachment; filename="../..\\\\etc/pass wd"', "", "x")
    assert parse(raw).root.filename == "pass wd"


def test_a_multipart_without_its_last_line_runs_to_the_end() -> None:
    raw = lines("Content-Type: multipart/mixed; boundary=b", "", "--b", "", "one", "--b", "", "two")
    message = parse(raw)
    assert [body(raw, message, s) for s in ("1", "2")] == [b"one", b"two"]


def test_an_inner_multipart_without_its_last_line_ends_with_the_outer() -> None:
    raw = lines(
        "Content-Type: multipart/mixed; boundary=out", "",
        "--out", "Content-Type: multipart/mixed; boundary=in", "", "--in", "", "a",
        "--out", "", "b", "--out--",
    )  # packed, to be seen at a glance  # fmt: skip
    message = parse(raw)
    assert [p.section for p in walk(message.root)] == ["", "1", "1.1", "2"]
    assert body(raw, message, "1.1") == b"a"
    assert body(raw, message, "2") == b"b"


def test_an_empty_inner_multipart_has_no_children() -> None:
    raw = lines(
        "Content-Type: multipart/alternative; boundary=b", "",
        "--b", "", "text", "--b", "Content-Type: multipart/related; boundary=c", "", "--b--",
    )  # packed, to be seen at a glance  # fmt: skip
    assert [(p.media_type, len(p.children)) for p in walk(parse(raw).root)] == [
        ("multipart/alternative", 2), ("text/plain", 0), ("multipart/related", 0),
    ]  # packed, to be seen at a glance  # fmt: skip


def test_boundaries_that_begin_alike_are_told_apart() -> None:
    raw = lines(
        "Content-Type: multipart/mixed; boundary=b", "",
        "--b", "Content-Type: multipart/mixed; boundary=b-", "", "--b-", "", "x", "--b---", "--bb", "--b--",
    )  # packed, to be seen at a glance  # fmt: skip
    message = parse(raw)
    assert [p.section for p in walk(message.root)] == ["", "1", "1.1"]
    assert body(raw, message, "1.1") == b"x"


def test_a_part_header_without_an_empty_line_ends_at_the_boundary() -> None:
    raw = lines("Content-Type: multipart/mixed; boundary=b", "", "--b", "X-Only: header", "--b", "", "two", "--b--")
    message = parse(raw)
    first = message.part("1")
    assert first is not None
    assert (first.headers.get("x-only"), first.size) == ("header", 0)
    assert body(raw, message, "2") == b"two"


def test_digest_parts_are_messages() -> None:
    raw = lines("Content-Type: multipart/digest; boundary=b", "", "--b", "", "Subject: d", "", "t", "--b--")
    part = parse(raw).part("1")
    assert part is not None
    assert part.media_type == "message/rfc822"
    assert part.embedded is not None
    assert part.embedded.subject == "d"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (["Content-Type: X-ZIP"], "text/plain"),
        (["Content-Type: text"], "text/plain"),
        (["Content-Type: ;;;"], "text/plain"),
        (["Content-Type:", "Content-Type: image/gif"], "image/gif"),
        (["Content-Type: TEXT/HTML"], "text/html"),
        (["Content-Type: junk", "Content-Disposition: attachment"], "application/octet-stream"),
        (["Content-Type: multipart/mixed"], "text/plain"),
        ([], "text/plain"),
    ],
)
def test_every_part_has_a_type(fields: list[str], kind: str) -> None:
    assert parse(lines(*fields, "", "x")).root.media_type == kind


def test_a_mail_without_a_body_is_all_header() -> None:
    message = parse(b"Subject: x\r\n")
    assert (message.header_size, message.root.size, message.subject) == (12, 0, "x")
    assert parse(b"").size == 0
    assert parse(b"\r\nonly body").root.body_start == 2


@pytest.mark.parametrize(
    ("encoding", "data", "wanted"),
    [
        ("base64", b"aGFs\r\nbG8=", b"hallo"),
        ("base64", b"aGFsbG8", b"hallo"),
        ("base64", b"aGFs*bG8=\r\n", b"hallo"),
        ("base64", b"YQ==Yg==", b"ab"),
        ("quoted-printable", b"a=3Db=\r\nc  \r\nd=", b"a=bc\r\nd"),
        ("quoted-printable", b"a= \r\nb", b"ab"),
        ("quoted-printable", b"=ZZ =4", b"=ZZ =4"),
        ("x-uuencode", b"begin 644 f\r\n#:&%L\r\n`\r\nend\r\n", b"hal"),
        ("8bit", b"\xff", b"\xff"),
        ("x-new", b"as it is", b"as it is"),
    ],
)
def test_transfer_encodings(encoding: str, data: bytes, wanted: bytes) -> None:
    raw = b"Content-Transfer-Encoding: " + encoding.encode() + b"\r\n\r\n" + data
    assert parse(raw).root.content(raw) == wanted


def test_text_says_when_it_could_not_be_read() -> None:
    raw = b"Content-Type: text/plain; charset=utf-8\r\n\r\n\xff"
    assert parse(raw).root.text_checked(raw) == ("\ufffd", False)


def test_normalising_line_ends() -> None:
    assert normalise(b"a\nb\rc\r\nd\0") == b"a\r\nb\r\nc\r\nd"
    assert normalise(b"a\r\nb") == b"a\r\nb"


def test_what_is_searched() -> None:
    raw = lines(
        "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Content-Type: multipart/mixed; boundary=b", "",
        "--b", "Content-Type: text/html", "",
        "<style>p{}</style><p title='no'>one &amp;<b>two</b></p><!-- hidden --> <script>x</script>three",
        "--b", "Content-Transfer-Encoding: base64", "", "Zm91cg==", "--b--",
    )  # packed, to be seen at a glance  # fmt: skip
    found = list(searchable(parse(raw), raw))
    assert ("header", "Subject: Grüße") in found
    texts = [" ".join(text.split()) for kind, text in found if kind == "body"]
    assert texts == ["one & two three", "four"]
