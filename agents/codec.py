"""Dataclasses to JSON and back, by their annotations.

The rule: `load(type, dump(value)) == value` for every type of agents.letter, and anything of another shape is
Malformed, never guessed at.
"""

import base64
import dataclasses
import json
import types
import typing
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


class Malformed(ValueError):
    """Stored JSON that is not what its type says."""


def dump(value: Any) -> str:
    """JSON text of a dataclass (or of what one may hold)."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))


def load(kind: type[T], text: str) -> T:
    """The value of a given type from its JSON text. Raises Malformed."""
    try:
        made = _value(kind, json.loads(text))
    except (KeyError, TypeError, ValueError, InvalidOperation) as fault:
        raise Malformed(f"{kind.__name__}: {fault}") from fault
    return typing.cast(T, made)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, tuple | list | frozenset):
        return [_plain(item) for item in value]
    return value


def _value(kind: Any, data: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return None if data is None else _value(_not_none(kind), data)
    if origin is tuple:
        if not isinstance(data, list):
            raise Malformed(f"a list is wanted, not {type(data).__name__}")
        return tuple(_value(typing.get_args(kind)[0], item) for item in data)
    if dataclasses.is_dataclass(kind):
        return _record(kind, data)
    return _scalar(kind, data)


def _not_none(kind: Any) -> Any:
    return next(part for part in typing.get_args(kind) if part is not types.NoneType)


def _record(kind: Any, data: Any) -> Any:
    if not isinstance(data, dict):
        raise Malformed(f"an object is wanted, not {type(data).__name__}")
    hints = typing.get_type_hints(kind)
    return kind(**{name: _value(hints[name], item) for name, item in data.items()})


def _scalar(kind: Any, data: Any) -> Any:
    if kind is bytes:
        return base64.b64decode(data, validate=True)
    if kind is Decimal:
        return Decimal(data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if kind is float and isinstance(data, int):
        return float(data)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise Malformed(f"{kind.__name__} is wanted, not {type(data).__name__}")
    return data
