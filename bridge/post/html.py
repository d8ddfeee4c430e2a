"""Markdown of a model to HTML a mail client may show: no script, no remote content, no link that hides its target.

The rule: what a model wrote can neither load anything nor look like the program's own frame; every link shows its
target as text.
"""

from html import escape
from importlib import import_module
from typing import Any, Final

_TAGS: Final = frozenset(
    {"a", "p", "br", "hr", "em", "strong", "del", "s", "code", "pre", "blockquote", "ul", "ol", "li", "h1", "h2", "h3"}
    | {"h4", "table", "thead", "tbody", "tr", "th", "td"}
)
_ATTRIBUTES: Final = {"a": {"href"}, "td": {"align"}, "th": {"align"}, "ol": {"start"}}
_SCHEMES: Final = frozenset({"http", "https", "mailto"})
_STYLE: Final = "font-family:system-ui,-apple-system,Segoe UI,sans-serif;font-size:15px;line-height:1.5;max-width:44em"
_FRAME: Final = (
    '<!DOCTYPE html>\r\n<html><head><meta charset="utf-8"></head><body style="{style}">\r\n{body}\r\n</body></html>'
)


def page(body: str) -> str:
    """A whole HTML part around already safe HTML."""
    return _FRAME.format(style=_STYLE, body=body)


def from_markdown(text: str) -> str:
    """Safe HTML of Markdown. Raw HTML in it is shown as text; images become their description."""
    parser = import_module("markdown_it").MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    tokens = parser.parse(text)
    for token in tokens:
        _show_targets(token)
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    nh3 = import_module("nh3")
    cleaned: str = nh3.clean(
        rendered, tags=set(_TAGS), attributes=_ATTRIBUTES, url_schemes=set(_SCHEMES), link_rel="noopener noreferrer"
    )
    return cleaned


def _show_targets(token: Any) -> None:
    """Write each link's target behind its text, and each image's description and address in its place."""
    if not token.children:
        return
    shown: list[Any] = []
    target = ""
    text = ""
    for child in token.children:
        if child.type == "image":
            child = _as_text(child, f"[image: {child.content or 'no description'}, {child.attrs.get('src', '')}]")
        if child.type == "link_open":
            target, text = str(child.attrs.get("href", "")), ""
        elif child.type == "text":
            text += child.content
        shown.append(child)
        if child.type == "link_close" and target not in (text, f"mailto:{text}"):
            shown.append(_as_text(child, f" ({target})"))
    token.children[:] = shown


def _as_text(like: Any, content: str) -> Any:
    token = type(like)("text", "", 0)
    token.content = content
    return token


def preformatted(text: str) -> str:
    """Text as it stands, in a fixed font."""
    return f'<pre style="white-space:pre-wrap;margin:0">{escape(text)}</pre>'


def footer(lines: list[str]) -> str:
    """The program's own lines under a mail."""
    inner = "<br>\r\n".join(map(escape, lines))
    style = "color:#777;font-size:12px;border-top:1px solid #ddd;padding-top:8px;margin-top:24px"
    return f'<p style="{style}">{inner}</p>'
