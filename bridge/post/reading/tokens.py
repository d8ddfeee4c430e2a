"""HTML to tags and text, the way browsers cut it.

One rule: forward only. What never closes (a comment, a quote in a tag, a style) swallows the rest, as it does on the
screen, so nothing is scanned twice.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_TAGS = 8_000
_NAME = re.compile(r"[A-Za-z][^\s/>]*+")
_ATTRIBUTE = re.compile(
    r"[\s/]*+(?:(>)|([^\s/>=][^\s/>=]*+)(?>(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|(?![\"'])([^\s>]*+)))?))"
)
_COMMENT_END = re.compile(r"--!?>")
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript")
}
MAX_ATTRIBUTES = 60


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag; names in small letters, entities in values decoded."""

    name: str
    attributes: dict[str, str]
    closing: bool = False
    body: str = ""
    """Of style: its text."""


def tokenize(text: str) -> Iterator[Tag | str]:
    """Tags and text runs (entities decoded), at most MAX_TAGS tags; of raw text only that of style is kept."""
    at = tags = 0
    while tags < MAX_TAGS:
        found = text.find("<", at)
        if found < 0:
            break
        if found > at:
            yield _text(text[at:found])
        tags += 1
        tag, at = _tag(text, found)
        if tag is not None:
            yield tag
        if at >= len(text):
            return
    if at < len(text):
        yield _text(text[at:].partition("<")[0] if tags >= MAX_TAGS else text[at:])


def _text(run: str) -> str:
    return html.unescape(run) if "&" in run else run


def _tag(text: str, at: int) -> tuple[Tag | str | None, int]:
    """The token at `<`, and where the next one begins."""
    if text.startswith("<!--", at):
        over = _COMMENT_END.search(text, at + 2)
        return None, over.end() if over else len(text)
    following = text[at + 1 : at + 2]
    if following in ("!", "?"):
        return None, _behind(text, at)
    closing = following == "/"
    name = _NAME.match(text, at + 2 if closing else at + 1)
    if name is None:
        return (None, _behind(text, at)) if closing else ("<", at + 1)
    word = name.group().lower()
    if closing:
        return Tag(word, {}, closing=True), _attributes(text, name.end())[1]
    attributes, end = _attributes(text, name.end())
    return _raw_text(text, Tag(word, attributes), end)


def _raw_text(text: str, tag: Tag, end: int) -> tuple[Tag, int]:
    close = _RAW.get(tag.name)
    if close is None or end >= len(text):
        return tag, end
    match = close.search(text, end)
    stop = match.start() if match else len(text)
    return (Tag(tag.name, tag.attributes, body=text[end:stop]) if tag.name == "style" else tag), stop


def _behind(text: str, at: int) -> int:
    end = text.find(">", at)
    return end + 1 if end >= 0 else len(text)


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    """The attributes from `at`, the first of a name holding, and the position behind `>`; the end of the text when the
    tag never closes."""
    found: dict[str, str] = {}
    count = 0
    while match := _ATTRIBUTE.match(text, at):
        at = match.end()
        if match[1]:
            return found, at
        count += 1
        if count <= MAX_ATTRIBUTES:
            value = match[3] or match[4] or match[5] or ""
            found.setdefault(match[2].lower(), html.unescape(value) if "&" in value else value)
    return found, len(text)
