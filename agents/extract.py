"""Turns a file's bytes into text: plain text, HTML, PDF, a mail; what has no text is refused by name of its type.

The rule: hostile files cost a bounded time and give a bounded text. PDF reading is the only slow part; it runs in a
thread, page by page against a deadline, and pypdf is imported there on first use.
"""

import asyncio
import codecs
import importlib
import io
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, TypeVar

from agents import archive
from agents.enclosed import MAX_BYTES, TooDeep, enclosed_text

T = TypeVar("T")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAIL = "message/rfc822"
ZIP = "application/zip"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
OPEN_DOCUMENT = "application/vnd.oasis.opendocument.text"
MAX_TEXT = 1_000_000
MAX_PAGES = 500
PDF_SECONDS = 20.0
GENERIC = frozenset({"", "application/octet-stream", "application/x-unknown", "binary/octet-stream"})
TEXT_TYPES = _names("""
    application/json application/xml application/javascript application/x-yaml application/yaml application/toml
    application/csv application/sql application/x-sh application/x-ndjson message/delivery-status
""")
_TEXT_ENDINGS = _names("""
    .txt .text .md .markdown .rst .csv .tsv .log .json .xml .yaml .yml .toml .ini .cfg .conf .py .js .ts .c .h .rs .go
    .java .sh .sql .tex .diff .patch .ics .vcf .srt .org .adoc
""")
EXTENSIONS = MappingProxyType(
    {
        ".pdf": "application/pdf",
        ".html": "text/html",
        ".htm": "text/html",
        ".xhtml": "text/html",
        ".eml": MAIL,
        ".zip": ZIP,
        ".docx": WORD,
        ".odt": OPEN_DOCUMENT,
        **dict.fromkeys(_TEXT_ENDINGS, "text/plain"),
    }
)
_SKIPPED = frozenset({"script", "style", "head", "template", "noscript", "svg", "title"})
_BLOCKS = _names("""
    p div br tr table section article header footer h1 h2 h3 h4 h5 h6 blockquote pre ul ol dl dt dd figure hr main
""")


class Unreadable(Exception):
    """A file without text that can be had; `why` completes "... cannot be read: "."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text, and a remark when it is not the whole or not certain."""

    text: str
    note: str = ""


def kind_of(name: str, media_type: str) -> str:
    """The type to read a file as: its media type, or by its ending when that says nothing."""
    plain = media_type.partition(";")[0].strip().lower()
    if plain in GENERIC:
        return EXTENSIONS.get(PurePosixPath(name.lower()).suffix, plain or "application/octet-stream")
    if plain in (ZIP, "application/x-zip-compressed", "application/x-zip"):
        return EXTENSIONS.get(PurePosixPath(name.lower()).suffix, ZIP)
    if plain in ("application/xhtml+xml", "text/html"):
        return "text/html"
    if plain.startswith("text/") or plain in TEXT_TYPES or plain.endswith(("+json", "+xml")):
        return "text/plain"
    return plain


async def extract(name: str, media_type: str, data: bytes, seconds: float = PDF_SECONDS, inside: str = "") -> Extracted:
    """The text of a file, or with `inside` that of a file in an archive. Raises Unreadable."""
    kind = kind_of(name, media_type)
    if inside:
        return await _inside(kind, data, seconds, inside)
    if kind in (ZIP, WORD, OPEN_DOCUMENT):
        return _capped(await _unpacked(_READERS[kind], data))
    if kind == "application/pdf" or data[:5] == b"%PDF-":
        return await _pdf_in_time(data, seconds)
    if kind == "text/html":
        return _capped(html_text(decode(data, media_type)))
    if kind == MAIL:
        return await _mail(data)
    if kind == "text/plain":
        if _is_binary(data):
            raise Unreadable("it is said to be text but holds binary data")
        return _capped(decode(data, media_type))
    raise Unreadable(f"its type {kind} has no text that can be read here")


