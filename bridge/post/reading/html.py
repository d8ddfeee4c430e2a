"""HTML to the lines a person sees.

One rule: what is hidden (by style, size, colour, attribute or stylesheet) or struck out is not text. That something was
struck out is noted, because that is a change of mind; so is what only some readers would miss (white words are read in
a dark window), because the sender may have seen it.
"""

import re
import unicodedata
from dataclasses import dataclass, field, replace

from bridge.post.reading.colors import unreadable
from bridge.post.reading.model import Line
from bridge.post.reading.tokens import MAX_TAGS, Tag, tokenize
from bridge.post.reading.vocabulary import OBJECT

MAX_LINES = 2000
MAX_LENGTH = 400_000
MAX_RULES = 2000
OVERRIDE = "\u202e"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_BLOCKS = _names(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hgroup html li main menu nav ol p pre section summary table tbody tfoot thead tr ul"
)
_PARAGRAPHS = _names("p h1 h2 h3 h4 h5 h6 ul ol dl table")
_UNSEEN = _names(
    "head title script style template textarea select option object iframe noembed noframes datalist audio video svg"
    " math"
)
_STRUCK = _names("s strike del")
_CONTROLS = _names(
    "textarea select input svg math object iframe noscript xmp video audio canvas details dialog noembed noframes embed"
)
"""Shown by some programs and dropped by others."""
_QUOTE_NAMES = (
    "gmail_quote",
    "yahoo_quoted",
    "protonmail_quote",
    "moz-cite-prefix",
    "tutanota_quote",
    "zmail_extra",
    "outlookmessageheader",
    "divrplyfwdmsg",
    "mail-editor-reference-message-container",
    "ms-outlook-mobile-reference-message",
    "replyforwardmessage",
    "quoted-content",
)
_SIGNATURE_NAMES = (
    "gmail_signature",
    "moz-signature",
    "ms-outlook-mobile-signature",
    "protonmail_signature_block",
    "applemailsignature",
    "tutanota_signature",
    "yahoo-signature",
    "linebreakatbeginningofsignature",
    "mail-signature",
    "mailsignature",
)
_HIDING = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:(?:0*\.0\d*|0+|[0-9]%)(?:;|!|\Z)|zoom:0|filter:|mso-hide:all"
    r"|font-size:0*(?:\.\d+)?(?:px|pt|em|rem|ex|%)?(?:;|!|\Z)|font-size:[012](?:\.\d+)?(?:px|pt)|font-size:[1-9]%"
    r"|(?:\A|;)font:[a-z]*(?:0(?![.\d])|[012](?:\.\d+)?(?:px|pt))|letter-spacing:-(?:[1-9]|0?\.[3-9])"
    r"|max-(?:height|width):0(?:px|pt|em)?(?:;|!|\Z)|text-indent:-\d{3,}|clip:rect\(0|clip-path:"
    r"|(?:left|top|right|margin-left):-(?:\d{3,}|\d{2,}(?:r?em|v[wh]|%))|transform:(?:scale\(0|translate)"
    r"|color:transparent|-webkit-text-fill-color:|content-visibility:hidden"
)
_GONE = re.compile(r"display:none(?![^;]*;.*display:)")
"""What no reader shows; a later `display` in the same style shows it again."""
_ADDED = re.compile(
    r"(?::before|:after)[^{}]{0,200}\{[^{}]{0,500}?content\s{0,9}:\s{0,9}(?:[\"'][^\"']|attr|url|counter)",
    re.IGNORECASE,
)
_BOX = re.compile(r"(?:\A|;)(?:height|width|line-height):(?:0(?:px|pt|em|%)?|[12](?:px|pt))(?:;|!|\Z)")
_COLOR = re.compile(r"(?:\A|;)color:([^;!]*)")
_GROUND = re.compile(r"(?:\A|;)background(?:-color)?:([^;!]*)")
_SIMPLE = re.compile(r"([a-z0-9]*)((?:[.#][\w-]+)*)\Z")
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_CSS_COMMENT = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Look:
    """What an element's text looks like; inherited."""

    hidden: bool = False
    veiled: bool = False
    """Hidden in a way that some readers see through."""
    struck: bool = False
    pre: bool = False
    depth: int = 0
    signature: bool = False
    ground: str = ""
    color: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What a person sees of an HTML text."""

    lines: tuple[Line, ...]
    struck: bool
    """Words were struck out."""
    any_text: bool
    """There was text at all, seen or not."""
    too_long: bool
    veiled: bool = False
    """Something is there that one reader sees and another does not."""
    cids: frozenset[str] = field(default=frozenset())
    """Content-IDs of pictures shown in it."""


def html_lines(text: str) -> Page:
    """The lines of an HTML part."""
    builder = _Builder()
    tags = 0
    for token in tokenize(text[:MAX_LENGTH]):
        if isinstance(token, str):
            builder.words(token)
        elif token.closing:
            builder.close(token.name)
        else:
            tags += 1
            builder.open(token)
        if len(builder.lines) > MAX_LINES:
            break
    builder.end_line()
    too_long = len(text) > MAX_LENGTH or tags >= MAX_TAGS - 1 or len(builder.lines) > MAX_LINES
    return Page(
        tuple(builder.lines), builder.struck, builder.any_text, too_long, builder.veiled, frozenset(builder.cids)
    )


def visible_text(text: str) -> str:
    """The words of an HTML part as a reader sees them, line by line."""
    return "\n".join(line.text for line in html_lines(text).lines).replace(OBJECT, "")


class _Builder:
    """Holds the open elements and the line being written."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.struck = self.any_text = self.veiled = False
        self.cids: set[str] = set()
        self._stack: list[tuple[str, Look]] = [("", Look())]
        self._open: dict[str, int] = {}
        self._pieces: list[str] = []
        self._look: Look | None = None
        self._gap = False
        self._hiding: set[str] = set()

    def open(self, tag: Tag) -> None:
        if tag.name == "style":
            self._read_stylesheet(tag.body)
        if tag.name == "br":
            self._break()
            return
        if self._stack[-1][0] == "head" and (tag.name in _BLOCKS or tag.name == "body"):
            self.close("head")
        if tag.name in _BLOCKS:
            self._block(tag)
        look = self._look_of(tag)
        self.veiled = self.veiled or _is_control(tag, self._stack[-1][1])
        if tag.name == "img":
            self._picture(tag, look)
        elif tag.name == "hr":
            self.end_line()
        if tag.name in ("td", "th") and self._pieces:
            self._pieces.append(" ")
        if tag.name == "bdo" or "bidi-override" in tag.attributes.get("style", ""):
            self._write(OVERRIDE, look)
        if tag.name == "li":
            self._write("- ", look)
        if tag.name not in _VOID and len(self._stack) < MAX_TAGS:
            self._stack.append((tag.name, look))
            self._open[tag.name] = self._open.get(tag.name, 0) + 1

    def close(self, name: str) -> None:
        if name in _BLOCKS:
            self.end_line()
            self._gap = self._gap or name in _PARAGRAPHS
        if name == "br":
            self._break()
        if not self._open.get(name):
            return
        while True:
            popped = self._stack.pop()[0]
            self._open[popped] -= 1
            if popped == name:
                return

    def words(self, text: str) -> None:
        if not text.isspace() and text:
            self.any_text = True
            if self._stack[-1][0] == "head":
                self.close("head")  # words in it are shown, so the body has begun
        look = self._stack[-1][1]
        if look.hidden or look.struck:
            said = bool(text.strip())
            self.struck = self.struck or (look.struck and said)
            self.veiled = self.veiled or (look.veiled and said)
            return
        if look.pre:
            rows = text.replace("\r\n", "\n").split("\n", MAX_LINES + 1)[: MAX_LINES + 1]
            for number, row in enumerate(rows):
                if number:
                    self._break()
                self._write(row, look)
        else:
            self._write(_BLANKS.sub(" ", text), look)

    def end_line(self) -> None:
        if self._look is not None:
            self._flush()

    def _write(self, text: str, look: Look) -> None:
        if not text or (text == " " and not self._pieces):
            return
        if self._look is None:
            self._look = look
        elif look.depth != self._look.depth and text.strip():
            self._flush()
            self._look = look
        self._pieces.append(text)

    def _break(self) -> None:
        if self._look is None:
            self._look = self._stack[-1][1]
        self._flush()

    def _flush(self) -> None:
        look = self._look or Look()
        text = "".join(self._pieces).rstrip(" \n")
        text = text if look.pre else text.lstrip(" \n")
        if self._gap and self.lines and not self.lines[-1].blank and text.strip():
            self.lines.append(Line("", look.depth))
        self._gap = False
        self.lines.append(Line(text, look.depth, look.signature))
        self._pieces, self._look = [], None

    def _block(self, tag: Tag) -> None:
        self.end_line()
        if tag.name in _PARAGRAPHS and "mso" not in tag.attributes.get("class", "").lower():
            self._gap = True

    def _picture(self, tag: Tag, look: Look) -> None:
        source = tag.attributes.get("src", "")
        enclosed = source[:4].lower() == "cid:"
        if enclosed:
            self.cids.add(source[4:].strip("<> "))
        tiny = any(tag.attributes.get(side, "").strip().rstrip("px") in ("0", "1", "2") for side in ("width", "height"))
        if look.hidden or look.depth:
            self.veiled = self.veiled or (enclosed and not tiny)  # requests hold no pictures: somebody put it there
            return
        alt = tag.attributes.get("alt", "").strip()
        if _is_emoji(tag, alt):
            self.any_text = True
            self._write(alt, look)
        elif not tiny:
            self._write(OBJECT, look)

    def _look_of(self, tag: Tag) -> Look:
        parent = self._stack[-1][1]
        attributes = tag.attributes
        name, style = tag.name, _squeeze(attributes.get("style", ""))
        plain = name not in _UNSEEN and name not in _STRUCK and name not in ("pre", "blockquote")
        if plain and not attributes and not self._hiding:
            return parent
        labels = f"{attributes.get('class', '')} {attributes.get('id', '')} {attributes.get('name', '')}".lower()
        ground, color = _colors(parent, attributes, style)
        quote = (
            name == "blockquote" or any(known in labels for known in _QUOTE_NAMES) or attributes.get("name") == "quote"
        )
        signature = any(known in labels for known in _SIGNATURE_NAMES) or bool(
            {"signature", "x_signature"} & set(labels.split())
        )
        gone = name in _UNSEEN or bool(_GONE.search(style)) or ("hidden" in attributes and "display:" not in style)
        hidden = gone or self._is_hidden(name, attributes, style) or unreadable(color, ground)
        return replace(
            parent,
            hidden=parent.hidden or hidden,
            veiled=parent.veiled or (hidden and not gone and not parent.hidden),
            struck=parent.struck or name in _STRUCK or "line-through" in style,
            pre=name == "pre" or (parent.pre and name != "table") or "white-space:pre" in style,
            depth=parent.depth + quote,
            signature=parent.signature or signature,
            ground=ground,
            color=color,
        )

    def _is_hidden(self, name: str, attributes: dict[str, str], style: str) -> bool:
        if "hidden" in attributes or attributes.get("type", "").lower() == "hidden":
            return True
        if style and (
            _HIDING.search(style) or (_BOX.search(style) and ("overflow:hidden" in style or "font-size" in style))
        ):
            return True
        if not self._hiding:
            return False
        own = {
            name,
            "#" + attributes.get("id", "").lower(),
            *("." + c for c in attributes.get("class", "").lower().split()),
        }
        return not self._hiding.isdisjoint(own)

    def _read_stylesheet(self, text: str) -> None:
        """Which elements a stylesheet hides or strikes out: the last simple selector of each rule is enough, as hiding
        too much only keeps a request pending. A sheet that adds words or turns them round is a doubt by itself."""
        self.veiled = self.veiled or bool(_ADDED.search(text[:200_000])) or "-override" in text
        for rule in text[:200_000].split("}", MAX_RULES)[:MAX_RULES]:
            selectors, _, declared = rule.rpartition("{")
            style = _squeeze(declared)
            if not (_HIDING.search(style) or "line-through" in style or unreadable(*_declared(style))):
                continue
            for selector in selectors.rpartition("{")[2].lower().split(",")[:20]:
                words = _CSS_COMMENT.sub(" ", selector).replace(">", " ").replace("<!--", " ").split()
                match = _SIMPLE.match(words[-1].partition(":")[0]) if words else None
                if match is None:
                    self.veiled = True  # whom it hides is not known
                else:
                    marks = re.findall(r"[.#][\w-]+", match[2])
                    self._hiding.update(marks or ({match[1]} if match[1] else set()))


