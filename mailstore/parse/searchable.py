"""What the text index reads of a message.

One rule: fields and text parts are given decoded; folding case and blanks is the index's work, done alike on text
and needle.
"""

import html
import re
from collections.abc import Iterator
from typing import Literal

from mailstore.parse.headers import decode_header
from mailstore.parse.structure import Message, Part, walk

Kind = Literal["header", "body"]
_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")
_UNSEEN = re.compile(r"<!--|<style\b|<script\b", re.IGNORECASE)
_CLOSE = {
    "<!--": re.compile(r"-->"),
    "<style": re.compile(r"</style\b[^<>]*>?", re.IGNORECASE),
    "<script": re.compile(r"</script\b[^<>]*>?", re.IGNORECASE),
}


def searchable(message: Message, raw: bytes) -> Iterator[tuple[Kind, str]]:
    """("header", "Name: value") for every field of the message and its parts, ("body", text) for every text part;
    HTML without its tags."""
    for part in walk(message.root):
        for name, value in part.headers:
            yield "header", f"{name}: {decode_header(value)}"
        if part.type == "text" or (part.type == "message" and part.embedded is None):  # a delivery report is read too
            yield "body", body_text(part, raw)


def body_text(part: Part, raw: bytes) -> str:
    """The words of one text part."""
    text = part.text(raw)
    return html_words(text) if part.subtype == "html" else text


def html_words(text: str) -> str:
    """The words of an HTML text for searching: no tags, comments, style or script, entities decoded."""
    kept: list[str] = []
    at = 0
    while (unseen := _UNSEEN.search(text, at)) is not None:
        kept.append(text[at : unseen.start()])
        close = _CLOSE[unseen.group().lower()].search(text, unseen.end())
        if close is None:  # never closed: a browser shows nothing after it either
            at = len(text)
            break
        at = close.end()
    kept.append(text[at:])
    return html.unescape(_TAG.sub(" ", " ".join(kept)))