async def _inside(kind: str, data: bytes, seconds: float, name: str) -> Extracted:
    if kind != ZIP:
        raise Unreadable("it is no archive, so nothing is inside it")
    found = await _unpacked(lambda whole: archive.inside(whole, name), data)
    return await extract(name, "", found, seconds)


async def _unpacked(reader: Callable[[bytes], T], data: bytes) -> T:
    """What a reader of archives gives, in a thread: unpacking takes its time."""
    try:
        return await asyncio.to_thread(reader, data)
    except archive.Broken as fault:
        raise Unreadable(fault.why) from None


_READERS: Mapping[str, Callable[[bytes], str]] = MappingProxyType(
    {ZIP: archive.contents, WORD: archive.word_text, OPEN_DOCUMENT: archive.open_document_text}
)


async def _mail(data: bytes) -> Extracted:
    try:
        text = await asyncio.to_thread(enclosed_text, data, decode, html_text)
    except TooDeep:
        raise Unreadable("its parts are nested too deep") from None
    return (
        replace(_capped(text), note=f"only the first {MAX_BYTES:,} bytes") if len(data) > MAX_BYTES else _capped(text)
    )


def _is_binary(data: bytes) -> bool:
    head = data[:4096]
    return b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8))


def decode(data: bytes, media_type: str = "") -> str:
    """Bytes as text: by byte order mark, as UTF-8, by the charset of the media type, else as Windows-1252."""
    for mark, charset in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return _lines(data.decode(charset, "replace").removeprefix("\ufeff"))
    for charset in ("utf-8", _charset(media_type)):
        try:
            return _lines(data.decode(charset))
        except (UnicodeDecodeError, LookupError):
            continue
    return _lines(data.decode("cp1252", "replace"))


def _charset(media_type: str) -> str:
    for part in media_type.split(";")[1:]:
        key, _, value = part.partition("=")
        if key.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return "cp1252"


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _capped(text: str) -> Extracted:
    text = text.strip()
    if len(text) <= MAX_TEXT:
        return Extracted(text)
    return Extracted(text[:MAX_TEXT], f"only the first {MAX_TEXT:,} of {len(text):,} characters")


class _TextOfHtml(HTMLParser):
    """Collects the visible text; scripts, styles and the head are left out, blocks become lines."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _BLOCKS and tag != "br":
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data)


def html_text(html: str) -> str:
    """The visible text of an HTML document, one line a block."""
    reader = _TextOfHtml()
    reader.feed(html[: 4 * MAX_TEXT])
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.parts).split("\n")]
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    return "\n".join(kept).strip()


async def _pdf_in_time(data: bytes, seconds: float) -> Extracted:
    try:
        async with asyncio.timeout(seconds + 5):
            return await asyncio.to_thread(_pdf_text, data, time.monotonic() + seconds)
    except TimeoutError:
        raise Unreadable("reading this PDF takes too long") from None


def _pdf_text(data: bytes, deadline: float) -> Extracted:
    pypdf: Any = importlib.import_module("pypdf")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("this PDF is locked with a password")
        texts = _pages(reader, deadline)
    except (
        pypdf.errors.PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        RecursionError,
        OSError,
    ) as fault:
        raise Unreadable(f"this PDF is damaged ({type(fault).__name__})") from None
    text = "\n\n".join(page.strip() for page in texts).strip()
    if not text:
        raise Unreadable("this PDF holds no text (scanned pages, perhaps)")
    total = len(reader.pages)
    found = _capped(text)
    return found if len(texts) == total else Extracted(found.text, f"only the first {len(texts)} of {total} pages")


def _pages(reader: Any, deadline: float) -> list[str]:
    texts: list[str] = []
    length = 0
    for page in reader.pages[:MAX_PAGES] if len(reader.pages) > MAX_PAGES else reader.pages:
        if time.monotonic() > deadline or length > MAX_TEXT:
            break
        texts.append(page.extract_text() or "")
        length += len(texts[-1])
    return texts