def _is_control(tag: Tag, around: Look) -> bool:
    """An element whose words some programs show; a hidden field is none."""
    if tag.name not in _CONTROLS or around.hidden:
        return False
    return tag.attributes.get("type", "").lower() != "hidden"


def _is_emoji(tag: Tag, alt: str) -> bool:
    """A picture by which a client shows an emoji that was typed; any other picture may show anything."""
    if not alt or len(alt) > 8 or any(unicodedata.category(char)[0] == "L" or char.isascii() for char in alt):
        return False
    marks = " ".join(tag.attributes.get(name, "") for name in ("class", "src", "id")).lower()
    return "data-emoji" in tag.attributes or "emoji" in marks


def _squeeze(style: str) -> str:
    return "".join(style.lower().split()) if style else ""


def _declared(style: str) -> tuple[str, str]:
    """The colours of text and ground in one rule of a stylesheet."""
    return _colors(Look(), {}, style)[::-1]


def _colors(parent: Look, attributes: dict[str, str], style: str) -> tuple[str, str]:
    ground, color = parent.ground, parent.color
    ground = attributes.get("bgcolor", "").lower().strip() or ground
    color = (attributes.get("color") or attributes.get("text") or "").lower().strip() or color
    if style:
        if found := _GROUND.search(style):
            ground = found[1]
        if listed := _COLOR.findall(style):  # which one a reader takes depends on the reader
            color = next((one for one in listed if unreadable(one, ground)), listed[0])
    return ground, color
