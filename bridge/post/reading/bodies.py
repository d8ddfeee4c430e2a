"""Which parts of a mail are its text, in what two forms, and what else hangs on it.

One rule: every inline text counts, in order, so that nothing can be said in a part nobody looks at; what cannot be read
is named, never guessed.
"""

import re
from dataclasses import dataclass, field

from bridge.post.reading.flowed import ENCRYPTED, plain_lines
from bridge.post.reading.html import html_lines
from bridge.post.reading.model import Line
from bridge.post.reading.vocabulary import OBJECT
from mailstore.parse import known_encoding, parameter
from mailstore.parse.structure import Part

_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_CARDS = frozenset({"application/pgp-keys", "text/vcard", "text/x-vcard", "text/directory"})
_UNSHOWN = frozenset({"x-amp-html", "watch-html", "enriched", "richtext", "rtf"})
"""Forms of a text that hardly any program shows."""
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})
_TNEF_MAGIC = b"\x78\x9f\x3e\x22"
_TNEF_TITLE = b"\x02\x10\x80\x01\x00"  # level 2 (attachment), attribute attAttachTitle
_PICTURE = re.compile(r"\[cid:([^\[\]\s]{1,200})\]")
MAX_PARTS = 50


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of the mail's text, as plain text, as HTML or both."""

    plain: tuple[Part, ...]
    html: tuple[Part, ...]


@dataclass(slots=True)
class Bodies:
    """What a mail is made of, for reading."""

    blocks: list[Block] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    """(Content-ID, name) of inline pictures."""
    forwarded: bool = False
    crowded: bool = False
    """There are more parts than are looked at."""
    sealed: bool = False
    """Encrypted, or signed in a form that hides the text."""


@dataclass(frozen=True, slots=True)
class View:
    """The text of a mail in one of its two forms."""

    texts: tuple[tuple[Line, ...], ...]
    """The lines of each text part; a part's signature cannot reach into the next."""
    readable: bool
    too_long: bool
    any_text: bool = True
    struck: bool = False
    veiled: bool = False
    cids: frozenset[str] = frozenset()


def collect(root: Part, raw: bytes) -> Bodies:
    """Walks the parts; enclosed mail is noted and not entered."""
    found = Bodies()
    _visit(root, raw, found, 0)
    return found


def _visit(part: Part, raw: bytes, found: Bodies, depth: int) -> None:
    kind = part.media_type
    if kind in _SEALED:
        found.sealed = True
    elif part.type == "multipart":
        _visit_multipart(part, raw, found, depth)
    elif kind in ("message/rfc822", "message/global"):
        found.forwarded = True
    elif _is_file(part, found):
        _add_file(part, raw, found)
    elif kind == "text/html":
        found.blocks.append(Block((), (part,)))
    else:
        found.blocks.append(Block((part,), ()))


def _visit_multipart(part: Part, raw: bytes, found: Bodies, depth: int) -> None:
    if part.subtype == "alternative":
        _visit_alternative(part, raw, found, depth)
        return
    found.crowded = found.crowded or len(part.children) > MAX_PARTS
    for number, child in enumerate(part.children[:MAX_PARTS]):
        if part.subtype == "signed" and number == 1 and child.media_type in _SIGNATURES:
            continue
        _visit(child, raw, found, depth + 1)


def _visit_alternative(part: Part, raw: bytes, found: Bodies, depth: int) -> None:
    """The forms of one text; what else is among them (pictures, files) is taken as if it stood beside."""
    plain: list[Part] = []
    html: list[Part] = []
    found.crowded = found.crowded or len(part.children) > MAX_PARTS
    for child in part.children[:MAX_PARTS]:
        if child.type == "text" and child.subtype in _UNSHOWN and child.disposition != "attachment":
            continue
        inner = Bodies(blocks=[Block((), ())] if plain or html else [])
        _visit(child, raw, inner, depth + 1)
        for block in inner.blocks:
            plain.extend(block.plain)
            html.extend(block.html)
        found.files += inner.files
        found.pictures += inner.pictures
        found.forwarded = found.forwarded or inner.forwarded
        found.sealed = found.sealed or inner.sealed
        found.crowded = found.crowded or inner.crowded
    if plain or html:
        found.blocks.append(Block(tuple(plain), tuple(html)))


def _is_file(part: Part, found: Bodies) -> bool:
    if part.type != "text" or part.subtype not in ("plain", "html", "enriched", "markdown"):
        return True
    if part.disposition == "attachment":
        return True
    return bool(part.filename) and (part.disposition == "inline" or bool(found.blocks))


def _add_file(part: Part, raw: bytes, found: Bodies) -> None:
    kind = part.media_type
    if kind in _CARDS:
        return
    if kind in ("application/ms-tnef", "application/vnd.ms-tnef"):
        if _tnef_holds_file(part.content(raw)):
            found.files.append(part.filename or kind)
        return
    name = part.filename or kind
    cid = (part.content_id or b"").strip(b"<> ").decode("latin-1")
    if part.type == "image" and cid and part.disposition != "attachment":
        found.pictures.append((cid, name))
    else:
        found.files.append(name)


def _tnef_holds_file(data: bytes) -> bool:
    """Whether Outlook's winmail.dat carries a file besides its copy of the text ([MS-OXTNEF], 2.1.3.4)."""
    return data.startswith(_TNEF_MAGIC) and _TNEF_TITLE in data


def has_both(bodies: Bodies) -> bool:
    """Whether some stretch comes as plain text and as HTML."""
    return any(block.plain and block.html for block in bodies.blocks)


def view(bodies: Bodies, raw: bytes, *, prefer_html: bool) -> View:
    """The whole text in one form; stretches that lack it come in the other."""
    texts: list[tuple[Line, ...]] = []
    readable, too_long, any_text, struck, veiled = True, False, False, False, False
    cids: set[str] = set()
    enclosed = frozenset(cid for cid, _ in bodies.pictures)
    for block in bodies.blocks:
        first, second = (block.html, block.plain) if prefer_html else (block.plain, block.html)
        for part in first or second:
            seen = _html_view(part, raw) if part.subtype == "html" else _plain_view(part, raw, enclosed)
            texts += seen.texts
            readable, too_long = readable and seen.readable, too_long or seen.too_long
            any_text, struck = any_text or seen.any_text, struck or seen.struck
            veiled = veiled or seen.veiled
            cids |= seen.cids
    return View(tuple(texts), readable, too_long, any_text, struck, veiled, frozenset(cids))


def _plain_view(part: Part, raw: bytes, enclosed: frozenset[str]) -> View:
    """`enclosed`: the pictures of the mail; Outlook writes `[cid:image001.png@01DA]` where the page shows one."""
    text, readable = part.text_checked(raw)
    if enclosed:
        text = _PICTURE.sub(lambda found: OBJECT if found[1] in enclosed else found[0], text)
    readable = readable and known_encoding(part.encoding)
    flowed = (parameter(part.params, "format") or "").lower() == "flowed"
    delete_space = (parameter(part.params, "delsp") or "").lower() == "yes"
    lines, too_long = plain_lines(text, flowed=flowed, delete_space=delete_space)
    sealed = any(line.text.startswith(ENCRYPTED) and not line.depth for line in lines)
    return View((tuple(lines),), readable and not sealed, too_long, bool(text.strip()))


def _html_view(part: Part, raw: bytes) -> View:
    text, readable = part.text_checked(raw)
    page = html_lines(text)
    readable = readable and known_encoding(part.encoding)
    return View((page.lines,), readable, page.too_long, page.any_text, page.struck, page.veiled, page.cids)
