"""Files to text: what is read, what is refused, and that hostile files end in time."""

import io

import pytest

from agents import extract
from agents.extract import Unreadable, decode, html_text, kind_of


def pdf(*pages: str) -> bytes:
    """A small PDF with a line of text a page, written by hand."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        page = f"<< /Type /Page /Parent 2 0 R /Contents {len(objects)} 0 R /MediaBox [0 0 612 792] "
        page += "/Resources << /Font << /F1 3 0 R >> >> >>"
        objects.append(page.encode())
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "media_type", "kind"),
    [
        ("a.txt", "text/plain", "text/plain"),
        ("a.md", "application/octet-stream", "text/plain"),
        ("a.CSV", "application/octet-stream", "text/plain"),
        ("a.html", "", "text/html"),
        ("a", "TEXT/HTML; charset=utf-8", "text/html"),
        ("a.pdf", "application/octet-stream", "application/pdf"),
        ("a.json", "application/ld+json", "text/plain"),
        ("a.bin", "application/octet-stream", "application/octet-stream"),
        ("a.txt", "image/png", "image/png"),
    ],
)
def test_the_kind_of_a_file(name: str, media_type: str, kind: str) -> None:
    assert kind_of(name, media_type) == kind


async def test_text_in_any_charset() -> None:
    assert (await extract.extract("a.txt", "text/plain", "naïve\r\nline".encode())).text == "naïve\nline"
    assert decode("Grüße".encode("latin-1")) == "Grüße"
    assert decode("Grüße".encode("utf-16")) == "Grüße"
    assert decode("Привет".encode("koi8-r"), 'text/plain; charset="koi8-r"') == "Привет"
    assert decode(b"\xff\xfe\x00", "text/plain; charset=nonsense") != ""


async def test_html_without_scripts_and_with_lines() -> None:
    head = "<html><head><title>T</title><style>x</style></head>"
    page = f"{head}<body><p>One &amp; two</p><script>bad()</script><ul><li>a<li>b</ul></body>"
    found = await extract.extract("a.html", "text/html", page.encode())
    assert found.text.splitlines() == ["One & two", "", "- a", "- b"]


@pytest.mark.parametrize("html", ["<" * 5000, "<p" * 5000, "<!--" * 100, "<script>" * 50 + "x", "</p>" * 1000, "\0<b>"])
def test_damaged_html_is_read_all_the_same(html: str) -> None:
    assert isinstance(html_text(html), str)


async def test_a_pdf_page_by_page() -> None:
    found = await extract.extract("a.pdf", "application/pdf", pdf("The first page", "The second page"))
    assert "The first page" in found.text
    assert "The second page" in found.text
    assert found.note == ""


async def test_a_pdf_is_known_by_its_bytes() -> None:
    assert "Hello there" in (await extract.extract("scan", "application/octet-stream", pdf("Hello there"))).text


@pytest.mark.filterwarnings("ignore")  # pypdf warns of what is damaged, which is the point
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"%PDF-1.4 nothing more", "damaged"),
        (pdf(""), "no text"),
        (pdf("x")[:-60], ""),
        (b"%PDF-" + b"\0" * 500, "damaged"),
    ],
)
async def test_a_bad_pdf_is_refused_with_its_reason(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        await extract.extract("a.pdf", "application/pdf", data)


async def test_a_pdf_has_a_time_limit() -> None:
    with pytest.raises(Unreadable, match="no text"):
        await extract.extract("a.pdf", "application/pdf", pdf("late"), seconds=-1)


async def test_what_has_no_text_is_named_by_its_type() -> None:
    with pytest.raises(Unreadable, match="image/png"):
        await extract.extract("a.png", "image/png", b"\x89PNG")
    with pytest.raises(Unreadable, match="binary"):
        await extract.extract("a.txt", "text/plain", b"a\0b")


async def test_a_long_text_is_cut_and_says_so() -> None:
    found = await extract.extract("a.txt", "text/plain", b"x" * (extract.MAX_TEXT + 5))
    assert len(found.text) == extract.MAX_TEXT
    assert "1,000,005" in found.note


MAIL = (
    b"From: =?utf-8?q?M=C3=A4rta?= <marta@lake.example>\r\nSubject: The\r\n boat\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n"
    b"--c\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nWe leave at six, Gr\xfc\xdfe.\r\n"
    b"--c\r\nContent-Type: text/html\r\n\r\n<p>We leave at seven.</p>\r\n--c--\r\n"
    b"--b\r\nContent-Type: image/png; name=map.png\r\n\r\nx\r\n--b--\r\n"
)


async def test_a_mail_as_a_file() -> None:
    text = (await extract.extract("boat.eml", "message/rfc822", MAIL)).text
    assert text.startswith("From: Märta <marta@lake.example>\nSubject: The boat\n\nWe leave at six, Grüße.")
    assert "seven" not in text
    assert text.endswith("Attached to it, and not read: map.png")
    assert (await extract.extract("boat.eml", "application/octet-stream", MAIL)).text == text


async def test_a_mail_of_html_alone() -> None:
    page = b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>We leave<script>no</script> at seven.</p>"
    text = (await extract.extract("x", "message/rfc822", page)).text
    assert "We leave at seven." in text
    assert "no" not in text.replace("not", "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\x00\xfe",
        b"Subject: =?x?b?!!?=\r\nFrom: \xff\r\n\r\nhi",
        b"Content-Type: text/plain; charset=klingon\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!",
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 5000,
        b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(3000)),
    ],
)
async def test_a_damaged_mail_is_read_or_refused(data: bytes) -> None:
    assert isinstance(await _read(data), str)


async def test_a_mail_nested_too_deep_is_refused_in_words() -> None:
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(3000))
    assert await _read(deep) == "its parts are nested too deep"


async def _read(data: bytes) -> str:
    """The text, or why there is none."""
    try:
        return (await extract.extract("x.eml", "message/rfc822", data)).text
    except Unreadable as refused:
        return refused.why
