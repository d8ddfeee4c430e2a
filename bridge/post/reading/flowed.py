"""Plain text to lines: quote marks counted, format=flowed joined (RFC 3676), PGP armour taken off.

One rule: how deep a line is quoted is read from its marks before anything is joined, so a stuffed blank cannot turn a
user's line into a quote, nor a join a quote into a user's line.
"""

import re

from bridge.post.reading.model import Line

MAX_LINES = 2000
MAX_TEXT = 300_000
_MARKS = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+")
_SUPERCITE = re.compile(r"[A-Za-z]{1,4}>[ \t]?")
_SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE = "-----BEGIN PGP SIGNATURE-----"
_SIGNATURE_END = "-----END PGP SIGNATURE-----"
ENCRYPTED = "-----BEGIN PGP MESSAGE-----"


def plain_lines(text: str, *, flowed: bool = False, delete_space: bool = False) -> tuple[list[Line], bool]:
    """The lines of a text part, and whether it was cut because it is too long to be a reply that decides."""
    too_long = len(text) > MAX_TEXT
    rows = text[:MAX_TEXT].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    too_long = too_long or len(rows) > MAX_LINES
    rows = _without_armour(rows[:MAX_LINES])
    return (_flowed(rows, delete_space) if flowed else [_line(row) for row in rows]), too_long


def _line(row: str) -> Line:
    marks = _MARKS.match(row) or _SUPERCITE.match(row)
    if marks is None:
        return Line(row)
    return Line(row[marks.end() :], marks.group().count(">"))


def _flowed(rows: list[str], delete_space: bool) -> list[Line]:
    done: list[Line] = []
    open_text: list[str] = []
    open_depth = 0
    for row in rows:
        depth = len(row) - len(row.lstrip(">"))
        text = row[depth:]
        text = text.removeprefix(" ")
        if open_text and (depth != open_depth or text == "-- "):
            done.append(Line("".join(open_text), open_depth))
            open_text = []
        if text.endswith(" ") and text != "-- ":
            open_text.append(text[:-1] if delete_space else text)
            open_depth = depth
            continue
        done.append(Line("".join([*open_text, text]), depth))
        open_text = []
    if open_text:
        done.append(Line("".join(open_text), open_depth))
    return done


def _without_armour(rows: list[str]) -> list[str]:
    """Of a clear-signed text (RFC 9580, 7) the text itself; what stands outside the armour stays in its place, because
    the reader sees it too."""
    begin = next((n for n, row in enumerate(rows) if row.rstrip() == _SIGNED), None)
    if begin is None:
        return rows
    head = next((n for n in range(begin + 1, len(rows)) if not rows[n].strip()), len(rows))
    foot = next((n for n in range(head, len(rows)) if rows[n].rstrip() == _SIGNATURE), len(rows))
    end = next((n for n in range(foot, len(rows)) if rows[n].rstrip() == _SIGNATURE_END), len(rows))
    signed = [row.removeprefix("- ") for row in rows[head + 1 : foot]]
    return [*rows[:begin], *signed, *rows[end + 1 :]]
