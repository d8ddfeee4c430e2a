"""Lines over logarithmic scales, as an SVG of plain text.

The rule: the same figures give the same bytes; colours and words are readable on a white and on a dark page.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 860
HEIGHT: Final = 520
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 24, 56
COLOURS: Final = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#aa8800",
    "#66ccee",
    "#aa3377",
    "#999933",
    "#cc6677",
    "#882255",
    "#44aa99",
    "#dd7711",
)
_FONT: Final = 'font-family="sans-serif" font-size="12"'
LABEL_GAP: Final = 15.0


@dataclass(frozen=True, slots=True)
class Curve:
    """Values (above 0) at places (above 0, ascending); `dashed` for those that are to stay level."""

    name: str
    places: tuple[int, ...]
    values: tuple[float, ...]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class _Scale:
    """From values on a logarithmic scale to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return self.start + share * (self.end - self.start)


def svg(curves: Sequence[Curve], across: str, up: str) -> str:
    """The picture; `across` and `up` say what the scales are."""
    values = [value for curve in curves for value in curve.values]
    places = [place for curve in curves for place in curve.places]
    x = _Scale(min(places), max(places), LEFT, WIDTH - RIGHT)
    low, high = 10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)))
    y = _Scale(low, high if high > low else low * 10, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {_FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_grid(x, y, sorted(set(places))),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, across, "middle"),
        f'<g transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)">{_text(0, 0, up, "middle")}</g>',
    ]
    ends = _apart([y(curve.values[-1]) for curve in curves])
    for number, curve in enumerate(curves):
        parts += _curve(curve, x, y, COLOURS[number % len(COLOURS)], ends[number])
    return "\n".join([*parts, "</svg>"]) + "\n"


def _grid(x: _Scale, y: _Scale, places: Sequence[int]) -> list[str]:
    parts = []
    for exponent in range(round(math.log10(y.low)), round(math.log10(y.high)) + 1):
        at = y(10.0**exponent)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        parts.append(_text(LEFT - 8, at + 4, f"{10.0**exponent:g}", "end"))
    for place in places:
        parts.append(f'<path d="M{x(place):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eeeeee"/>')
        parts.append(_text(x(place), HEIGHT - BOTTOM + 18, f"{place:,}", "middle"))
    return parts


def _curve(curve: Curve, x: _Scale, y: _Scale, colour: str, label: float) -> list[str]:
    points = [(x(place), y(value)) for place, value in zip(curve.places, curve.values, strict=True)]
    path = " ".join(f"{'L' if at else 'M'}{across:.1f} {up:.1f}" for at, (across, up) in enumerate(points))
    dash = ' stroke-dasharray="6 4"' if curve.dashed else ""
    end, height = points[-1]
    return [
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>',
        *(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="2.5" fill="{colour}"/>' for across, up in points),
        f'<path d="M{end + 4:.1f} {height:.1f}L{end + 14:.1f} {label:.1f}" stroke="{colour}"/>',
        _text(end + 18, label + 4, curve.name, "start", colour),
    ]


def _apart(heights: Sequence[float]) -> list[float]:
    """Heights for labels near these, none above another; they stay within the picture."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed = dict.fromkeys(order, 0.0)
    free = float(TOP)
    for each in order:
        placed[each] = free = max(free, heights[each])
        free += LABEL_GAP
    floor = float(HEIGHT - BOTTOM)
    for each in reversed(order):
        placed[each] = floor = min(floor, placed[each])
        floor -= LABEL_GAP
    return [placed[each] for each in range(len(heights))]


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#333333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
