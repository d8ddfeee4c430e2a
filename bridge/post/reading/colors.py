"""Whether words can be told from what is behind them.

One rule: a colour that cannot be read here is compared by its name; nothing is guessed about it.
"""

import re

_HEX = re.compile(r"#(?:([\da-f])([\da-f])([\da-f])([\da-f])?|([\da-f]{2})([\da-f]{2})([\da-f]{2})([\da-f]{2})?)\Z")
_RGB = re.compile(r"rgba?\((\d{1,3})[, ]?(\d{1,3})[, ]?(\d{1,3})")
_CLEAR = re.compile(r"(?:rgb|hsl)a?\((?:(?:[^,)]{0,20},){3}|[^)]{0,60}/)0?(?:\.0\d*)?%?\)|transparent\Z")
_NAMED = {
    "black": (0, 0, 0), "white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "whitesmoke": (245, 245, 245), "ghostwhite": (248, 248, 255), "floralwhite": (255, 250, 240),
    "mintcream": (245, 255, 250), "azure": (240, 255, 255), "gray": (128, 128, 128), "grey": (128, 128, 128),
    "silver": (192, 192, 192), "red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255), "navy": (0, 0, 128),
    "yellow": (255, 255, 0), "hsl(0,0%,100%)": (255, 255, 255), "hsl(0,0%,0%)": (0, 0, 0), "windowtext": (0, 0, 0),
}  # packed, to be seen at a glance  # fmt: skip
_NO_GROUND = frozenset({"", "transparent", "none", "inherit", "initial"})
PALE = 240
"""Of 255: on a white page nobody reads words that are paler."""
NEAR = 24
"""How far each part of two colours may differ and the words still not be read."""


def unreadable(color: str, ground: str) -> bool:
    """Whether text of one colour (small letters, no blanks) on another is not seen. The page is white where no colour
    is behind it; text without a colour of its own counts as seen, whatever is behind it."""
    if not color or color in ("inherit", "initial"):
        return False
    if _CLEAR.match(color) or _is_clear_hex(color):
        return True
    text = _parts(color)
    if ground in _NO_GROUND:
        return text is not None and min(text) >= PALE
    behind = _parts(ground)
    if text is None or behind is None:
        return color == ground
    return max(abs(one - other) for one, other in zip(text, behind, strict=True)) <= NEAR


def _parts(color: str) -> tuple[int, int, int] | None:
    if color in _NAMED:
        return _NAMED[color]
    if found := _RGB.match(color):
        return int(found[1]), int(found[2]), int(found[3])
    if found := _HEX.match(color):
        pairs = [pair * (3 - len(pair)) for pair in found.groups() if pair]
        return int(pairs[0], 16), int(pairs[1], 16), int(pairs[2], 16)
    return None


def _is_clear_hex(color: str) -> bool:
    """`#0000` and `#00000000`: a colour that lets everything through."""
    found = _HEX.match(color)
    return found is not None and (found[4] == "0" or found[8] in {"00", "01", "02", "03"})
