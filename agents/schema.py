"""Arguments checked against a tool's JSON Schema, and text from a user's edit turned into what the schema wants.

The rule: the part of JSON Schema that tools use is checked exactly; keywords that are not known here are left to the
tool itself. No reference is followed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agents.wholetext import mended_tree

Schema = Mapping[str, Any]


def read_object(raw: str) -> dict[str, Any]:
    """Raw argument text as an object; empty text is no arguments. Raises Unreadable, which names the place."""
    if not raw.strip():
        return {}
    try:
        value = mended_tree(json.loads(raw, parse_constant=_no_constant))
    except json.JSONDecodeError as fault:
        where = f"{fault.msg} at line {fault.lineno}, column {fault.colno}"
        raise Unreadable(f"The arguments are not valid JSON: {where}.") from None
    except RecursionError:
        raise Unreadable("The arguments are nested too deeply.") from None
    if not isinstance(value, dict):
        raise Unreadable("The arguments must be one JSON object.")
    return value


def _no_constant(name: str) -> Any:
    raise Unreadable(f"The arguments are not valid JSON: {name} is not a value.")


def faults(schema: Schema, value: Any, path: str = "") -> list[str]:
    """What is wrong with `value`, in words; empty when nothing is."""
    return list(_faults(schema, value, path))


def _faults(schema: Schema, value: Any, path: str) -> Iterator[str]:
    where = path or "the arguments"
    wanted = schema.get("type")
    if wanted is not None and not _is_type(value, wanted):
        yield f"{where}: {_words(wanted)} is wanted, not {_name(value)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: must be one of {', '.join(map(json.dumps, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        yield f"{where}: must be {json.dumps(schema['const'])}"
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list) and not any(not faults(option, value, path) for option in options):
            yield f"{where}: fits none of the allowed forms"
    if isinstance(value, Mapping):
        yield from _object_faults(schema, value, path)
    elif isinstance(value, list):
        yield from _array_faults(schema, value, path, where)
    elif isinstance(value, str):
        yield from _string_faults(schema, value, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_faults(schema, value, where)


def _object_faults(schema: Schema, value: Mapping[str, Any], path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{_join(path, name)}: is missing"
    for name, item in value.items():
        if name in properties:
            yield from _faults(properties[name], item, _join(path, name))
        elif schema.get("additionalProperties") is False:
            yield f"{_join(path, name)}: is not an argument of this tool"


def _array_faults(schema: Schema, value: list[Any], path: str, where: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{where}: at least {schema['minItems']} wanted"
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{where}: at most {schema['maxItems']} wanted"
    items = schema.get("items")
    if isinstance(items, Mapping):
        for index, item in enumerate(value):
            yield from _faults(items, item, f"{path}[{index}]")


def _string_faults(schema: Schema, value: str, where: str) -> Iterator[str]:
    if len(value) < schema.get("minLength", 0):
        yield f"{where}: must not be empty" if not value else f"{where}: is too short"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{where}: is longer than {schema['maxLength']} characters"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: does not have the wanted form"


def _number_faults(schema: Schema, value: float, where: str) -> Iterator[str]:
    if value < schema.get("minimum", value):
        yield f"{where}: must be at least {schema['minimum']}"
    if value > schema.get("maximum", value):
        yield f"{where}: must be at most {schema['maximum']}"


def _is_type(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return any(_is_type(value, one) for one in wanted)
    if wanted == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds = {"string": str, "boolean": bool, "array": list, "object": Mapping, "null": type(None)}
    kind = kinds.get(wanted)
    return kind is None or isinstance(value, kind)


def _words(wanted: Any) -> str:
    return " or ".join(wanted) if isinstance(wanted, list) else f"{wanted}"


def _name(value: Any) -> str:
    names = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class Unreadable(ValueError):
    """Text that cannot be read as what the schema wants."""


def read_value(schema: Schema, text: str) -> Any:
    """What a user wrote for one argument, as the schema's type. Raises Unreadable."""
    wanted = schema.get("type", "string")
    text = text.strip()
    if wanted == "string":
        return text
    if wanted == "array" and not text.startswith("["):
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else {}
        return [read_value(inner, part) for part in text.split(",") if part.strip()]
    if wanted == "boolean" and text.lower() in ("yes", "no", "true", "false"):
        return text.lower() in ("yes", "true")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise Unreadable(f'"{text}" cannot be read as {_words(wanted)}') from None
