"""ZIP files and documents that are one: listed, read, and never unpacked further than a limit."""

import contextlib
import io
import zipfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import archive
from agents.archive import Broken
from agents.extract import Unreadable, extract

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LETTER = (
    f'<?xml version="1.0"?><w:document xmlns:w="{W}"><w:body>'
    "<w:p><w:r><w:t>Dear Maya,</w:t></w:r></w:p>"
    '<w:p><w:r><w:t xml:space="preserve">we meet </w:t></w:r><w:r><w:t>on Friday &amp; Monday.</w:t></w:r></w:p>'
    "<w:p><w:del><w:r><w:delText>never</w:delText></w:r></w:del></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Tea</w:t></w:r></w:p></w:tc>"
    "<w:tc><w:p><w:r><w:t>3 EUR</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    "</w:body></w:document>"
)
BOMB = 64 * 1024 * 1024


def packed(files: Mapping[str, str | bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out.getvalue()


async def read(name: str, data: bytes, media_type: str = "", inside: str = "") -> str:
    return (await extract(name, media_type, data, inside=inside)).text


async def unreadable(name: str, data: bytes, inside: str = "") -> str:
    with pytest.raises(Unreadable) as caught:
        await extract(name, "", data, inside=inside)
    return caught.value.why


@pytest.mark.parametrize("media_type", ["", "application/octet-stream", "application/zip"])
async def test_a_word_document_is_its_words(media_type: str) -> None:
    text = await read("letter.docx", packed({"word/document.xml": LETTER}), media_type)
    assert text.startswith("Dear Maya,\nwe meet on Friday & Monday.")
    assert "never" not in text
    assert "| Tea" in text
    assert "| 3 EUR" in text


async def test_an_open_document_is_its_words() -> None:
    ns = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    xml = f'<d xmlns:t="{ns}"><t:h>Plan</t:h><t:p>Plant <t:span>trees</t:span>.</t:p></d>'
    assert await read("plan.odt", packed({"content.xml": xml})) == "Plan\nPlant trees."


async def test_an_archive_is_listed_and_read_by_name() -> None:
    inner = packed({"deep.txt": "deeper"})
    data = packed({"a/plan.txt": "Plant trees.", "b.zip": inner, "dir/": ""})
    assert (
        await read("all.zip", data) == f"An archive of 2 files:\n- a/plan.txt (12 bytes)\n- b.zip ({len(inner)} bytes)"
    )
    assert await read("all.zip", data, inside="a/plan.txt") == "Plant trees."
    assert "deep.txt" in await read("all.zip", data, inside="b.zip")
    assert 'no file "x"' in await unreadable("all.zip", data, inside="x")
    assert 'no file "dir/"' in await unreadable("all.zip", data, inside="dir/")
    assert "no archive" in await unreadable("plan.txt", b"text", inside="x")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\r\nb\x1b[2Jc"])
async def test_names_that_would_escape_are_only_names(name: str) -> None:
    data = packed({name: "harmless"})
    listed = await read("x.zip", data)
    assert listed.count("\n") == 1
    assert listed.isprintable() or "\n" in listed
    assert "\x1b" not in listed


async def test_bombs_are_refused() -> None:
    big = packed({"zeros.txt": b"0" * BOMB, "word/document.xml": b"0" * BOMB})
    assert len(big) < 200_000
    assert "unpacks to more than 20,000,000 bytes" in await unreadable("x.zip", big, inside="zeros.txt")
    assert "unpacks to more than 20,000,000 bytes" in await unreadable("x.docx", big)
    many = packed({f"{number}": b"" for number in range(archive.MAX_ENTRIES + 1)})
    assert "more than 10,000 entries" in await unreadable("x.zip", many)


async def test_a_size_that_lies_is_not_believed() -> None:
    """The list says 5 bytes; the packed stream gives more."""
    data = bytearray(packed({"small.txt": b"A" * 100_000}))
    real, lie = (100_000).to_bytes(4, "little"), (5).to_bytes(4, "little")
    at = data.find(real)
    while at >= 0:
        data[at : at + 4] = lie
        at = data.find(real, at + 1)
    try:
        found = await read("x.zip", bytes(data), inside="small.txt")
    except Unreadable:
        return
    assert len(found) <= 5


async def test_entities_are_refused() -> None:
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    xml = f'<!DOCTYPE d [<!ENTITY a0 "ha">{laughs}]><d>&a9;</d>'
    assert "document type" in await unreadable("x.docx", packed({"word/document.xml": xml}))
    outside = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><d>&x;</d>'
    assert "document type" in await unreadable("x.docx", packed({"word/document.xml": outside}))


async def test_what_is_damaged_or_locked_is_said() -> None:
    assert "damaged or unusual archive" in await unreadable("x.zip", b"PK\x03\x04 nothing")
    assert "damaged or unusual archive" in await unreadable("x.docx", b"")
    assert "no document of its kind" in await unreadable("x.docx", packed({"other": "x"}))
    assert "XML is damaged" in await unreadable("x.docx", packed({"word/document.xml": "<a><b>"}))
    whole = bytearray(packed({"a.txt": "words"}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.find(mark) + flags] |= 1
    assert "locked with a password" in await unreadable("x.zip", bytes(whole), inside="a.txt")


@given(st.data())
def test_no_damage_raises_anything_else(data: st.DataObject) -> None:
    whole = bytearray(packed({"word/document.xml": LETTER, "a.txt": "words"}))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    for reader in (archive.contents, archive.word_text, lambda raw: archive.inside(raw, "a.txt")):
        with contextlib.suppress(Broken):
            reader(cut)
