"""What is in a ZIP file, and the text of documents that are one (Word, OpenDocument), without trusting any of it.

The rule: what a file says of its own size is not believed; nothing is unpacked further than a limit, nothing is written
anywhere, and XML with a document type (entities grow without bounds) is refused.
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from xml.parsers import expat

MAX_MEMBER: Final = 20_000_000
MAX_ENTRIES: Final = 10_000
SHOWN_ENTRIES: Final = 500
_ENTRY: Final = b"PK\x01\x02"
_ENCRYPTED: Final = 0x1
_BLOCKS: Final = frozenset({"p", "h", "tr", "br", "line-break", "list-item"})
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, KeyError)
"""What zipfile raises for files that are damaged, locked, or packed in ways it does not know."""


class Broken(Exception):
    """An archive that is not read; `why` completes "... cannot be read: "."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@contextmanager
def opened(data: bytes) -> Iterator[zipfile.ZipFile]:
    """The archive, if its list of entries is not too long to be looked at. Raises Broken."""
    if data.count(_ENTRY) > MAX_ENTRIES:
        raise Broken(f"it has more than {MAX_ENTRIES:,} entries")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except _BROKEN as fault:
        raise Broken(f"it is a damaged or unusual archive ({type(fault).__name__})") from None


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int = MAX_MEMBER) -> bytes:
    """The bytes of an entry, at most `most` of them. Raises Broken, or what zipfile raises inside `opened`."""
    if info.flag_bits & _ENCRYPTED:
        raise Broken(f"{info.filename} in it is locked with a password")
    with archive.open(info) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Broken(f"{info.filename} in it unpacks to more than {most:,} bytes")
    return data


def contents(data: bytes) -> str:
    """A list of what is in an archive: names and the sizes it claims. Raises Broken."""
    with opened(data) as archive:
        files = [info for info in archive.infolist() if not info.is_dir()]
    lines = [f"- {_shown(info.filename)} ({info.file_size:,} bytes)" for info in files[:SHOWN_ENTRIES]]
    lines += [f"({len(files) - SHOWN_ENTRIES} more are not listed)"] if len(files) > SHOWN_ENTRIES else []
    return "\n".join([f"An archive of {len(files)} files:", *lines])


def inside(data: bytes, name: str) -> bytes:
    """One file of an archive by its name. Raises Broken."""
    with opened(data) as archive:
        found = [info for info in archive.infolist() if name in (info.filename, _shown(info.filename))]
        if not found or found[-1].is_dir():
            raise Broken(f'there is no file "{name}" in it')
        return member(archive, found[-1])


def word_text(data: bytes) -> str:
    """The words of a .docx (ECMA-376 part 1, 17.3), a line a paragraph. Raises Broken."""
    return _document(data, "word/document.xml", lambda tag: tag == "t")


def open_document_text(data: bytes) -> str:
    """The words of an .odt (OpenDocument 1.3, 5.1), a line a paragraph. Raises Broken."""
    return _document(data, "content.xml", lambda tag: tag in ("p", "h", "span", "a"))


def _document(data: bytes, part: str, holds_words: Callable[[str], bool]) -> str:
    with opened(data) as archive:
        try:
            info = archive.getinfo(part)
        except KeyError:
            raise Broken("it is no document of its kind") from None
        xml = member(archive, info)
    return _words(xml, holds_words)


def _words(xml: bytes, holds_words: Callable[[str], bool]) -> str:
    """The text inside the elements that hold words; blocks become lines, cells are set apart."""
    parts: list[str] = []
    open_tags: list[str] = []

    def start(name: str, _: object) -> None:
        tag = name.rpartition(" ")[2]
        open_tags.append(tag)
        if tag in ("tc", "table-cell"):
            parts.append(" | ")
        elif tag == "tab":
            parts.append("\t")
        elif tag in ("br", "line-break"):
            parts.append("\n")

    def end(name: str) -> None:
        tag = open_tags.pop()
        if tag in _BLOCKS and tag not in ("br", "line-break"):
            parts.append("\n")

    def text(data: str) -> None:
        if open_tags and holds_words(open_tags[-1]):
            parts.append(data)

    def refuse(*_: object) -> None:
        raise Broken("its XML declares a document type, which no document needs")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(xml, True)
    except expat.ExpatError:
        raise Broken("its XML is damaged") from None
    lines = [line.strip() for line in "".join(parts).split("\n")]
    return "\n".join(line for number, line in enumerate(lines) if line or (number and lines[number - 1])).strip()


def _shown(name: str) -> str:
    """A name on one line."""
    return "".join(char if char.isprintable() else "?" for char in name)[:300]
