"""The new values of an `edit` reply: lines `field: value`, or one JSON object.

The rule: nothing is guessed. A line that names no field goes on the value above it; text before the first field is an
error that the user is told; which fields exist is the request's affair.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

_FIELD: Final = re.compile(r"\s*([^\W\d_][\w .-]{0,40}?)\s*[:：]\s?(.*)")


class EditUnread(Exception):
    """The changes cannot be read; the text says why."""


def read_edits(text: str, fields: Collection[str]) -> Mapping[str, Any]:
    """The changes by field name in lower case. `fields` are the names that the request shows. Raises EditUnread."""
    text = text.strip()
    if not text:
        raise EditUnread('after "edit" there were no new values')
    if text.startswith("{"):
        return _from_json(text)
    return _from_lines(text, {name.lower() for name in fields})


def _from_json(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EditUnread(f"the JSON of your changes could not be read ({error})") from None
    if not isinstance(value, dict):
        raise EditUnread("the JSON of your changes must be an object of field names and values")
    return {str(name).lower(): new for name, new in value.items()}


def _from_lines(text: str, fields: Collection[str]) -> Mapping[str, Any]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        match = _FIELD.fullmatch(line)
        if match and match[1].lower() in fields:
            current = found.setdefault(match[1].lower(), [])
            current.append(match[2])
        elif current is not None:
            current.append(line)
        elif line.strip():
            known = ", ".join(sorted(fields))
            raise EditUnread(f'"{line.strip()[:60]}" names no field of the request; its fields are: {known}')
    return {name: "\n".join(lines).strip() for name, lines in found.items()}
