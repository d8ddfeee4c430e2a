"""A reader of server responses as a client would write it: lists, strings, literals, NIL, numbers, atoms."""

import re
from typing import Any

_ATOM = re.compile(rb"[^ ()\r\n\"{}]+")
_QUOTED = re.compile(rb'"((?:[^"\\\r\n\x80-\xff\x00]|\\["\\])*)"')
_LITERAL = re.compile(rb"\{([0-9]+)\}\r\n")


def read(data: bytes) -> Any:
    """One value, to its end: lists as lists, NIL as None, numbers as int, strings as bytes, other atoms as str.

    Raises ValueError for anything that is not exactly one well-formed value.
    """
    value, at = _value(data, 0)
    if at != len(data):
        raise ValueError(f"more behind the value: {data[at : at + 40]!r}")
    return value


def _value(data: bytes, at: int) -> tuple[Any, int]:
    if data[at : at + 1] == b"(":
        return _list(data, at + 1)
    if found := _QUOTED.match(data, at):
        return re.sub(rb"\\(.)", rb"\1", found[1]), found.end()
    if found := _LITERAL.match(data, at):
        end = found.end() + int(found[1])
        if end > len(data) or b"\x00" in data[found.end() : end]:
            raise ValueError("bad literal")
        return data[found.end() : end], end
    if found := _ATOM.match(data, at):
        text = found[0].decode("ascii")
        return (None if text == "NIL" else int(text) if text.isdigit() else text), found.end()
    raise ValueError(f"no value at {data[at : at + 40]!r}")


def _list(data: bytes, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while data[at : at + 1] != b")":
        if items and not (data[at : at + 1] == b"(" and data[at - 1 : at] == b")"):
            if data[at : at + 1] != b" ":
                raise ValueError(f"no space at {data[at : at + 40]!r}")
            at += 1
        value, at = _value(data, at)
        items.append(value)
    if not items:
        raise ValueError("an empty list")
    return items, at + 1
